"""Reading documents for the command line: NDJSON, JSON, CSV, Parquet and Arrow, as a stream of chunks.

In: files and standard input. Out: `chunks.Chunk`, in input order, each holding as much as is
worth one batch. Memory is bounded by the chunk and by the longest record, never by the input.

    formats.py      which reader a file wants, and the reader's bytes
    json_lines.py   NDJSON: one record a line
    json_values.py  an array of records, or records one after the other
    csv_rows.py     CSV and TSV: rows under a header
    parquet.py      Parquet: batches of columns
    arrow.py        Arrow's own files and streams
    json_text.py    one record's text -> its document
    chunks.py       records -> numbered chunks; what happens to a malformed one

Invariant: every record of the input has a number, malformed ones too, and none is lost in
silence: it is in a chunk, or it was reported with its line.
"""
