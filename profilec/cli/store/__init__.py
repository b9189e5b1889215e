"""`profilec store`: verbs for sets that are kept in a store.

verbs.py      the verbs, by name
opening.py    a store that is opened for a verb, and its errors
change.py     init, add, remove, import, compact
show.py       list, stat, verify
rescue.py     backup, salvage
prof_file.py  profiles as the text of a `.prof` file
"""
