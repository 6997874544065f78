"""Merges of findings into references: one transaction each, one at a time for each scenario (SPEC 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, text

from resources.lake import Lake
from resources.reference_edits import append_with_edits, edits_in_place, is_same, note_models
from resources.reference_evidence import inputs_of, merged_of
from resources.reference_versions import NewVersion, ReferenceOrigin, ReferenceVersion, head_of, lock_reference
from scoring.edits import Edit, Merged, Snapshot
from scoring.staleness import content_hash

_UNMERGED = text("""
select s.scenario_id, array_agg(s.model_score_id order by s.model_score_id) as model_score_ids
from assay.model_scores s left join assay.merged_scores m using (model_score_id)
where m.model_score_id is null and (cast(:scenario_ids as text[]) is null or s.scenario_id = any(:scenario_ids))
group by s.scenario_id order by s.scenario_id collate "C"
""")
_HAS_FINDINGS = text("select exists (select 1 from assay.findings where scenario_id = :scenario_id)")
_MARK = text("""
insert into assay.merged_scores (model_score_id, reference_version_id)
select s.model_score_id, :reference_version_id from assay.model_scores s
where s.model_score_id = any(:model_score_ids) on conflict do nothing
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What a merge made of one scenario's reference.

    `version` is the newest one now, `is_new` whether this merge made it. `edits` are the automatic edits in place,
    `changed` those that this merge made or replaced. `scores` counts the model scores whose findings it took in.
    """

    scenario_id: str
    version: ReferenceVersion
    is_new: bool
    edits: tuple[Edit, ...]
    changed: tuple[Edit, ...]
    scores: int


def unmerged(engine: Engine, scenario_ids: Sequence[str] | None = None) -> dict[str, list[int]]:
    """Ids of the model scores whose findings went into no merge yet, by scenario."""
    with engine.connect() as connection:
        return _unmerged(connection, scenario_ids)


def _unmerged(connection: Connection, scenario_ids: Sequence[str] | None) -> dict[str, list[int]]:
    given = {"scenario_ids": None if scenario_ids is None else list(scenario_ids)}
    return {row.scenario_id: list(row.model_score_ids) for row in connection.execute(_UNMERGED, given)}


def merge_reference(engine: Engine, lake: Lake, scenario_id: str) -> MergeReport | None:
    """What all findings make of the scenario's reference, committed; None without a reference.

    Merges and saves of one scenario wait for each other, whatever processes they run in. Where the findings change
    nothing, no version is made. A process that is killed leaves the version before or the new one, never a mixture.
    """
    with engine.begin() as connection:
        lock_reference(connection, scenario_id)
        head = head_of(connection, scenario_id)
        if head is None:
            return None
        scores = _unmerged(connection, [scenario_id]).get(scenario_id, [])
        merged: Merged | None = None
        changed: tuple[Edit, ...] = ()
        version = head
        if not _was_never_touched(connection, head):
            merged = merged_of(connection, scenario_id, head.owner, inputs_of(connection, scenario_id, with_new=True))
            changed = _changes(connection, scenario_id, merged)
            author = _author(connection, scores)
            origin = ReferenceOrigin.ROUND
            version = apply_merge(connection, lake, head, head.owner, merged, author=author, origin=origin)
        connection.execute(_MARK, {"reference_version_id": version.reference_version_id, "model_score_ids": scores})
    return MergeReport(
        scenario_id=scenario_id,
        version=version,
        is_new=version.number != head.number,
        edits=merged.edits if merged else (),
        changed=changed,
        scores=len(scores),
    )


def _was_never_touched(connection: Connection, head: ReferenceVersion) -> bool:
    """Whether no round ever found anything about the reference: most merges, for which all else need not be read."""
    is_owners = head.content_hash == head.owner_hash
    return is_owners and not connection.execute(_HAS_FINDINGS, {"scenario_id": head.scenario_id}).scalar_one()


def _changes(connection: Connection, scenario_id: str, merged: Merged) -> tuple[Edit, ...]:
    """The edits that are new or other than those in place."""
    before = {stored.edit.path: stored.edit for stored in edits_in_place(connection, scenario_id)}
    return tuple(edit for edit in merged.edits if edit.path not in before or not is_same(before[edit.path], edit))


def apply_merge(
    connection: Connection,
    lake: Lake,
    head: ReferenceVersion,
    owner: Snapshot,
    merged: Merged,
    *,
    author: str,
    origin: ReferenceOrigin,
    note: str = "",
) -> ReferenceVersion:
    """The newest version, which holds what the merge made: a new one, or `head` where that holds it already."""
    before = {stored.edit.path: stored.edit for stored in edits_in_place(connection, head.scenario_id)}
    now = {edit.path: edit for edit in merged.edits}
    is_equal = before.keys() == now.keys() and all(is_same(before[path], now[path]) for path in now)
    if is_equal and content_hash(merged.content) == head.content_hash:
        note_models(connection, head.scenario_id, merged.edits)
        return head
    new = NewVersion(
        scenario_id=head.scenario_id,
        snapshot=Snapshot(content=merged.content, item_ids=merged.item_ids),
        owner=owner,
        author=author,
        origin=origin,
        is_verified=head.is_verified,
        note=note,
    )
    version = append_with_edits(connection, lake, new, head, edits=merged.edits)
    note_models(connection, head.scenario_id, merged.edits)
    return version


def _author(connection: Connection, scores: Sequence[int]) -> str:
    """The round or rounds whose scores are merged, in words."""
    query = "select distinct round_id from assay.model_scores where model_score_id = any(:ids) and round_id is not null"
    rounds = sorted(connection.execute(text(query), {"ids": list(scores)}).scalars())
    return f"round {', '.join(map(str, rounds[-3:]))}" if rounds else "merge"
