"""The log of changes of references: what each version changed, and the automatic edits that are in place now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, text
from sqlalchemy.dialects.postgresql import insert as upsert

from resources.lake import Lake
from resources.reference_tables import reference_edit_models, reference_edits
from resources.reference_versions import NewVersion, ReferenceVersion, append
from resources.stored_text import json_text, json_value, storable
from scoring.edits import Edit, Snapshot
from scoring.owners_part import Change, value_at
from scoring.paths import position_path
from scoring.records import Evidence, Json
from scoring.staleness import content_hash
from scoring.tracked_changes import TrackedEdit


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdit:
    """An automatic edit in place, under the identity of its row."""

    edit_id: int
    edit: Edit


_IN_PLACE = text("""
select e.*, array(select m.model_id from assay.reference_edit_models m
                  where m.reference_edit_id = e.reference_edit_id order by m.model_id collate "C") as model_ids
from (select distinct on (path) * from assay.reference_edits where scenario_id = :scenario_id
      order by path, reference_edit_id desc) e
where e.evidence is not null order by e.reference_edit_id
""")
_TRACKED = text("""
select e.*, e.reference_version as number,
       array(select m.model_id from assay.reference_edit_models m
             where m.reference_edit_id = e.reference_edit_id order by m.model_id collate "C") as model_ids
from bi.reference_edits e where e.scenario_id = :scenario_id and (:number = 0 or e.reference_version <= :number)
order by e.reference_edit_id desc
""")
_REASONS = text("""
select f.finding_id, f.question_id,
       (select a.reason from assay.judge_answers a
        where a.scenario_id = f.scenario_id and a.question_id = f.question_id order by a.answered_at limit 1) as reason
from assay.findings f where f.finding_id = any(:finding_ids) and f.evidence = :evidence
order by f.finding_id limit 1
""")


def edits_in_place(connection: Connection, scenario_id: str) -> list[StoredEdit]:
    """The automatic edits of the newest version, the oldest first."""
    return [
        StoredEdit(edit_id=row.reference_edit_id, edit=_edit(row))
        for row in connection.execute(_IN_PLACE, {"scenario_id": scenario_id})
    ]


def tracked_edits(connection: Connection, version: ReferenceVersion, *, up_to: bool = False) -> list[TrackedEdit]:
    """Every change of the reference, the newest first, placed in this version; `up_to` leaves out later ones."""
    given = {"scenario_id": version.scenario_id, "number": version.number if up_to else 0}
    return [_tracked(row, version) for row in connection.execute(_TRACKED, given)]


def append_with_edits(
    connection: Connection,
    lake: Lake,
    new: NewVersion,
    head: ReferenceVersion | None,
    *,
    edits: Sequence[Edit],
    changes: Sequence[Change] = (),
) -> ReferenceVersion:
    """The new version, with its log: `edits` are the automatic edits now in place, `changes` what the owner did."""
    before = {stored.edit.path: stored for stored in edits_in_place(connection, new.scenario_id)}
    version = append(connection, lake, new, head)
    now = {edit.path: edit for edit in edits}
    given = {change.path for change in changes}
    gone = [stored.edit for path, stored in before.items() if path not in now and path not in given]
    for change in (*(_taken_back(edit, new.snapshot) for edit in gone), *changes):
        if change.path not in now:
            _insert(connection, version, _owner_row(change, new.note))
    for edit in edits:
        stored = before.get(edit.path)
        if stored is None or not is_same(stored.edit, edit):
            _insert_edit(connection, version, edit)
    return version


def note_models(connection: Connection, scenario_id: str, edits: Sequence[Edit]) -> None:
    """The models behind the edits in place are those given; more may have joined since the edit was made."""
    wanted = {edit.path: edit for edit in edits}
    rows = [
        {"reference_edit_id": stored.edit_id, "model_id": model_id}
        for stored in edits_in_place(connection, scenario_id)
        if stored.edit.path in wanted
        for model_id in wanted[stored.edit.path].model_ids
    ]
    if rows:
        connection.execute(upsert(reference_edit_models).on_conflict_do_nothing(), rows)


def is_same(left: Edit, right: Edit) -> bool:
    """Whether two edits of one path write the same over the same."""
    return content_hash([left.before, left.after]) == content_hash([right.before, right.after])


def _insert_edit(connection: Connection, version: ReferenceVersion, edit: Edit) -> None:
    given = {"finding_ids": list(edit.finding_ids), "evidence": edit.evidence.value}
    why = connection.execute(_REASONS, given).one_or_none()
    row = {
        "path": storable(edit.path),
        "is_addition": edit.is_addition,
        "before_json": _text(edit.before),
        "after_json": _text(edit.after),
        "evidence": edit.evidence.value,
        "round_id": edit.round_id or None,
        "question_id": None if why is None else why.question_id,
        "reason": storable((why.reason if why is not None else None) or ""),
    }
    edit_id = _insert(connection, version, row)
    models = [{"reference_edit_id": edit_id, "model_id": model_id} for model_id in edit.model_ids]
    if models:
        connection.execute(insert(reference_edit_models), models)


def _insert(connection: Connection, version: ReferenceVersion, row: Mapping[str, Any]) -> int:
    place = {"scenario_id": version.scenario_id, "reference_version_id": version.reference_version_id}
    new = insert(reference_edits).values(**place, **row).returning(reference_edits.c.reference_edit_id)
    edit_id: int = connection.execute(new).scalar_one()
    return edit_id


def _owner_row(change: Change, note: str) -> dict[str, Any]:
    return {
        "path": storable(change.path),
        "is_addition": change.is_addition,
        "before_json": _text(change.before),
        "after_json": _text(change.after),
        "evidence": None,
        "reason": storable(note),
    }


def _taken_back(edit: Edit, now: Snapshot) -> Change:
    return Change(path=edit.path, before=edit.after, after=value_at(now, edit.path))


def _text(value: Json) -> str | None:
    return None if value is None else json_text(value)


def _value(text_: str | None) -> Json:
    return None if text_ is None else json_value(text_)


def _edit(row: Row[Any]) -> Edit:
    return Edit(
        path=row.path,
        before=_value(row.before_json),
        after=_value(row.after_json),
        evidence=Evidence(row.evidence),
        model_ids=tuple(row.model_ids),
        round_id=row.round_id or 0,
        finding_ids=(),
        is_addition=row.is_addition,
    )


def _tracked(row: Row[Any], version: ReferenceVersion) -> TrackedEdit:
    return TrackedEdit(
        edit_id=row.reference_edit_id,
        number=row.number,
        path=row.path,
        pointer=position_path(row.path, version.item_ids),
        before=_value(row.before_json),
        after=_value(row.after_json),
        evidence=row.evidence or "",
        origin=row.origin,
        author=row.author,
        models=tuple(row.model_ids),
        reason=row.reason,
        round_id=row.round_id,
        is_in_place=row.is_in_place,
        is_rejected=row.is_rejected,
        made_at=row.created_at.isoformat(timespec="seconds"),
    )
