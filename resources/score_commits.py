"""The commit of one model's score: everything of it in one transaction, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, text

from resources.bulk import copy_rows
from resources.finding_rows import FINDING_COLUMNS, StablePaths, finding_rows
from resources.lake import Lake
from resources.lake_tables import lake_table
from resources.locks import lock
from resources.recorded_runs import RecordedRun
from resources.reference_versions import ReferenceVersion
from resources.scoring_records import ScoringEnd, close_scoring
from resources.stored_text import json_text, shown, shown_items, storable
from resources.tables import field_scores, findings, list_scores, model_scores, run_scores
from scoring.errors import InputError
from scoring.records import FieldScore, ListScore, Mode, RunStatus, Scorecard
from scoring.repetitions import summarise


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScoring:
    """All that one scoring of a model on a scenario made.

    `cards` maps a repetition to its scorecard and holds every run that ended well. `replaces` is the id of the score
    that was the newest when the scoring was planned. `end` closes the record of this scoring, where one was opened.
    """

    scenario_id: str
    model_id: str
    round_id: int | None
    reference: ReferenceVersion
    config_hash: str
    mode: Mode
    embedding_model: str | None
    runs: Sequence[RecordedRun]
    cards: Mapping[int, Scorecard]
    replaces: int | None = None
    end: ScoringEnd | None = None


Scored = tuple[RecordedRun, Scorecard]


def commit_model_score(engine: Engine, lake: Lake, scoring: ModelScoring) -> int:
    """The id of the model score, which is whole and visible.

    Where another process committed a score of the same runs, reference and config since the scoring was planned, that
    one's id is returned and nothing is written. Raises InputError for a reference that is not verified or cards that
    are not whole.
    """
    scored = _whole(scoring)
    found = finding_rows(scoring, scored)
    with ThreadPoolExecutor(max_workers=1) as beside, engine.begin() as connection:
        written = beside.submit(_write_lake, lake, scoring, scored, found)
        lock(connection, "score", scoring.scenario_id, scoring.model_id)
        state = _state(connection, scoring)
        if (rival := _rival(scoring, state)) is not None:
            if scoring.end is not None:
                close_scoring(connection, scoring.end, error="another process committed the same score meanwhile")
            return rival
        field_file, findings_file = written.result()
        row = _score_row(scoring, state) | {"field_scores_file": field_file, "findings_file": findings_file}
        score_id: int = connection.execute(_NEW_SCORE, row).scalar_one()
        copy_rows(connection, run_scores, _RUN_COLUMNS, (_run_row(score_id, *one) for one in scored))
        copy_rows(connection, field_scores, _FIELD_COLUMNS, _field_rows(score_id, scoring, scored))
        copy_rows(connection, list_scores, _LIST_COLUMNS, _list_rows(score_id, scored))
        rows = ((score_id, one.run_id, scoring.scenario_id, scoring.model_id, *said) for one, *said in found)
        copy_rows(connection, findings, FINDING_COLUMNS, rows)
        if scoring.end is not None:
            close_scoring(connection, scoring.end, model_score_id=score_id)
    return score_id


def _whole(scoring: ModelScoring) -> list[Scored]:
    """The runs that have a card, by repetition."""
    where = f"{scoring.scenario_id} / {scoring.model_id}"
    if not scoring.reference.is_verified:
        raise InputError(
            "its reference is not verified, so nothing can be scored against it",
            where=where,
            remedy=f"Verify it with: assay reference verify {scoring.scenario_id}",
        )
    wanted = {one.run.repetition for one in scoring.runs if one.run.status is RunStatus.OK}
    if wanted != set(scoring.cards):
        raise InputError(
            f"{len(scoring.cards)} of {len(wanted)} runs have a score; a score is whole or not at all", where=where
        )
    ordered = sorted(scoring.runs, key=lambda one: one.run.repetition)
    return [(one, scoring.cards[one.run.repetition]) for one in ordered if one.run.repetition in wanted]


_NEW_SCORE = insert(model_scores).returning(model_scores.c.model_score_id)
_STATE = text("""
select r.runs_hash,
       n.model_score_id, n.reference_version_id, n.config_hash as scored_config_hash, n.runs_hash as scored_runs_hash
