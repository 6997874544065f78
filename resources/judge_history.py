"""What judges were asked and what it cost, as people and commands read it: the views of schema `bi`, newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, text

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class JudgeHistory:
    """The ledger of judges in one warehouse."""

    engine: Engine

    def records(self, scenario_id: str, *, model_id: str | None, is_failed_only: bool, limit: int) -> Rows:
        """The newest rows of `bi.scoring_records`; with `is_failed_only` those that ended without a score."""
        parameters = {"scenario_id": scenario_id, "model_id": model_id, "failed": is_failed_only, "limit": limit}
        return self._rows(_RECORDS, parameters)

    def calls(self, scenario_id: str, *, model_id: str | None, is_failed_only: bool, limit: int) -> Rows:
        """The newest rows of `bi.judge_calls`; with `model_id` those that this model's scorings made."""
        parameters = {"scenario_id": scenario_id, "model_id": model_id, "failed": is_failed_only, "limit": limit}
        return self._rows(_CALLS, parameters)

    def question_ids(self, scenario_id: str, start: str) -> list[str]:
        """The ids of the scenario's questions that start so."""
        return [row["question_id"] for row in self._rows(_IDS, {"scenario_id": scenario_id, "start": start})]

    def question(self, scenario_id: str, question_id: str) -> dict[str, Any]:
        """All that is known of one question: what was asked, `answers`, `calls` and the `fields` it decides now."""
        parameters = {"scenario_id": scenario_id, "question_id": question_id}
        (asked,) = self._rows(_QUESTION, parameters)
        return asked | {
            "answers": self._rows(_ANSWERS, parameters),
            "calls": self._rows(_QUESTION_CALLS, parameters),
            "fields": self._rows(_FIELDS, parameters),
        }

    def _rows(self, query: str, parameters: Mapping[str, Any]) -> Rows:
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(text(query), parameters).mappings()]


_RECORDS = """
select * from bi.scoring_records where scenario_id = :scenario_id
  and (cast(:model_id as text) is null or model_id = :model_id) and (not :failed or error is not null)
order by scoring_record_id desc limit :limit
"""
_CALLS = """
select * from bi.judge_calls where scenario_id = :scenario_id
  and (cast(:model_id as text) is null or model_id = :model_id) and (not :failed or error_kind is not null)
order by judge_call_id desc limit :limit
"""
_IDS = """
select question_id from assay.judge_questions
where scenario_id = :scenario_id and starts_with(question_id, :start) order by question_id
"""
_QUESTION = """
select scenario_id, question_id, question_kind, path, prompt, prompt_version, asked_at from assay.judge_questions
where scenario_id = :scenario_id and question_id = :question_id
"""
_ANSWERS = """
select judge_model, is_swapped, verdict, credit, basis, reason, answered_at from assay.judge_answers
where scenario_id = :scenario_id and question_id = :question_id order by judge_model, is_swapped
"""
_QUESTION_CALLS = """
select * from bi.judge_calls where scenario_id = :scenario_id and question_id = :question_id order by judge_call_id
"""
_FIELDS = """
select model_id, repetition, path, outcome, credit, reference_text, candidate_text from bi.field_scores
where is_latest and scenario_id = :scenario_id and question_id = :question_id order by model_id, repetition, path
"""
