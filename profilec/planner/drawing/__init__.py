"""Plans drawn: a tree of text, graphs for Graphviz and Mermaid, a page of HTML.

In: the facts that `explain` tells of a plan. Out: text. `spelled.py` writes times, counts and sizes; `columns.py`
aligns.
"""

from profilec.planner.drawing.changes import changes
from profilec.planner.drawing.columns import aligned
from profilec.planner.drawing.graph_languages import dot, mermaid
from profilec.planner.drawing.page import page
from profilec.planner.drawing.spelled import size, time
from profilec.planner.drawing.tree import tree

__all__ = ["aligned", "changes", "dot", "mermaid", "page", "size", "time", "tree"]
