"""The IR to SQL trees: a file for each group of forms; `forms` is what they share."""

from profilec.grammar.sql.writing.conditions import write_condition
from profilec.grammar.sql.writing.forms import Writing
from profilec.grammar.sql.writing.kinds import infer_kinds

__all__ = ["Writing", "infer_kinds", "write_condition"]
