"""The owner's no to automatic edits: picked one by one or by a filter, undone by a release (SPEC 7)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from sqlalchemy import Connection, Engine, insert, text

from resources.lake import Lake
from resources.reference_edits import tracked_edits
from resources.reference_evidence import inputs_of, merged_of
from resources.reference_merges import apply_merge
from resources.reference_saves import ReferenceConflictError, require_newest
from resources.reference_tables import reference_rejections, rejected_versions
from resources.reference_versions import (
    ReferenceOrigin,
    ReferenceVersion,
    head_of,
    lock_reference,
    newest_round,
    versions_of,
)
from resources.stored_text import storable
from scoring.errors import InputError
from scoring.owners_part import Change, value_at
from scoring.staleness import content_hash
from scoring.tracked_changes import TrackedEdit

_RELEASE = text("""
update assay.reference_rejections
set released_at = now(), released_by = :author, released_after_round = :after_round
where scenario_id = :scenario_id and path = any(:paths) and released_at is null
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditFilter:
    """Which edits are meant. What is left out does not matter; no condition at all means every edit.

    `path` is a prefix or a pattern with `*` (which passes `/`), of the stable path or of the JSON Pointer. `models`
    is an exact number of models behind the edit.
    """

    path: str | None = None
    evidence: str | None = None
    models: int | None = None
    edit_ids: frozenset[int] = frozenset()

    def __str__(self) -> str:
        parts = [
            "" if self.path is None else f"path {self.path}",
            "" if self.evidence is None else f"evidence {self.evidence}",
            "" if self.models is None else f"{self.models} {'model' if self.models == 1 else 'models'} behind it",
            ", ".join(f"edit {id_}" for id_ in sorted(self.edit_ids)),
        ]
        return "; ".join(part for part in parts if part) or "all"

    def matches(self, edit: TrackedEdit) -> bool:
        """Whether the edit is meant."""
        return (
            (self.path is None or is_under(self.path, edit.path) or is_under(self.path, edit.pointer))
            and (self.evidence is None or edit.evidence == self.evidence)
            and (self.models is None or edit.model_count == self.models)
            and (not self.edit_ids or edit.edit_id in self.edit_ids)
        )


