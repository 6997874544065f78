"""`assay score`: a scoring round, through Dagster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, ModelsOption, WorkspaceOption

if TYPE_CHECKING:
    from pipelines.round import ModelReport, RoundReport
    from pipelines.session import Session
    from resources.cells import Cell
    from resources.references import MergeReport

DONE, SOME_FAILED = 0, 1


def score(
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO...]", help="Only these scenarios; all if none.")
    ] = None,
    models: ModelsOption = None,
    is_stale_only: Annotated[bool, typer.Option("--stale", help="Only what is stale.")] = False,
    is_all: Annotated[bool, typer.Option("--all", help="Score again what has a good score too.")] = False,
    is_plan: Annotated[
        bool, typer.Option("--plan", help="Only say what the judge will be asked and cost at most; ask nothing.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Score what is unscored or stale; recorded runs are read, no model is ever called."""
    from pipelines.session import open_session

    with open_session(workspace) as session:
        cells = chosen_cells(session, scenarios or None, models or None)
        wanted = [cell for cell in cells if _is_wanted(cell, is_stale_only=is_stale_only, is_all=is_all)]
        if is_plan:
            from pipelines.cli.plan import show_plan

            show_plan(session, [(cell.scenario_id, cell.model_id) for cell in wanted], as_json=as_json)
            return DONE
        report = scored(session, wanted, only_where_needed=not is_all)
        left = [one for one in (waiting(cell) for cell in cells if cell not in wanted) if one]
    if as_json:
        terminal.print_json(as_rows(report, left))
    else:
        show_round(report, left)
    return SOME_FAILED if report.failed else DONE


def chosen_cells(session: Session, scenarios: Sequence[str] | None, models: Sequence[str] | None) -> list[Cell]:
    """The recorded cells of these scenarios and models. Raises InputError for an unknown id."""
    for scenario_id in scenarios or ():
        session.workspace.scenario(scenario_id)
    for model_id in models or ():
        session.workspace.model(model_id)
    return [cell for cell in session.warehouse.cells(scenarios, models) if cell.recorded]


def _is_wanted(cell: Cell, *, is_stale_only: bool, is_all: bool) -> bool:
    if is_stale_only:
        return cell.is_scorable and cell.is_stale
    return cell.is_scorable if is_all else cell.needs_scoring


def waiting(cell: Cell) -> dict[str, Any] | None:
    """Why a recorded cell cannot be scored; None where it can."""
    if cell.is_scorable:
        return None
    if cell.reference_hash is None:
        reason, remedy = "it has no reference", "put it into reference.json beside scenario.yaml"
    elif not cell.has_verified_reference:
        reason, remedy = "its reference is a draft", f"read it, then: assay reference verify {cell.scenario_id}"
    else:
        reason = f"{cell.recorded} of {terminal.counted(cell.expected_repetitions, 'run')} are recorded"
        remedy = "import the others, or lower repetitions in scenario.yaml"
    return {"scenario_id": cell.scenario_id, "model_id": cell.model_id, "reason": reason, "remedy": remedy}


def scored(session: Session, cells: Sequence[Cell], *, only_where_needed: bool = True) -> RoundReport:
    """The report of a round over these cells; an empty one where there are none and no round is unfinished.

    With `only_where_needed` what another process scores meanwhile is not scored again.
    """
    from pipelines.round import RoundReport

    if not cells and not session.warehouse.references.unmerged():
        return RoundReport()
    from pipelines.dagster_round import run_round_through_dagster

    keys = [(cell.scenario_id, cell.model_id) for cell in cells]
    with terminal.progress("scoring") as move:
        return run_round_through_dagster(session, keys, only_where_needed=only_where_needed, on_progress=move)


