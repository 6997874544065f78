"""Records of scorings: what each needed of the judge and what that cost, whether it ended well or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, text, update

from resources.stored_text import storable
from resources.tables import scoring_records

Cell = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringEnd:
    """How a scoring ended, beside its score: the questions it needed, how many of those cost it no call, conflicts."""

    scoring_record_id: int
    duration_seconds: float
    question_count: int = 0
    cached_count: int = 0
    position_conflict_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCosts:
    """What a scoring's requests to judges came to. `cost_usd` is None where the cost of one is unknown."""

    calls: int = 0
    failed_calls: int = 0
    cost_usd: float | None = 0.0
    judge_seconds: float = 0.0


def open_scorings(engine: Engine, round_id: int, judges: Mapping[Cell, Iterable[str]]) -> dict[Cell, int]:
    """The ids of records that say which scorings of a round have begun, with the judges that they may ask."""
    rows = [
        {
            "round_id": round_id,
            "scenario_id": scenario_id,
            "model_id": model_id,
            "judge_models": storable("\n".join(names)),
            "question_count": 0,
            "cached_count": 0,
            "position_conflict_count": 0,
        }
        for (scenario_id, model_id), names in judges.items()
    ]
    if not rows:
        return {}
    columns = (scoring_records.c.scenario_id, scoring_records.c.model_id, scoring_records.c.scoring_record_id)
    with engine.begin() as connection:
        found = connection.execute(insert(scoring_records).returning(*columns), rows)
        return {(scenario_id, model_id): id_ for scenario_id, model_id, id_ in found}


def close_scoring(
    connection: Connection, end: ScoringEnd, *, model_score_id: int | None = None, error: str | None = None
) -> None:
    """The scoring has ended, with a score or with the reason why there is none."""
    closed = update(scoring_records).where(scoring_records.c.scoring_record_id == end.scoring_record_id)
    connection.execute(
        closed.values(
            model_score_id=model_score_id,
            error=None if error is None else storable(error),
            question_count=end.question_count,
            cached_count=end.cached_count,
            position_conflict_count=end.position_conflict_count,
            duration_seconds=end.duration_seconds,
            ended_at=func.now(),
        )
    )


_COSTS = text("""
select call_count, failed_call_count, cost_usd, judge_seconds from bi.scoring_records
where scoring_record_id = :scoring_record_id
""")


def costs_of(engine: Engine, scoring_record_id: int) -> JudgeCosts:
    """What the judge cost one scoring so far."""
    with engine.connect() as connection:
        row = connection.execute(_COSTS, {"scoring_record_id": scoring_record_id}).one()
    return JudgeCosts(
        calls=row.call_count,
        failed_calls=row.failed_call_count,
        cost_usd=row.cost_usd,
        judge_seconds=row.judge_seconds,
    )


_RECORDS = """
select * from bi.scoring_records where (cast(:scenario_id as text) is null or scenario_id = :scenario_id)
  and (cast(:model_id as text) is null or model_id = :model_id)
order by scoring_record_id desc limit :limit
"""


def scoring_records_of(
    engine: Engine, scenario_id: str | None, *, model_id: str | None, limit: int
) -> list[dict[str, Any]]:
    """The newest records as `bi.scoring_records` has them, newest first."""
    parameters = {"scenario_id": scenario_id, "model_id": model_id, "limit": limit}
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(_RECORDS), parameters).mappings()]


_JUDGING_COSTS = """
select model_id, count(*) as scorings,
       count(*) filter (where not is_scored and ended_at is not null) as failed_scorings,
       sum(question_count)::bigint as questions, sum(cached_count)::bigint as cached, sum(call_count)::bigint as calls,
       sum(failed_call_count)::bigint as failed_calls, sum(input_tokens)::bigint as input_tokens,
       sum(output_tokens)::bigint as output_tokens,
       case when sum(unpriced_call_count) = 0 then sum(known_cost_usd) end as cost_usd,
       sum(known_cost_usd) as known_cost_usd, sum(unpriced_call_count)::bigint as unpriced_calls,
       sum(judge_seconds) as judge_seconds, sum(duration_seconds) as scoring_seconds
from bi.scoring_records group by model_id order by known_cost_usd desc, model_id
"""


def judging_costs(engine: Engine) -> list[dict[str, Any]]:
    """What judging each model came to over all its scorings, dearest first."""
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(text(_JUDGING_COSTS)).mappings()]


# Nobody can know what an unpriced request cost: it counts as much as the dearest known one of the same rounds.
_SPENDING = text("""
select coalesce(sum(k.cost_usd), 0) + (count(*) - count(k.cost_usd)) * coalesce(max(k.cost_usd), 0) as spent_usd
from assay.judge_calls k
join assay.scoring_records d using (scoring_record_id)
join assay.rounds r using (round_id)
where r.dagster_run_id = any(:run_ids)
""")


def judge_spending(engine: Engine, dagster_run_ids: Sequence[str]) -> float:
    """What the judges of these Dagster runs cost so far, in USD."""
    with engine.connect() as connection:
        return float(connection.execute(_SPENDING, {"run_ids": list(dagster_run_ids)}).scalar_one())
