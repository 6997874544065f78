"""How assets describe themselves in Dagster: groups, owners, column schemas and tables, bounded in size."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg
import sqlalchemy as sa

INPUTS = "inputs"
SCORES = "scores"
OWNERS = ["team:evaluation"]

MOST_ROWS = 40
MOST_CHARACTERS = 200
MOST_BYTES = 16_384
"""Of one table as Dagster stores it, in ASCII JSON: two tables and two plots stay below 64 KiB."""


def column_schema(table: sa.Table) -> dict[str, Any]:
    """Metadata that names a table and all its columns, with the comments of the one catalogue."""
    columns = [
        dg.TableColumn(column.name, type=str(column.type).lower(), description=column.comment)
        for column in table.columns
    ]
    return {
        "dagster/table_name": table.fullname,
        "dagster/column_schema": dg.TableSchema(columns=columns),
    }


def view_schema(columns: Iterable[tuple[str, str, str]], view: str) -> dict[str, Any]:
    """Metadata that names a view and its columns, each given as name, type and meaning."""
    described = [dg.TableColumn(name, type=type_, description=meaning) for name, type_, meaning in columns]
    return {"dagster/table_name": view, "dagster/column_schema": dg.TableSchema(columns=described)}


def markdown_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dg.MarkdownMetadataValue:
    """The first rows as a Markdown table of at most `MOST_BYTES`, with a line that says how many were left out."""
    lines = [_line(columns), _line(["---"] * len(columns))]
    room = MOST_BYTES - sum(map(_size, lines))
    shown = 0
    for row in rows[:MOST_ROWS]:
        line = _line([cell_text(row.get(column)) for column in columns])
        room -= _size(line)
        if room < 0:
            break
        lines.append(line)
        shown += 1
    if shown < len(rows):
        lines.append(f"\n... and {len(rows) - shown:,} more rows; all stand in Postgres.")
    return dg.MetadataValue.md("\n".join(lines))


def _size(line: str) -> int:
    """The bytes that a line takes in Dagster's storage, which escapes all that is not ASCII."""
    return len(json.dumps(line))


def cell_text(value: object) -> str:
    """A value as one short cell of a table; what is unknown or no number is a dash."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}" if 0 < abs(value) < 1 else _number(value)
        case _:
            text = " ".join(str(value).split()).replace("|", "\\|")
            return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"


def _number(value: float) -> str:
    return f"{value:,.1f}" if math.isfinite(value) else "-"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
