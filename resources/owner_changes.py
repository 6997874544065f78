"""What an owner changed: the version of a reference that they saved last, and the settings of a scoring config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from resources.stored_text import json_value
from scoring.staleness import changed_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedReference:
    """The version that holds what the owner last saved, and the one with what they had saved before, if any.

    `paths` are the places whose values differ from what they had saved before; empty for a first version.
    """

    scenario_id: str
    number: int
    before: int | None
    author: str
    origin: str
    is_verified: bool
    saved_at: datetime
    paths: tuple[str, ...]


_SAVED = text("""
select distinct on (v.scenario_id) v.scenario_id, v.number, v.author, v.origin, v.is_verified, v.created_at,
       v.saved_paths_json,
       (select max(b.number) from assay.reference_versions b
        where b.scenario_id = v.scenario_id and b.number < v.number) as before
from assay.reference_versions v
where v.scenario_id = any(:scenario_ids) and v.origin in ('import', 'owner_save', 'generated')
order by v.scenario_id, v.number desc
""")


def saved_references(engine: Engine, scenario_ids: Sequence[str]) -> dict[str, SavedReference]:
    """What the owners of these scenarios last saved, by scenario; those without a reference are left out."""
    with engine.connect() as connection:
        return {row.scenario_id: _saved(row) for row in connection.execute(_SAVED, {"scenario_ids": [*scenario_ids]})}


def _saved(row: Row[Any]) -> SavedReference:
    paths = json_value(row.saved_paths_json)
    return SavedReference(
        scenario_id=row.scenario_id,
        number=row.number,
        before=row.before,
        author=row.author,
        origin=row.origin,
        is_verified=row.is_verified,
        saved_at=row.created_at,
        paths=tuple(str(path) for path in paths) if isinstance(paths, list) and row.before is not None else (),
    )


_CONFIG = text("""
select schema_json, scoring_json from assay.scenario_configs where scenario_id = :scenario_id and config_hash = :hash
""")


def config_changes(engine: Engine, scenario_id: str, before: str, after: str) -> tuple[str, ...]:
    """The settings that differ between two scoring configs of a scenario, given by hash; empty for unknown ones."""
    with engine.connect() as connection:
        found = [settings_of(connection, scenario_id, config_hash) for config_hash in (before, after)]
    return () if None in found else changed_settings(found[0] or {}, found[1] or {})


def settings_of(connection: Connection, scenario_id: str, config_hash: str) -> dict[str, Any] | None:
    """The scoring config of this hash with its schema; None for an unknown one."""
    row = connection.execute(_CONFIG, {"scenario_id": scenario_id, "hash": config_hash}).one_or_none()
    return None if row is None else written_settings(row.schema_json, row.scoring_json)


def written_settings(schema_json: str, scoring_json: str) -> dict[str, Any]:
    """A scoring config and its schema as one mapping, for `changed_settings`."""
    scoring = json_value(scoring_json)
    return {"schema": json_value(schema_json), **(scoring if isinstance(scoring, dict) else {})}
