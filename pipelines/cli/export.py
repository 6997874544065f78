"""Rows as CSV on standard output or as a Parquet file."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring.errors import InputError

# Spreadsheets run a cell that begins with one of these as a formula.
FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r")


def write_rows(rows: Sequence[Mapping[str, Any]], *, parquet: Path | None, relation: str) -> None:
    """Write the rows to the Parquet file where one is named, else to standard output as CSV with a header.

    `relation` is the view that the rows are of, or are like: what its columns mean goes into the Parquet file.
    """
    if parquet is None:
        write_csv(rows)
    else:
        write_parquet(rows, parquet, relation=relation)


def write_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """The rows as CSV; a text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(sys.stdout, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: _cell(row.get(column)) for column in columns} for row in rows)


def _cell(value: object) -> object:
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode()
        return f"'{text}" if text.startswith(FORMULA_MARKS) else text
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=True, default=str)
    return value


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path, *, relation: str) -> None:
    """The rows as one Parquet file, which is whole or not there.

    Nested values are JSON texts, and each field says what it means.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [{column: _flat(value) for column, value in row.items()} for row in rows]
    table = pa.Table.from_pylist(flat)
    described = pa.schema([_described(field, relation) for field in table.schema])
    beside = path.with_name(f".{path.name}.part")
    try:
        pq.write_table(table.cast(described), beside)
        beside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", where=str(path)) from error
    finally:
        beside.unlink(missing_ok=True)


def _described(field: Any, relation: str) -> Any:
    """The field with its meaning from the catalogue as metadata, as in the lake. Raises KeyError where it has none."""
    from resources.columns import meaning_of

    return field.with_metadata({"comment": meaning_of(field.name, relation)})


def _flat(value: object) -> object:
    return json.dumps(value, default=str) if isinstance(value, list | tuple | dict) else value
