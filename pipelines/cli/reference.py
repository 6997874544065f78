"""`assay reference`: the right answer of a scenario, shown with its tracked changes, and verified."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import reference_generate, reference_review, reference_saves, references, terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from pipelines.cli.references import (
    AuthorOption,
    EvidenceOption,
    ModelCountOption,
    PathOption,
    ScenarioArgument,
    filter_of,
    opened,
)

if TYPE_CHECKING:
    from pipelines.cli.references import Opened
    from resources.references import EditFilter, ReferenceVersion
    from scoring.edits import Snapshot
    from scoring.tracked_changes import TrackedEdit

app = typer.Typer(
    help="The right answer of a scenario: shown with its tracked changes, edited, verified, reviewed.",
    no_args_is_help=True,
)


@app.command()
def show(
    scenario: ScenarioArgument,
    path: PathOption = None,
    evidence: EvidenceOption = None,
    models: ModelCountOption = None,
    number: Annotated[int | None, typer.Option("--version", metavar="N", help="This version, else the newest.")] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that stands alone; no server, no script.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show a reference with its automatic edits in place: the old value struck through, the new one, and why."""
    wanted = filter_of(path, evidence, models)
    with opened(workspace, scenario) as reference:
        version = _version(reference, number)
        edits = reference.references.edits(version, up_to=number is not None)
    shown = [edit for edit in _in_place(edits, number) if wanted.matches(edit)]
    if html is not None:
        _write_page(html, reference, version, shown, edits, str(wanted))
    if as_json:
        rows = [references.edit_row(edit) for edit in shown]
        terminal.print_json(references.version_row(version) | {"content": version.content, "edits": rows})
    elif html is None:
        _print_tracked(version, shown, is_filtered=str(wanted) != "all")


def _version(reference: Opened, number: int | None) -> ReferenceVersion:
    return reference.head() if number is None else reference.references.version(reference.scenario_id, number)


def _in_place(edits: list[TrackedEdit], number: int | None) -> list[TrackedEdit]:
    """The automatic edits in place in the newest version, or in an older one: the last change at each path."""
    if number is None:
        return [edit for edit in edits if edit.is_in_place]
    latest: dict[str, TrackedEdit] = {}
    for edit in edits:
        latest.setdefault(edit.path, edit)
    return [edit for edit in latest.values() if edit.evidence]


def _print_tracked(version: ReferenceVersion, edits: list[TrackedEdit], *, is_filtered: bool) -> None:
    from scoring.tracked_changes import tracked_lines

    page = terminal.screen()
    state = "verified" if version.is_verified else "draft, not scored against"
    page.print(f"{version.scenario_id}, version {version.number} by {version.author} ({state})", style="bold")
    for line in tracked_lines(version.content, edits):
        if line.edit is not None or not is_filtered:
            page.print(references.tracked_line(line), soft_wrap=True)
    if edits:
        count = terminal.counted(len(edits), "automatic change")
        page.print(
            f"{count}, all in force unless rejected: assay reference reject {version.scenario_id} --edit N",
            style="dim",
            soft_wrap=True,
        )


def _write_page(
    file: Path,
    reference: Opened,
    version: ReferenceVersion,
    shown: list[TrackedEdit],
    log: list[TrackedEdit],
    filters: str,
) -> None:
    from pipelines.cli.reference_page import PageHead, reference_page
    from scoring.tracked_changes import tracked_lines

    head = PageHead(
        scenario_id=version.scenario_id,
        title=reference.scenario.title,
        number=version.number,
        author=version.author,
        made_at=version.created_at.isoformat(timespec="seconds"),
        is_verified=version.is_verified,
        filters="" if filters == "all" else filters,
    )
    file.write_text(reference_page(head, tracked_lines(version.content, shown), log), encoding="utf-8")
    terminal.screen(is_error=True).print(f"Wrote {file}", soft_wrap=True)


