"""Ticks of sensors as Dagster's daemon runs them."""

from __future__ import annotations

import dagster as dg

from resources.warehouse import Warehouse


def ticked(
    sensor: dg.SensorDefinition, warehouse: Warehouse, instance: dg.DagsterInstance, cursor: str | None = None
) -> dg.SensorResult:
    """What the sensor answered; the instance holds the partitions that it asked for and the events that it reported."""
    context = dg.build_sensor_context(instance=instance, cursor=cursor, resources={"warehouse": warehouse})
    result = sensor(context)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys or ()))
    for event in result.asset_events:
        instance.report_runless_asset_event(event)
    return result
