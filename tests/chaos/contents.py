"""What is stored of scenarios, in a form that two homes can be compared by: ids, times and names of files aside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow.parquet as pq

Rows = list[dict[str, Any]]

IDS_AND_TIMES = {
    "model_score_id", "run_id", "round_id", "reference_version_id", "scored_at", "found_at", "finding_id",
    "field_scores_file", "findings_file", "question_id", "reference_edit_id", "created_at", "parent_id",
}  # fmt: skip
OF_THE_SCENARIO = {"config_hash", "runs_hash"}
"""Hashes over texts that hold the scenario's own name."""

_OF_SCORE = {
    "model_scores": "select t.* from assay.model_scores t where model_score_id = %(id)s",
    "run_scores": "select t.*, u.repetition from assay.run_scores t join assay.runs u using (run_id) "
    "where t.model_score_id = %(id)s order by u.repetition",
    "field_scores": "select t.*, u.repetition, t.question_id is not null as is_asked from assay.field_scores t "
    "join assay.runs u using (run_id) where t.model_score_id = %(id)s order by u.repetition, t.field_position",
    "list_scores": "select t.*, u.repetition from assay.list_scores t join assay.runs u using (run_id) "
    "where t.model_score_id = %(id)s order by u.repetition, t.field_position",
    "findings": "select t.*, u.repetition, t.question_id is not null as is_asked from assay.findings t "
    "join assay.runs u using (run_id) where t.model_score_id = %(id)s order by u.repetition, t.path, t.evidence",
}


class Stored:
    """Reads one home's database and lake, and nothing else of the product."""

    def __init__(self, connection: Any, lake: str) -> None:
        connection.autocommit = True
        self.connection = connection
        self.lake = lake

    def rows(self, query: str, **parameters: Any) -> Rows:
        """The rows of a query by column."""
        with self.connection.cursor() as cursor:
            cursor.execute(query, parameters)
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def values(self, query: str, **parameters: Any) -> list[Any]:
        """The first column of a query."""
        return [next(iter(row.values())) for row in self.rows(query, **parameters)]

    def file(self, name: str) -> Rows:
        """The rows of a lake file. Raises OSError where it is missing or not whole."""
        return list(pq.ParquetFile(f"{self.lake}/{name}").read().to_pylist())

    def score(self, score_id: int, scenario: str) -> str:
        """All of one model score as canonical text, its lake files included."""
        found: dict[str, Any] = {name: self.rows(query, id=score_id) for name, query in _OF_SCORE.items()}
        row = found["model_scores"][0]
        for column in ("field_scores_file", "findings_file"):
            found[column] = [] if row[column] is None else self.file(row[column])
        return _canonical(found, scenario)

    def reference(self, scenario: str) -> str:
        """The newest reference with the owner's part of it and the edits in place, as canonical text."""
        head = self.rows(
            "select content_json, item_ids_json, owner_json, owner_item_ids_json, content_hash, owner_hash, is_verified"
            " from assay.reference_versions where scenario_id = %(id)s order by number desc limit 1",
            id=scenario,
        )
        edits = self.rows(
            "select path, before_json, after_json, evidence, model_count, is_rejected from bi.reference_edits"
            " where scenario_id = %(id)s and is_in_place order by path",
            id=scenario,
        )
        return _canonical({"head": head, "edits": edits}, scenario)

    def scores(self, scenarios: Sequence[str]) -> Rows:
        """All model scores of these scenarios, the oldest first, with whether they are the newest."""
        return self.rows(
            "select *, model_score_id = max(model_score_id) over (partition by scenario_id, model_id) as is_latest"
            " from assay.model_scores where scenario_id = any(%(ids)s) order by model_score_id",
            ids=list(scenarios),
        )


def _canonical(found: dict[str, Any], scenario: str) -> str:
    bare = {name: [_bare(row) for row in rows] for name, rows in found.items()}
    text = json.dumps(bare, sort_keys=True, default=str)
    return text.replace(f'"{scenario}"', '"SCENARIO"')


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in IDS_AND_TIMES | OF_THE_SCENARIO}
