"""Keeps tests and doctests from being collected a second time through the root's links."""

collect_ignore = ["grammar", "planner", "runtime", "examples", "tests/benchmarks"]