@app.command()
def diff(
    scenario: ScenarioArgument,
    from_: Annotated[
        int | None, typer.Option("--from", metavar="N", help="This version; else the owner's part of the later one.")
    ] = None,
    to: Annotated[int | None, typer.Option("--to", metavar="N", help="This version, else the newest.")] = None,
    path: PathOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two versions, or between what the owner saved and what rounds made of it."""
    from resources.reference_rejections import is_under
    from scoring.owners_part import changes_between

    with opened(workspace, scenario) as reference:
        later = _version(reference, to)
        earlier = _earlier(reference, later, from_)
    changes = [one for one in changes_between(earlier, later.snapshot) if path is None or is_under(path, one.path)]
    if as_json:
        rows = [{"path": one.path, "before": one.before, "after": one.after} for one in changes]
        terminal.print_json({"scenario_id": later.scenario_id, "from": from_, "to": later.number, "changes": rows})
        return
    page = terminal.screen()
    since = "what its owner saved" if from_ is None else f"version {from_}"
    page.print(f"{later.scenario_id}: version {later.number} against {since}", style="bold")
    for one in changes:
        page.print(references.change_line(one.path, one.before, one.after), soft_wrap=True)
    page.print("Nothing differs." if not changes else terminal.counted(len(changes), "place") + " differ.", style="dim")


def _earlier(reference: Opened, later: ReferenceVersion, number: int | None) -> Snapshot:
    if number is None:
        return later.owner
    return reference.references.version(reference.scenario_id, number).snapshot


@app.command()
def log(
    scenario: ScenarioArgument,
    path: PathOption = None,
    evidence: EvidenceOption = None,
    models: ModelCountOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show every version and every change, the newest first, and who gave the values of a generated draft."""
    wanted = filter_of(path, evidence, models)
    with opened(workspace, scenario) as reference:
        head = reference.head()
        versions = reference.references.versions(head.scenario_id)
        edits = [edit for edit in reference.references.edits(head) if wanted.matches(edit)]
        provenance = _provenance(reference, versions, wanted)
    if as_json:
        terminal.print_json(
            {
                "scenario_id": head.scenario_id,
                "versions": [references.version_row(version) for version in reversed(versions)],
                "edits": [references.edit_row(edit) for edit in edits],
                "provenance": provenance,
            }
        )
        return
    _print_log(versions, edits, provenance)


def _provenance(reference: Opened, versions: list[ReferenceVersion], wanted: EditFilter) -> list[dict[str, Any]]:
    """Who gave the values of the newest generated version; nothing where none was generated."""
    from resources.reference_rejections import is_under

    generated = [version for version in versions if version.origin == "generated"]
    if not generated:
        return []
    rows = reference.references.provenance(generated[-1])
    return [row for row in rows if wanted.path is None or is_under(wanted.path, row["path"])]


def _print_log(versions: list[ReferenceVersion], edits: list[TrackedEdit], provenance: list[dict[str, Any]]) -> None:
    page = terminal.screen()
    made = terminal.table("version", "made", "by", "how", "state", title="Versions", numbers=("version",))
    for version in reversed(versions):
        how = version.origin.value.replace("_", " ") + (f": {version.note}" if version.note else "")
        when = f"{version.created_at:%Y-%m-%d %H:%M}"
        made.add_row(str(version.number), when, version.author, how, "verified" if version.is_verified else "draft")
    terminal.print_table(page, made, optional=("made",))
    if edits:
        terminal.print_table(page, references.edits_table(edits, title="Changes"), optional=("why", "by", "version"))
    else:
        page.print("No change matches." if len(versions) > 1 else "No change yet.", style="dim")
    if provenance:
        given = terminal.table("path", "value", "given by", "others gave", title="Where the generated draft comes from")
        for row in provenance:
            others = "; ".join(
                f"{terminal.shown(one['value'], 40)} ({', '.join(one['models'])})" for one in row["others"]
            )
            given.add_row(row["path"], terminal.shown(row["value"]), ", ".join(row["models"]), others)
        terminal.print_table(page, given, optional=("others gave",))


@app.command()
def verify(
    scenario: ScenarioArgument, author: AuthorOption = None, workspace: WorkspaceOption = None, as_json: AsJson = False
) -> None:
    """Vouch for the newest version, so that models can be scored against it."""
    with opened(workspace, scenario) as reference:
        reference.head()
        version = reference.references.verify(reference.scenario_id, references.author_of(author))
    if as_json:
        terminal.print_json(references.version_row(version))
        return
    terminal.screen().print(f"{version.scenario_id}: version {version.number} is verified by {version.author}.")


app.command("set")(reference_saves.set_)
app.command()(reference_saves.edit)
app.command("import")(reference_saves.import_)
app.command()(reference_review.reject)
app.command()(reference_review.release)
app.command()(reference_review.undo)
app.command()(reference_generate.generate)
