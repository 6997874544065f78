"""Partitions: scenarios, and scenario x model. Keys are safe keys; real ids stand in metadata.

Two dynamic dimensions in one definition, since Dagster's mapping from pairs to scenarios needs them apart. Repetitions
are rows, not partitions: Dagster allows two dimensions.
"""

from __future__ import annotations

from collections.abc import Iterable

import dagster as dg

from pipelines.rectangles import Cell, Rectangle
from scoring.keys import id_of, safe_key

SCENARIOS = "scenarios"
MODELS = "models"

scenario_partitions = dg.DynamicPartitionsDefinition(name=SCENARIOS)
model_partitions = dg.DynamicPartitionsDefinition(name=MODELS)
cell_partitions = dg.MultiPartitionsDefinition({"scenario": scenario_partitions, "model": model_partitions})

# Dagster's own tags of a run over a range of partitions; it exports no constants for them.
RANGE_START_TAG = "dagster/asset_partition_range_start"
RANGE_END_TAG = "dagster/asset_partition_range_end"


def cell_key(cell: Cell) -> dg.MultiPartitionKey:
    """The partition key of one model of one scenario."""
    scenario_id, model_id = cell
    return dg.MultiPartitionKey({"scenario": safe_key(scenario_id), "model": safe_key(model_id)})


def cell_of(partition_key: str) -> Cell:
    """The (scenario id, model id) that `cell_key` made this key of."""
    keys = cell_partitions.get_partition_key_from_str(partition_key).keys_by_dimension
    return id_of(keys["scenario"]), id_of(keys["model"])


def range_tags(rectangle: Rectangle) -> dict[str, str]:
    """The tags of one run over all partitions of the rectangle."""
    return {RANGE_START_TAG: str(cell_key(rectangle.first)), RANGE_END_TAG: str(cell_key(rectangle.last))}


def missing_keys(known: Iterable[str], ids: Iterable[str]) -> list[str]:
    """Keys of `ids` that are not among the `known` partition keys, each once, in the order of `ids`."""
    seen = set(known)
    return [key for key in dict.fromkeys(safe_key(id_) for id_ in ids) if key not in seen]
