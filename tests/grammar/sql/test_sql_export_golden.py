"""What our conditions become in each dialect, and what is refused."""

from __future__ import annotations

import pytest

from profilec.grammar.diagnostics import ProfileError
from profilec.grammar.parse import parse_condition
from profilec.grammar.sql import export_condition
from profilec.values.types import Field, Schema, Type
from tests.grammar.sql.golden import TESTDATA, Block, blocks_of, rewrite

ITEM = Type("RECORD", fields=(Field("sku", Type("STRING")), Field("q", Type("NUMBER"))))
SCHEMA = Schema(
    (
        Field("quantity", Type("INTEGER")),
        Field("price", Type("NUMBER")),
        Field("list_price", Type("NUMBER")),
        Field("brand", Type("STRING")),
        Field("maker", Type("STRING")),
        Field("day", Type("DATE")),
        Field("sold_at", Type("TIMESTAMP")),
        Field("active", Type("BOOLEAN")),
        Field("tags", Type("ARRAY", Type("STRING"))),
        Field("sizes", Type("ARRAY", Type("NUMBER"))),
        Field("items", Type("ARRAY", ITEM)),
        Field("user", Type("RECORD", fields=(Field("city", Type("STRING")),))),
    )
)
DIALECTS = {
    "export_full": ("duckdb", "postgres", "spark", "sqlite"),
    "export_portable": ("mysql", "snowflake", "bigquery", "trino", "oracle", "tsql", "drill"),
}
BLOCKS = [block for file in sorted(TESTDATA.glob("export_*.txt")) for block in blocks_of(file)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_export(block: Block, rewrite_golden: bool) -> None:
    condition = parse_condition(block.text).node
    schema = SCHEMA if block.option("schema") else None
    lines: list[str] = []
    for dialect in DIALECTS[block.file.stem]:
        try:
            text = export_condition(condition, dialect, schema)
        except ProfileError as error:
            (diagnostic,) = error.diagnostics
            text = f"{diagnostic.code} {diagnostic.message}"
        lines.append(f"{dialect:9} {text}")
    result = "\n".join(lines)
    if rewrite_golden:
        rewrite(block, result)
    else:
        assert result == block.expected
