"""A model is scored once for what is recorded, whatever overlaps, restarts or comes twice; and again when asked."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import text

from assets.references import POOL
from pipelines.dagster_round import failure_in
from pipelines.definitions import defs
from pipelines.instance import open_instance
from pipelines.partitions import cell_key
from pipelines.schedules import due_rounds
from pipelines.session import Session, open_session
from resources.dagster_resources import Watch
from resources.reference_versions import ReferenceOrigin
from resources.settings import ScheduledWork
from sensors.finished_rounds import finished_rounds
from sensors.finished_runs import finished_runs
from tests.sensors.ticks import ticked
from tests.small_workspace import CELLS, SCENARIOS, run_of, write_workspace


@pytest.fixture
def session(assay_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    del assay_home
    folder = write_workspace(tmp_path / "ws", scoring={"embedding": None})
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    with open_session(folder) as session:
        session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
        yield session


@pytest.fixture
def instance(session: Session) -> Iterator[dg.DagsterInstance]:
    """The real one, in Postgres."""
    with open_instance(session.home) as instance:
        yield instance


def tick(sensor: dg.SensorDefinition, session: Session, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    """The requests of a daemon that remembers nothing."""
    return list(ticked(sensor, session.warehouse, instance).run_requests or ())


def execute(job: str, request: dg.RunRequest, session: Session, instance: dg.DagsterInstance) -> bool:
    resources = {"session": session, "warehouse": session.warehouse, "watch": Watch()}
    config: dict[str, Any] = {**request.run_config, "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    wanted = resources if job == "score_models" else {"warehouse": session.warehouse}
    done = defs.resolve_job_def(job).execute_in_process(
        instance=instance, resources=wanted, tags={**request.tags}, run_config=config, raise_on_error=False
    )
    if not done.success:
        sys.stderr.write(f"{job} failed: {failure_in(done)}\n")
    return done.success


def execute_twice_at_once(job: str, request: dg.RunRequest) -> list[int]:
    """The exit codes of two processes that run the job at the same time, as two daemons' workers would."""
    processes = [multiprocessing.get_context("fork").Process(target=_worker, args=(job, request)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode or 0 for process in processes]


def _worker(job: str, request: dg.RunRequest) -> None:
    """Ends at once, so that the connections it inherited stay its parent's."""
    code = 1
    try:
        with open_session() as session, open_instance(session.home) as instance:
            code = 0 if execute(job, request, session, instance) else 1
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def scores(session: Session) -> list[tuple[Any, ...]]:
    """Every score there ever was: cell, whether it is the latest, whether it is stale."""
    query = "select scenario_id, model_id, is_latest, is_stale from assay.score_states order by model_score_id"
    with session.warehouse.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def test_ticks_at_once_after_restarts_and_repeated_imports_ask_for_the_same_run(
    session: Session, instance: dg.DagsterInstance
) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        ticks = list(pool.map(lambda _: tick(finished_runs, session, instance), range(4)))
    assert {len(found) for found in ticks} == {1}
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    keys = {found[0].run_key for found in [*ticks, tick(finished_runs, session, instance)]}
    assert len(keys) == 1  # Dagster launches a key once


def test_two_runs_over_the_same_models_at_once_leave_one_score_each(
    session: Session, instance: dg.DagsterInstance
) -> None:
    (request,) = tick(finished_runs, session, instance)
    assert execute_twice_at_once("score_models", request) == [0, 0]
    assert sorted(scores(session)) == sorted((*cell, True, False) for cell in CELLS)
    assert tick(finished_runs, session, instance) == []


def test_two_merges_at_once_make_one_version(session: Session, instance: dg.DagsterInstance) -> None:
    (request,) = tick(finished_runs, session, instance)
    execute("score_models", request, session, instance)
    (merge,) = tick(finished_rounds, session, instance)
    instance.event_log_storage.initialize_concurrency_limit_to_default(POOL)  # as the daemon does with what it queues
    assert execute_twice_at_once("merge_findings", merge) == [0, 0]
    assert session.warehouse.references.unmerged() == {}
    assert [len(session.warehouse.references.versions(one)) for one in SCENARIOS] == [1, 1]
    assert tick(finished_rounds, session, instance) == []


def test_no_old_run_key_keeps_a_stale_score_from_being_scored_again(
    session: Session, instance: dg.DagsterInstance
) -> None:
    (first,) = tick(finished_runs, session, instance)
    assert execute("score_models", first, session, instance)
    session.warehouse.save_reference(
        SCENARIOS[0], {"name": "Ada", "year": 1816}, author="mia", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True
    )
    stale = [cell for cell in CELLS if cell[0] == SCENARIOS[0]]
    assert sorted(row[:2] for row in scores(session) if row[3]) == sorted(stale)
    assert tick(finished_runs, session, instance) == []  # a stale score waits for a person or the schedule
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=datetime.now(UTC))
    found = due_rounds(context, session, ScheduledWork.BOTH)
    assert isinstance(found, list)
    (again,) = found
    assert again.run_key != first.run_key
    assert execute("score_models", again, session, instance)
    effective = [row for row in scores(session) if row[2] and row[:2] in stale]
    assert sorted(effective) == sorted((*cell, True, False) for cell in stale)
    assert len(scores(session)) == len(CELLS) + len(stale)
    assert isinstance(due_rounds(context, session, ScheduledWork.BOTH), dg.SkipReason)
    assert instance.get_materialized_partitions(dg.AssetKey("model_scores")) == {str(cell_key(cell)) for cell in CELLS}
