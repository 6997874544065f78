"""`assay reference reject`, `release` and `undo`: the owner's word on automatic edits, one by one or in bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import references, terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from pipelines.cli.references import (
    AuthorOption,
    BasedOnOption,
    EvidenceOption,
    ExpectOption,
    ModelCountOption,
    PathOption,
    ScenarioArgument,
    author_of,
    filter_of,
    opened,
)
from scoring.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.cli.references import Opened
    from resources.references import EditFilter
    from scoring.records import Json
    from scoring.tracked_changes import TrackedEdit

EditsOption = Annotated[
    list[int] | None, typer.Option("--edit", metavar="N", help="This edit, by its number in the log; repeatable.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All of them; needed where no filter is given.")]


def reject(
    scenario: ScenarioArgument,
    edits: EditsOption = None,
    path: PathOption = None,
    evidence: EvidenceOption = None,
    models: ModelCountOption = None,
    is_all: AllOption = False,
    expect: ExpectOption = None,
    based_on: BasedOnOption = None,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Reject automatic edits: the previous value is back, and rounds leave the path alone until it is released."""
    wanted = _wanted(filter_of(path, evidence, models, edits or ()), is_all=is_all)
    return _review(workspace, scenario, wanted, author, expect, based_on, as_json, is_release=False)


def release(
    scenario: ScenarioArgument,
    edits: EditsOption = None,
    path: PathOption = None,
    evidence: EvidenceOption = None,
    models: ModelCountOption = None,
    is_all: AllOption = False,
    expect: ExpectOption = None,
    based_on: BasedOnOption = None,
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Release rejected paths: what the rounds found there counts again."""
    wanted = _wanted(filter_of(path, evidence, models, edits or ()), is_all=is_all)
    return _review(workspace, scenario, wanted, author, expect, based_on, as_json, is_release=True)


def _wanted(wanted: EditFilter, *, is_all: bool) -> EditFilter:
    if str(wanted) == "all" and not is_all:
        raise InputError(
            "nothing says which edits are meant",
            remedy="Name --edit N, or filter with --path, --evidence, --models, or take --all",
        )
    return wanted


def _review(
    workspace: Path | None,
    scenario: str,
    wanted: EditFilter,
    author: str | None,
    expect: int | None,
    based_on: int | None,
    as_json: bool,
    *,
    is_release: bool,
) -> int:
    from resources.references import ReferenceConflictError

    with opened(workspace, scenario) as reference:
        act = reference.references.release if is_release else reference.references.reject
        try:
            done = act(reference.scenario_id, wanted, author=author_of(author), expected=expect, based_on=based_on)
        except ReferenceConflictError as error:
            return references.conflict(error, as_json=as_json)
    count = terminal.counted(len(done.edits), "edit")
    did = f"{'released' if is_release else 'rejected'} {count} ({wanted})"
    references.print_version(done.version, did, as_json=as_json, edits=done.edits)
    return references.DONE if done.edits else references.CONFLICT


def undo(
    scenario: ScenarioArgument,
    edit: Annotated[int, typer.Argument(metavar="EDIT", help="The number of the edit in the log.")],
    author: AuthorOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Undo one entry of the log: reject an automatic edit, release a rejected one, take back a change by hand."""
    from resources.references import ReferenceConflictError

    with opened(workspace, scenario) as reference:
        head = reference.head()
        entry = next((one for one in reference.references.edits(head) if one.edit_id == edit), None)
        if entry is None:
            remedy = f"List its edits with: assay reference log {scenario}"
            raise InputError(f"the log has no edit {edit}", where=reference.scenario_id, remedy=remedy)
        try:
            return _undone(reference, entry, author_of(author), as_json=as_json)
        except ReferenceConflictError as error:
            return references.conflict(error, as_json=as_json)


def _undone(reference: Opened, entry: TrackedEdit, author: str, *, as_json: bool) -> int:
    if entry.origin == "rejection" and not entry.evidence:
        entry = _rejected_at(reference, entry)
    only = filter_of(None, None, None, [entry.edit_id])
    if entry.is_rejected or entry.is_in_place:
        act = reference.references.release if entry.is_rejected else reference.references.reject
        done = act(reference.scenario_id, only, author=author, expected=1)
        did = f"{'released' if entry.is_rejected else 'rejected'} edit {entry.edit_id}"
        references.print_version(done.version, did, as_json=as_json, edits=done.edits)
        return references.DONE
    head = reference.head()
    content = _taken_back(reference, entry)
    note = f"took back edit {entry.edit_id}"
    version = reference.references.save(
        reference.scenario_id,
        content,
        author=author,
        is_verified=head.is_verified,
        based_on=head.number,
        note=note,
    )
    references.print_version(version, note, as_json=as_json)
    return references.DONE


def _rejected_at(reference: Opened, entry: TrackedEdit) -> TrackedEdit:
    """The edit whose rejection this entry logged, while its path is locked; else the entry itself."""
    edits = reference.references.edits(reference.head())
    return next((one for one in edits if one.is_rejected and one.path == entry.path), entry)


def _taken_back(reference: Opened, entry: TrackedEdit) -> Json:
    """The content with what stood at the entry's place before it, where nobody has changed that since."""
    from resources.references import ReferenceConflictError
    from scoring.owners_part import Change, value_at
    from scoring.placed_values import with_value, without_value
    from scoring.staleness import content_hash

    head = reference.head()
    now = value_at(head.snapshot, entry.path)
    if content_hash(now) != content_hash(entry.after):
        raise ReferenceConflictError(
            f"edit {entry.edit_id} is no longer what stands at {entry.path}; nothing was changed",
            where=reference.scenario_id,
            remedy="Set the value you want with: assay reference set",
            changes=[Change(path=entry.path, before=entry.after, after=now)],
        )
    if entry.before is None:
        return without_value(head.snapshot, entry.path)
    path = entry.path if entry.pointer is not None else f"{entry.path.rpartition('/')[0]}/-"
    return with_value(head.snapshot, path, entry.before)
