"""What the workspace's files say, as rows: scenarios, their configs, their reference files, models."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Table, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from resources.lake import Lake
from resources.locks import lock
from resources.reference_saves import KnownImport, import_reference
from resources.scoring_configs import scoring_config_of
from resources.stored_text import json_text, storable
from resources.tables import models, scenario_configs, scenarios
from scoring.records import Json, Model, ScoringConfig
from scoring.staleness import content_hash, scoring_config_hash

if TYPE_CHECKING:
    from resources.scenarios import Scenario


# What the files would be compared with, of all scenarios at once: asked one by one, 500 of them take seconds.
_STORED = text("""
select s.*, h.owner_hash as head_hash, h.is_verified as head_is_verified, i.owner_hash as imported_hash,
       exists (select from assay.scenario_configs c
               where c.scenario_id = s.scenario_id and c.config_hash = s.config_hash) as has_config
from assay.scenarios s
left join lateral (select owner_hash, is_verified from assay.reference_versions v
                   where v.scenario_id = s.scenario_id order by number desc limit 1) h on true
left join lateral (select owner_hash from assay.reference_versions v
                   where v.scenario_id = s.scenario_id and origin = 'import' order by number desc limit 1) i on true
where s.scenario_id = any(:scenario_ids)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A scenario as its files say, and what of that is stored."""

    scenario: Scenario
    config: ScoringConfig
    config_hash: str

    @property
    def row(self) -> dict[str, Any]:
        return {
            "scenario_type": self.scenario.type,
            "title": storable(self.scenario.title),
            "entity": storable(self.scenario.entity),
            "prompt": storable(self.scenario.prompt),
            "expected_repetitions": self.scenario.repetitions,
            "config_hash": self.config_hash,
            "quality_weight": float(self.scenario.weights.quality),
            "speed_weight": float(self.scenario.weights.speed),
            "cost_weight": float(self.scenario.weights.cost),
        }

    def is_stored(self, found: Mapping[Any, Any] | None) -> bool:
        """Whether nothing of it would be written."""
        if found is None or not found["has_config"] or _differs(self.row, found):
            return False
        if self.scenario.reference is None:
            return True
        known = KnownImport(
            imported_hash=found["imported_hash"],
            head_hash=found["head_hash"],
            head_is_verified=bool(found["head_is_verified"]),
        )
        return known.holds(content_hash(self.scenario.reference), is_verified=self.scenario.reference_is_verified)


def sync_scenarios(engine: Engine, lake: Lake, given: Sequence[Scenario]) -> None:
    """The rows of these scenarios are as their files say.

    Only what differs is written, each scenario in a transaction of its own.
    """
    written = [_written(scenario) for scenario in given]
    with engine.connect() as connection:
        ids = {"scenario_ids": [one.scenario.scenario_id for one in written]}
        stored = {row["scenario_id"]: row for row in connection.execute(_STORED, ids).mappings()}
    for one in written:
        if not one.is_stored(stored.get(one.scenario.scenario_id)):
            _sync(engine, lake, one)


def _written(scenario: Scenario) -> _Written:
    config = scoring_config_of(scenario.scoring)
    config_hash = scoring_config_hash(schema=scenario.schema, config=config, context=scenario.context)
    return _Written(scenario=scenario, config=config, config_hash=config_hash)


def _sync(engine: Engine, lake: Lake, written: _Written) -> None:
    with engine.begin() as connection:
        lock(connection, "scenario", written.scenario.scenario_id)
        _sync_row(connection, written)
        _keep_config(connection, written)
        _sync_reference(connection, lake, written.scenario)


def sync_models(engine: Engine, given: Sequence[Model]) -> None:
    """The models' rows are as given. Only what differs is written; models that are not given stay."""
    rows = {model.model_id: _model_row(model) for model in given}
    with engine.begin() as connection:
        lock(connection, "models")
        found = {row.model_id: row._mapping for row in connection.execute(select(models))}
        for model_id, row in rows.items():
            _upsert(connection, models, {"model_id": model_id}, row, found.get(model_id))


def _sync_row(connection: Connection, written: _Written) -> None:
    row = written.row
    scenario_id = written.scenario.scenario_id
    found = connection.execute(select(scenarios).where(scenarios.c.scenario_id == scenario_id)).mappings().one_or_none()
    if found is not None and found["config_hash"] != written.config_hash:
        row["config_changed_at"] = func.now()
    _upsert(connection, scenarios, {"scenario_id": scenario_id}, row, found)


def _upsert(
    connection: Connection,
    table: Table,
    key: Mapping[str, Any],
    row: Mapping[str, Any],
    found: Mapping[Any, Any] | None,
) -> None:
    if found is None:
        connection.execute(insert(table).values(**key, **row))
    elif _differs(row, found):
        (name, value), *_ = key.items()
        connection.execute(update(table).where(table.c[name] == value).values(**row, updated_at=func.now()))


def _differs(row: Mapping[str, Any], found: Mapping[Any, Any]) -> bool:
    return any(found[name] != value for name, value in row.items() if isinstance(value, str | int | float | None))


def _keep_config(connection: Connection, written: _Written) -> None:
    values = {
        "scenario_id": written.scenario.scenario_id,
        "config_hash": written.config_hash,
        "schema_json": json_text(written.scenario.schema),
        "scoring_json": json_text(_config_json(written.config)),
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
