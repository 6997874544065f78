from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pipelines import round as round_module
from pipelines.round import ModelReport, score_round
from pipelines.session import Session, open_session
from resources.warehouse import Warehouse
from scoring.records import RunStatus
from tests.small_workspace import CELLS, FakeEmbeddings, run_of, write_workspace


@pytest.fixture
def open_small(assay_home: Path, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Opens a session on a small workspace with fake embeddings."""
    del assay_home
    opened = []

    def open_(embeddings: FakeEmbeddings | None = None, **options: object) -> Session:
        manager = open_session(write_workspace(tmp_path / "ws", **options))  # type: ignore[arg-type]  # passed through
        session = manager.__enter__()
        opened.append(manager)
        for scenario in session.workspace.scenarios:
            session._embeddings[scenario.scoring.embedding.value] = embeddings or FakeEmbeddings()
        return session

    yield open_
    for manager in opened:
        manager.__exit__(None, None, None)


def by_cell(models: tuple[ModelReport, ...]) -> dict[tuple[str, str], ModelReport]:
    return {(model.scenario_id, model.model_id): model for model in models}


def score_ids(session: Session, *, every: bool = False) -> list[int]:
    """The scores that are the latest of their cell, or all there ever were."""
    query = "select model_score_id from assay.score_states where is_latest or :every order by model_score_id"
    with session.warehouse.engine.connect() as connection:
        return list(connection.execute(text(query), {"every": every}).scalars())


def test_every_model_of_a_round_is_scored_and_visible(open_small: Callable[..., Session]) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    seen: list[tuple[int, int, str]] = []
    report = score_round(session, CELLS, on_progress=lambda *step: seen.append(step))
    assert [model.error for model in report.models] == [None] * 4
    assert {model.quality for model in report.models} == {100.0}
    assert all(cell.is_scored and not cell.needs_scoring for cell in session.warehouse.cells())
    assert seen[-1][:2] == (4, 4)


def test_what_is_scored_by_the_time_a_round_begins_is_left_out_where_only_needed_scores_are_wanted(
    open_small: Callable[..., Session],
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS[:1])
    report = score_round(session, CELLS, only_where_needed=True)
    assert sorted(by_cell(report.models)) == sorted(CELLS[1:])
    assert score_round(session, CELLS, only_where_needed=True).models == ()
    assert score_ids(session, every=True) == score_ids(session)


def test_a_score_that_another_process_commits_at_any_moment_is_not_made_twice(
    open_small: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session, other = open_small(), open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    read = Warehouse.cells
    readings: list[object] = []

    def cells_and_then_another_round(warehouse: Warehouse, *arguments: Any) -> Any:
        states = read(warehouse, *arguments)
        readings.append(states)
        if len(readings) == 1:
            assert not score_round(other, CELLS).failed
        return states

    monkeypatch.setattr(Warehouse, "cells", cells_and_then_another_round)
    report = score_round(session, CELLS, only_where_needed=True)
    assert len(readings) == 2  # one of each round
    assert {model.model_score_id for model in report.models} == set(score_ids(session))
    assert score_ids(session, every=True) == score_ids(session)


def test_texts_of_all_models_are_embedded_once_in_one_batch(open_small: Callable[..., Session]) -> None:
    embeddings = FakeEmbeddings()
    session = open_small(embeddings)
    session.warehouse.import_runs([run_of(*cell, {"name": "Augusta Byron", "year": 1815}) for cell in CELLS])
    report = score_round(session, CELLS)
    assert len(embeddings.calls) == 1
    assert sorted(embeddings.calls[0]) == sorted({"ada lovelace", "augusta byron"})
    assert report.texts == 2


def test_a_text_that_the_service_refuses_costs_one_model(open_small: Callable[..., Session]) -> None:
    session = open_small(FakeEmbeddings(breaks_on=["poison"]))
    outputs = {cell: {"name": "Augusta", "year": 1815} for cell in CELLS} | {CELLS[0]: {"name": "poison", "year": 1}}
    session.warehouse.import_runs([run_of(*cell, output) for cell, output in outputs.items()])  # type: ignore[arg-type]  # JSON
    report = score_round(session, CELLS)
    assert [(model.scenario_id, model.model_id) for model in report.failed] == [CELLS[0]]
    assert "refuses" in str(report.failed[0].error)
    scored = {(cell.scenario_id, cell.model_id) for cell in session.warehouse.cells() if cell.is_scored}
    assert scored == set(CELLS[1:])


def test_a_service_that_is_down_is_not_asked_for_every_model(open_small: Callable[..., Session]) -> None:
    embeddings = FakeEmbeddings(is_down=True)
    session = open_small(embeddings)
    session.warehouse.import_runs([run_of(*cell, {"name": "Augusta", "year": 1815}) for cell in CELLS[:3]])
    session.warehouse.import_runs([run_of(*CELLS[3])])
    report = score_round(session, CELLS)
    assert len(report.failed) == 3
    assert by_cell(report.models)[CELLS[3]].quality == 100.0  # it needed no similarity
    assert len(embeddings.calls) == 1 + round_module.FAILURES_IN_A_ROW


def test_an_unreadable_output_scores_zero_and_a_failed_run_is_counted(open_small: Callable[..., Session]) -> None:
    session = open_small(repetitions=3)
    cell = CELLS[0]
    session.warehouse.import_runs(
        [
            run_of(*cell, repetition=1),
            run_of(*cell, "I would rather not.", repetition=2),
            run_of(*cell, repetition=3, status=RunStatus.FAILED),
        ]
    )
    (model,) = score_round(session, [cell]).models
    assert (model.runs, model.failed_runs, model.unreadable_runs, model.quality) == (3, 1, 1, 50.0)


def test_a_draft_is_refused_with_the_command_that_verifies(open_small: Callable[..., Session]) -> None:
    session = open_small(is_verified=False)
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    report = score_round(session, CELLS)
    assert len(report.failed) == 4
    assert "assay reference verify alpha" in str(report.models[0].error)
    assert not any(cell.is_scored for cell in session.warehouse.cells())


def test_a_cell_without_runs_is_named(open_small: Callable[..., Session]) -> None:
    session = open_small()
    (model,) = score_round(session, [CELLS[0]]).models
    assert "no runs" in str(model.error)


def test_a_round_in_small_chunks_says_the_same(
    open_small: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell, {"name": "Augusta", "year": 1815}) for cell in CELLS])
    whole = [model.quality for model in score_round(session, CELLS).models]
    monkeypatch.setattr(round_module, "CHUNK_CHARACTERS", 1)
    assert [model.quality for model in score_round(session, CELLS).models] == whole


def test_a_round_that_breaks_is_recorded_as_failed(
    open_small: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_small()
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])

    def break_(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(round_module, "advanced", break_)
    with pytest.raises(KeyboardInterrupt):
        score_round(session, CELLS)
    from sqlalchemy import text

    with session.warehouse.engine.connect() as connection:
        assert connection.execute(text("select status, problem from assay.rounds")).one() == (
            "failed",
            "KeyboardInterrupt: ",
        )
