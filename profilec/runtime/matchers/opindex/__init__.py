"""`opindex`: OpIndex, inverted lists by pivot attribute and operator (OpIndex, sections 4 to 6), over ranks.

operators.py   the operators: which tests are theirs, and by which keys a rank finds them
lists.py       pivots, partitions, predicate lists with directories and signatures, counters
match.py       documents against the lists

How the paper's forms appear here (6.1). A profile in DNF is several entries, and each is a conjunction with a pivot, a
counter and predicates of its own. A clause of a CNF is a test: its intervals on one slot are the disjuncts. All of
these have one attribute, so the pivot set of the paper, the attributes of the smallest clause, is one attribute again,
and the entry is in one partition. The paper keeps a bit for each clause, since two disjuncts of one may hold; a test's
intervals exclude each other, so that a counter counts each clause once, as it does for conjunctions. (An OR over
several attributes is no test: the planner makes it several entries, or a residual.)
"""
