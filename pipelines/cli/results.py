"""`assay results`: how the models did on one scenario, down to a single field of a single run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import field_tables, terminal
from pipelines.cli.export import write_rows
from pipelines.cli.options import AsJson, CsvOption, ParquetOption, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from pipelines.session import Session

Row = Mapping[str, Any]

OPTIONAL = ("price", "time", "95% interval", "lowest..highest")  # left out first on a narrow terminal


def results(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario's id.")],
    run: Annotated[
        int | None, typer.Option("--run", metavar="N", help="Every field and list of this repetition (with --model).")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="Only this model, with its runs.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
    as_csv: CsvOption = False,
    parquet: ParquetOption = None,
) -> None:
    """Show how the models did on one scenario."""
    from pipelines.session import open_session

    with open_session(workspace) as session:
        known = session.workspace.scenario(scenario)
        if model is not None:
            session.workspace.model(model)
        if run is not None:
            found = _run_of(session, known.scenario_id, model, run)
        else:
            found = _models_of(session, known.scenario_id, model)
    if as_json:
        terminal.print_json(found)
    elif as_csv or parquet is not None:
        rows, view = ("fields", "bi.field_scores") if run is not None else ("models", "bi.model_scores")
        write_rows(found[rows], parquet=parquet, relation=view)
    elif run is not None:
        _show_run(found)
    else:
        _show_models(found)


def _models_of(session: Session, scenario_id: str, model: str | None) -> dict[str, Any]:
    rows = session.warehouse.results(scenario_id, model_id=model)
    runs = session.warehouse.run_scores(scenario_id, model_id=model) if model is not None else []
    scored = {row["model_id"] for row in rows}
    cells = session.warehouse.cells([scenario_id], None if model is None else [model])
    waiting = [
        {
            "model_id": cell.model_id,
            "recorded_runs": cell.recorded,
            "expected_runs": cell.expected_repetitions,
            "reason": _why_unscored(cell),
        }
        for cell in cells
        if cell.model_id not in scored and cell.recorded
    ]
    return {"scenario_id": scenario_id, "models": rows, "runs": runs, "unscored": waiting}


def judge_notes(found: Mapping[str, Any]) -> list[str]:
    """What judging each model cost in its latest scoring, and where to read it; nothing where no judge was asked."""
    said = [
        f"Judging {row['model_id']}: {terminal.counted(row['judge_calls'], 'request')}, "
        f"{'cost unknown' if row['judge_cost_usd'] is None else terminal.dollars(row['judge_cost_usd'])}, "
        f"scored in {terminal.seconds(row['scoring_duration_seconds'])}."
        for row in found["models"]
        if row.get("judge_calls")
    ]
    return [*said, f"Every request: assay history {found['scenario_id']}"] if said else []


def _why_unscored(cell: Any) -> str:
    if not cell.has_verified_reference:
        return "the reference is not verified"
    if not cell.is_complete:
        return f"{cell.recorded} of {cell.expected_repetitions} runs are recorded"
    return "not scored yet"


def _run_of(session: Session, scenario_id: str, model: str | None, run: int) -> dict[str, Any]:
    models = [row["model_id"] for row in session.warehouse.results(scenario_id, model_id=model)]
    if not models:
        raise InputError(f"nothing is scored on {scenario_id} yet", remedy=f"Score it with: assay score {scenario_id}")
    if len(models) > 1:
        raise InputError("--run needs one model", remedy=f"Add --model with one of: {', '.join(models)}")
    rows = session.warehouse.run_scores(scenario_id, model_id=models[0])
    found = next((row for row in rows if row["repetition"] == run), None)
    if found is None:
        repetitions = ", ".join(str(row["repetition"]) for row in rows) or "none"
        raise InputError(f"{models[0]} has no scored run {run} on {scenario_id}", remedy=f"Scored: {repetitions}.")
    return {
        "scenario_id": scenario_id,
        "model_id": models[0],
        "run": found,
        "fields": session.warehouse.field_scores(scenario_id, models[0], run),
        "lists": session.warehouse.list_scores(scenario_id, models[0], run),
    }


def _show_models(found: Mapping[str, Any]) -> None:
    page = terminal.screen()
    if found["models"]:
        terminal.print_table(page, _models_table(found), optional=OPTIONAL)
    else:
        page.print(f"Nothing is scored on {found['scenario_id']} yet.")
    if found["runs"]:
        terminal.print_table(page, _runs_table(found))
    for note in notes(found):
        page.print(note)


def _models_table(found: Mapping[str, Any]) -> Table:
    numbers = (
        "quality",
        "lowest..highest",
        "95% interval",
        "complete",
        "correct",
        "halluc.",
        "ok runs",
        "time",
        "price",
    )
    made = terminal.table("model", *numbers, "note", numbers=numbers, title=str(found["scenario_id"]))
    for row in found["models"]:
        made.add_row(
            row["model_id"],
            terminal.number(row["quality"]),
            _range(row["lowest_quality"], row["highest_quality"]),
            _range(row["interval_low"], row["interval_high"]),
            terminal.number(row["completeness"]),
            terminal.number(row["correctness"]),
            terminal.number(row["hallucination"]),
            f"{row['ok_run_count']}/{row['run_count']}",
            terminal.seconds(row["mean_duration_seconds"]),
            terminal.dollars(row["mean_cost_usd"]),
            marks(row),
            style="dim" if row["is_stale"] else "",
        )
    return made


def marks(row: Row) -> str:
    """What qualifies a model's score, in words: `stale`, `exact_only`, `judge family`."""
    said = (
        ("stale", row["is_stale"]),
        ("exact_only", row["mode"] == "exact_only"),
        ("judge family", row["is_judge_family"]),
    )
    return ", ".join(mark for mark, holds in said if holds)


