"""The PB+-tree on secondary storage (PB+-tree 4: Wang, Zhang, Kitsuregawa): a predicate index of one attribute.

In: predicates, an operator and a value each, that come and go one by one. Out: for a value, the entries of which a
predicate holds. Nodes are values of a store (`runtime/store/nodes`), for LMDB within the caller's transaction.

    predicates    = 5    <= 7    < 8    >= 3    != 5    > 9     4..6
    B+-tree       3   5   7   8   9         `bplus_tree`: the constants, as ordered bytes, in linked leaves
    leaf sets     >=  =   <=                `leaf_items`: what holds at the constant itself
    pointers      |   |   |   |   |         of each item, one into each list
    GreaterThan   3 ----------------- 9     `operator_list`: > and >=, walked towards the head
    LessThan              7 - 8             < and <=, walked towards the tail
    Inequality        5                     walked both ways from the key
    ranges        4..6                      `ranges`

A search goes down the tree once, takes the key's set, and from the pointers walks each list on the side where all of it
holds: O(log n + L) nodes for L answers (Table 1). An insertion is O(log n), and where a list's node is split as many
leaves as point to its half: O(n) at worst, as in the paper, and little where operators are mixed. `indexes/pbtree` is
the same tree in memory, of ranks, loaded at once.

Left open by the paper and decided here:

- *Kinds.* Values of different kinds never compare, and one tree holds all kinds: a walk ends where the next one begins.
- *Deletion* ("a reverse procedure of insertion"): a key stays as long as it is some predicate's constant, so items
  count them. Leaves and branches are merged or evened out at half (`bplus_tree`), list nodes merged (`operator_list`).
- *Figure 9, line 4*: "the biggest key less than InputKey in LeafNode" may not exist, as after deletions, or where a
  separator is shorter than any key. Then the last item of the previous leaf has the pointer; before all leaves, the
  list's head. For the LessThan list, likewise the next leaf, and the tail.
- *Head and tail* with the Minimum and the Maximum as keys: a node that may be empty, for the pointers of items beside
  which a list has nothing.
- *SidSets* may be of any size: beyond a few, they are chunks of their own (`members`), in order of entries. A set tells
  the operators of an entry apart, so that `<= 5` may be deleted and `= 5` of the same entry stays. Inserting what is
  there changes nothing.
- *Ranges* are two predicates in the paper; here BETWEEN may be one. `ranges` says why they have a tree, not a list. IN
  is as many `=` of one entry; so an answer is the entries of which *some* predicate holds.
- *Damage*: each node has a checksum of its bytes and number. A wrong one is an error that names it, never an answer.

Keys are written in full in leaves and lists: constants of megabytes make nodes of megabytes.
"""

from profilec.runtime.indexes.stored_pbtree.node_bytes import DamagedNodeError
from profilec.runtime.indexes.stored_pbtree.tree import StoredPBTree

__all__ = ["DamagedNodeError", "StoredPBTree"]
