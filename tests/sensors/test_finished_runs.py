from __future__ import annotations

from dataclasses import replace

import dagster as dg
import pytest

from pipelines.partitions import add_partitions, axes_of, cell_key, range_tags
from pipelines.rectangles import Rectangle
from pipelines.round import score_round
from pipelines.session import Session
from pipelines.waiting import MOST_CELLS, STATE_TAG, cover, given_up, state_of
from resources.cells import MOST_CRASHES, MOST_FAILURES, Cell
from resources.reference_versions import ReferenceOrigin
from resources.rounds import RoundTrigger
from resources.scoring_records import ScoringEnd
from sensors.finished_runs import finished_runs, to_score, why_nothing
from tests.cell_states import HEAD, WAITING
from tests.sensors.ticks import ticked
from tests.small_workspace import CELLS, run_of


@pytest.mark.parametrize(
    ("cell", "is_wanted"),
    [
        (WAITING, True),
        (replace(WAITING, recorded=2), False),
        (replace(WAITING, recorded=0, expected_repetitions=0), False),
        (replace(WAITING, has_verified_reference=False), False),
        (replace(WAITING, head=HEAD), False),
        (replace(WAITING, head=HEAD, is_stale=True), False),
        (replace(WAITING, head=HEAD, runs_hash="more", recorded=4), True),
        (replace(WAITING, failures=MOST_FAILURES - 1, crashes=MOST_CRASHES - 1), True),
        (replace(WAITING, failures=MOST_FAILURES), False),
        (replace(WAITING, crashes=MOST_CRASHES), False),
    ],
)
def test_complete_unscored_models_with_a_verified_reference_are_scored(cell: Cell, is_wanted: bool) -> None:
    assert bool(to_score([cell], in_flight=())) is is_wanted


def test_a_model_that_is_being_scored_is_left_alone() -> None:
    assert to_score([WAITING], in_flight=[("s", "m")]) == {}


@pytest.mark.parametrize(
    "later",
    [
        replace(WAITING, newest_run_id=8),
        replace(WAITING, reference_hash="edited"),
        replace(WAITING, config_hash="stricter"),
        replace(WAITING, runs_hash="replaced"),
        replace(WAITING, failures=1),
        replace(WAITING, crashes=1),
        replace(WAITING, head=HEAD),
    ],
)
def test_a_later_legitimate_round_has_another_run_key(later: Cell) -> None:
    rectangle = Rectangle(first=("s", "m"), last=("s", "m"), cells=(("s", "m"),))
    assert state_of(rectangle, {("s", "m"): later}) != state_of(rectangle, {("s", "m"): WAITING})


def tick(session: Session, instance: dg.DagsterInstance) -> dg.SensorResult:
    return ticked(finished_runs, session.warehouse, instance)


def test_a_whole_import_becomes_one_ranged_run_the_same_at_every_tick(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    first, second = tick(session, instance), tick(session, instance)
    (request,) = first.run_requests or ()
    (again,) = second.run_requests or ()
    assert request.run_key == again.run_key
    assert request.tags["dagster/asset_partition_range_start"] == str(cell_key(CELLS[0]))
    assert request.tags["dagster/asset_partition_range_end"] == str(cell_key(CELLS[-1]))
    assert not second.dynamic_partitions_requests


def test_nothing_is_asked_for_while_a_run_over_the_cells_is_under_way(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    axes = add_partitions(instance, CELLS)
    rectangle = Rectangle(first=CELLS[0], last=CELLS[-1], cells=tuple(CELLS))
    assert len(axes.scenarios) == 2
    instance.add_run(dg.DagsterRun(job_name="x", status=dg.DagsterRunStatus.STARTED, tags=range_tags(rectangle)))
    assert not tick(session, instance).run_requests


def test_after_the_score_nothing_is_asked_for_and_after_another_run_it_is(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*CELLS[0])])
    (first,) = tick(session, instance).run_requests or ()
    score_round(session, CELLS[:1])
    assert not tick(session, instance).run_requests
    session.warehouse.import_runs([run_of(*CELLS[0], repetition=2)])
    (second,) = tick(session, instance).run_requests or ()
    assert first.run_key != second.run_key


def test_an_owners_edit_alone_starts_no_scoring(session: Session, instance: dg.DagsterInstance) -> None:
    session.warehouse.import_runs([run_of(*CELLS[0])])
    score_round(session, CELLS[:1])
    session.warehouse.save_reference(
        CELLS[0][0], {"name": "Ada", "year": 1815}, author="owner", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True
    )
    assert session.warehouse.cells()[0].is_stale
    assert not tick(session, instance).run_requests


def test_a_run_that_ends_before_it_scores_is_tried_again_with_a_new_key_but_not_for_ever(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*CELLS[0])])
    keys = []
    for _ in range(MOST_CRASHES):
        (request,) = tick(session, instance).run_requests or ()
        keys.append(request.run_key)
        tags = {STATE_TAG: request.tags[STATE_TAG]}
        instance.add_run(dg.DagsterRun(job_name="score_models", status=dg.DagsterRunStatus.FAILURE, tags=tags))
    assert len(set(keys)) == MOST_CRASHES
    last = tick(session, instance)
    assert not last.run_requests
    assert "check rounds_succeed" in str(last.skip_reason)
    ((cell, reason),) = given_up(session.warehouse.cells(), axes_of(instance), instance)
    assert (cell.scenario_id, cell.model_id) == CELLS[0]
    assert "before they began to score" in reason


def crashed(session: Session, cells: list[tuple[str, str]], error: str | None = None) -> None:
    """A scoring of these cells that a sensor began and that left no score, as the warehouse then holds it."""
    round_id = session.warehouse.open_round(RoundTrigger.SENSOR, planned_models=len(cells))
    for record_id in session.warehouse.open_scorings(round_id, dict.fromkeys(cells, ())).values():
        if error is not None:
            session.warehouse.fail_scoring(ScoringEnd(scoring_record_id=record_id, duration_seconds=0.1), error)


def test_a_model_that_fails_every_time_is_given_up_and_says_why_until_something_changes(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS[:2]])
    for _ in range(MOST_FAILURES):
        assert CELLS[0] in to_score(session.warehouse.cells(), ())
        crashed(session, CELLS[:1], "the judge answers nonsense")
    assert set(to_score(session.warehouse.cells(), ())) == {CELLS[1]}
    ((cell, reason),) = given_up(session.warehouse.cells(), axes_of(instance), instance)
    assert (cell.model_id, reason) == (CELLS[0][1], "the judge answers nonsense")
    session.warehouse.import_runs([run_of(*CELLS[0], repetition=2)])
    assert set(to_score(session.warehouse.cells(), ())) == set(CELLS[:2])


def test_the_more_often_a_run_crashed_the_fewer_models_the_next_one_takes_with_it(
    session: Session, instance: dg.DagsterInstance
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    sizes = []
    for _ in MOST_CELLS:
        states = to_score(session.warehouse.cells(), ())
        sizes.append(len(cover(states, axes_of(instance).with_new(states))))
        crashed(session, CELLS)
    assert sizes == [1, 1, len(CELLS)]


def test_a_tick_without_work_says_why() -> None:
    assert why_nothing([replace(WAITING, head=HEAD)], ()) == "No model waits for its score."
    assert why_nothing([WAITING], {("s", "m")}) == "1 unscored models are being scored."
    assert "rounds_succeed" in why_nothing([replace(WAITING, failures=MOST_FAILURES)], ())
