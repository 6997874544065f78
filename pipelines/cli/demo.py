"""`assay demo`: the whole way from recorded outputs to a ranking, with nothing set up before."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.cli import terminal
from pipelines.cli.options import AsJson
from scoring.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from pipelines.session import Session
    from resources.cells import Cell
    from resources.recorded_runs import ImportReport

EXAMPLE = Path(__file__).parents[2] / "examples" / "workspace"
DONE, SOME_FAILED = 0, 1


def demo(as_json: AsJson = False) -> int:
    """Import, score and rank the example workspace, with nothing set up before."""
    from pipelines.session import open_session

    if not EXAMPLE.is_dir():
        remedy = "Run this from the repository of Assay"
        raise InputError("the example workspace is not there", where=str(EXAMPLE), remedy=remedy)
    page = terminal.screen(is_error=as_json)
    page.print(
        f"Example workspace {terminal.path_shown(EXAMPLE)}: public facts, illustrative outputs of made-up models."
    )
    with open_session(EXAMPLE) as session:
        found = _graded(session, page) | {"places": places_of(session)}
    if as_json:
        terminal.print_json(found)
    else:
        _show(page, found)
    return SOME_FAILED if found["failed"] else DONE


def _graded(session: Session, page: Console) -> dict[str, Any]:
    """Import, score and rank; what was done, as JSON. Says each step as it begins."""
    from pipelines.cli.ranking import ranked
    from pipelines.cli.score import as_rows, chosen_cells, scored
    from pipelines.cli.workspaces import import_line

    imported = _imported(session)
    page.print(import_line(imported.added, imported.unchanged))
    cells = [cell for cell in chosen_cells(session, None, None) if cell.needs_scoring]
    if cells:
        page.print(f"Scoring {_extent(cells)} through Dagster ...")
    report = scored(session, cells)
    if cells:
        page.print(f"Scored in {report.duration_seconds:.1f} s.")
    else:
        page.print("Nothing to score: every score is up to date.")
    ranking = ranked(session, None, with_stale=False, weights=None)
    counts = {"added": imported.added, "unchanged": imported.unchanged}
    return as_rows(report, []) | {"imported": counts, "ranking": ranking}


def _imported(session: Session) -> ImportReport:
    from resources.recordings import read_recordings

    runs = read_recordings([session.workspace.root / "runs"], session.workspace)
    try:
        return session.warehouse.import_runs(runs)
    except InputError as error:
        remedy = f"The example has changed since it was recorded here; remove {session.home.root} to begin anew"
        raise InputError(error.message, where=error.where, remedy=remedy) from error


def _extent(cells: Sequence[Cell]) -> str:
    models = {cell.model_id for cell in cells}
    scenarios = {cell.scenario_id for cell in cells}
    return f"{terminal.counted(len(models), 'model')} on {terminal.counted(len(scenarios), 'scenario')}"


def places_of(session: Session) -> dict[str, str]:
    """Where the demo's files are."""
    import os

    home = session.home
    embedded = f"{home.postgres} (embedded; it stops when nobody uses it)"
    return {
        "workspace": str(session.workspace.root),
        "postgres": "ASSAY_DATABASE_URL" if os.environ.get("ASSAY_DATABASE_URL") else embedded,
        "parquet": home.lake_root,
        "dagster": str(home.dagster),
    }


def _show(page: Console, found: dict[str, Any]) -> None:
    from pipelines.cli.ranking import show_ranking

    for model in found["failed"]:
        page.print(f"failed: {model['scenario_id']}, {model['model_id']}: {model['error']}", style="red")
    show_ranking(found["ranking"])
    page.print("\nWhere things are", style="bold")
    for name, place in found["places"].items():
        page.print(f"  {name:<10} {place}", soft_wrap=True)
    page.print("\nNext", style="bold")
    command, workspace = terminal.command_name(), shlex.quote(terminal.path_shown(EXAMPLE))
    best = found["ranking"]["places"][0]["model_id"] if found["ranking"]["places"] else "MODEL"
    scenario = found["ranking"]["scenarios"][0]
    rows = (
        (f"results {scenario}", "how all models did on one scenario"),
        (f"results {scenario} --model {shlex.quote(best)} --run 1", "every field of one run"),
        ("up", "the Dagster UI"),
    )
    for words, meaning in rows:
        page.print(f"  {command} {words} --workspace {workspace}   # {meaning}", soft_wrap=True)
