"""Cells: every model of every scenario, and what is recorded, complete, scored, stale there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, Row, text

# What ends without a score is tried again by itself; what does so every time needs a person, not a loop. A scoring that
# fails has paid its judge for the try. One whose process died mostly had no part in that, and what it paid for is kept.
MOST_FAILURES = 3
MOST_CRASHES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHead:
    """The newest score of a cell, the hashes of what it was made of, and whether a judge is of the model's family."""

    model_score_id: int
    reference_version_id: int
    reference_hash: str
    config_hash: str
    runs_hash: str
    mode: str
    is_judge_family: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One model on one scenario.

    `reference_hash` is that of what the owner last saved, None without a reference; `has_verified_reference` says
    whether the newest version may be benchmarked. `runs_hash` and `newest_run_id` are None where nothing is recorded.
    `is_edit_rejected` says that the score was made against a value that the owner rejected since. Of the
    scorings that a sensor began since runs, reference or scoring config last changed, `failures` ended with an error,
    the last one with `last_error`, and `crashes` never ended; those under way are among the latter.
    """

    scenario_id: str
    model_id: str
    expected_repetitions: int
    recorded: int
    newest_run_id: int | None
    runs_hash: str | None
    reference_hash: str | None
    has_verified_reference: bool
    config_hash: str
    head: ScoreHead | None
    is_stale: bool
    is_edit_rejected: bool = False
    failures: int = 0
    crashes: int = 0
    last_error: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every repetition that the scenario asks for is recorded."""
        return self.recorded >= self.expected_repetitions

    @property
    def is_scored(self) -> bool:
        """Whether there is a score, stale or not."""
        return self.head is not None

    @property
    def has_new_runs(self) -> bool:
        """Whether runs were recorded since the score."""
        return self.head is not None and self.head.runs_hash != self.runs_hash

    @property
    def is_scorable(self) -> bool:
        """Whether all is there that a score needs: complete runs and a verified reference."""
        return self.is_complete and self.recorded > 0 and self.has_verified_reference

    @property
    def is_given_up(self) -> bool:
        """Whether so many scorings came to nothing that only a person starts the next one."""
        return self.failures >= MOST_FAILURES or self.crashes >= MOST_CRASHES

    @property
    def needs_scoring(self) -> bool:
        """Whether a round over unscored and stale models should score this one."""
        return self.is_scorable and (not self.is_scored or self.is_stale or self.has_new_runs)


# What is asked for stands in every part: one that is named twice is worked out by itself, over all that is recorded.
_CELLS = text("""
with recorded as (
    select scenario_id, model_id, count(*)::int as recorded, max(run_id) as newest_run_id,
           max(imported_at) as imported_at,
           encode(sha256(convert_to(
             string_agg(repetition || ':' || content_hash, ',' order by repetition), 'UTF8')), 'hex') as runs_hash
    from assay.runs
    where (cast(:scenario_ids as text[]) is null or scenario_id = any(cast(:scenario_ids as text[])))
      and (cast(:model_ids as text[]) is null or model_id = any(cast(:model_ids as text[])))
    group by scenario_id, model_id
), reference_heads as (
    select distinct on (scenario_id) scenario_id, is_verified
    from assay.reference_versions
    where (cast(:scenario_ids as text[]) is null or scenario_id = any(cast(:scenario_ids as text[])))
    order by scenario_id, number desc
), heads as (
    select * from assay.score_states
    where is_latest
      and (cast(:scenario_ids as text[]) is null or scenario_id = any(cast(:scenario_ids as text[])))
      and (cast(:model_ids as text[]) is null or model_id = any(cast(:model_ids as text[])))
), attempts as (
    select d.scenario_id, d.model_id, count(d.error)::int as failures, count(*)::int - count(d.error)::int as crashes,
           (array_agg(d.error order by d.scoring_record_id desc) filter (where d.error is not null))[1] as last_error
    from assay.scoring_records d
    join assay.rounds w using (round_id)
    join assay.scenarios c using (scenario_id)
    left join recorded r using (scenario_id, model_id)
    left join assay.owner_references o using (scenario_id)
    left join assay.reference_versions v on v.reference_version_id = o.reference_version_id
    where d.model_score_id is null and w.trigger = 'sensor'
      and (cast(:scenario_ids as text[]) is null or d.scenario_id = any(cast(:scenario_ids as text[])))
      and (cast(:model_ids as text[]) is null or d.model_id = any(cast(:model_ids as text[])))
      and d.started_at > greatest(r.imported_at, v.created_at, c.config_changed_at)
    group by d.scenario_id, d.model_id
)
select c.scenario_id, m.model_id, c.expected_repetitions, c.config_hash,
       coalesce(r.recorded, 0) as recorded, r.newest_run_id, r.runs_hash,
       o.content_hash as reference_hash, coalesce(v.is_verified, false) as is_verified,
       h.model_score_id, h.reference_version_id, h.owner_reference_hash, h.config_hash as scored_config_hash,
       h.runs_hash as scored_runs_hash, h.mode, coalesce(h.is_stale, false) as is_stale,
       coalesce(h.is_edit_rejected, false) as is_edit_rejected,
       exists (select from assay.judge_kin k where k.model_score_id = h.model_score_id) as is_judge_family,
       coalesce(a.failures, 0) as failures, coalesce(a.crashes, 0) as crashes, a.last_error
from assay.scenarios c
cross join assay.models m
left join recorded r using (scenario_id, model_id)
left join assay.owner_references o using (scenario_id)
left join reference_heads v using (scenario_id)
left join heads h using (scenario_id, model_id)
left join attempts a using (scenario_id, model_id)
where (cast(:scenario_ids as text[]) is null or c.scenario_id = any(cast(:scenario_ids as text[])))
  and (cast(:model_ids as text[]) is null or m.model_id = any(cast(:model_ids as text[])))
order by c.scenario_id collate "C", m.model_id collate "C"
""")


def cells(engine: Engine, scenario_ids: Sequence[str] | None, model_ids: Sequence[str] | None) -> list[Cell]:
    """Every scenario x model of those named (None: all), by scenario and model id."""
    parameters = {
        "scenario_ids": None if scenario_ids is None else list(scenario_ids),
        "model_ids": None if model_ids is None else list(model_ids),
    }
    with engine.connect() as connection:
        return [_cell(row) for row in connection.execute(_CELLS, parameters)]


def _cell(row: Row[Any]) -> Cell:
    return Cell(
        scenario_id=row.scenario_id,
        model_id=row.model_id,
        expected_repetitions=row.expected_repetitions,
        recorded=row.recorded,
        newest_run_id=row.newest_run_id,
        runs_hash=row.runs_hash,
        reference_hash=row.reference_hash,
        has_verified_reference=row.is_verified,
        config_hash=row.config_hash,
        head=_head(row),
        is_stale=row.is_stale,
        is_edit_rejected=row.is_edit_rejected,
        failures=row.failures,
        crashes=row.crashes,
        last_error=row.last_error,
    )


def _head(row: Row[Any]) -> ScoreHead | None:
    if row.model_score_id is None:
        return None
    return ScoreHead(
        model_score_id=row.model_score_id,
        reference_version_id=row.reference_version_id,
        reference_hash=row.owner_reference_hash,
        config_hash=row.scored_config_hash,
        runs_hash=row.scored_runs_hash,
        mode=row.mode,
        is_judge_family=row.is_judge_family,
    )
