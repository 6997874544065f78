from __future__ import annotations

import dagster as dg
import pytest

from pipelines.partitions import RANGE_END_TAG, RANGE_START_TAG, add_partitions, range_tags
from pipelines.rectangles import Rectangle
from pipelines.round import score_round
from pipelines.session import Session
from pipelines.unmerged import merge_state, stretches, unmergeable
from pipelines.waiting import STATE_TAG
from resources.cells import MOST_CRASHES
from scoring.keys import safe_key
from sensors.finished_rounds import finished_rounds, to_merge
from tests.sensors.ticks import ticked
from tests.small_workspace import CELLS, SCENARIOS, run_of


def test_scenarios_that_are_being_scored_or_merged_are_left_alone() -> None:
    assert to_merge({"a": [1], "b": [2, 3]}, in_flight=["a"]) == {"b": [2, 3]}


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ("", []),
        ("a", [["a"]]),
        ("cab", [["a", "b", "c"]]),
        ("abde", [["a", "b"], ["d", "e"]]),
        ("axe", [["a"], ["e"]]),
    ],
)
def test_one_run_covers_neighbours(waiting: str, expected: list[list[str]]) -> None:
    assert stretches(waiting, "abcde") == expected


def test_a_later_round_has_another_run_key() -> None:
    assert merge_state(["a"], {"a": [1]}) != merge_state(["a"], {"a": [1, 2]})


def tick(session: Session, instance: dg.DagsterInstance) -> list[dg.RunRequest]:
    return list(ticked(finished_rounds, session.warehouse, instance).run_requests or ())


def test_what_is_scored_is_merged_once_and_what_nobody_scored_never(
    session: Session, instance: dg.DagsterInstance
) -> None:
    add_partitions(instance, CELLS)
    assert tick(session, instance) == []
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS)
    (request,) = tick(session, instance)
    assert (request.tags[RANGE_START_TAG], request.tags[RANGE_END_TAG]) == (
        safe_key(SCENARIOS[0]),
        safe_key(SCENARIOS[1]),
    )
    assert tick(session, instance)[0].run_key == request.run_key
    from pipelines.definitions import defs

    result = defs.resolve_job_def("merge_findings").execute_in_process(
        instance=instance, resources={"warehouse": session.warehouse}, tags=request.tags
    )
    assert result.success
    assert instance.get_materialized_partitions(dg.AssetKey("merged_reference")) == set(map(safe_key, SCENARIOS))
    assert session.warehouse.references.unmerged() == {}
    assert tick(session, instance) == []


def test_a_scenario_under_way_waits_and_one_that_fails_every_time_is_given_up(
    session: Session, instance: dg.DagsterInstance
) -> None:
    axes = add_partitions(instance, CELLS)
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS)
    rectangle = Rectangle(first=CELLS[0], last=CELLS[1], cells=tuple(CELLS[:2]))
    assert axes.scenarios[0] == SCENARIOS[0]
    run = dg.DagsterRun(job_name="score_models", status=dg.DagsterRunStatus.STARTED, tags=range_tags(rectangle))
    instance.add_run(run)
    (request,) = tick(session, instance)
    assert request.tags[RANGE_START_TAG] == safe_key(SCENARIOS[1])
    for _ in range(MOST_CRASHES):
        instance.add_run(
            dg.DagsterRun(
                job_name="merge_findings",
                status=dg.DagsterRunStatus.FAILURE,
                tags={STATE_TAG: request.tags[STATE_TAG]},
            )
        )
    assert tick(session, instance) == []
    assert unmergeable(session.warehouse.references.unmerged(), instance) == [SCENARIOS[1]]


def test_after_a_merge_that_came_to_nothing_each_scenario_has_a_run_of_its_own(
    session: Session, instance: dg.DagsterInstance
) -> None:
    add_partitions(instance, CELLS)
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS)
    (first,) = tick(session, instance)
    instance.add_run(dg.DagsterRun(job_name="merge_findings", status=dg.DagsterRunStatus.FAILURE, tags=first.tags))
    covered = [(one.tags[RANGE_START_TAG], one.tags[RANGE_END_TAG]) for one in tick(session, instance)]
    assert covered == [(safe_key(one), safe_key(one)) for one in SCENARIOS]
