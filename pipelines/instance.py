"""Dagster's home: its settings, its environment, and the instance itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from resources.home import Home
from resources.run_locks import living

if TYPE_CHECKING:
    import dagster as dg
    from sqlalchemy import Engine

_PACKAGES = Path(__file__).parents[1]
_TEMPLATE = Path(__file__).with_name("dagster.yaml")

PROCESS_ENDED = "The process that ran it has ended. What it committed is kept."

STATEMENT_TIMEOUT_MILLISECONDS = 120_000
MORE_CONNECTIONS = 4
"""Beside the one connection that each of Dagster's three storages keeps open."""


def dagster_environment(home: Home) -> dict[str, str]:
    """What a process needs in its environment to use Dagster's instance of this home; Postgres answers afterwards.

    Holds the password of the database: give it to processes, never to a log.
    """
    from resources.postgres import dagster_url

    return {
        "DAGSTER_HOME": str(home.dagster),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        # Events of a run over many partitions are written in batches, planned ones as one: 340 -> 50 ms a partition.
        "DAGSTER_EVENT_BATCH_SIZE": "1000",
        "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "1",
        "ASSAY_DAGSTER_STORAGE_URL": dagster_url(home).render_as_string(hide_password=False),
    }


def child_environment(home: Home, workspace: Path) -> dict[str, str]:
    """The environment of a process that `assay up` starts: this one's and Dagster's, with compiled modules kept."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(part for part in (str(_PACKAGES), inherited.get("PYTHONPATH", "")) if part)
    own = {"ASSAY_HOME": str(home.root), "ASSAY_WORKSPACE": str(workspace), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    return inherited | dagster_environment(home) | own


def write_settings(home: Home) -> None:
    """The instance's dagster.yaml says what the template says."""
    home.dagster.mkdir(parents=True, exist_ok=True)
    target = home.dagster / "dagster.yaml"
    text = _TEMPLATE.read_text()
    if not target.exists() or target.read_text() != text:
        beside = target.with_suffix(".new")
        beside.write_text(text)
        beside.rename(target)


@contextmanager
def open_instance(home: Home) -> Iterator[dg.DagsterInstance]:
    """Dagster's persistent instance of this home, its tables made where needed."""
    write_settings(home)
    with _environment(dagster_environment(home)):
        from dagster import DagsterInstance

        with DagsterInstance.from_config(str(home.dagster)) as instance:
            # Without this the storage opens a connection for every statement: 340 a round of 216 models.
            instance.optimize_for_webserver(
                statement_timeout=STATEMENT_TIMEOUT_MILLISECONDS, pool_recycle=3600, max_overflow=MORE_CONNECTIONS
            )
            yield instance


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def release_dead_runs(instance: dg.DagsterInstance, engine: Engine) -> list[str]:
    """Ids of runs that were under way when their process died, now marked as failed so that nothing waits for them.

    Only for the one supervisor of a home. None where a Postgres by URL is used: workers on other machines may be about
    to begin, and the sensor `vanished_runs` waits a while before it speaks.
    """
    import dagster as dg

    if os.environ.get("ASSAY_DATABASE_URL"):
        return []
    under_way = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]
    runs = instance.get_runs(dg.RunsFilter(statuses=under_way))
    alive = living(engine, [run.run_id for run in runs])
    dead = [run for run in runs if run.run_id not in alive]
    for run in dead:
        instance.report_run_failed(run, PROCESS_ENDED)
    return [run.run_id for run in dead]
