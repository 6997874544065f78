"""Scores a model as soon as its last run for a scenario is in.

The sensor asks what is complete and unscored *now*, never what it saw happen, so that nothing is lost when it slept.
"""

from collections.abc import Collection, Iterable

import dagster as dg

from pipelines.jobs import score_models
from pipelines.partitions import axes_of
from pipelines.rectangles import Cell
from pipelines.waiting import States, being_scored, is_unscored, place_of, requests, waiting
from resources.cells import Cell as CellState
from resources.rounds import RoundTrigger
from resources.warehouse import Warehouse

INTERVAL_SECONDS = 20


def is_wanted(state: CellState) -> bool:
    """Whether a round should score the cell now: complete, a verified reference, and unscored or with new runs.

    Stale scores are not: a score stays, marked stale, until somebody or the schedule scores it again.
    """
    return is_unscored(state) and not state.is_given_up


def to_score(states: Iterable[CellState], in_flight: Collection[Cell]) -> States:
    """The cells that a round should score now and that no run is scoring."""
    return waiting(states, is_wanted, in_flight)


def why_nothing(states: Iterable[CellState], in_flight: Collection[Cell]) -> str:
    """Why no run is asked for, in one sentence."""
    unscored = [one for one in states if is_unscored(one)]
    under_way = sum(place_of(one) in in_flight for one in unscored)
    if under_way:
        return f"{under_way} unscored models are being scored."
    if unscored:
        return f"{len(unscored)} models failed too often and wait for a person: see the check rounds_succeed."
    return "No model waits for its score."


@dg.sensor(
    job=score_models,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description=(
        "Scores a model as soon as all its runs for a scenario are in: one run over all models that wait, asked for "
        "once in each state of runs, reference and scoring config."
    ),
)
def finished_runs(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """One run over each rectangle of cells that wait for their score."""
    known = axes_of(context.instance)
    states = warehouse.cells()
    in_flight = being_scored(context.instance, known)
    found = to_score(states, in_flight)
    axes = known.with_new(found)
    runs = list(requests(found, axes, context.instance, trigger=RoundTrigger.SENSOR, tags={}))
    return dg.SensorResult(
        run_requests=runs or None,
        skip_reason=None if runs else why_nothing(states, in_flight),
        dynamic_partitions_requests=axes.requests_beyond(known),
    )
