"""Merges the findings of finished rounds into references.

The sensor asks what is scored and unmerged *now*, never what it saw happen, so that nothing is lost when it slept.
"""

from collections.abc import Collection

import dagster as dg

from pipelines.jobs import merge_findings
from pipelines.partitions import axes_of
from pipelines.unmerged import Unmerged, being_merged, merge_requests
from pipelines.waiting import being_scored
from resources.warehouse import Warehouse

INTERVAL_SECONDS = 20


def to_merge(unmerged: Unmerged, in_flight: Collection[str]) -> Unmerged:
    """What a merge should take in now: scenarios that no run is scoring or merging."""
    return {scenario_id: scores for scenario_id, scores in unmerged.items() if scenario_id not in in_flight}


def why_nothing(unmerged: Unmerged, waiting: Unmerged) -> str:
    """Why no run is asked for, in one sentence."""
    if waiting:
        return (
            f"Merges of {len(waiting)} scenarios failed too often and wait for a person: see the check merges_succeed."
        )
    if unmerged:
        return f"{len(unmerged)} scenarios with unmerged findings are being scored or merged."
    return "All findings are merged."


@dg.sensor(
    job=merge_findings,
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Merges the findings of finished scorings into the references of their scenarios: the end of a round.",
)
def finished_rounds(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """One run over each stretch of scenarios that have scores nobody merged."""
    known = axes_of(context.instance)
    unmerged = warehouse.references.unmerged()
    in_flight = {cell[0] for cell in being_scored(context.instance, known)} | being_merged(context.instance, known)
    waiting = to_merge(unmerged, in_flight)
    axes = known.with_new((scenario_id, model_id) for scenario_id in waiting for model_id in known.models[:1])
    runs = list(merge_requests(waiting, axes, context.instance))
    return dg.SensorResult(
        run_requests=runs or None,
        skip_reason=None if runs else why_nothing(unmerged, waiting),
        dynamic_partitions_requests=axes.requests_beyond(known),
    )
