"""Marks runs as failed whose process has vanished, so that what they had not scored is asked for again.

No launcher of Dagster's notices it everywhere: Celery's calls a lost run started until its result expires, and a
command that was killed on another machine has no launcher at all. The lock that a run holds in Postgres tells.
"""

import json
import time
from collections.abc import Collection, Mapping

import dagster as dg

from pipelines.instance import PROCESS_ENDED
from resources.run_locks import BEAT_SECONDS, living
from resources.warehouse import Warehouse

INTERVAL_SECONDS = 15

PATIENCE_SECONDS = 4 * BEAT_SECONDS
"""A run that just began has no lock yet, and after a restart of Postgres it comes back within two beats."""

Missed = Mapping[str, float]
"""Since when each run was seen without a process, in seconds since 1970."""


def still_missed(under_way: Collection[str], alive: Collection[str], before: Missed, now: float) -> dict[str, float]:
    """Since when each run under way is missed; runs that live or have ended are not among them."""
    return {run_id: before.get(run_id, now) for run_id in under_way if run_id not in alive}


def vanished(missed: Missed, now: float) -> list[str]:
    """Runs that were missed for longer than patience lasts."""
    return [run_id for run_id, since in missed.items() if now - since >= PATIENCE_SECONDS]


@dg.sensor(
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Marks runs as failed whose process has vanished, wherever it ran; the other sensors then ask again.",
)
def vanished_runs(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """The cursor holds which runs are missed, and since when."""
    runs = {run.run_id: run for run in context.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED]))}
    now = time.time()
    alive = living(warehouse.engine, runs)
    missed = still_missed(runs, alive, json.loads(context.cursor or "{}"), now)
    for run_id in vanished(missed, now):
        context.instance.report_run_failed(runs[run_id], PROCESS_ENDED)
    return dg.SensorResult(cursor=json.dumps(missed))
