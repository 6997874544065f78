"""`assay judge`: how far the judge of a scenario can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, WorkspaceOption

if TYPE_CHECKING:
    from pipelines.judge_audit import AuditReport, Plan
    from scoring.audit import Estimate, Figure

DONE, CHECK_FAILED = 0, 1
SAMPLE = 50
ID_CHARACTERS, SHOWN_QUESTIONS = 8, 3

app = typer.Typer(help="The judge: how far it can be trusted.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `audit` a command of its own, however few its siblings are."""


@app.command()
def audit(
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO...]", help="Over these scenarios; all if none.")
    ] = None,
    sample: Annotated[
        int,
        typer.Option("--sample", metavar="N", min=0, help="So many cached questions of each judge; 0 asks nothing."),
    ] = SAMPLE,
    reviews: Annotated[
        Path | None, typer.Option("--reviews", metavar="FILE", help="JSON Lines with verdicts of reviewers.")
    ] = None,
    is_plan: Annotated[bool, typer.Option("--plan", help="Only say what it would ask and cost.")] = False,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Ask a sample of cached questions again, and report bias, consistency and agreement.

    Exits with 1 where a figure is bad beyond chance, or where the judge left a question without an answer.
    """
    from pipelines.judge_audit import AuditReport, audited, benches, plan_of
    from pipelines.session import open_session

    with open_session(workspace) as session:
        found = benches(session, scenarios or None, sample=sample)
        plan = plan_of(session, found)
        report = AuditReport()
        if not is_plan:
            with terminal.progress("asking") as move:
                report = audited(session, found, reviews=reviews, on_progress=move)
    if as_json:
        terminal.print_json({"plan": asdict(plan)} if is_plan else _as_json(plan, report))
    elif is_plan:
        terminal.screen().print(planned(plan))
    else:
        _show(plan, report)
    return CHECK_FAILED if _is_failed(report) else DONE


def _is_failed(report: AuditReport) -> bool:
    from scoring.audit import Standing

    return bool(report.failures) or any(figure.standing is Standing.BAD for figure in report.figures)


def planned(plan: Plan) -> str:
    """What an audit will ask, in words."""
    if not plan.calls:
        return f"It asks nothing: all {terminal.counted(plan.cached, 'second vote')} are known, and cost nothing."
    cost = "an unknown sum (models.yaml has no price)" if plan.cost_usd is None else terminal.dollars(plan.cost_usd)
    return (
        f"It asks {terminal.counted(plan.calls, 'question')} ({plan.cached:,} more are known), about "
        f"{plan.input_tokens:,} tokens to read and at most {plan.output_tokens:,} to write: at most {cost}, "
        "tries after a failure aside."
    )


def _as_json(plan: Plan, report: AuditReport) -> dict[str, Any]:
    return {
        "questions": plan.questions,
        "sample": plan.sample,
        "calls": report.calls,
        "failures": list(report.failures),
        "figures": [_row(figure) for figure in report.figures],
    }


def _row(figure: Figure) -> dict[str, Any]:
    from scoring.audit import GOOD, MEANINGS

    estimate = figure.estimate
    meaning = MEANINGS[figure.measure]
    return {
        "measure": figure.measure.value,
        "judge": figure.judge,
        "value": None if estimate is None else estimate.value,
        "interval": None if estimate is None else [estimate.low, estimate.high],
        "observations": figure.observations,
        "standing": figure.standing.value,
        "good": list(GOOD[figure.measure]),
        "says": figure.says,
        "against": [{"scenario_id": scenario_id, "question_id": id_} for scenario_id, id_ in figure.against],
        "meaning": meaning.text,
        "remedy": meaning.remedy,
    }


def _show(plan: Plan, report: AuditReport) -> None:
    from scoring.audit import MEANINGS, Standing

    page = terminal.screen()
    page.print(
        f"Audited over {terminal.counted(plan.questions, 'cached question')}, {plan.sample:,} of them asked again "
        f"({terminal.counted(report.calls, 'request')} now)."
    )
    terminal.print_table(page, _table(report.figures), optional=("of",))
    for measure in dict.fromkeys(figure.measure for figure in report.figures):
        own = [figure for figure in report.figures if figure.measure is measure]
        meaning = MEANINGS[measure]
        page.print(f"{meaning.name}: {meaning.text}.")
        for figure in own:
            page.print(f"  {figure.judge}: {figure.says}.{_against(figure)}")
        if any(figure.standing is Standing.BAD for figure in own):
            page.print(f"  What to do: {meaning.remedy}.", style="yellow")
        elif any(figure.standing is Standing.UNCLEAR for figure in own):
            page.print(f"  Not settled, since the interval is wide: {meaning.more}.")
    for reason in dict.fromkeys(report.failures):
        page.print(f"no answer: {reason}", style="red")


def _against(figure: Figure) -> str:
    """The first questions that count against the judge, as `assay history` finds them."""
    if not figure.against:
        return ""
    some = [f"{scenario_id} {id_[:ID_CHARACTERS]}" for scenario_id, id_ in figure.against[:SHOWN_QUESTIONS]]
    more = len(figure.against) - len(some)
    return f" Read: {', '.join(some)}{f' and {more:,} more' if more else ''}."


def _table(figures: Sequence[Figure]) -> Any:
    from scoring.audit import MEANINGS

    numbers = ("value", "95% interval", "of")
    made = terminal.table("figure", "judge", *numbers, "standing", numbers=numbers)
    styles = {"good": "green", "bad": "red", "unclear": "yellow", "unmeasured": "dim"}
    for figure in figures:
        standing = figure.standing.value
        made.add_row(
            MEANINGS[figure.measure].name,
            figure.judge,
            *_shown(figure.estimate),
            str(figure.observations),
            standing,
            style=styles[standing],
        )
    return made


def _shown(estimate: Estimate | None) -> tuple[str, str]:
    if estimate is None:
        return "-", "-"
    return f"{estimate.value:.2f}", f"{estimate.low:.2f}..{estimate.high:.2f}"
