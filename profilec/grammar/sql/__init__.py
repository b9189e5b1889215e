"""SQL in and out, through sqlglot: WHERE clauses of any dialect to profiles, and back.

Neither direction changes a meaning in silence: what has no counterpart is refused by name.
Importing this module does not load sqlglot.
"""

from profilec.grammar.sql.exporting import export_condition
from profilec.grammar.sql.importing import ImportedProfile, import_rows, import_sql

__all__ = ["ImportedProfile", "export_condition", "import_rows", "import_sql"]
