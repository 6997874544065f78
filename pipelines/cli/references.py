"""What the commands on references share: opening one, filters, how edits are printed and conflicts answered."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from scoring.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from pipelines.session import Session
    from resources.references import EditFilter, ReferenceConflictError, References, ReferenceVersion
    from resources.scenarios import Scenario
    from scoring.records import Json
    from scoring.tracked_changes import Line, TrackedEdit

DONE, CONFLICT = 0, 1

ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario's id.")]
AuthorOption = Annotated[
    str | None, typer.Option("--author", metavar="NAME", help="Who does it; the account's name if none.")
]
PathOption = Annotated[
    str | None, typer.Option("--path", metavar="PATH", help="Only at or below this path; * passes any part of it.")
]
EvidenceOption = Annotated[
    str | None,
    typer.Option("--evidence", metavar="KIND", help="Only with this: example, reference_wrong, better, filled_gap."),
]
ModelCountOption = Annotated[
    int | None, typer.Option("--models", metavar="N", min=0, help="Only with exactly N models behind it.")
]
ExpectOption = Annotated[
    int | None, typer.Option("--expect", metavar="N", min=0, help="How many you saw; another number changes nothing.")
]
BasedOnOption = Annotated[
    int | None, typer.Option("--based-on", metavar="N", help="The version you saw; a newer one is a conflict.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open session and the scenario that a command is about."""

    session: Session
    scenario: Scenario

    @property
    def scenario_id(self) -> str:
        """The scenario's id."""
        return self.scenario.scenario_id

    @property
    def references(self) -> References:
        """All references."""
        return self.session.warehouse.references

    def head(self) -> ReferenceVersion:
        """The newest version. Raises InputError where there is none."""
        head = self.references.head(self.scenario_id)
        if head is None:
            remedy = (
                f"Put it into reference.json beside scenario.yaml, or: assay reference import {self.scenario_id} FILE"
            )
            raise InputError("there is no reference yet", where=self.scenario_id, remedy=remedy)
        return head


@contextmanager
def opened(workspace: Path | None, scenario: str) -> Iterator[Opened]:
    """The session of a workspace and its scenario. Raises InputError for an unknown id."""
    from pipelines.session import open_session

    with open_session(workspace) as session:
        yield Opened(session=session, scenario=session.workspace.scenario(scenario))


def author_of(given: str | None) -> str:
    """Who acts: the name that was given, else that of the account."""
    return given or getpass.getuser()


def filter_of(path: str | None, evidence: str | None, models: int | None, edit_ids: Sequence[int] = ()) -> EditFilter:
    """The filter of these options. Raises InputError for evidence that does not exist."""
    from resources.references import EditFilter
    from scoring.records import Evidence

    kinds = [kind.value for kind in Evidence]
    if evidence is not None and evidence not in kinds:
        raise InputError(f"no such evidence: {evidence[:80]!r}", remedy=f"Name one of {', '.join(kinds)}")
    return EditFilter(path=path, evidence=evidence, models=models, edit_ids=frozenset(edit_ids))


def conflict(error: ReferenceConflictError, *, as_json: bool) -> int:
    """Say what somebody else changed meanwhile; the exit code of a check that failed."""
    if as_json:
        changes = [{"path": one.path, "before": one.before, "after": one.after} for one in error.changes]
        terminal.print_json({"error": {"kind": "conflict", "message": str(error), "changes": changes}})
        return CONFLICT
    page = terminal.screen(is_error=True)
    page.print(f"conflict: {error}", style="bold red", soft_wrap=True)
    for change in error.changes[:20]:
        page.print(change_line(change.path, change.before, change.after))
    return CONFLICT


def change_line(path: str, before: Json, after: Json) -> Text:
    """One change on one line: its path, the old value struck through, the new one."""
    from rich.text import Text

    line = Text(f"  {path}  ")
    line.append_text(_struck(before, after))
    return line


