"""Versions of references: append-only, each with its whole content and with what of it is the owner's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, insert, select, text

from resources.lake import Lake
from resources.lake_tables import lake_table
from resources.locks import lock
from resources.stored_text import json_text, json_value, storable
from resources.tables import reference_versions
from scoring.edits import Save, Snapshot
from scoring.errors import InputError
from scoring.records import Json
from scoring.staleness import content_hash


class ReferenceOrigin(StrEnum):
    """What made a version of a reference. The first three are its owner's doing."""

    IMPORT = "import"
    OWNER_SAVE = "owner_save"
    GENERATED = "generated"
    ROUND = "round"
    REJECTION = "rejection"
    RELEASE = "release"

    @property
    def is_owners(self) -> bool:
        """Whether the owner saved the content."""
        return self in (ReferenceOrigin.IMPORT, ReferenceOrigin.OWNER_SAVE, ReferenceOrigin.GENERATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceVersion:
    """One version of a scenario's reference. `number` counts from 1; `parent_id` is the version it was made from.

    `owner` is the owner's part, without automatic edits; `owner_hash` is its hash, which decides what is stale.
    `save` is what the owner's save changed. `note` says what was done, where the origin does not say it all.
    """

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
    owner: Snapshot
    owner_hash: str
    save: Save
    note: str

    @property
    def snapshot(self) -> Snapshot:
        """The content with its item ids."""
        return Snapshot(content=self.content, item_ids=self.item_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVersion:
    """What a new version will hold. `saved_paths` are what the owner's save changed."""

    scenario_id: str
    snapshot: Snapshot
    owner: Snapshot
    author: str
    origin: ReferenceOrigin
    is_verified: bool
    saved_paths: frozenset[str] = field(default_factory=frozenset)
    note: str = ""


def append(connection: Connection, lake: Lake, new: NewVersion, head: ReferenceVersion | None) -> ReferenceVersion:
    """The new version after `head`, within the caller's transaction, which holds the scenario's lock."""
    row = {
        "scenario_id": new.scenario_id,
        "number": 1 if head is None else head.number + 1,
        "content_json": json_text(new.snapshot.content),
        "item_ids_json": json_text(dict(new.snapshot.item_ids)),
        "content_hash": content_hash(new.snapshot.content),
        "author": storable(new.author),
        "origin": new.origin.value,
        "is_verified": new.is_verified,
    }
    file = lake.write(
        "reference_versions", {"scenario": new.scenario_id}, lake_table("reference_versions", [tuple(row.values())])
    )
    rest = {
        "owner_json": json_text(new.owner.content),
        "owner_item_ids_json": json_text(dict(new.owner.item_ids)),
        "owner_hash": content_hash(new.owner.content),
        "after_round": newest_round(connection),
        "saved_paths_json": json_text([*sorted(new.saved_paths)]),
        "note": storable(new.note),
        "parent_id": None if head is None else head.reference_version_id,
        "lake_file": file,
    }
    made = insert(reference_versions).values(**row, **rest).returning(reference_versions)
    return _version(connection.execute(made).one())


def newest_round(connection: Connection) -> int:
    """The id of the newest round that began, 0 before the first."""
    newest: int = connection.execute(text("select coalesce(max(round_id), 0) from assay.rounds")).scalar_one()
    return newest


def lock_reference(connection: Connection, scenario_id: str) -> None:
    """Nobody else changes this scenario's reference until the transaction ends."""
    lock(connection, "reference", scenario_id)


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


def versions_of(connection: Connection, scenario_id: str) -> list[ReferenceVersion]:
    """All versions of a scenario's reference, the oldest first."""
    ours = select(reference_versions).where(reference_versions.c.scenario_id == scenario_id)
    return [_version(row) for row in connection.execute(ours.order_by(reference_versions.c.number))]


def snapshots_of(connection: Connection, version_ids: Collection[int]) -> dict[int, Snapshot]:
    """The contents of these versions, by identity."""
    columns = reference_versions.c
    query = select(columns.reference_version_id, columns.content_json, columns.item_ids_json)
    rows = connection.execute(query.where(columns.reference_version_id.in_(version_ids)))
    return {
        row.reference_version_id: Snapshot(content=json_value(row.content_json), item_ids=_ids(row.item_ids_json))
        for row in rows
    }


def reference_version(engine: Engine, scenario_id: str, number: int) -> ReferenceVersion:
    """The version of this number. Raises InputError where there is none."""
    with engine.connect() as connection:
        return version_of(connection, scenario_id, number)


def version_of(connection: Connection, scenario_id: str, number: int) -> ReferenceVersion:
    """`reference_version` within the caller's transaction."""
    found = _one(connection, _head_query(scenario_id).where(reference_versions.c.number == number))
    if found is None:
        raise InputError(
            f"the reference has no version {number}",
            where=scenario_id,
            remedy=f"List its versions with: assay reference log {scenario_id}",
        )
    return found


def saves_of(connection: Connection, scenario_id: str) -> tuple[Save, ...]:
    """What the owner's saves changed, the oldest first."""
    columns = reference_versions.c
    query = select(columns.after_round, columns.saved_paths_json).where(columns.scenario_id == scenario_id)
    rows = connection.execute(query.where(columns.saved_paths_json != "[]").order_by(columns.number))
    return tuple(_save(row.after_round, row.saved_paths_json) for row in rows)


def _save(after_round: int, saved_paths_json: str) -> Save:
    paths = json_value(saved_paths_json)
    return Save(after_round=after_round, paths=frozenset(map(str, paths if isinstance(paths, list) else ())))


def _head_query(scenario_id: str) -> Select[Any]:
    ours = select(reference_versions).where(reference_versions.c.scenario_id == scenario_id)
    return ours.order_by(reference_versions.c.number.desc()).limit(1)


def _one(connection: Connection, query: Select[Any]) -> ReferenceVersion | None:
    row = connection.execute(query).one_or_none()
    return None if row is None else _version(row)


def _version(row: Row[Any]) -> ReferenceVersion:
    owner = Snapshot(content=json_value(row.owner_json), item_ids=_ids(row.owner_item_ids_json))
    return ReferenceVersion(
        reference_version_id=row.reference_version_id,
        scenario_id=row.scenario_id,
        number=row.number,
        content=json_value(row.content_json),
        item_ids=_ids(row.item_ids_json),
        content_hash=row.content_hash,
        author=row.author,
        origin=ReferenceOrigin(row.origin),
        is_verified=row.is_verified,
        parent_id=row.parent_id,
        created_at=row.created_at,
        owner=owner,
        owner_hash=row.owner_hash,
        save=_save(row.after_round, row.saved_paths_json),
        note=row.note,
    )


def _ids(text_: str) -> dict[str, Any]:
    found = json_value(text_)
    return found if isinstance(found, dict) else {}