from (select encode(sha256(convert_to(
        string_agg(repetition || ':' || content_hash, ',' order by repetition), 'UTF8')), 'hex') as runs_hash
      from assay.runs where run_id = any(:run_ids)) r
left join lateral (
    select * from assay.model_scores where scenario_id = :scenario_id and model_id = :model_id
    order by model_score_id desc limit 1) n on true
""")


def _state(connection: Connection, scoring: ModelScoring) -> Row[Any]:
    """The hashes of what is scored, and the newest score of the same model on the same scenario."""
    parameters = {
        "run_ids": [one.run_id for one in scoring.runs],
        "scenario_id": scoring.scenario_id,
        "model_id": scoring.model_id,
    }
    return connection.execute(_STATE, parameters).one()


def _rival(scoring: ModelScoring, state: Row[Any]) -> int | None:
    """The score of another process that says the same as this one would."""
    newest: int | None = state.model_score_id
    if newest is None or newest == scoring.replaces:
        return None
    mine = (scoring.reference.reference_version_id, scoring.config_hash, state.runs_hash)
    same = (state.reference_version_id, state.scored_config_hash, state.scored_runs_hash) == mine
    return newest if same else None


def _score_row(scoring: ModelScoring, state: Row[Any]) -> dict[str, Any]:
    runs = [one.run for one in scoring.runs]
    summary = summarise(runs, scoring.cards)
    low, high = summary.interval or (None, None)
    return {
        "scenario_id": scoring.scenario_id,
        "model_id": scoring.model_id,
        "round_id": scoring.round_id,
        "reference_version_id": scoring.reference.reference_version_id,
        "owner_reference_hash": scoring.reference.owner_hash,
        "config_hash": scoring.config_hash,
        "runs_hash": state.runs_hash,
        "mode": scoring.mode.value,
        "embedding_model": scoring.embedding_model,
        "run_count": summary.runs,
        "ok_run_count": sum(run.status is RunStatus.OK for run in runs),
        "scored_run_count": summary.scored_runs,
        "quality": summary.mean_quality,
        "lowest_quality": summary.lowest_quality,
        "highest_quality": summary.highest_quality,
        "interval_low": low,
        "interval_high": high,
        "median_repetition": summary.median_run,
        "completeness": summary.mean_completeness,
        "correctness": summary.mean_correctness,
        "hallucination": summary.mean_hallucination,
        "mean_duration_seconds": summary.mean_duration_seconds,
        "mean_cost_usd": summary.mean_cost_usd,
    }


_RUN_COLUMNS = (
    "model_score_id",
    "run_id",
    "quality",
    "completeness",
    "correctness",
    "hallucination",
    "reference_weight",
    "candidate_weight",
    "shared_weight",
    "earned_weight",
    "field_count",
    "problems",
    "unreadable_kind",
    "unreadable_reason",
)


def _run_row(score_id: int, recorded: RecordedRun, card: Scorecard) -> tuple[Any, ...]:
    scores, unreadable = card.scores, card.unreadable
    four = (scores.quality, scores.completeness, scores.correctness, scores.hallucination)
    weights = (scores.reference_weight, scores.candidate_weight, scores.shared_weight, scores.earned_weight)
    why = (None, None) if unreadable is None else (unreadable.kind, storable(unreadable.reason))
    problems = storable("\n".join(card.problems))
    return (score_id, recorded.run_id, *four, *weights, len(card.fields), problems, *why)


_FIELD_COLUMNS = (
    "model_score_id",
    "run_id",
    "field_position",
    "path",
    "side",
    "kind",
    "outcome",
    "rung",
    "credit",
    "similarity",
    "reference_text",
    "candidate_text",
    "is_shortened",
    "reference_weight",
    "candidate_weight",
    "shared_weight",
    "reason",
    "setting",
    "setting_origin",
    "question_id",
    "is_contested",
    "list_path",
    "stable_path",
)


def _field_rows(score_id: int, scoring: ModelScoring, scored: Sequence[Scored]) -> Iterator[tuple[Any, ...]]:
    paths = StablePaths(scoring.reference)
    for recorded, card in scored:
        for position, row in enumerate(card.fields):
            yield (score_id, recorded.run_id, position, *_field_values(row), paths.of(row))


def _field_values(row: FieldScore) -> tuple[Any, ...]:
    reference, is_reference_cut = shown(row.reference)
    candidate, is_candidate_cut = shown(row.candidate)
    setting = (None, None) if row.setting is None else (storable(row.setting.text), row.setting.origin.value)
    return (
        storable(row.path),
        row.side.value,
        str(row.kind),
        row.outcome.value,
        None if row.rung is None else row.rung.value,
        row.credit,
        row.similarity,
        reference,
        candidate,
        is_reference_cut or is_candidate_cut,
        row.reference_weight,
        row.candidate_weight,
        row.shared_weight,
        storable(row.reason),
        *setting,
        row.question_id,
        row.is_contested,
        None if row.list_path is None else storable(row.list_path),
    )


_LIST_COLUMNS = (
    "model_score_id",
    "run_id",
    "field_position",
    "path",
    "list_order",
    "matched_count",
    "missed_count",
    "extra_count",
    "hallucinated_count",
    "duplicate_count",
    "precision",
    "recall",
    "f1",
    "missed_items",
    "extra_items",
    "hallucinated_items",
)


def _list_rows(score_id: int, scored: Sequence[Scored]) -> Iterator[tuple[Any, ...]]:
    for recorded, card in scored:
        for position, row in enumerate(card.lists):
            yield (score_id, recorded.run_id, position, *_list_values(row))


def _list_values(row: ListScore) -> tuple[Any, ...]:
    counts = (row.matched, len(row.missed), len(row.extra), len(row.hallucinated), row.duplicates)
    items = (shown_items(row.missed), shown_items(row.extra), shown_items(row.hallucinated))
    return (storable(row.path), row.order.value, *counts, row.precision, row.recall, row.f1, *items)


def _write_lake(
    lake: Lake, scoring: ModelScoring, scored: Sequence[Scored], found: Sequence[tuple[Any, ...]]
) -> tuple[str, str | None]:
    """The files of field scores and of findings; they exist for readers once the row that names them is committed."""
    partition = {"scenario": scoring.scenario_id}
    fields = [
        _lake_field(scoring, recorded, position, row)
        for recorded, card in scored
        for position, row in enumerate(card.fields)
    ]
    rows = [(*_lake_run(scoring, recorded), *said) for recorded, *said in found]
    field_file = lake.write("field_scores", partition, lake_table("field_scores", fields))
    return field_file, lake.write("findings", partition, lake_table("findings", rows)) if rows else None


def _lake_run(scoring: ModelScoring, recorded: RecordedRun) -> tuple[Any, ...]:
    return scoring.scenario_id, scoring.model_id, recorded.run_id, recorded.run.repetition


def _lake_field(scoring: ModelScoring, recorded: RecordedRun, position: int, row: FieldScore) -> tuple[Any, ...]:
    return (
        *_lake_run(scoring, recorded),
        position,
        storable(row.path),
        row.side.value,
        str(row.kind),
        row.outcome.value,
        None if row.rung is None else row.rung.value,
        row.credit,
        row.similarity,
        json_text(row.reference),
        json_text(row.candidate),
        row.reference_weight,
        row.candidate_weight,
        row.shared_weight,
        storable(row.reason),
    )
