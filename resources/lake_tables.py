"""The shapes of the lake's datasets; every field carries its comment from the catalogue of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from resources.columns import meaning_of


def _schema(dataset: str, fields: Mapping[str, pa.DataType]) -> pa.Schema:
    return pa.schema(
        [pa.field(name, kind, metadata={"comment": meaning_of(name, dataset)}) for name, kind in fields.items()]
    )


_TEXT, _BIG_TEXT, _INT, _REAL, _FLAG = pa.string(), pa.large_string(), pa.int64(), pa.float64(), pa.bool_()

DATASETS: Mapping[str, pa.Schema] = {
    "runs": _schema(
        "runs",
        {
            "scenario_id": _TEXT,
            "model_id": _TEXT,
            "repetition": _INT,
            "status": _TEXT,
            "output": pa.large_binary(),
            "output_sha256": _TEXT,
            "duration_seconds": _REAL,
            "cost_usd": _REAL,
            "input_tokens": _INT,
            "output_tokens": _INT,
            "error": _BIG_TEXT,
        },
    ),
    "field_scores": _schema(
        "field_scores",
        {
            "scenario_id": _TEXT,
            "model_id": _TEXT,
            "run_id": _INT,
            "repetition": _INT,
            "field_position": _INT,
            "path": _TEXT,
            "side": _TEXT,
            "kind": _TEXT,
            "outcome": _TEXT,
            "rung": _TEXT,
            "credit": _REAL,
            "similarity": _REAL,
            "reference_json": _BIG_TEXT,
            "candidate_json": _BIG_TEXT,
            "reference_weight": _REAL,
            "candidate_weight": _REAL,
            "shared_weight": _REAL,
            "reason": _TEXT,
        },
    ),
    "findings": _schema(
        "findings",
        {
            "scenario_id": _TEXT,
            "model_id": _TEXT,
            "run_id": _INT,
            "repetition": _INT,
            "path": _TEXT,
            "evidence": _TEXT,
            "has_proposal": _FLAG,
            "proposal_json": _BIG_TEXT,
            "question_id": _TEXT,
            "stable_path": _TEXT,
            "is_addition": _FLAG,
            "reference_json": _BIG_TEXT,
        },
    ),
    "reference_versions": _schema(
        "reference_versions",
        {
            "scenario_id": _TEXT,
            "number": _INT,
            "content_json": _BIG_TEXT,
            "item_ids_json": _BIG_TEXT,
            "content_hash": _TEXT,
            "author": _TEXT,
            "origin": _TEXT,
            "is_verified": _FLAG,
        },
    ),
}


def lake_table(dataset: str, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """The rows as a table of this dataset; a row has a value per field, in the order of the schema."""
    schema = DATASETS[dataset]
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.Table.from_arrays(
        [pa.array(column, type=field.type) for field, column in zip(schema, columns, strict=True)], schema=schema
    )
