"""What people own and what models said. `runs` is only described here: imports report it, `assets.runs` makes it."""

from __future__ import annotations

import dagster as dg

from assets.descriptions import INPUTS, OWNERS, column_schema
from pipelines.partitions import by_scenario, cell_partitions, scenario_partitions
from resources import tables

scenario_config = dg.AssetSpec(
    "scenario_config",
    group_name=INPUTS,
    partitions_def=scenario_partitions,
    kinds={"yaml", "json"},
    owners=OWNERS,
    description=(
        "How each scenario is scored: its schema, strictness, embedding model, empty and accepted values, as the "
        "workspace's files say. **Data version:** the hash of that content; when it changes, the scenario's scores are "
        "stale."
    ),
    metadata=column_schema(tables.scenario_configs),
)

reference = dg.AssetSpec(
    "reference",
    group_name=INPUTS,
    partitions_def=scenario_partitions,
    kinds={"json", "postgres"},
    owners=OWNERS,
    description=(
        "The right answer for each scenario's entity, in versions. Only a verified one is scored against. **Data "
        "version:** the hash of what its owner last saved; when it changes, the scenario's scores are stale."
    ),
    metadata=column_schema(tables.reference_versions),
)

runs = dg.AssetSpec(
    "runs",
    group_name=INPUTS,
    partitions_def=cell_partitions,
    deps=[dg.AssetDep(scenario_config, partition_mapping=by_scenario)],
    kinds={"openai", "postgres", "parquet"},
    owners=OWNERS,
    description=(
        "What each model answered, one row a repetition: output, time, tokens, cost, status. Stored for good, by "
        "`assay import` or by calling the model: `assay run SCENARIO`, or *Materialize* here. Only missing repetitions "
        "are asked for, each is recorded by itself, and scoring never runs a model again. **Data version:** the hash "
        "of the recorded runs."
    ),
    skippable=True,  # a run over partitions that lack nothing makes nothing
    metadata=column_schema(tables.runs),
)
