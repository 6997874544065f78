"""Versions of references: append-only, each with its whole content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, insert, select

from resources.lake import Lake
from resources.lake_tables import lake_table
from resources.locks import lock
from resources.stored_text import json_text, json_value, storable
from resources.tables import reference_versions
from scoring.errors import InputError
from scoring.records import Json
from scoring.staleness import content_hash


class ReferenceOrigin(StrEnum):
    """What made a version of a reference. The first two are its owner's doing."""

    IMPORT = "import"
    OWNER_SAVE = "owner_save"
    ROUND = "round"
    REJECTION = "rejection"

    @property
    def is_owners(self) -> bool:
        """Whether the owner made the version, so that scores made before it are stale."""
        return self in (ReferenceOrigin.IMPORT, ReferenceOrigin.OWNER_SAVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceVersion:
    """One version of a scenario's reference. `number` counts from 1; `parent_id` is the version it was made from."""

    reference_version_id: int
    scenario_id: str
    number: int
    content: Json
    item_ids: Mapping[str, Any]
    content_hash: str
    author: str
    origin: ReferenceOrigin
    is_verified: bool
    parent_id: int | None
    created_at: datetime


def save_reference(
    engine: Engine,
    lake: Lake,
    scenario_id: str,
    content: Json,
    *,
    author: str,
    origin: ReferenceOrigin,
    is_verified: bool,
    item_ids: Mapping[str, Any] | None = None,
) -> ReferenceVersion:
    """The newest version, which holds `content`: a new one, or the head where the owner made it and nothing differs."""
    with engine.begin() as connection:
        return append(connection, lake, scenario_id, content, author, origin, is_verified, item_ids or {})


def append(
    connection: Connection,
    lake: Lake,
    scenario_id: str,
    content: Json,
    author: str,
    origin: ReferenceOrigin,
    is_verified: bool,
    item_ids: Mapping[str, Any],
) -> ReferenceVersion:
    """`save_reference` within the caller's transaction; two appends to one scenario wait for each other."""
    lock(connection, "reference", scenario_id)
    head = head_of(connection, scenario_id)
    new_hash = content_hash(content)
    is_same = head is not None and head.content_hash == new_hash and head.origin.is_owners and origin.is_owners
    if head is not None and is_same and head.is_verified >= is_verified:
        return head
    row = {
        "scenario_id": scenario_id,
        "number": 1 if head is None else head.number + 1,
        "content_json": json_text(content),
        "item_ids_json": json_text(dict(item_ids)),
        "content_hash": new_hash,
        "author": storable(author),
        "origin": origin.value,
        "is_verified": is_verified,
    }
    file = lake.write(
        "reference_versions", {"scenario": scenario_id}, lake_table("reference_versions", [tuple(row.values())])
    )
    parent = None if head is None else head.reference_version_id
    new = insert(reference_versions).values(**row, parent_id=parent, lake_file=file).returning(reference_versions)
    return _version(connection.execute(new).one())


def head_reference(engine: Engine, scenario_id: str) -> ReferenceVersion | None:
    """The newest version, None where there is none."""
    with engine.connect() as connection:
        return head_of(connection, scenario_id)


def head_of(connection: Connection, scenario_id: str) -> ReferenceVersion | None:
    """`head_reference` within the caller's transaction."""
    return _one(connection, _head_query(scenario_id))


def last_import(connection: Connection, scenario_id: str) -> ReferenceVersion | None:
    """The newest version that came from a file."""
    query = _head_query(scenario_id).where(reference_versions.c.origin == ReferenceOrigin.IMPORT.value)
    return _one(connection, query)


def reference_version(engine: Engine, scenario_id: str, number: int) -> ReferenceVersion:
    """The version of this number. Raises InputError where there is none."""
    with engine.connect() as connection:
        found = _one(connection, _head_query(scenario_id).where(reference_versions.c.number == number))
    if found is None:
        raise InputError(
            f"the reference has no version {number}",
            where=scenario_id,
            remedy=f"List its versions with: assay reference log {scenario_id}",
        )
    return found


def verify_reference(engine: Engine, lake: Lake, scenario_id: str, author: str) -> ReferenceVersion:
    """The head, verified: a new version of the same content unless it is verified already."""
    with engine.begin() as connection:
        lock(connection, "reference", scenario_id)
        head = head_of(connection, scenario_id)
        if head is None:
            raise InputError(
                "there is no reference to verify",
                where=scenario_id,
                remedy="Add reference.json to the scenario's folder, or: assay reference set",
            )
        if head.is_verified:
            return head
        origin = ReferenceOrigin.OWNER_SAVE
        return append(connection, lake, scenario_id, head.content, author, origin, True, head.item_ids)


def _head_query(scenario_id: str) -> Select[Any]:
    ours = select(reference_versions).where(reference_versions.c.scenario_id == scenario_id)
    return ours.order_by(reference_versions.c.number.desc()).limit(1)


def _one(connection: Connection, query: Select[Any]) -> ReferenceVersion | None:
    row = connection.execute(query).one_or_none()
    return None if row is None else _version(row)


def _version(row: Row[Any]) -> ReferenceVersion:
    item_ids = json_value(row.item_ids_json)
    return ReferenceVersion(
        reference_version_id=row.reference_version_id,
        scenario_id=row.scenario_id,
        number=row.number,
        content=json_value(row.content_json),
        item_ids=item_ids if isinstance(item_ids, dict) else {},
        content_hash=row.content_hash,
        author=row.author,
        origin=ReferenceOrigin(row.origin),
        is_verified=row.is_verified,
        parent_id=row.parent_id,
        created_at=row.created_at,
    )
