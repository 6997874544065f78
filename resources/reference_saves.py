"""What the owner of a reference does: save, import, verify; a conflict where another version came between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, Engine

from resources.lake import Lake
from resources.reference_edits import append_with_edits, edits_in_place, note_models
from resources.reference_evidence import inputs_of, merged_of, root_of
from resources.reference_provenance import keep_provenance
from resources.reference_versions import (
    NewVersion,
    ReferenceOrigin,
    ReferenceVersion,
    head_of,
    last_import,
    lock_reference,
    newest_round,
    version_of,
)
from scoring.consensus import Provenance
from scoring.edits import Edit, Save, Snapshot
from scoring.errors import InputError
from scoring.finding_log import saved_paths
from scoring.item_ids import assign_item_ids
from scoring.owners_part import Change, changes_between, untouched, without_edits
from scoring.records import Json
from scoring.staleness import content_hash


class ReferenceConflictError(InputError):
    """Somebody else changed the reference meanwhile. `changes` are what they changed, as rows for people."""

    def __init__(self, message: str, *, where: str, remedy: str, changes: Sequence[Change]) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.changes = tuple(changes)


def save_reference(
    engine: Engine,
    lake: Lake,
    scenario_id: str,
    content: Json,
    *,
    author: str,
    origin: ReferenceOrigin,
    is_verified: bool,
    based_on: int | None = None,
    note: str = "",
    provenance: Sequence[Provenance] = (),
) -> ReferenceVersion:
    """The newest version, which holds `content`: a new one, or the head where the owner made it and nothing differs.

    What differs from the head is the owner's from now on; automatic edits that are left as they were stay automatic. A
    save of all as it is makes all of it the owner's. `based_on` is the version that was edited: where it is no longer
    the newest, ReferenceConflictError says what was changed since.
    """
    with engine.begin() as connection:
        lock_reference(connection, scenario_id)
        head = head_of(connection, scenario_id)
        require_newest(connection, scenario_id, head, based_on)
        version = _save(connection, lake, scenario_id, head, content, author, origin, is_verified, note)
        keep_provenance(connection, version, provenance)
    return version


def require_newest(
    connection: Connection, scenario_id: str, head: ReferenceVersion | None, based_on: int | None
) -> None:
    """Raises ReferenceConflictError, which tells what was changed, where `based_on` is not the newest version."""
    newest = 0 if head is None else head.number
    if based_on is None or based_on == newest or head is None:
        return
    seen = version_of(connection, scenario_id, based_on).snapshot if based_on else Snapshot(content={})
    changes = changes_between(seen, head.snapshot)
    paths = ", ".join(change.path for change in changes[:5]) or "its state"
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
    raise ReferenceConflictError(
        f"version {based_on} was edited, and {head.author} has made version {newest} since ({paths}{more})",
        where=scenario_id,
        remedy=f"Look at it with `assay reference diff {scenario_id} --from {based_on}`, then make your change again",
        changes=changes,
    )


def _save(
    connection: Connection,
    lake: Lake,
    scenario_id: str,
    head: ReferenceVersion | None,
    content: Json,
    author: str,
    origin: ReferenceOrigin,
    is_verified: bool,
    note: str,
) -> ReferenceVersion:
    is_same = head is not None and head.content_hash == content_hash(content)
    if head is not None and is_same and head.origin.is_owners and head.is_verified >= is_verified:
        return head
    saved = _snapshot(connection, scenario_id, content, None if head is None else head.snapshot)
    changes: tuple[Change, ...] = ()
    kept: tuple[Edit, ...] = ()
    owner, paths = saved, frozenset[str]()
    if head is not None:
        edits = [stored.edit for stored in edits_in_place(connection, scenario_id)]
        changes = changes_between(head.snapshot, saved)
        kept = untouched(edits, changes) if changes or not origin.is_owners else ()
        owner = without_edits(saved, kept, head.owner) if origin.is_owners else head.owner
        paths = (
            (saved_paths(saved, head.snapshot) or frozenset(edit.path for edit in edits)) if origin.is_owners else paths
        )
    new = NewVersion(
        scenario_id=scenario_id,
        snapshot=saved,
        owner=owner,
        author=author,
        origin=origin,
        is_verified=is_verified,
        saved_paths=paths,
        note=note,
    )
    return append_with_edits(connection, lake, new, head, edits=kept, changes=changes)


def _snapshot(connection: Connection, scenario_id: str, content: Json, before: Snapshot | None) -> Snapshot:
    """The content with item ids, carried from the version before where its items are still there."""
    previous = None if before is None else (before.content, before.item_ids)
    root = root_of(connection, scenario_id, content if before is None else before.content)
    return Snapshot(content=content, item_ids=assign_item_ids(content, root, previous))


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownImport:
    """What is stored of a reference: hashes of the owner's part of its newest version from a file, and of its head."""

    imported_hash: str | None
    head_hash: str | None
    head_is_verified: bool

    def holds(self, file_hash: str, *, is_verified: bool) -> bool:
        """Whether a file of this content is taken in already, vouched for as it says."""
        if self.head_hash is None or self.imported_hash != file_hash:
            return False
        is_head = self.head_hash == self.imported_hash
        return not (is_head and is_verified and not self.head_is_verified)


