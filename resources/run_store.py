"""Runs in the making: recorded one by one, and two processes never pay for the same repetition at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, TextClause, text

from resources.database import patiently
from resources.lake import Lake
from resources.recorded_runs import Identity, record_run, repetitions_of
from scoring.records import Run

CLAIM_SECONDS = 20
"""A claim that was not renewed for so long is free: its process is dead. While Postgres is away, none expires."""


@dataclass(frozen=True, slots=True)
class RunStore:
    """The runs of a warehouse and who is making which. A Postgres that restarts is waited for."""

    engine: Engine
    lake: Lake

    def claim(self, wanted: Identity, worker_id: str) -> bool:
        """Whether this repetition is now this worker's to make; else somebody else is making it."""
        scenario_id, model_id, repetition = wanted
        place = {"scenario_id": scenario_id, "model_id": model_id, "repetition": repetition}
        return bool(self._done(_CLAIM, {**place, "worker_id": worker_id} | _LEASE))

    def renew(self, worker_id: str) -> None:
        """What this worker has claimed stays its own for a while longer."""
        self._done(_RENEW, {"worker_id": worker_id} | _LEASE)

    def release(self, worker_id: str) -> None:
        """This worker claims nothing any more."""
        self._done(_RELEASE, {"worker_id": worker_id})

    def is_recorded(self, wanted: Identity) -> bool:
        """Whether the repetition has its run."""
        scenario_id, model_id, repetition = wanted
        cell = scenario_id, model_id
        return repetition in patiently(lambda: repetitions_of(self.engine, [cell]))[cell]

    def record(self, run: Run) -> bool:
        """The run is recorded for good, in one transaction. False where another one has its repetition, which stays.

        Raises OSError where the lake is full or away.
        """
        return patiently(lambda: record_run(self.engine, self.lake, run))

    def _done(self, statement: TextClause, parameters: Mapping[str, Any]) -> list[Any]:
        return patiently(lambda: self._executed(statement, parameters))

    def _executed(self, statement: TextClause, parameters: Mapping[str, Any]) -> list[Any]:
        with self.engine.begin() as connection:
            return list(connection.execute(statement, dict(parameters)).scalars())


_LEASE = {"seconds": CLAIM_SECONDS}
_CLAIM = text("""
insert into assay.run_claims (scenario_id, model_id, repetition, worker_id, expires_at)
values (:scenario_id, :model_id, :repetition, :worker_id, clock_timestamp() + make_interval(secs => :seconds))
on conflict (scenario_id, model_id, repetition) do update
    set worker_id = excluded.worker_id, expires_at = excluded.expires_at
    where greatest(run_claims.expires_at, pg_postmaster_start_time() + make_interval(secs => :seconds))
            < clock_timestamp()
        or run_claims.worker_id = excluded.worker_id
returning repetition
""")
_RENEW = text("""
update assay.run_claims set expires_at = clock_timestamp() + make_interval(secs => :seconds)
where worker_id = :worker_id returning repetition
""")
_RELEASE = text("delete from assay.run_claims where worker_id = :worker_id returning repetition")
