"""What a value is: kinds, exact order, dates, folding, scalar functions.

Constant folding (planner) and execution (runtime) share these definitions, so that a
condition folded at compile time and the same condition decided per document agree.
"""