def import_reference(
    connection: Connection, lake: Lake, scenario_id: str, content: Json, *, author: str, is_verified: bool
) -> ReferenceVersion:
    """The newest version after its file was read, within the caller's transaction.

    A file that changed is the owner's part as a whole, and what it changed is the owner's; automatic edits at other
    paths stay. What the owner saved elsewhere stays the newest version as long as the file itself does not change.
    """
    lock_reference(connection, scenario_id)
    head, imported = head_of(connection, scenario_id), last_import(connection, scenario_id)
    if head is None:
        origin = ReferenceOrigin.IMPORT
        return _save(connection, lake, scenario_id, None, content, author, origin, is_verified, "")
    known = KnownImport(
        imported_hash=None if imported is None else imported.owner_hash,
        head_hash=head.owner_hash,
        head_is_verified=head.is_verified,
    )
    if known.holds(content_hash(content), is_verified=is_verified):
        return head
    return _import_over(connection, lake, head, content, author, is_verified)


def _import_over(
    connection: Connection, lake: Lake, head: ReferenceVersion, content: Json, author: str, is_verified: bool
) -> ReferenceVersion:
    owner = _snapshot(connection, head.scenario_id, content, head.owner)
    paths = saved_paths(owner, head.owner)
    inputs = inputs_of(connection, head.scenario_id, with_new=False)
    if paths:
        save = Save(after_round=newest_round(connection), paths=paths)
        inputs = replace(inputs, saves=(*inputs.saves, save))
    merged = merged_of(connection, head.scenario_id, owner, inputs)
    new = NewVersion(
        scenario_id=head.scenario_id,
        snapshot=Snapshot(content=merged.content, item_ids=merged.item_ids),
        owner=owner,
        author=author,
        origin=ReferenceOrigin.IMPORT,
        is_verified=is_verified,
        saved_paths=paths,
    )
    changes = changes_between(head.owner, owner)
    version = append_with_edits(connection, lake, new, head, edits=merged.edits, changes=changes)
    note_models(connection, head.scenario_id, merged.edits)
    return version


def verify_reference(engine: Engine, lake: Lake, scenario_id: str, author: str) -> ReferenceVersion:
    """The head, verified: a new version of the same content unless it is verified already."""
    with engine.begin() as connection:
        lock_reference(connection, scenario_id)
        head = head_of(connection, scenario_id)
        if head is None:
            raise InputError(
                "there is no reference to verify",
                where=scenario_id,
                remedy="Add reference.json to the scenario's folder, or: assay reference set",
            )
        if head.is_verified:
            return head
        new = NewVersion(
            scenario_id=scenario_id,
            snapshot=head.snapshot,
            owner=head.owner,
            author=author,
            origin=ReferenceOrigin.OWNER_SAVE,
            is_verified=True,
            note="verified",
        )
        edits = [stored.edit for stored in edits_in_place(connection, scenario_id)]
        return append_with_edits(connection, lake, new, head, edits=edits)
