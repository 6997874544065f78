"""`assay score --plan`: what a round will ask its judges and cost at most, said before anything is paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipelines.cli import terminal

if TYPE_CHECKING:
    from pipelines.plan import RoundPlan
    from pipelines.session import Session


def show_plan(session: Session, cells: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    """Print the plan of a round over these cells."""
    from pipelines.plan import plan_round

    with terminal.progress("planning") as move:
        plan = plan_round(session, cells, on_progress=move)
    if as_json:
        terminal.print_json(as_rows(plan))
    else:
        _show(plan)


def may_be_paid(plan: RoundPlan) -> bool:
    """Whether the budget covers the round whatever it comes to; without a budget everything may be paid."""
    if plan.limit_usd is None or not plan.open_questions:
        return True
    return plan.cost_usd is not None and plan.cost_usd <= plan.limit_usd


def as_rows(plan: RoundPlan) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "questions": plan.open_questions,
        "questions_answered_before": plan.cached,
        "requests": sum(judge.requests for judge in plan.judges),
        "input_tokens": sum(judge.input_tokens for judge in plan.judges),
        "output_tokens_at_most": sum(judge.output_tokens for judge in plan.judges),
        "cost_usd_at_most": plan.cost_usd,
        "judges_without_price": list(plan.unpriced),
        "budget_usd": plan.limit_usd,
        "is_within_budget": may_be_paid(plan),
        "texts_compared_by_similarity": plan.texts,
        "judges": [
            {
                "judge": judge.judge_model,
                "requests": judge.requests,
                "input_tokens": judge.input_tokens,
                "output_tokens_at_most": judge.output_tokens,
                "cost_usd_at_most": judge.cost_usd,
            }
            for judge in plan.judges
        ],
        "models": [
            {
                "scenario_id": model.scenario_id,
                "model_id": model.model_id,
                "questions": model.questions,
                "open_questions": model.open_questions,
                "problem": model.problem,
            }
            for model in plan.models
        ],
    }


def _show(plan: RoundPlan) -> None:
    page = terminal.screen()
    count = terminal.counted(len(plan.models), "model score")
    page.print(
        f"Plan for {count}: {terminal.counted(plan.open_questions, 'question')} to ask, "
        f"{plan.cached} answered before. No judge was asked."
    )
    if plan.judges:
        terminal.print_table(page, _table(plan))
    if plan.open_questions:
        page.print(f"At most {_dollars(plan)}, retries and repaired answers aside.")
    if plan.unpriced:
        page.print(f"Unknown price: {', '.join(plan.unpriced)}. Add it to models.yaml with its prices.", style="yellow")
    if plan.limit_usd is not None:
        is_enough = "is enough" if may_be_paid(plan) else "may not be enough: the round then stops before it is passed"
        page.print(f"The budget of ${plan.limit_usd:g} {is_enough}.", style="" if may_be_paid(plan) else "yellow")
    if plan.texts:
        page.print(
            f"{terminal.counted(plan.texts, 'text')} were compared by similarity for this; the vectors are kept."
        )
    for model in plan.models:
        if model.problem is not None:
            page.print(f"cannot be scored: {model.scenario_id}, {model.model_id}: {model.problem}", style="yellow")


def _dollars(plan: RoundPlan) -> str:
    cost = plan.cost_usd
    return "an unknown amount" if cost is None else terminal.dollars(cost)


def _table(plan: RoundPlan) -> Any:
    numbers = ("requests", "input tokens", "output tokens at most", "at most")
    made = terminal.table("judge", *numbers, numbers=numbers)
    for judge in plan.judges:
        made.add_row(
            judge.judge_model,
            f"{judge.requests:,}",
            f"{judge.input_tokens:,}",
            f"{judge.output_tokens:,}",
            terminal.dollars(judge.cost_usd),
        )
    return made
