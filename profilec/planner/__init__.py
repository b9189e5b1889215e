"""IR -> normal form -> statistics -> plan -> image.

`reference` says what a condition means, `normalize` rewrites it, `normal_forms` spells it out as
CNF or DNF, `lower` turns it into the image that the runtime executes.
"""
