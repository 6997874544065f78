"""The lake for DuckDB: SQL that makes a view of each dataset over exactly the files that a row in Postgres names.

A list of files and not a pattern, since files that no row names do not exist (SPEC 12). DuckDB needs neither network
nor extension for it, unless the lake is on `s3://`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, text

from resources.lake_tables import DATASETS

Rows = Sequence[Mapping[str, Any]]

_FILES = text("""
select dataset, lake_file, scenario_id, model_id, model_score_id, reference_version, is_latest, is_stale, committed_at
from bi.lake_files where dataset = any(:datasets) and (not :latest or (is_latest and not is_stale))
order by dataset, committed_at, lake_file
""")
_KINDS = {
    "dataset": "varchar",
    "lake_file": "varchar",
    "scenario_id": "varchar",
    "model_id": "varchar",
    "model_score_id": "bigint",
    "reference_version": "integer",
    "is_latest": "boolean",
    "is_stale": "boolean",
    "committed_at": "timestamptz",
    "filename": "varchar",
}
# What the row in Postgres knows of a file and the file itself does not hold.
_ADDED: Mapping[str, str] = {
    "runs": "",
    "reference_versions": ", f.is_latest",
    "field_scores": ", f.model_score_id, f.reference_version, f.is_latest, f.is_stale, f.committed_at as scored_at",
    "findings": ", f.model_score_id, f.reference_version, f.is_latest, f.is_stale, f.committed_at as found_at",
}


def lake_files(engine: Engine, root: str, datasets: Sequence[str], *, is_latest_only: bool) -> Rows:
    """The rows of `bi.lake_files` of these datasets, each with the `filename` that a reader of Parquet opens.

    With `is_latest_only` those of scores that are the latest and not stale, of the newest reference versions, and of
    all runs.
    """
    base = root.partition("?")[0].rstrip("/")
    with engine.connect() as connection:
        rows = connection.execute(_FILES, {"datasets": list(datasets), "latest": is_latest_only}).mappings()
        return [{**row, "filename": f"{base}/{row['lake_file']}"} for row in rows]


def duckdb_script(files: Rows, datasets: Sequence[str]) -> Iterator[str]:
    """Statements that make table `lake_files` and, for each dataset, a view of its name over its files.

    A view has the columns of the dataset, the hive folder's `scenario` (a safe key, which DuckDB skips files by), and
    what the row that names the file says of it: `is_latest`, `is_stale`, `reference_version`, `model_score_id`.
    """
    columns = ", ".join(f"{name} {kind}" for name, kind in _KINDS.items())
    yield f"create or replace table lake_files ({columns});"
    for start in range(0, len(files), 1000):
        rows = ",\n".join(_values(row) for row in files[start : start + 1000])
        yield f"insert into lake_files values\n{rows};"
    for dataset in datasets:
        names = [row["filename"] for row in files if row["dataset"] == dataset]
        yield _view(dataset, names) if names else _empty(dataset)


def _view(dataset: str, names: Sequence[str]) -> str:
    listed = ",\n".join(_literal(name) for name in names)
    return (
        f"create or replace view {dataset} as select d.* exclude (filename){_ADDED[dataset]}\n"
        f"from read_parquet([{listed}], hive_partitioning = true, filename = true) d\n"
        "join lake_files f on f.filename = d.filename;"
    )


def _empty(dataset: str) -> str:
    """A view without rows, since DuckDB reads no empty list."""
    columns = ", ".join(f"null as {field.name}" for field in DATASETS[dataset])
    return (
        f"create or replace view {dataset} as select {columns}, null as scenario{_ADDED[dataset]}\n"
        "from lake_files f where false;"
    )


def _values(row: Mapping[str, Any]) -> str:
    return f"({', '.join(_literal(row[name]) for name in _KINDS)})"


def _literal(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool() | int():
            return str(value).lower()
        case _:
            shown = value if isinstance(value, str) else value.isoformat()
            return "'" + shown.replace("'", "''") + "'"
