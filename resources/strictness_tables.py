"""The workspace's own strictness tables: a JSON file a model in the folder `strictness`, made by `assay calibrate`."""

from __future__ import annotations

import json
from pathlib import Path

from resources.sources import read_json
from scoring.keys import safe_key
from scoring.strictness import StrictnessTable, table_as_json, table_from_json

TABLES_FOLDER = "strictness"


def read_tables(root: Path) -> tuple[StrictnessTable, ...]:
    """The strictness tables of a workspace, by file name. Raises InputError for a file that holds none."""
    files = sorted((root / TABLES_FOLDER).glob("*.json"))
    return tuple(
        table_from_json(read_json(file, f"{TABLES_FOLDER}/{file.name}"), where=f"{TABLES_FOLDER}/{file.name}")
        for file in files
    )


def write_table(root: Path, table: StrictnessTable) -> Path:
    """The file of the model's table, written whole or not at all; an earlier table of this model is replaced."""
    folder = root / TABLES_FOLDER
    folder.mkdir(exist_ok=True)
    path = folder / f"{safe_key(table.model)}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(table_as_json(table), indent=2) + "\n", encoding="utf-8")
    draft.replace(path)
    return path
