"""SQL in and out, through sqlglot: WHERE clauses of any dialect to profiles, and back.

    text --statements--> tokens --queries--> sqlglot's tree --reading--> IR      import
    IR --writing--> sqlglot's tree --> text                                     export

Neither direction changes a meaning in silence: what has no counterpart is refused by name. What
one text means in each dialect is the table of `dialects`. Importing this module does not load
sqlglot.

A SQL text does not tell all that its meaning depends on. Assumed, unless a schema says more:

- a column is of the kind of the constants that it is compared with; columns in arithmetic are
  numbers; columns that are ordered by each other are numbers, dates or timestamps;
- a table's rows are the documents, value for value: no NaN and no infinities; a column of doubles
  is not compared with integers beyond 2**53; sums and products stay within the dialect's exact
  types; where a dialect raises an error (a division by zero, an overflow), we may have an answer;
- names are the columns' names as they are written; text holds no NUL, and none of the letters of
  which `letters` says that dialects change their case in different ways.
"""

from profilec.grammar.sql.exporting import export_condition
from profilec.grammar.sql.importing import ImportedProfile, import_rows, import_sql

__all__ = ["ImportedProfile", "export_condition", "import_rows", "import_sql"]
