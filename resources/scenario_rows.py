"""What the workspace's files say, as rows: scenarios, their configs, their reference files, models."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Table, func, select, update
from sqlalchemy.dialects.postgresql import insert

from resources.lake import Lake
from resources.locks import lock
from resources.reference_saves import import_reference
from resources.scoring_configs import scoring_config_of
from resources.stored_text import json_text, storable
from resources.tables import models, scenario_configs, scenarios
from scoring.records import Json, Model, ScoringConfig
from scoring.staleness import scoring_config_hash

if TYPE_CHECKING:
    from resources.scenarios import Scenario


def sync_scenario(engine: Engine, lake: Lake, scenario: Scenario) -> None:
    """The scenario's rows are as its files say. Only what differs is written."""
    config = scoring_config_of(scenario.scoring)
    config_hash = scoring_config_hash(schema=scenario.schema, config=config, context=scenario.context)
    with engine.begin() as connection:
        lock(connection, "scenario", scenario.scenario_id)
        _sync_row(connection, scenario, config_hash)
        _keep_config(connection, scenario, config, config_hash)
        _sync_reference(connection, lake, scenario)


def sync_models(engine: Engine, given: Sequence[Model]) -> None:
    """The models' rows are as given. Only what differs is written; models that are not given stay."""
    rows = {model.model_id: _model_row(model) for model in given}
    with engine.begin() as connection:
        lock(connection, "models")
        found = {row.model_id: row._mapping for row in connection.execute(select(models))}
        for model_id, row in rows.items():
            _upsert(connection, models, {"model_id": model_id}, row, found.get(model_id))


def _sync_row(connection: Connection, scenario: Scenario, config_hash: str) -> None:
    row = {
        "scenario_type": scenario.type,
        "title": storable(scenario.title),
        "entity": storable(scenario.entity),
        "prompt": storable(scenario.prompt),
        "expected_repetitions": scenario.repetitions,
        "config_hash": config_hash,
        "quality_weight": float(scenario.weights.quality),
        "speed_weight": float(scenario.weights.speed),
        "cost_weight": float(scenario.weights.cost),
    }
    mine = select(scenarios).where(scenarios.c.scenario_id == scenario.scenario_id)
    found = connection.execute(mine).mappings().one_or_none()
    if found is not None and found["config_hash"] != config_hash:
        row["config_changed_at"] = func.now()
    _upsert(connection, scenarios, {"scenario_id": scenario.scenario_id}, row, found)


def _upsert(
    connection: Connection,
    table: Table,
    key: Mapping[str, Any],
    row: Mapping[str, Any],
    found: Mapping[Any, Any] | None,
) -> None:
    if found is None:
        connection.execute(insert(table).values(**key, **row))
    elif any(found[name] != value for name, value in row.items() if isinstance(value, str | int | float | None)):
        (name, value), *_ = key.items()
        connection.execute(update(table).where(table.c[name] == value).values(**row, updated_at=func.now()))


def _keep_config(connection: Connection, scenario: Scenario, config: ScoringConfig, config_hash: str) -> None:
    values = {
        "scenario_id": scenario.scenario_id,
        "config_hash": config_hash,
        "schema_json": json_text(scenario.schema),
        "scoring_json": json_text(_config_json(config)),
    }
    connection.execute(insert(scenario_configs).values(**values).on_conflict_do_nothing())


def _config_json(config: ScoringConfig) -> Json:
    plain: dict[str, Any] = dataclasses.asdict(config)
    return plain


def _sync_reference(connection: Connection, lake: Lake, scenario: Scenario) -> None:
    """The reference file is a version each time it changed, and verified where scenario.yaml says so."""
    if scenario.reference is None:
        return
    author = scenario.reference_author or "reference.json"
    is_verified = scenario.reference_is_verified
    import_reference(connection, lake, scenario.scenario_id, scenario.reference, author=author, is_verified=is_verified)


def _model_row(model: Model) -> dict[str, Any]:
    return {
        "provider": storable(model.provider),
        "model_name": storable(model.name),
        "family": storable(model.family),
        "input_usd_per_million": model.input_usd_per_million,
        "output_usd_per_million": model.output_usd_per_million,
    }
