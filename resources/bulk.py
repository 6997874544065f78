"""Many rows into one table in one statement, and many statements at once."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy import Connection, Table

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """The rows are in the table, within the connection's transaction. Values are str, int, float, bool, bytes or None."""
    data = io.StringIO()
    for row in rows:
        data.write("\t".join(map(_field, row)))
        data.write("\n")
    if data.tell() == 0:
        return
    data.seek(0)
    names = ", ".join(f'"{name}"' for name in columns)
    with closing(connection.connection.cursor()) as cursor:
        cursor.copy_expert(f'copy "{table.schema}"."{table.name}" ({names}) from stdin', data)


def run_script(connection: Connection, script: str) -> None:
    """All statements of the script have run, in the connection's transaction; `%` means itself."""
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(script)


def _field(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.translate(_ESCAPES)
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return repr(value)
