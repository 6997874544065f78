"""Results as people and commands read them: the views of schema `bi`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, text

if TYPE_CHECKING:
    from scoring.ranking import Result, Weights

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRuns:
    """The runs that a model score covers: how many, how many of them failed, the qualities (0..100) of the scored."""

    runs: int
    failed_runs: int
    qualities: tuple[float, ...]


_MODEL_SCORES = """
select * from bi.model_scores where is_latest and scenario_id = :scenario_id
  and (cast(:model_id as text) is null or model_id = :model_id)
order by quality desc nulls last, model_id
"""
_RUN_SCORES = """
select * from bi.run_scores where is_latest and scenario_id = :scenario_id
  and (cast(:model_id as text) is null or model_id = :model_id)
order by model_id, repetition
"""
_FIELD_SCORES = """
select * from bi.field_scores where is_latest and scenario_id = :scenario_id and model_id = :model_id
  and repetition = :repetition order by field_position
"""
_LIST_SCORES = """
select * from bi.list_scores where is_latest and scenario_id = :scenario_id and model_id = :model_id
  and repetition = :repetition order by field_position
"""
_LEADERBOARD = """
select * from bi.leaderboard where scope = :scope and (cast(:scenario_id as text) is null or scenario_id = :scenario_id)
order by scenario_id nulls first, position, quality desc, model_id
"""
_RANKING = """
select m.scenario_id, m.model_id, m.quality, m.mean_duration_seconds, m.mean_cost_usd,
       array(select r.quality from assay.run_scores r
             where r.model_score_id = m.model_score_id order by r.run_id) as qualities
from bi.model_scores m
where m.is_latest and m.quality is not null and (not m.is_stale or :with_stale)
  and (cast(:scenario_ids as text[]) is null or m.scenario_id = any(cast(:scenario_ids as text[])))
order by m.scenario_id collate "C", m.model_id collate "C"
"""
_SCORED_RUNS = """
select m.model_score_id, m.run_count, m.run_count - m.ok_run_count as failed_run_count,
       array(select r.quality from assay.run_scores r
             where r.model_score_id = m.model_score_id order by r.run_id) as qualities
from assay.model_scores m
where m.model_score_id = any(cast(:model_score_ids as bigint[]))
"""
_SCORED_SCENARIOS = """
select c.scenario_id from assay.scenarios c
where exists (select from assay.model_scores s where s.scenario_id = c.scenario_id)
"""
_JUDGE_KIN = """
select scenario_id, model_id from bi.model_scores
where is_latest and is_judge_family
  and (cast(:scenario_ids as text[]) is null or scenario_id = any(cast(:scenario_ids as text[])))
order by scenario_id collate "C", model_id collate "C"
"""


def model_scores(engine: Engine, scenario_id: str, *, model_id: str | None) -> Rows:
    """The latest model scores of one scenario, best quality first."""
    return _rows(engine, _MODEL_SCORES, {"scenario_id": scenario_id, "model_id": model_id})


def run_scores(engine: Engine, scenario_id: str, *, model_id: str | None) -> Rows:
    """The latest run scores of one scenario, by model and repetition."""
    return _rows(engine, _RUN_SCORES, {"scenario_id": scenario_id, "model_id": model_id})


def field_scores(engine: Engine, scenario_id: str, model_id: str, repetition: int) -> Rows:
    """The latest field scores of one run, in the order of the document."""
    return _rows(engine, _FIELD_SCORES, {"scenario_id": scenario_id, "model_id": model_id, "repetition": repetition})


def list_scores(engine: Engine, scenario_id: str, model_id: str, repetition: int) -> Rows:
    """The latest list scores of one run, in the order of the document."""
    return _rows(engine, _LIST_SCORES, {"scenario_id": scenario_id, "model_id": model_id, "repetition": repetition})


def leaderboard(engine: Engine, scope: str, scenario_id: str | None) -> Rows:
    """The rows of one scope, best first."""
    return _rows(engine, _LEADERBOARD, {"scope": scope, "scenario_id": scenario_id})


_SPREADS = """
select model_id, avg(lowest_quality) as lowest_quality, avg(quality) as quality, avg(highest_quality) as highest_quality
from bi.model_scores where is_latest and not is_stale and quality is not null group by model_id
order by quality desc, model_id collate "C"
"""


def spreads(engine: Engine) -> Rows:
    """Lowest, mean and highest quality over repetitions, each averaged over a model's scenarios; best first."""
    return _rows(engine, _SPREADS, {})


def ranking_rows(engine: Engine, scenario_ids: Sequence[str] | None, *, with_stale: bool) -> list[Result]:
    """What `scoring.ranking.rank` takes: the latest model scores that have a quality, by scenario and model."""
    from scoring.ranking import Result

    wanted = None if scenario_ids is None else list(scenario_ids)
    return [
        Result(
            scenario_id=row["scenario_id"],
            model_id=row["model_id"],
            quality=row["quality"],
            qualities=tuple(row["qualities"]),
            duration_seconds=row["mean_duration_seconds"],
            cost_usd=row["mean_cost_usd"],
        )
        for row in _rows(engine, _RANKING, {"scenario_ids": wanted, "with_stale": with_stale})
    ]


def scored_runs(engine: Engine, model_score_ids: Sequence[int]) -> dict[int, ScoredRuns]:
    """The runs behind each of these model scores."""
    return {
        row["model_score_id"]: ScoredRuns(
            runs=row["run_count"], failed_runs=row["failed_run_count"], qualities=tuple(row["qualities"])
        )
        for row in _rows(engine, _SCORED_RUNS, {"model_score_ids": list(model_score_ids)})
    }


def scored_scenarios(engine: Engine) -> set[str]:
    """The ids of the scenarios on which some model has a score, stale or not."""
    return {row["scenario_id"] for row in _rows(engine, _SCORED_SCENARIOS, {})}


def judge_kin(engine: Engine, scenario_ids: Sequence[str] | None) -> list[tuple[str, str]]:
    """The (scenario id, model id) whose latest score has a judge of the model's own family."""
    wanted = None if scenario_ids is None else list(scenario_ids)
    return [(row["scenario_id"], row["model_id"]) for row in _rows(engine, _JUDGE_KIN, {"scenario_ids": wanted})]


def ranking_weights(engine: Engine) -> dict[str, Weights]:
    """What quality, speed and cost count, by scenario."""
    from scoring.ranking import Weights

    query = "select scenario_id, quality_weight, speed_weight, cost_weight from assay.scenarios"
    return {
        row["scenario_id"]: Weights(quality=row["quality_weight"], speed=row["speed_weight"], cost=row["cost_weight"])
        for row in _rows(engine, query, {})
    }


def _rows(engine: Engine, query: str, parameters: Mapping[str, Any]) -> Rows:
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(query), parameters).mappings()]
