"""Many rows into one table in one statement, and many statements at once."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import Connection, Table

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """The rows are in the table, within the connection's transaction.

    A value is str, int, float, bool, bytes or None, or of a subclass (an enum of texts, a numpy number).
    """
    lines = ["\t".join(map(_field, row)) for row in rows]
    if not lines:
        return
    data = io.StringIO("\n".join(lines))
    names = ", ".join(f'"{name}"' for name in columns)
    with closing(connection.connection.cursor()) as cursor:
        cursor.copy_expert(f'copy "{table.schema}"."{table.name}" ({names}) from stdin', data)


def run_script(connection: Connection, script: str) -> None:
    """All statements of the script have run, in the connection's transaction; `%` means itself."""
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(script)


def _field(value: Any) -> str:
    match value:
        case str():
            return str.translate(value, _ESCAPES)
        case None:
            return "\\N"
        case bool():
            return "t" if value else "f"
        case float():
            return float.__repr__(value)
        case int():
            return int.__repr__(value)
        case bytes():
            return "\\\\x" + value.hex()
        case _:
            raise TypeError(f"{type(value).__name__} is no column value")
