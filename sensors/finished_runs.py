"""Scores a model as soon as its last run for a scenario is in.

The sensor asks what is complete and unscored *now*, never what it saw happen, so that nothing is lost when it slept.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping

import dagster as dg

from assets.scores import TRIGGER_TAG
from pipelines.jobs import score_models
from pipelines.partitions import axes_of, cells_of_run, range_tags
from pipelines.rectangles import Cell, Rectangle, rectangles
from resources.cells import Cell as CellState
from resources.rounds import RoundTrigger
from resources.warehouse import Warehouse

STATE_TAG = "assay/state"
INTERVAL_SECONDS = 20

# A round that crashed is tried again; one that fails every time needs a person, not a loop.
MOST_ATTEMPTS = 3

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def to_score(states: Iterable[CellState], in_flight: Collection[Cell]) -> dict[Cell, CellState]:
    """Cells that a round should score now: complete, with a verified reference, and unscored or with new runs.

    Stale scores are not among them: a score stays, marked stale, until somebody scores it again.
    """
    return {
        (state.scenario_id, state.model_id): state
        for state in states
        if state.is_scorable
        and (not state.is_scored or state.has_new_runs)
        and (state.scenario_id, state.model_id) not in in_flight
    }


def state_of(rectangle: Rectangle, states: Mapping[Cell, CellState]) -> str:
    """A digest of what a round over the rectangle would answer: its cells, their newest runs, references and configs.

    A later legitimate round (another run, an edited reference) has another digest, so that no old run key blocks it.
    """
    content = [
        [*cell, states[cell].newest_run_id, states[cell].reference_hash, states[cell].config_hash]
        for cell in rectangle.cells
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


@dg.sensor(
    job=score_models,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Starts the scoring of models whose runs for a scenario are complete and not scored yet.",
)
def finished_runs(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """One run over each rectangle of cells that wait for their score."""
    known = axes_of(context.instance)
    unfinished = context.instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    in_flight = {cell for run in unfinished for cell in cells_of_run(run.tags, known)}
    waiting = to_score(warehouse.cells(), in_flight)
    axes = known.with_new(waiting)
    found = rectangles(waiting, scenarios=axes.scenarios, models=axes.models)
    requests = [_request(one, waiting, context.instance) for one in found]
    return dg.SensorResult(
        run_requests=[request for request in requests if request is not None],
        dynamic_partitions_requests=axes.requests_beyond(known),
    )


def _request(
    rectangle: Rectangle, states: Mapping[Cell, CellState], instance: dg.DagsterInstance
) -> dg.RunRequest | None:
    """The request for one rectangle; None where it was tried often enough in its present state."""
    state = state_of(rectangle, states)
    attempts = len(instance.get_runs(dg.RunsFilter(tags={STATE_TAG: state}), limit=MOST_ATTEMPTS))
    if attempts >= MOST_ATTEMPTS:
        return None
    return dg.RunRequest(
        run_key=f"{state}-{attempts}",
        tags=range_tags(rectangle) | {STATE_TAG: state, TRIGGER_TAG: RoundTrigger.SENSOR.value},
        run_config=ONLY_WHERE_NEEDED,
    )


ONLY_WHERE_NEEDED: Mapping[str, object] = {"ops": {"model_scores": {"config": {"only_where_needed": True}}}}