def _struck(before: Json, after: Json) -> Text:
    """The old value struck through and the new one; marks beside the colours, for who sees none."""
    from rich.text import Text

    line = Text()
    if before is not None:
        line.append(f"[-{terminal.shown(before)}-]", style="red strike")
        line.append(" ")
    if after is not None:
        line.append(f"[+{terminal.shown(after)}+]", style="green")
    elif before is not None:
        line.append("(nothing)", style="dim")
    return line


def tracked_line(line: Line) -> Text:
    """One line of the reference, an edit with what stood there before and why."""
    from rich.text import Text

    shown = Text("  " * line.depth)
    if line.label:
        shown.append(f"{terminal.shown(line.label)} ", style="dim")
    edit = line.edit
    if edit is None:
        shown.append("" if line.is_container else terminal.shown(line.text, 200))
        return shown
    if line.is_first and edit.before is not None:
        shown.append(f"[-{terminal.shown(edit.before)}-] ", style="red strike")
    if not line.is_container:
        shown.append(f"[+{terminal.shown(line.text, 200)}+]", style="green")
    elif line.is_first:
        shown.append("[+new+]" if edit.before is None else "[+changed+]", style="green")
    if line.is_first:
        shown.append(f"  {why(edit)}", style="dim")
    return shown


def why(edit: TrackedEdit) -> str:
    """Who is behind an edit and why, in a few words."""
    names = ", ".join(edit.models[:3]) + (", …" if edit.model_count > 3 else "")
    who = f"{terminal.counted(edit.model_count, 'model')} ({names})" if edit.models else edit.author
    parts = [f"edit {edit.edit_id}", who, edit.evidence.replace("_", " "), terminal.shown(edit.reason, 120)]
    return " · ".join(part for part in parts if part)


def edits_table(edits: Sequence[TrackedEdit], *, title: str = "") -> Table:
    """Edits as a table, the newest first."""
    made = terminal.table("edit", "version", "path", "change", "why", "by", "state", title=title, numbers=("edit",))
    for edit in edits:
        made.add_row(
            str(edit.edit_id),
            str(edit.number),
            edit.pointer or edit.path,
            _struck(edit.before, edit.after),
            " · ".join(part for part in (edit.evidence.replace("_", " "), terminal.shown(edit.reason, 80)) if part),
            terminal.counted(edit.model_count, "model") if edit.models else edit.author,
            state_of(edit),
        )
    return made


def state_of(edit: TrackedEdit) -> str:
    """How an edit stands now."""
    if edit.is_rejected:
        return "rejected"
    return "in place" if edit.is_in_place else "past"


def edit_row(edit: TrackedEdit) -> Mapping[str, Any]:
    """An edit as JSON."""
    return {
        "edit": edit.edit_id,
        "version": edit.number,
        "path": edit.path,
        "pointer": edit.pointer,
        "before": edit.before,
        "after": edit.after,
        "evidence": edit.evidence or None,
        "origin": edit.origin,
        "author": edit.author,
        "models": list(edit.models),
        "reason": edit.reason,
        "round_id": edit.round_id,
        "state": state_of(edit),
        "made_at": edit.made_at,
    }


def version_row(version: ReferenceVersion) -> dict[str, Any]:
    """A version as JSON, without its content."""
    return {
        "scenario_id": version.scenario_id,
        "version": version.number,
        "verified": version.is_verified,
        "author": version.author,
        "origin": version.origin.value,
        "note": version.note,
        "made_at": version.created_at.isoformat(timespec="seconds"),
    }


def print_version(version: ReferenceVersion, did: str, *, as_json: bool, edits: Sequence[TrackedEdit] = ()) -> None:
    """What a command made: the version, and the edits that it was about."""
    if as_json:
        terminal.print_json(version_row(version) | {"edits": [edit_row(edit) for edit in edits]})
        return
    page = terminal.screen()
    page.print(f"{version.scenario_id}: {did}; version {version.number} is the newest.", soft_wrap=True)
    if edits:
        terminal.print_table(page, edits_table(edits), optional=("why", "by", "version"))
    if not version.is_verified:
        page.print(f"It is a draft; verify it with: assay reference verify {version.scenario_id}", style="yellow")
