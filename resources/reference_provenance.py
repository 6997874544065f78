"""Who gave the values of generated references: kept with the version, for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, insert, select

from resources.reference_tables import reference_provenance
from resources.stored_text import json_text, json_value, storable
from scoring.paths import stable_path

if TYPE_CHECKING:
    from resources.reference_versions import ReferenceVersion
    from scoring.consensus import Provenance


def keep_provenance(connection: Connection, version: ReferenceVersion, provenance: Sequence[Provenance]) -> None:
    """The provenance of the version's values, within the caller's transaction."""
    rows = [
        {
            "reference_version_id": version.reference_version_id,
            "position": position,
            "path": storable(stable_path(one.path, version.item_ids)),
            "value_json": json_text(one.value),
            "model_ids": storable("\n".join(one.models)),
            "other_answers": json_text([{"value": value, "models": [*models]} for value, models in one.others]),
        }
        for position, one in enumerate(provenance)
    ]
    if rows:
        connection.execute(insert(reference_provenance), rows)


def provenance_of(engine: Engine, version: ReferenceVersion) -> list[dict[str, Any]]:
    """Who gave each value of a version, in the order of the document; empty for one that was not generated."""
    table = reference_provenance
    query = select(table).where(table.c.reference_version_id == version.reference_version_id)
    with engine.connect() as connection:
        return [
            {
                "path": row.path,
                "value": json_value(row.value_json),
                "models": row.model_ids.split("\n"),
                "others": json_value(row.other_answers),
            }
            for row in connection.execute(query.order_by(table.c.position))
        ]
