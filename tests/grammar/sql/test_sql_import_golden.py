"""What each dialect's conditions become, and what is refused: one golden file for each dialect."""

from __future__ import annotations

import pytest

from profilec.grammar.diagnostics import Diagnostic
from profilec.grammar.parse import parse_condition
from profilec.grammar.sql import import_sql
from profilec.values.types import Field, Schema, Type
from tests.grammar.sql.golden import TESTDATA, Block, blocks_of, rewrite

STRING, NUMBER = Type("STRING"), Type("NUMBER")
SCHEMA = Schema(
    (
        Field("quantity", Type("INTEGER")),
        Field("price", NUMBER),
        Field("brand", STRING),
        Field("day", Type("DATE")),
        Field("sold_at", Type("TIMESTAMP")),
        Field("active", Type("BOOLEAN")),
        Field("tags", Type("ARRAY", STRING)),
        Field("user", Type("RECORD", fields=(Field("city", STRING),))),
    )
)
BLOCKS = [block for file in sorted(TESTDATA.glob("import_*.txt")) for block in blocks_of(file)]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_import(block: Block, rewrite_golden: bool) -> None:
    dialect = block.file.stem.removeprefix("import_")
    found: list[Diagnostic] = []
    profiles = import_sql(
        block.text,
        "" if dialect == "standard" else dialect,
        schema=SCHEMA if block.option("schema") else None,
        like_case="sensitive" if block.option("like_case") == "sensitive" else "dialect",
        report=found.append,
    )
    for profile in profiles:
        assert parse_condition(profile.where).node is profile.condition
    lines = [profile.where for profile in profiles]
    for diagnostic in found:
        place = f"{diagnostic.line}:{diagnostic.column}"
        lines.append(f"{diagnostic.code} {place} {diagnostic.message}")
        if diagnostic.hint is not None:
            lines.append(f"  hint: {diagnostic.hint}")
    result = "\n".join(lines)
    if rewrite_golden:
        rewrite(block, result)
    else:
        assert result == block.expected
