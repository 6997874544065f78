"""`assay run`: models called for the runs of a scenario that are missing, through Dagster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, ModelsOption, WorkspaceOption

if TYPE_CHECKING:
    from pipelines.running import CellPlan, CellReport, MakingReport, RunPlan

DONE, SOME_MISSING = 0, 1


def run(
    scenarios: Annotated[list[str], typer.Argument(metavar="SCENARIO...", help="The scenarios to run.")],
    models: ModelsOption = None,
    is_plan: Annotated[
        bool, typer.Option("--plan", help="Only say which runs are missing and what they cost at most; call nobody.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Call models for the runs that are missing, each recorded as soon as it is there; again to go on."""
    from pipelines.running import MakingReport, plan_runs, runnable_cells
    from pipelines.session import open_session

    with open_session(workspace) as session:
        plan = plan_runs(session, runnable_cells(session, scenarios, models or None))
        if is_plan:
            _print_plan(plan, as_json=as_json)
            return DONE
        report = MakingReport()
        lacking = [(cell.scenario_id, cell.model_id) for cell in plan.cells if cell.missing]
        if lacking:
            from pipelines.dagster_runs import make_runs_through_dagster

            with terminal.progress("calling models") as move:
                report = make_runs_through_dagster(session, lacking, on_progress=move)
    if as_json:
        terminal.print_json(report_rows(report))
    else:
        _show(report, plan)
    return SOME_MISSING if report.failed else DONE


def _print_plan(plan: RunPlan, *, as_json: bool) -> None:
    if as_json:
        terminal.print_json(plan_rows(plan))
    else:
        _show_plan(plan)


def plan_rows(plan: RunPlan) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "requests": plan.requests,
        "cost_usd_at_most": plan.cost_usd,
        "models_of_unknown_cost": list(plan.unbounded),
        "budget_usd": plan.limit_usd,
        "is_within_budget": may_be_paid(plan),
        "models": [
            {
                "scenario_id": cell.scenario_id,
                "model_id": cell.model_id,
                "recorded": cell.recorded,
                "missing_repetitions": list(cell.missing),
                "input_tokens": cell.input_tokens * len(cell.missing),
                "cost_usd_at_most": cell.cost_usd,
            }
            for cell in plan.cells
        ],
    }


def may_be_paid(plan: RunPlan) -> bool:
    """Whether the budget covers all runs whatever they come to; without a budget everything may be paid."""
    if plan.limit_usd is None or not plan.requests:
        return True
    return plan.cost_usd is not None and plan.cost_usd <= plan.limit_usd


def _show_plan(plan: RunPlan) -> None:
    page = terminal.screen()
    numbers = ("recorded", "missing", "input tokens each", "at most")
    made = terminal.table("scenario", "model", *numbers, numbers=numbers)
    for cell in plan.cells:
        made.add_row(*_plan_row(cell))
    terminal.print_table(page, made)
    if not plan.requests:
        page.print("Nothing to run: every run is recorded.")
        return
    cost = "an unknown amount" if plan.cost_usd is None else terminal.dollars(plan.cost_usd)
    page.print(f"{terminal.counted(plan.requests, 'request')}, at most {cost}, retries aside. No model was called.")
    if plan.unbounded:
        remedy = "its prices and max_answer_tokens in models.yaml say what a model costs at most"
        page.print(f"Unknown cost: {', '.join(plan.unbounded)}; {remedy}.", style="yellow")
    if plan.limit_usd is not None:
        is_enough = "is enough" if may_be_paid(plan) else "may not be enough: the runs then stop before it is passed"
        page.print(f"The budget of ${plan.limit_usd:g} {is_enough}.", style="" if may_be_paid(plan) else "yellow")


def _plan_row(cell: CellPlan) -> tuple[str, ...]:
    cost = terminal.dollars(cell.cost_usd) if cell.missing else ""
    tokens = f"{cell.input_tokens:,}"
    return cell.scenario_id, cell.model_id, str(cell.recorded), str(len(cell.missing)), tokens, cost


def report_rows(report: MakingReport) -> dict[str, Any]:
    """What came of it, as JSON."""
    return {
        "models": [_row(cell) for cell in report.cells],
        "recorded": sum(len(cell.runs) for cell in report.cells),
        "missing": sum(len(cell.unanswered) for cell in report.cells),
        "cost_usd": _cost_of(report.cells),
        "duration_seconds": report.duration_seconds,
    }


def _row(cell: CellReport) -> dict[str, Any]:
    return {
        "scenario_id": cell.scenario_id,
        "model_id": cell.model_id,
        "wanted": cell.wanted,
        "recorded": len(cell.runs),
        "failed_runs": cell.failed_runs,
        "recorded_elsewhere": cell.elsewhere,
        "missing": len(cell.unanswered),
        "mean_seconds": _mean_seconds(cell),
        "cost_usd": cell.cost_usd,
        "error": cell.error,
    }


def _cost_of(cells: Sequence[CellReport]) -> float | None:
    costs = [cell.cost_usd for cell in cells]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _mean_seconds(cell: CellReport) -> float | None:
    seconds = [run.duration_seconds for run in cell.runs if run.duration_seconds is not None]
    return sum(seconds) / len(seconds) if seconds else None


def _show(report: MakingReport, plan: RunPlan) -> None:
    page = terminal.screen()
    if not plan.requests:
        page.print("Nothing to run: every run is recorded.")
        return
    numbers = ("wanted", "recorded", "failed", "missing", "mean time", "cost")
    made = terminal.table("scenario", "model", *numbers, numbers=numbers)
    for cell in report.cells:
        made.add_row(*_shown(cell))
    terminal.print_table(page, made)
    page.print(_sum_line(report))
    if elsewhere := sum(cell.elsewhere for cell in report.cells):
        page.print(f"{terminal.counted(elsewhere, 'run')} were recorded by another process meanwhile.")
    for cell in report.failed:
        page.print(f"missing: {cell.scenario_id}, {cell.model_id}: {cell.error}", style="red", soft_wrap=True)
    if report.failed:
        page.print("What was answered is recorded. The same command again asks for the rest alone.")


def _shown(cell: CellReport) -> tuple[str, ...]:
    counts = (cell.wanted, len(cell.runs), cell.failed_runs, len(cell.unanswered))
    cost = terminal.dollars(cell.cost_usd) if cell.runs else ""
    time = terminal.seconds(_mean_seconds(cell))
    return cell.scenario_id, cell.model_id, *(str(count) for count in counts), time, cost


def _sum_line(report: MakingReport) -> str:
    count = sum(len(cell.runs) for cell in report.cells)
    unpriced = [cell.model_id for cell in report.cells if cell.runs and cell.cost_usd is None]
    cost = _cost_of(report.cells)
    told = f"cost unknown for {', '.join(dict.fromkeys(unpriced))}" if cost is None else terminal.dollars(cost)
    return f"Recorded {terminal.counted(count, 'run')} in {report.duration_seconds:.1f} s, {told}."
