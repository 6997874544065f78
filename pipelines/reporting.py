"""Telling Dagster of what no run of its own did: many events in a few statements.

Reported one by one, an event costs two transactions and about 30 ms of processors; in batches it costs under one.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import dagster as dg
from dagster._core.events import (  # Dagster's batches of events have no public name
    AssetObservationData,
    DagsterEvent,
    DagsterEventBatchMetadata,
    StepMaterializationData,
)
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID

MOST_IN_A_TICK = 200

Event = dg.AssetObservation | dg.AssetMaterialization | dg.AssetCheckEvaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporter:
    """Who reports: a step of a run, or nobody's run."""

    run_id: str = RUNLESS_RUN_ID
    job_name: str = RUNLESS_JOB_NAME
    step_key: str | None = None


RUNLESS = Reporter()


def report_events(instance: dg.DagsterInstance, events: Iterable[Event], reporter: Reporter = RUNLESS) -> None:
    """All these events stand in the event log, as Dagster's own one by one would.

    Neighbours of one kind and asset go in batches of `DAGSTER_EVENT_BATCH_SIZE`; without that, and evaluations of
    checks (which belong to no run), one by one.
    """
    for (kind, _), group in groupby(events, key=lambda event: (type(event), event.asset_key)):
        if kind is dg.AssetCheckEvaluation:
            for event in group:
                instance.report_runless_asset_event(event)
        else:
            _report_alike(instance, [_written(event, reporter) for event in group], reporter.run_id)


def beyond_a_tick(instance: dg.DagsterInstance, events: Sequence[Event]) -> list[Event]:
    """What a sensor's tick may hand to the daemon: all of the events, or few where they are many.

    The daemon writes the events of a tick one by one, so many would keep its sensors busy for minutes; those are in the
    event log afterwards, and only the evaluations of checks are left.
    """
    if len(events) <= MOST_IN_A_TICK:
        return list(events)
    report_events(instance, [event for event in events if not isinstance(event, dg.AssetCheckEvaluation)])
    return [event for event in events if isinstance(event, dg.AssetCheckEvaluation)]


def _report_alike(instance: dg.DagsterInstance, events: Sequence[DagsterEvent], run_id: str) -> None:
    """Events of one kind and asset: a batch writes only its last one into the table of assets."""
    batch = uuid.uuid4().hex
    for number, event in enumerate(events, start=1):
        place = DagsterEventBatchMetadata(id=batch, is_end=number == len(events))
        instance.report_dagster_event(event, run_id=run_id, batch_metadata=place)


def _written(event: Event, reporter: Reporter) -> DagsterEvent:
    match event:
        case dg.AssetMaterialization():
            return _event(dg.DagsterEventType.ASSET_MATERIALIZATION, StepMaterializationData(event), reporter)
        case dg.AssetObservation():
            return _event(dg.DagsterEventType.ASSET_OBSERVATION, AssetObservationData(event), reporter)
        case _:
            raise TypeError(f"{type(event).__name__} is written one by one")


def _event(
    kind: dg.DagsterEventType, data: StepMaterializationData | AssetObservationData, reporter: Reporter
) -> DagsterEvent:
    return DagsterEvent(
        event_type_value=kind.value,
        event_specific_data=data,
        job_name=reporter.job_name,
        step_key=reporter.step_key,
    )