def is_under(pattern: str, path: str | None) -> bool:
    """Whether a path matches a pattern, or lies at or below it."""
    if path is None:
        return False
    wanted = pattern if pattern.startswith("/") or not pattern else f"/{pattern}"
    wanted = wanted.rstrip("/")
    if not re.search(r"[*?\[]", wanted):
        return path == wanted or path.startswith(f"{wanted}/")
    return fnmatchcase(path, wanted) or fnmatchcase(path, f"{wanted}/*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What a rejection or a release did: the edits it was about, and the newest version afterwards."""

    version: ReferenceVersion
    edits: tuple[TrackedEdit, ...]


def reject_edits(
    engine: Engine,
    lake: Lake,
    scenario_id: str,
    wanted: EditFilter,
    *,
    author: str,
    expected: int | None = None,
    based_on: int | None = None,
) -> Reviewed:
    """The automatic edits that the filter matches are undone and their paths locked until released.

    `expected` is how many the caller saw: where another number matches now, ReferenceConflictError says which, and
    nothing is changed. Scores that were made against a rejected value are stale afterwards, and no others.
    """
    with engine.begin() as connection:
        head = _head(connection, scenario_id, based_on)
        found = [edit for edit in tracked_edits(connection, head) if edit.is_in_place and wanted.matches(edit)]
        _require_count(scenario_id, head, found, expected)
        if not found:
            return Reviewed(version=head, edits=())
        _insert_rejections(connection, head, found, str(wanted), author)
        version = _remerged(connection, lake, head, author, ReferenceOrigin.REJECTION, f"rejected: {wanted}")
    return Reviewed(version=version, edits=tuple(found))


def release_edits(
    engine: Engine,
    lake: Lake,
    scenario_id: str,
    wanted: EditFilter,
    *,
    author: str,
    expected: int | None = None,
    based_on: int | None = None,
) -> Reviewed:
    """The rejected edits that the filter matches are released: their paths stand as if they had not been rejected."""
    with engine.begin() as connection:
        head = _head(connection, scenario_id, based_on)
        found = [edit for edit in tracked_edits(connection, head) if edit.is_rejected and wanted.matches(edit)]
        _require_count(scenario_id, head, found, expected)
        if not found:
            return Reviewed(version=head, edits=())
        given = {
            "scenario_id": scenario_id,
            "author": storable(author),
            "after_round": newest_round(connection),
            "paths": sorted({edit.path for edit in found}),
        }
        connection.execute(_RELEASE, given)
        version = _remerged(connection, lake, head, author, ReferenceOrigin.RELEASE, f"released: {wanted}")
    return Reviewed(version=version, edits=tuple(found))


def _head(connection: Connection, scenario_id: str, based_on: int | None) -> ReferenceVersion:
    lock_reference(connection, scenario_id)
    head = head_of(connection, scenario_id)
    if head is None:
        remedy = "Put it into reference.json beside scenario.yaml"
        raise InputError("there is no reference yet", where=scenario_id, remedy=remedy)
    require_newest(connection, scenario_id, head, based_on)
    return head


def _require_count(
    scenario_id: str, head: ReferenceVersion, found: Sequence[TrackedEdit], expected: int | None
) -> None:
    if expected is None or expected == len(found):
        return
    listed = ", ".join(f"{edit.edit_id} {edit.path}" for edit in found[:5]) or "none"
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    raise ReferenceConflictError(
        f"{len(found)} edits match, {expected} were expected; nothing was changed. "
        f"In version {head.number} these match: {listed}{more}",
        where=scenario_id,
        remedy="Look at them with `assay reference log`, then name the new number with --expect",
        changes=[Change(path=edit.path, before=edit.before, after=edit.after) for edit in found],
    )


def _insert_rejections(
    connection: Connection, head: ReferenceVersion, found: Sequence[TrackedEdit], filter_: str, author: str
) -> None:
    after_round = newest_round(connection)
    holding = _versions_holding(connection, head.scenario_id, found)
    for edit in found:
        row = {
            "scenario_id": head.scenario_id,
            "path": edit.path,
            "reference_edit_id": edit.edit_id,
            "reference_version_id": head.reference_version_id,
            "filter": storable(filter_),
            "author": storable(author),
            "after_round": after_round,
        }
        new = insert(reference_rejections).values(**row).returning(reference_rejections.c.reference_rejection_id)
        rejection_id = connection.execute(new).scalar_one()
        rows = [
            {"reference_rejection_id": rejection_id, "reference_version_id": version_id}
            for version_id in holding[edit.edit_id]
        ]
        connection.execute(insert(rejected_versions), rows)


def _versions_holding(
    connection: Connection, scenario_id: str, found: Sequence[TrackedEdit]
) -> Mapping[int, Sequence[int]]:
    """The versions that hold each edit's value at its path, which is what scores against it were made against."""
    hashes = {edit.edit_id: content_hash(edit.after) for edit in found}
    holding: dict[int, list[int]] = {edit.edit_id: [] for edit in found}
    for version in versions_of(connection, scenario_id):
        for edit in found:
            if content_hash(value_at(version.snapshot, edit.path)) == hashes[edit.edit_id]:
                holding[edit.edit_id].append(version.reference_version_id)
    return holding


def _remerged(
    connection: Connection, lake: Lake, head: ReferenceVersion, author: str, origin: ReferenceOrigin, note: str
) -> ReferenceVersion:
    """The version after the rejections changed, of the findings that went into merges before and of no others."""
    inputs = inputs_of(connection, head.scenario_id, with_new=False)
    merged = merged_of(connection, head.scenario_id, head.owner, inputs)
    return apply_merge(connection, lake, head, head.owner, merged, author=author, origin=origin, note=note)
