"""Tells Dagster what people changed and what was imported, so that it knows which scores are outdated.

Compares the warehouse with what Dagster was told last and reports the difference, without a run.
"""

from collections.abc import Callable, Iterable, Mapping

import dagster as dg

from assets.checks import CHECKS, Check, Recorded, result_of
from assets.input_events import VERSION_TAG, config_events, reference_events, run_events
from assets.inputs import reference, runs, scenario_config
from pipelines.partitions import axes_of
from pipelines.reporting import beyond_a_tick, report_events
from pipelines.session import Session, open_session, stamp_of
from pipelines.waiting import place_of
from resources.scenarios import Scenario
from resources.warehouse import Warehouse
from resources.workspace import find_workspace, load_workspace

INTERVAL_SECONDS = 30

Versions = Mapping[str, str]
"""Data versions by partition key."""

Event = dg.AssetObservation | dg.AssetMaterialization | dg.AssetCheckEvaluation


def news(recorded: Recorded, scenarios: Callable[[], Iterable[Scenario]], *, is_hurried: bool = False) -> list[Event]:
    """What Dagster has not been told yet: new data versions, and checks that stand otherwise than they did.

    Thorough checks are left out where `is_hurried`: the next tick of the sensor makes them.
    """
    states, warehouse, instance = recorded.cells, recorded.warehouse, recorded.instance
    events: list[Event] = [
        *reference_events(warehouse, states, _told(instance, reference.key, "ASSET_OBSERVATION")),
        *config_events(warehouse, states, _told(instance, scenario_config.key, "ASSET_OBSERVATION"), scenarios),
        *run_events(states, _told(instance, runs.key, "ASSET_MATERIALIZATION")),
    ]
    checks = [check for check in CHECKS if not (is_hurried and check.is_thorough)]
    return events + [event for check in checks for event in _check_news(check, recorded)]


@dg.sensor(
    minimum_interval_seconds=INTERVAL_SECONDS,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Reports changed references and scoring configs, imported runs, and how the checks stand.",
)
def changed_inputs(context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.SensorResult:
    """Report what changed since it was last reported; nothing where nothing did. The cursor is the files' stamp."""
    stamp = _synced(context.cursor)
    known = axes_of(context.instance)
    recorded = Recorded(cells=warehouse.cells(), warehouse=warehouse, instance=context.instance)
    axes = known.with_new(place_of(state) for state in recorded.cells)
    events = news(recorded, lambda: load_workspace().scenarios)
    return dg.SensorResult(
        asset_events=beyond_a_tick(context.instance, events),
        skip_reason=None if events else "Dagster knows all that is recorded.",
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


def report_news(session: Session, instance: dg.DagsterInstance) -> int:
    """How many things Dagster was told just now; it knows all that the warehouse holds, thorough checks aside."""
    recorded = Recorded(cells=session.warehouse.cells(), warehouse=session.warehouse, instance=instance)
    events = news(recorded, lambda: session.workspace.scenarios, is_hurried=True)
    report_events(instance, events)
    return len(events)


def _told(instance: dg.DagsterInstance, asset: dg.AssetKey, event_type: str) -> Versions:
    """The data versions that were reported last, in one query."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        asset, dg.DagsterEventType(event_type), tag_keys=[VERSION_TAG]
    )
    return {partition: found[VERSION_TAG] for partition, found in tags.items() if VERSION_TAG in found}


def _check_news(check: Check, recorded: Recorded) -> list[Event]:
    """How the check stands, where Dagster shows something else: nothing, another result, or an outdated one.

    A thorough check is made only where Dagster shows nothing or an outdated result: once after each round.
    """
    told = _told_of(check, recorded.instance)
    if told is not None and check.is_thorough:
        return []
    result = result_of(check, recorded)
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