def as_rows(report: RoundReport, left: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The round as JSON."""
    return {
        "scored": [_row(model) for model in report.models if model.error is None],
        "failed": [_row(model) for model in report.failed],
        "waiting": list(left),
        "references": [_merge_row(merge) for merge in report.merges if merge.is_new],
        "texts": report.texts,
        "duration_seconds": report.duration_seconds,
    }


def _merge_row(merge: MergeReport) -> dict[str, Any]:
    return {
        "scenario_id": merge.scenario_id,
        "version": merge.version.number,
        "edits": len(merge.edits),
        "changed": [{"path": edit.path, "before": edit.before, "after": edit.after} for edit in merge.changed],
    }


def _row(model: ModelReport) -> dict[str, Any]:
    return {
        "scenario_id": model.scenario_id,
        "model_id": model.model_id,
        "runs": model.runs,
        "failed_runs": model.failed_runs,
        "unreadable_runs": model.unreadable_runs,
        "quality": model.quality,
        "mode": None if model.mode is None else model.mode.value,
        "error": model.error,
        "questions": model.questions,
        "questions_answered_before": model.cached,
        "judge_calls": None if model.judge is None else model.judge.calls,
        "judge_cost_usd": None if model.judge is None else model.judge.cost_usd,
    }


def show_round(report: RoundReport, left: Sequence[Mapping[str, Any]]) -> None:
    """What the round did: a row a model over all its scenarios, then what failed and what waits."""
    page = terminal.screen()
    if not report.models:
        page.print("Nothing to score: every complete set of runs has a score that is not stale.")
    else:
        terminal.print_table(page, _table(report))
        page.print(f"{terminal.counted(len(report.models), 'model score')} in {report.duration_seconds:.1f} s.")
        if (judged := judge_line(report)) is not None:
            page.print(judged)
    for merge in report.merges:
        if merge.changed:
            count = terminal.counted(len(merge.changed), "update")
            command = f"assay reference show {merge.scenario_id}"
            page.print(f"reference of {merge.scenario_id}: {count} from what models found; see them with {command}")
    if any(model.mode == "exact_only" for model in report.models):
        page.print(terminal.EXACT_ONLY, style="yellow")
    for model in report.failed:
        page.print(f"failed: {model.scenario_id}, {model.model_id}: {model.error}", style="red")
    for one in left:
        page.print(f"waits: {one['scenario_id']}, {one['model_id']}: {one['reason']} ({one['remedy']})", style="yellow")


def judge_line(report: RoundReport) -> str | None:
    """What the judge was asked in the round and what it cost; None where it was not needed."""
    judges = [model.judge for model in report.models if model.judge is not None]
    needed = sum(model.questions for model in report.models)
    if not judges or not needed:
        return None
    cached, calls = sum(model.cached for model in report.models), sum(judge.calls for judge in judges)
    failed, costs = sum(judge.failed_calls for judge in judges), [judge.cost_usd for judge in judges]
    known = [cost for cost in costs if cost is not None]
    cost = terminal.dollars(sum(known)) if len(known) == len(costs) else "cost unknown"
    requests = terminal.counted(calls, "request") + (f" ({failed} failed)" if failed else "")
    return f"Judge: {terminal.counted(needed, 'question')}, {cached} of them free; {requests}, {cost}."


def _table(report: RoundReport) -> Any:
    numbers = ("scenarios", "mean quality", "lowest", "runs", "failed runs", "unreadable", "failed")
    made = terminal.table("model", *numbers, numbers=numbers)
    by_model: dict[str, list[ModelReport]] = {}
    for model in report.models:
        by_model.setdefault(model.model_id, []).append(model)
    for model_id, own in sorted(by_model.items()):
        qualities = [one.quality for one in own if one.quality is not None]
        made.add_row(
            model_id,
            str(len(own)),
            terminal.number(sum(qualities) / len(qualities) if qualities else None),
            terminal.number(min(qualities, default=None)),
            str(sum(one.runs for one in own)),
            str(sum(one.failed_runs for one in own)),
            str(sum(one.unreadable_runs for one in own)),
            str(sum(one.error is not None for one in own)),
        )
    return made
