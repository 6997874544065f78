"""Partitions: scenarios, and scenario x model. Keys are safe keys; real ids stand in metadata.

Two dynamic dimensions in one definition, since Dagster's mapping from pairs to scenarios needs them apart. Repetitions
are rows, not partitions: Dagster allows two dimensions.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from pipelines.rectangles import Cell, Rectangle, between
from scoring.keys import id_of, safe_key

SCENARIOS = "scenarios"
MODELS = "models"

scenario_partitions = dg.DynamicPartitionsDefinition(name=SCENARIOS)
model_partitions = dg.DynamicPartitionsDefinition(name=MODELS)
cell_partitions = dg.MultiPartitionsDefinition({"scenario": scenario_partitions, "model": model_partitions})

with warnings.catch_warnings():
    # Dagster calls both beta and says so in every process; tried and chosen, see docs/decisions.md.
    warnings.simplefilter("ignore", dg.BetaWarning)
    by_scenario = dg.MultiToSingleDimensionPartitionMapping("scenario")
    one_run = dg.BackfillPolicy.single_run()  # a run for each partition would cost seconds instead of milliseconds

# Dagster's own tags of a run over one partition and over a range; it exports no constants for them.
PARTITION_TAG = "dagster/partition"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The ids of the partitions along both dimensions, in Dagster's order, which is the order they were added in."""

    scenarios: tuple[str, ...]
    models: tuple[str, ...]

    def with_new(self, cells: Iterable[Cell]) -> Axes:
        """These axes with what `cells` need and they lack, behind what they hold."""
        cells = list(cells)
        return Axes(
            scenarios=tuple(dict.fromkeys([*self.scenarios, *(scenario_id for scenario_id, _ in cells)])),
            models=tuple(dict.fromkeys([*self.models, *(model_id for _, model_id in cells)])),
        )

    def requests_beyond(self, known: Axes) -> list[dg.AddDynamicPartitionsRequest]:
        """Requests that add what these axes hold and the known ones lack."""
        pairs = (
            (scenario_partitions, self.scenarios[len(known.scenarios) :]),
            (model_partitions, self.models[len(known.models) :]),
        )
        return [partitions.build_add_request([safe_key(id_) for id_ in ids]) for partitions, ids in pairs if ids]


def axes_of(instance: dg.DagsterInstance) -> Axes:
    """The axes as the instance knows them now."""
    return Axes(
        scenarios=tuple(id_of(key) for key in instance.get_dynamic_partitions(SCENARIOS)),
        models=tuple(id_of(key) for key in instance.get_dynamic_partitions(MODELS)),
    )


def add_partitions(instance: dg.DagsterInstance, cells: Iterable[Cell]) -> Axes:
    """The axes, which hold all of `cells` afterwards."""
    known = axes_of(instance)
    axes = known.with_new(cells)
    for request in axes.requests_beyond(known):
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return axes


def cells_of_run(tags: Mapping[str, str], axes: Axes) -> Sequence[Cell]:
    """The cells that a run with these tags is over; none for a run over other partitions or none."""
    first = tags.get(RANGE_START_TAG) or tags.get(PARTITION_TAG, "")
    last = tags.get(RANGE_END_TAG) or first
    if "|" not in first or "|" not in last:
        return ()
    return between(cell_of(first), cell_of(last), scenarios=axes.scenarios, models=axes.models)
