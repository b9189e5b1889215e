"""The command line: `profilec VERB …`, one file per verb.

In: files, folders and standard input. Out: results on standard output, diagnostics and progress
on standard error, and an exit status: 0 clean, 1 findings, 2 error.

Invariant: a verb's module imports at its top only what `profilec --help` needs; what the verb
works with is imported when it runs.
"""
