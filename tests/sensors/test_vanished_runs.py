from __future__ import annotations

import time
from pathlib import Path

import dagster as dg
import pytest

from pipelines.definitions import defs
from pipelines.instance import release_dead_runs
from resources import dagster_resources
from resources.run_locks import holding_run
from resources.warehouse import Warehouse
from sensors import vanished_runs as module
from sensors.vanished_runs import PATIENCE_SECONDS, still_missed, vanished, vanished_runs
from tests.sensors.ticks import ticked
from tests.small_workspace import write_workspace


@pytest.mark.parametrize(
    ("under_way", "alive", "before", "expected"),
    [
        ("", "", {}, {}),
        ("a", "a", {}, {}),
        ("a", "", {}, {"a": 100.0}),
        ("a", "", {"a": 50.0}, {"a": 50.0}),
        ("a", "a", {"a": 50.0}, {}),  # it had only been slow to begin
        ("", "", {"a": 50.0}, {}),  # it has ended
        ("ab", "b", {"b": 50.0}, {"a": 100.0}),
    ],
)
def test_what_is_missed_is_remembered_since_when(
    under_way: str, alive: str, before: dict[str, float], expected: dict[str, float]
) -> None:
    assert still_missed(under_way, alive, before, now=100.0) == expected


def test_a_run_has_vanished_once_patience_is_over() -> None:
    assert vanished({"a": 0.0, "b": 1.0}, now=PATIENCE_SECONDS) == ["a"]


@pytest.mark.parametrize("job", sorted(job.name for job in defs.jobs or ()))
def test_every_job_opens_the_warehouse_which_holds_the_lock_of_its_run(job: str) -> None:
    definition = defs.resolve_job_def(job)
    keys = {key for node in definition.nodes for key in node.definition.required_resource_keys}  # type: ignore[attr-defined]
    assert "warehouse" in keys


def started(instance: dg.DagsterInstance) -> str:
    run = instance.create_run_for_job(defs.resolve_job_def("check_scores"), status=dg.DagsterRunStatus.STARTED)
    return run.run_id


def tick(warehouse: Warehouse, instance: dg.DagsterInstance, cursor: str | None = None) -> str:
    """The cursor after the tick."""
    result = ticked(vanished_runs, warehouse, instance, cursor)
    assert result.cursor is not None
    return result.cursor


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_a_run_without_a_process_fails_at_a_later_tick_and_one_with_a_process_goes_on(
    warehouse: Warehouse, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, alive = started(instance), started(instance)
    with holding_run(warehouse.engine, alive):
        cursor = tick(warehouse, instance)
        assert status_of(instance, dead) is dg.DagsterRunStatus.STARTED
        later = time.time() + PATIENCE_SECONDS
        monkeypatch.setattr(module.time, "time", lambda: later)
        tick(warehouse, instance, cursor)
        assert status_of(instance, dead) is dg.DagsterRunStatus.FAILURE
        assert status_of(instance, alive) is dg.DagsterRunStatus.STARTED


def test_the_supervisor_of_a_home_releases_dead_runs_at_once(
    warehouse: Warehouse, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAY_DATABASE_URL", raising=False)
    dead, alive = started(instance), started(instance)
    with holding_run(warehouse.engine, alive):
        assert release_dead_runs(instance, warehouse.engine) == [dead]


def test_on_a_shared_postgres_no_run_of_another_machine_is_released(
    warehouse: Warehouse, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", warehouse.engine.url.render_as_string())
    started(instance)
    assert release_dead_runs(instance, warehouse.engine) == []


def test_a_run_through_dagster_holds_its_lock(
    assay_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del assay_home
    monkeypatch.setenv("ASSAY_WORKSPACE", str(write_workspace(tmp_path / "ws")))
    held: list[str] = []
    real = dagster_resources.holding_run
    monkeypatch.setattr(
        dagster_resources, "holding_run", lambda engine, run_id: held.append(run_id) or real(engine, run_id)
    )
    with dg.DagsterInstance.ephemeral() as instance:
        result = defs.resolve_job_def("check_scores").execute_in_process(instance=instance)
    assert result.success
    assert held == [result.run_id]
