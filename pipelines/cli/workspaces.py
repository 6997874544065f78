"""`assay init` and `assay import`: a workspace and the recorded runs in it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, KeysOption, LayoutOption, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from resources.recording_folders import FolderMapping


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make; it is new or empty.")],
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FOLDER",
            help="A benchmark as reference/TASK.json, schema/TASK.json, outputs/SYSTEM/TASK.json.",
        ),
    ] = None,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="With --from: one schema for all tasks.")] = None,
    is_verified: Annotated[bool, typer.Option("--verified", help="With --from: its references are verified.")] = False,
    layout: LayoutOption = None,
    keys: KeysOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a new workspace, from scratch or from the folders of a benchmark."""
    made: dict[str, Any]
    if source is not None:
        made = _from_benchmark(source, folder, schema=schema, is_verified=is_verified, mapping=_mapping(layout, keys))
    elif schema is not None or is_verified or layout or keys:
        raise InputError(
            "--schema, --verified, --layout and --key need --from", remedy="Name the folder: --from FOLDER"
        )
    else:
        from resources.starter import init_workspace

        made = {"workspace": str(folder.absolute()), "files": [str(path) for path in init_workspace(folder)]}
    if as_json:
        terminal.print_json(made)
    else:
        _show_workspace(folder, made)


def _from_benchmark(
    source: Path, folder: Path, *, schema: Path | None, is_verified: bool, mapping: FolderMapping | None
) -> dict[str, Any]:
    from resources.benchmark_folders import workspace_from_folders

    report = workspace_from_folders(source, folder, is_verified=is_verified, schema=schema, mapping=mapping)
    counts = {"scenarios": report.scenarios, "models": report.models, "runs": report.runs}
    return {"workspace": str(folder.absolute()), "verified": is_verified, **counts}


def _show_workspace(folder: Path, made: Mapping[str, Any]) -> None:
    page = terminal.screen()
    page.print(f"Made a workspace in {folder}.")
    if "runs" not in made:
        for path in made["files"]:
            page.print(f"  {path}")
        page.print("Next: change the scenario into yours, put recorded runs into runs/, then")
    else:
        counts = [terminal.counted(made[noun], noun[:-1]) for noun in ("scenarios", "models", "runs")]
        page.print(f"It holds {', '.join(counts)}.")
        if not made["verified"]:
            page.print(
                "Its references are drafts; only verified ones are scored (--verified, or reference: in scenario.yaml)."
            )
        page.print("Next:")
    for command in ("import", "score", "ranking"):
        page.print(f"  assay {command} --workspace {shlex.quote(str(folder))}")


def _mapping(layout: str | None, keys: list[str] | None) -> FolderMapping | None:
    from resources.recording_folders import mapping_from_flags

    return mapping_from_flags(layout or "system/task", keys or ()) if layout or keys else None


def import_(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="JSON Lines, logs of Inspect (.eval, .json), results of promptfoo, folders of outputs, or patterns; "
            "runs/ of the workspace if none.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl, folders, inspect or promptfoo; found out from the content if not given.",
        ),
    ] = None,
    layout: LayoutOption = None,
    keys: KeysOption = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Record runs from files: all of them, or none and what is wrong."""
    from pipelines.session import open_session
    from resources.recordings import read_recordings

    mapping = _mapping(layout, keys)
    notes: list[str] = []
    with open_session(workspace) as session:
        sources: Sequence[Path | str] = paths or [session.workspace.root / "runs"]
        found = read_recordings(sources, session.workspace, format_, mapping, notes)
        report = session.warehouse.import_runs(found)
    if as_json:
        terminal.print_json({"added": report.added, "unchanged": report.unchanged, "notes": notes})
        return
    page = terminal.screen()
    page.print(import_line(report.added, report.unchanged))
    for note in notes:
        page.print(note, markup=False)


def import_line(added: int, unchanged: int) -> str:
    """What an import did, in words."""
    if not added:
        return f"Nothing new: {terminal.counted(unchanged, 'run')} recorded already."
    rest = f", {unchanged:,} recorded already" if unchanged else ""
    return f"Recorded {terminal.counted(added, 'run')}{rest}."
