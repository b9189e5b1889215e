"""`betree`: the flattened BE-Tree, the default matcher.

tree.py      the arrays, drawn
walk.py      which nodes a document reaches
leaf.py      which entries of a leaf it satisfies
match.py     one document
settle.py    entries of several profiles, and those of which something is left to check
batch.py     many documents
matcher.py   the matcher of an image
"""