def _range(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.1f}..{high:.1f}"


def _runs_table(found: Mapping[str, Any]) -> Table:
    numbers = ("run", "quality", "complete", "correct", "halluc.", "fields")
    made = terminal.table(*numbers, "note", numbers=numbers, title="Runs")
    medians = {row["model_id"]: row["median_repetition"] for row in found["models"]}
    for row in found["runs"]:
        made.add_row(
            str(row["repetition"]),
            *(terminal.number(row[score]) for score in ("quality", "completeness", "correctness", "hallucination")),
            str(row["field_count"]),
            _run_note(row, is_median=medians.get(row["model_id"]) == row["repetition"]),
        )
    return made


def _run_note(row: Row, *, is_median: bool) -> str:
    said = ["median"] if is_median else []
    if row.get("unreadable_reason"):
        said.append(f"unreadable: {row['unreadable_reason']}")
    elif row.get("problems"):
        said.append(terminal.shown(row["problems"].splitlines()[0], 80))
    return "; ".join(said)


def notes(found: Mapping[str, Any]) -> list[str]:
    """What a reader of the results must know: mode, what is stale, what is not scored."""
    scenario_id, said = found["scenario_id"], []
    if any(row["mode"] == "exact_only" for row in found["models"]):
        said.append(terminal.EXACT_ONLY)
    if any(row["is_stale"] for row in found["models"]):
        said.append(
            f"Stale: reference or scoring config changed since. Score again with: assay score {scenario_id} --stale"
        )
    if any(row["is_judge_family"] for row in found["models"]):
        said.append(terminal.JUDGE_FAMILY)
    said += judge_notes(found)
    said += [f"Not scored: {one['model_id']} ({one['reason']})." for one in found["unscored"]]
    return said


def _show_run(found: Mapping[str, Any]) -> None:
    run = found["run"]
    page = terminal.screen()
    page.print(f"{found['scenario_id']}, {found['model_id']}, run {run['repetition']}", style="bold")
    names = ("quality", "completeness", "correctness", "hallucination")
    page.print("   ".join(f"{name} {run[name]:.1f}" for name in names))
    if run["mode"] == "exact_only":
        page.print(terminal.EXACT_ONLY, style="yellow")
    for problem in (run.get("unreadable_reason") or "", *(run.get("problems") or "").splitlines()):
        if problem:
            page.print(f"! {problem}", style="yellow")
    terminal.print_table(page, _fields_table(found["fields"]), optional=field_tables.OPTIONAL)
    if found["lists"]:
        terminal.print_table(page, _lists_table(found["lists"]))


def _fields_table(rows: Sequence[Row]) -> Table:
    made = field_tables.fields_table()
    for row in rows:
        field_tables.add_field(
            made,
            path=row["path"],
            reference=row["reference_text"],
            candidate=row["candidate_text"],
            outcome=row["outcome"],
            rung=row["rung"],
            credit=row["credit"],
            similarity=row["similarity"],
            reason=row["reason"],
        )
    return made


def _lists_table(rows: Sequence[Row]) -> Table:
    made = field_tables.lists_table()
    for row in rows:
        shares = [terminal.number(100 * row[name]) for name in ("precision", "recall", "f1")]
        missed, hallucinated = _items(row["missed_items"]), _items(row["hallucinated_items"])
        made.add_row(row["path"] or "(all)", str(row["matched_count"]), missed, hallucinated, *shares)
    return made


def _items(text: str | None) -> str:
    return field_tables.items((text or "").splitlines())
