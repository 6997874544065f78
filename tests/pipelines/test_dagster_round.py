from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipelines.dagster_round import run_round_through_dagster
from pipelines.instance import open_instance
from pipelines.partitions import cell_key
from pipelines.session import Session, open_session
from tests.small_workspace import CELLS, REFERENCE, FakeEmbeddings, run_of, write_workspace

MODEL_SCORES = dg.AssetKey("model_scores")


@pytest.fixture
def folder(assay_home: Path, tmp_path: Path) -> Path:
    del assay_home
    return write_workspace(tmp_path / "ws")


@pytest.fixture
def open_small(folder: Path) -> Iterator[Callable[..., Session]]:
    opened = []

    def open_(embeddings: FakeEmbeddings | None = None) -> Session:
        manager = open_session(folder)
        session = manager.__enter__()
        opened.append(manager)
        for scenario in session.workspace.scenarios:
            session._embeddings[scenario.scoring.embedding.value] = embeddings or FakeEmbeddings()
        return session

    yield open_
    for manager in opened:
        manager.__exit__(None, None, None)


def stale_partitions(instance: dg.DagsterInstance) -> set[tuple[str, str]]:
    """The scored cells that Dagster shows as outdated."""
    from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
    from dagster._core.loader import LoadingContextForTest

    from pipelines.definitions import defs

    resolver = CachingStaleStatusResolver(
        instance=instance,
        asset_graph=defs.get_repository_def().asset_graph,
        loading_context=LoadingContextForTest(instance),
    )
    return {cell for cell in CELLS if resolver.get_status(MODEL_SCORES, str(cell_key(cell))) is StaleStatus.STALE}


def latest(instance: dg.DagsterInstance, asset: str) -> dict[str, Any]:
    (record,) = instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
    materialization = record.asset_materialization
    assert materialization is not None
    return dict(materialization.metadata)


def test_a_round_leaves_scores_in_the_warehouse_and_partitions_runs_and_tables_in_dagster(
    open_small: Callable[..., Session],
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell, {"name": "Augusta", "year": 1815}) for cell in CELLS])
    seen: list[tuple[int, int, str]] = []
    report = run_round_through_dagster(session, CELLS, on_progress=lambda *step: seen.append(step))
    assert len(report.models) == 4
    assert not report.failed
    assert report.texts == 2
    assert seen[-1][:2] == (4, 4)
    with open_instance(session.home) as instance:
        assert instance.get_materialized_partitions(MODEL_SCORES) == {str(cell_key(cell)) for cell in CELLS}
        assert instance.get_materialized_partitions(dg.AssetKey("runs")) == {str(cell_key(cell)) for cell in CELLS}
        (run,) = instance.get_runs()
        assert (run.job_name, run.status) == ("score_models", dg.DagsterRunStatus.SUCCESS)
        table = latest(instance, "leaderboard")["leaderboard"].value
        assert "lab/one:free" in table
        assert len(json.dumps(table)) < 65_536
        assert latest(instance, "model_scores")["dagster/row_count"].value == 4


def test_what_another_process_scored_meanwhile_is_neither_scored_again_nor_called_a_failure(
    open_small: Callable[..., Session],
) -> None:
    session = open_small(FakeEmbeddings(breaks_on=["poison"]))
    outputs = {cell: {"name": "Augusta", "year": 1815} for cell in CELLS} | {CELLS[0]: {"name": "poison", "year": 1}}
    session.warehouse.import_runs([run_of(*cell, output) for cell, output in outputs.items()])  # type: ignore[arg-type]  # JSON
    assert not run_round_through_dagster(session, CELLS[2:]).failed
    report = run_round_through_dagster(session, CELLS, only_where_needed=True)
    assert {(one.scenario_id, one.model_id) for one in report.models} == set(CELLS[:2])
    assert [(one.scenario_id, one.model_id) for one in report.failed] == CELLS[:1]


def test_after_an_owners_edit_exactly_that_scenario_is_outdated_in_dagster(
    open_small: Callable[..., Session], folder: Path
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    run_round_through_dagster(session, CELLS)
    with open_instance(session.home) as instance:
        assert stale_partitions(instance) == set()
        (folder / "scenarios" / "s1" / "reference.json").write_text(json.dumps(REFERENCE | {"year": 1816}))  # type: ignore[operator]  # an object
        from sensors.changed_inputs import report_news

        report_news(open_small(), instance)
        assert stale_partitions(instance) == set(CELLS[2:])
    run_round_through_dagster(open_small(), CELLS[2:])
    with open_instance(session.home) as instance:
        assert stale_partitions(instance) == set()


def test_a_model_that_fails_makes_its_run_fail_and_the_others_count(open_small: Callable[..., Session]) -> None:
    session = open_small(FakeEmbeddings(breaks_on=["poison"]))
    outputs = {cell: {"name": "Augusta", "year": 1815} for cell in CELLS} | {CELLS[0]: {"name": "poison", "year": 1}}
    session.warehouse.import_runs([run_of(*cell, output) for cell, output in outputs.items()])  # type: ignore[arg-type]  # JSON
    report = run_round_through_dagster(session, CELLS)
    assert [(model.scenario_id, model.model_id) for model in report.failed] == [CELLS[0]]
    with open_instance(session.home) as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.FAILURE
        assert instance.get_materialized_partitions(MODEL_SCORES) == {str(cell_key(cell)) for cell in CELLS[1:]}
        assert stale_partitions(instance) == set()


def test_a_fault_inside_a_run_is_every_missing_models_error(
    open_small: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])

    def break_(*_: object, **__: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("assets.scores.score_round", break_)
    report = run_round_through_dagster(session, CELLS)
    assert len(report.failed) == len(CELLS)
    assert "the disk is full" in str(report.failed[0].error)


def test_what_a_terminal_sees_is_ours_alone(
    open_small: Callable[..., Session], capfd: pytest.CaptureFixture[str]
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    run_round_through_dagster(session, CELLS)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")
