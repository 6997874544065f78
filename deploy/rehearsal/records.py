"""What was recorded, read from Postgres: how far a round is, which runs there were, and the scores to compare."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, create_engine, text

from resources.database import parsed_url

UNDER_WAY = ("NOT_STARTED", "QUEUED", "STARTING", "STARTED", "CANCELING")
_PID = re.compile(r"Started process for run \(pid: (\d+)\)")

# Ids and times tell rows apart and say nothing about a score.
ASIDE = {"model_score_id", "run_id", "scored_at", "stable_path", "scoring_record_id", "scoring_duration_seconds"}
VIEWS = {
    "bi.model_scores": "scenario_id, model_id",
    "bi.run_scores": "scenario_id, model_id, repetition",
    "bi.field_scores": "scenario_id, model_id, repetition, field_position",
    "bi.list_scores": "scenario_id, model_id, repetition, field_position",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DagsterRun:
    """A run of Dagster's: its process id is None until it began."""

    run_id: str
    job: str
    status: str
    pid: int | None
    begun_at: float | None
    ended_at: float | None


@contextmanager
def reading(url: str) -> Iterator[Connection]:
    """A connection that sees each statement's own moment."""
    engine = create_engine(parsed_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def scored(connection: Connection) -> int:
    """How many (scenario, model) cells have a score."""
    return int(connection.execute(text("select count(*) from bi.model_scores where is_latest")).scalar_one())


def committed(connection: Connection) -> dict[str, tuple[int, int]]:
    """Of each Dagster run that scores: how many models are committed, and how many were planned."""
    rows = connection.execute(
        text("""
            select r.dagster_run_id, count(s.model_score_id), max(r.planned_models)
            from assay.rounds r left join assay.model_scores s using (round_id)
            where r.dagster_run_id is not null group by 1
        """)
    )
    return {run_id: (count, planned) for run_id, count, planned in rows}


def dagster_runs(connection: Connection) -> list[DagsterRun]:
    """All runs, oldest first."""
    rows = connection.execute(
        text("""
            select r.run_id, r.pipeline_name, r.status, r.start_time, r.end_time,
                   (select string_agg(e.event, ' ') from event_logs e
                    where e.run_id = r.run_id and e.dagster_event_type = 'ENGINE_EVENT'
                      and e.event like '%Started process for run%') as events
            from runs r order by r.id
        """)
    )
    return [
        DagsterRun(run_id=run_id, job=job, status=status, begun_at=begun, ended_at=ended, pid=_pid_in(events))
        for run_id, job, status, begun, ended, events in rows
    ]


def _pid_in(events: str | None) -> int | None:
    found = _PID.search(events or "")
    return int(found.group(1)) if found else None


def scores(connection: Connection, view: str) -> list[tuple[Any, ...]]:
    """All rows of the view's latest scores in one order, ids and times aside. Numbers are as they stand, to the bit."""
    columns = [name for name in _columns(connection, view) if name not in ASIDE and name != "round_id"]
    query = f"select {', '.join(columns)} from {view} where is_latest order by {VIEWS[view]}"  # noqa: S608 - our names
    return [tuple(map(_frozen, row)) for row in connection.execute(text(query))]


def _columns(connection: Connection, view: str) -> list[str]:
    schema, _, name = view.partition(".")
    query = """
        select column_name from information_schema.columns
        where table_schema = :schema and table_name = :name order by ordinal_position
    """
    return list(connection.execute(text(query), {"schema": schema, "name": name}).scalars())


def _frozen(value: Any) -> Any:
    return value.hex() if isinstance(value, float) else bytes(value) if isinstance(value, memoryview) else value


def digest(rows: Sequence[tuple[Any, ...]]) -> str:
    """A short digest of these rows."""
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]
