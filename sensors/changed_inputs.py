"""Tells Dagster what people changed and what was imported, so that it knows which scores are outdated.

Compares the warehouse with what Dagster was told last and reports the difference, without a run.
"""

from collections.abc import Mapping, Sequence

import dagster as dg

from assets.checks import CHECKS, Check, result_of
from assets.inputs import reference, runs, scenario_config
from pipelines.partitions import axes_of, cell_key
from pipelines.session import open_session, stamp_of
from resources.cells import Cell as CellState
from resources.warehouse import Warehouse
from resources.workspace import find_workspace
from scoring.keys import safe_key

INTERVAL_SECONDS = 30
VERSION_TAG = "dagster/data_version"

Versions = Mapping[str, str]
"""Data versions by partition key."""

Event = dg.AssetObservation | dg.AssetMaterialization | dg.AssetCheckEvaluation


def versions_of(states: Sequence[CellState]) -> dict[dg.AssetKey, Versions]:
    """What the warehouse holds now: hashes of configs, of what owners last saved, and of recorded runs."""
    return {
        scenario_config.key: {safe_key(state.scenario_id): state.config_hash for state in states},
        reference.key: {safe_key(state.scenario_id): state.reference_hash for state in states if state.reference_hash},
        runs.key: {str(cell_key(_place(state))): state.runs_hash for state in states if state.runs_hash},
    }


def changed(now: Versions, told: Versions) -> dict[str, str]:
    """The versions of partitions that are new or other than what was told."""
    return {key: version for key, version in now.items() if told.get(key) != version}


def news(states: Sequence[CellState], instance: dg.DagsterInstance) -> list[Event]:
    """What Dagster has not been told yet: new data versions, and checks that stand otherwise than they did."""
    now = versions_of(states)
    events: list[Event] = []
    for spec in (scenario_config, reference):
        for key, version in changed(now[spec.key], _told(instance, spec.key, "ASSET_OBSERVATION")).items():
            events.append(dg.AssetObservation(spec.key, partition=key, tags={VERSION_TAG: version}))
    for key, version in changed(now[runs.key], _told(instance, runs.key, "ASSET_MATERIALIZATION")).items():
        events.append(dg.AssetMaterialization(runs.key, partition=key, tags={VERSION_TAG: version}))
    return events + [event for check in CHECKS for event in _check_news(check, states, instance)]


@dg.sensor(
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports changed references and scoring configs, imported runs, and how the checks stand.",
)
def changed_inputs(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """Report what changed since it was last reported; nothing where nothing did. The cursor is the files' stamp."""
    stamp = _synced(context.cursor)
    states = warehouse.cells()
    known = axes_of(context.instance)
    axes = known.with_new(_place(state) for state in states)
    return dg.SensorResult(
        asset_events=news(states, context.instance),
        dynamic_partitions_requests=axes.requests_beyond(known),
        cursor=stamp,
    )


def _synced(stamp: str | None) -> str:
    """The stamp of the workspace's files, with which the warehouse agrees; they are read only where it is a new one."""
    folder = find_workspace()
    now = stamp_of(folder)
    if now != stamp:
        with open_session(folder):
            pass  # opening it brings the files into the warehouse
    return now


def report_news(warehouse: Warehouse, instance: dg.DagsterInstance) -> int:
    """How many things Dagster was told just now; it knows all that the warehouse holds afterwards."""
    events = news(warehouse.cells(), instance)
    for event in events:
        instance.report_runless_asset_event(event)
    return len(events)


def _place(state: CellState) -> tuple[str, str]:
    return state.scenario_id, state.model_id


def _told(instance: dg.DagsterInstance, asset: dg.AssetKey, event_type: str) -> Versions:
    """The data versions that were reported last, in one query."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        asset, dg.DagsterEventType(event_type), tag_keys=[VERSION_TAG]
    )
    return {partition: found[VERSION_TAG] for partition, found in tags.items() if VERSION_TAG in found}


def _check_news(check: Check, states: Sequence[CellState], instance: dg.DagsterInstance) -> list[Event]:
    """How the check stands, where Dagster shows something else: nothing, another result, or an outdated one."""
    result = result_of(check, states)
    told = _told_of(check, instance)
    if told is not None and (told.passed, told.metadata) == (result.passed, result.metadata):
        return []
    return [
        dg.AssetCheckEvaluation(
            asset_key=check.asset,
            check_name=check.name,
            passed=result.passed,
            metadata=result.metadata,
            severity=result.severity,
            description=result.description,
        )
    ]


def _told_of(check: Check, instance: dg.DagsterInstance) -> dg.AssetCheckEvaluation | None:
    """The last evaluation, unless the asset was materialised after it: Dagster then takes it for outdated."""
    record = instance.get_latest_asset_check_evaluation_record(check.key)
    if record is None or record.event is None or record.event.dagster_event is None:
        return None
    newest = instance.get_latest_materialization_event(check.asset)
    if newest is not None and newest.timestamp > record.event.timestamp:
        return None
    return record.event.dagster_event.asset_check_evaluation_data
