"""Merges the findings of finished rounds into references.

The sensor asks what is scored and unmerged *now*, never what it saw happen, so that nothing is lost when it slept.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby

import dagster as dg

from assets.scores import TRIGGER_TAG
from pipelines.jobs import merge_findings
from pipelines.partitions import PARTITION_TAG, RANGE_END_TAG, RANGE_START_TAG, axes_of, cells_of_run
from resources.rounds import RoundTrigger
from resources.warehouse import Warehouse
from scoring.keys import id_of, safe_key
from sensors.finished_runs import MOST_ATTEMPTS, STATE_TAG, UNFINISHED

INTERVAL_SECONDS = 20

Unmerged = Mapping[str, Sequence[int]]
"""Ids of model scores that went into no merge yet, by scenario id."""


def to_merge(unmerged: Unmerged, in_flight: Collection[str]) -> Unmerged:
    """What a merge should take in now: scenarios that no run is scoring or merging."""
    return {scenario_id: scores for scenario_id, scores in unmerged.items() if scenario_id not in in_flight}


def stretches(scenario_ids: Iterable[str], order: Sequence[str]) -> list[list[str]]:
    """The scenarios as stretches of neighbours in the order of the partitions: one run can cover each."""
    place = {scenario_id: number for number, scenario_id in enumerate(order)}
    known = sorted((one for one in scenario_ids if one in place), key=place.__getitem__)
    grouped = groupby(enumerate(known), key=lambda pair: place[pair[1]] - pair[0])
    return [[scenario_id for _, scenario_id in group] for _, group in grouped]


def state_of(stretch: Sequence[str], unmerged: Unmerged) -> str:
    """A digest of what a merge over the stretch would answer; after a later round it is another."""
    content = [[scenario_id, max(unmerged[scenario_id])] for scenario_id in stretch]
    return hashlib.sha256(json.dumps(["merge", content]).encode()).hexdigest()[:32]


@dg.sensor(
    job=merge_findings,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Merges the findings of finished scorings into the references of their scenarios.",
)
def finished_rounds(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """One run over each stretch of scenarios that have scores nobody merged."""
    known = axes_of(context.instance)
    runs = context.instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    in_flight = {cell[0] for run in runs for cell in cells_of_run(run.tags, known)}
    in_flight |= {one for run in runs for one in _scenarios_of(run.tags, known.scenarios)}
    waiting = to_merge(warehouse.references.unmerged(), in_flight)
    axes = known.with_new((scenario_id, model_id) for scenario_id in waiting for model_id in known.models[:1])
    found = stretches(waiting, axes.scenarios)
    requests = [_request(one, waiting, context.instance) for one in found]
    return dg.SensorResult(
        run_requests=[request for request in requests if request is not None],
        dynamic_partitions_requests=axes.requests_beyond(known),
    )


def _scenarios_of(tags: Mapping[str, str], order: Sequence[str]) -> Sequence[str]:
    """The scenarios that a run over scenario partitions covers; none for other runs."""
    first = tags.get(RANGE_START_TAG) or tags.get(PARTITION_TAG, "")
    last = tags.get(RANGE_END_TAG) or first
    if not first or "|" in first:
        return ()
    ends = id_of(first), id_of(last)
    return order[order.index(ends[0]) : order.index(ends[1]) + 1] if set(ends) <= set(order) else ()


def _request(stretch: Sequence[str], unmerged: Unmerged, instance: dg.DagsterInstance) -> dg.RunRequest | None:
    """The request for one stretch; None where it was tried often enough in its present state."""
    state = state_of(stretch, unmerged)
    attempts = len(instance.get_runs(dg.RunsFilter(tags={STATE_TAG: state}), limit=MOST_ATTEMPTS))
    if attempts >= MOST_ATTEMPTS:
        return None
    return dg.RunRequest(
        run_key=f"{state}-{attempts}",
        tags={
            RANGE_START_TAG: safe_key(stretch[0]),
            RANGE_END_TAG: safe_key(stretch[-1]),
            STATE_TAG: state,
            TRIGGER_TAG: RoundTrigger.SENSOR.value,
        },
    )
