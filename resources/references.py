"""The references of all scenarios, in the words of their owners and of the rounds that improve them (SPEC 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from resources import (
    reference_evidence,
    reference_merges,
    reference_provenance,
    reference_rejections,
    reference_saves,
    reference_versions,
)
from resources.lake import Lake
from resources.reference_edits import tracked_edits
from resources.reference_merges import MergeReport
from resources.reference_rejections import EditFilter, Reviewed
from resources.reference_saves import ReferenceConflictError
from resources.reference_versions import ReferenceOrigin, ReferenceVersion
from scoring.consensus import Provenance
from scoring.records import Json
from scoring.tracked_changes import TrackedEdit

__all__ = [
    "EditFilter",
    "MergeReport",
    "ReferenceConflictError",
    "ReferenceOrigin",
    "ReferenceVersion",
    "References",
    "Reviewed",
]


@dataclass(frozen=True, slots=True)
class References:
    """The references of one home. Each verb is one transaction; those on one scenario wait for each other."""

    engine: Engine
    lake: Lake

    def head(self, scenario_id: str) -> ReferenceVersion | None:
        """The newest version, None where there is none."""
        return reference_versions.head_reference(self.engine, scenario_id)

    def version(self, scenario_id: str, number: int) -> ReferenceVersion:
        """Any version ever made. Raises InputError where there is none of this number."""
        return reference_versions.reference_version(self.engine, scenario_id, number)

    def versions(self, scenario_id: str) -> list[ReferenceVersion]:
        """All versions, the oldest first."""
        with self.engine.connect() as connection:
            return reference_versions.versions_of(connection, scenario_id)

    def save(
        self,
        scenario_id: str,
        content: Json,
        *,
        author: str,
        origin: ReferenceOrigin = ReferenceOrigin.OWNER_SAVE,
        is_verified: bool = False,
        based_on: int | None = None,
        note: str = "",
        provenance: Sequence[Provenance] = (),
    ) -> ReferenceVersion:
        """The newest version, which holds `content`. Raises ReferenceConflictError where `based_on` is older."""
        return reference_saves.save_reference(
            self.engine,
            self.lake,
            scenario_id,
            content,
            author=author,
            origin=origin,
            is_verified=is_verified,
            based_on=based_on,
            note=note,
            provenance=provenance,
        )

    def verify(self, scenario_id: str, author: str) -> ReferenceVersion:
        """The head, verified by `author`: a new version of the same content unless it is verified already."""
        return reference_saves.verify_reference(self.engine, self.lake, scenario_id, author)

    def unmerged(self, scenario_ids: Sequence[str] | None = None) -> dict[str, list[int]]:
        """Ids of the model scores whose findings went into no merge yet, by scenario."""
        return reference_merges.unmerged(self.engine, scenario_ids)

    def merge(self, scenario_id: str) -> MergeReport | None:
        """What all findings make of the reference, committed; None without a reference."""
        return reference_merges.merge_reference(self.engine, self.lake, scenario_id)

    def provenance(self, version: ReferenceVersion) -> list[dict[str, Any]]:
        """Who gave each value of a generated version: path, value, models, and what others gave instead."""
        return reference_provenance.provenance_of(self.engine, version)

    def finding_counts(self, model_score_ids: Sequence[int]) -> list[dict[str, Any]]:
        """How many findings these scores left, a row a scenario and kind of evidence."""
        return reference_evidence.finding_counts(self.engine, model_score_ids)

    def edits(self, version: ReferenceVersion, *, up_to: bool = False) -> list[TrackedEdit]:
        """Every change of the reference, the newest first, placed in this version; `up_to` leaves out later ones."""
        with self.engine.connect() as connection:
            return tracked_edits(connection, version, up_to=up_to)

    def reject(
        self,
        scenario_id: str,
        wanted: EditFilter,
        *,
        author: str,
        expected: int | None = None,
        based_on: int | None = None,
    ) -> Reviewed:
        """The edits that the filter matches are undone, their paths locked. Raises ReferenceConflictError."""
        return reference_rejections.reject_edits(
            self.engine, self.lake, scenario_id, wanted, author=author, expected=expected, based_on=based_on
        )

    def release(
        self,
        scenario_id: str,
        wanted: EditFilter,
        *,
        author: str,
        expected: int | None = None,
        based_on: int | None = None,
    ) -> Reviewed:
        """The rejected edits that the filter matches are in place again, as the findings have it."""
        return reference_rejections.release_edits(
            self.engine, self.lake, scenario_id, wanted, author=author, expected=expected, based_on=based_on
        )
