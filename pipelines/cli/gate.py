"""`assay gate`: whether a model is good enough, or no worse than another, as an exit code for CI."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.cells import Cell
    from resources.results import ScoredRuns
    from resources.scenarios import Scenario
    from scoring.gate import Bounds, Measured, Outcome, Problem, Standing

DONE, CHECK_FAILED = 0, 1


class Allowance(StrEnum):
    """What the gate refuses unless it is told otherwise."""

    EXACT_ONLY = "exact_only"
    FAILED_RUNS = "failed_runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the command was asked: one model, perhaps a baseline, bounds, and what is let through."""

    model_id: str
    baseline_id: str | None
    bounds: Bounds
    allowed: frozenset[str]

    @property
    def model_ids(self) -> list[str]:
        return [self.model_id] if self.baseline_id is None else [self.model_id, self.baseline_id]


def gate(
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="The model that must pass.")],
    scenarios: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENARIO...]", help="Over these scenarios; all scored ones if none.")
    ] = None,
    min_quality: Annotated[
        float | None, typer.Option("--min-quality", metavar="Q", help="Its mean quality is at least Q, 0..100.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="MODEL", help="It is not worse than this one beyond chance.")
    ] = None,
    margin: Annotated[
        float, typer.Option("--margin", metavar="POINTS", help="So much quality it may lose to the baseline.")
    ] = 0.0,
    is_strict: Annotated[bool, typer.Option("--strict", help="What could be chance fails too.")] = False,
    allow: Annotated[
        list[Allowance] | None, typer.Option("--allow", help="Let this through, with a note; repeatable.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> int:
    """Exit 1 when a model is not good enough, or worse than another beyond chance: for CI.

    Reads the latest scores and calls no model. What is unscored or stale fails, and what --allow names unless allowed.
    """
    from pipelines.cli.gate_page import show
    from pipelines.session import open_session
    from scoring.gate import Bounds

    if model == baseline:
        remedy = "Name the model that it is compared with"
        raise InputError(f"{model} is the model itself", where="--baseline", remedy=remedy)
    asked = _Asked(
        model_id=model,
        baseline_id=baseline,
        bounds=Bounds(min_quality=min_quality, has_baseline=baseline is not None, margin=margin, is_strict=is_strict),
        allowed=frozenset(one.value for one in allow or ()),
    )
    with open_session(workspace) as session:
        found = gated(session, scenarios or None, asked)
    if as_json:
        terminal.print_json(found)
    else:
        show(found)
    return DONE if found["passed"] else CHECK_FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One model on one scenario: its cell, what its score rests on, and what speaks against that."""

    cell: Cell
    standing: Standing
    problems: tuple[dict[str, Any], ...]


def gated(session: Session, scenarios: Sequence[str] | None, asked: _Asked) -> dict[str, Any]:
    """The whole verdict as JSON: a row a scenario, the overall outcome, problems, reasons and notes.

    Raises InputError for an unknown id.
    """
    from pipelines.cli.gate_page import reasons_of, verdict_of
    from scoring.gate import outcome_of

    for model_id in asked.model_ids:
        session.workspace.model(model_id)
    chosen = _chosen(session, scenarios)
    ids = [scenario.scenario_id for scenario in chosen]
    found = session.warehouse.cells(ids if scenarios else None, asked.model_ids)
    cells = {(cell.scenario_id, cell.model_id): cell for cell in found}
    runs = session.warehouse.scored_runs([cell.head.model_score_id for cell in found if cell.head is not None])
    rows = [
        [_side(asked, one, cells[one.scenario_id, model_id], runs) for model_id in asked.model_ids] for one in chosen
    ]
    measured = [_measured(row) for row in rows]
    said = {
        "model_id": asked.model_id,
        "baseline_id": asked.baseline_id,
        "bounds": _bounds(asked.bounds),
        "min_quality": asked.bounds.min_quality,
        "margin": asked.bounds.margin,
        "is_strict": asked.bounds.is_strict,
        "allowed": sorted(asked.allowed),
        "scenarios": [_row(row, outcome_of([one], asked.bounds)) for row, one in zip(rows, measured, strict=True)],
        "overall": _overall(rows, outcome_of(measured, asked.bounds)),
        "problems": [problem for row in rows for side in row for problem in side.problems],
        "judge_family": sorted({side.cell.model_id for row in rows for side in row if _is_judged_by_kin(side.cell)}),
        "left_out": sorted({cell.scenario_id for cell in found if cell.recorded} - set(ids)),
    }
    reasons = reasons_of(said)
    said |= {"passed": not reasons, "reasons": reasons}
    return said | {"verdict": verdict_of(said)}


def _chosen(session: Session, scenarios: Sequence[str] | None) -> list[Scenario]:
    """The scenarios that are named, each once; where none is, those of the workspace that have a score."""
    if scenarios:
        return [session.workspace.scenario(scenario_id) for scenario_id in dict.fromkeys(scenarios)]
    scored = session.warehouse.scored_scenarios()
    return [scenario for scenario in session.workspace.scenarios if scenario.scenario_id in scored]


def _side(asked: _Asked, scenario: Scenario, cell: Cell, runs: Mapping[int, ScoredRuns]) -> _Side:
    from scoring.gate import Standing, problems_of

    standing = Standing(is_scored=False)
    if cell.head is not None:
        behind = runs[cell.head.model_score_id]
        standing = Standing(
            is_scored=True,
            is_stale=cell.is_stale,
            has_new_runs=cell.has_new_runs,
            is_exact_only=cell.head.mode == "exact_only",
            runs=behind.runs,
            failed_runs=behind.failed_runs,
            qualities=behind.qualities,
        )
    problems = [_problem(asked, scenario, cell, standing, one) for one in problems_of(standing)]
    return _Side(cell=cell, standing=standing, problems=tuple(problems))


def _problem(asked: _Asked, scenario: Scenario, cell: Cell, standing: Standing, problem: Problem) -> dict[str, Any]:
    text, remedy = _words_of(scenario, cell, standing, problem)
    # Runs of the baseline that failed would only have lowered what the model is held against.
    is_harmless = problem.value == Allowance.FAILED_RUNS.value and cell.model_id != asked.model_id
    if is_harmless:
        remedy = "noted alone: counted, it would make the baseline easier to reach"
    elif problem.value in asked.allowed:
        remedy = "let through"
    return {
        "scenario_id": cell.scenario_id,
        "model_id": cell.model_id,
        "kind": problem.value,
        "text": text,
        "remedy": remedy,
        "is_blocking": problem.value not in asked.allowed and not is_harmless,
    }


def _words_of(scenario: Scenario, cell: Cell, standing: Standing, problem: Problem) -> tuple[str, str]:
    """What is wrong, and what to do about it."""
    from scoring.gate import Problem

    id_ = shlex.quote(cell.scenario_id)
    runs = terminal.counted(standing.runs, "run")
    match problem:
        case Problem.UNSCORED:
            reason, remedy = _why_unscored(scenario, cell)
            return f"no score: {reason}", remedy
        case Problem.STALE if cell.is_edit_rejected:
            return "stale: scored against a value that was rejected since", f"assay score {id_} --stale"
        case Problem.STALE:
            return "stale: reference or scoring config changed since", f"assay score {id_} --stale"
        case Problem.NEW_RUNS:
            return "more runs are recorded than its score covers", f"assay score {id_}"
        case Problem.NO_OUTPUT:
            return f"no quality: {standing.failed_runs} of {runs} failed", f"assay results {id_}"
        case Problem.FAILED_RUNS:
            return f"{standing.failed_runs} of {runs} failed, which quality leaves out", _let_through(problem)
        case Problem.EXACT_ONLY:
            return "exact_only: no embedding model, a different spelling counts as a difference", _let_through(problem)


def _let_through(problem: Problem) -> str:
    return f"let it through with --allow {problem.value}"


def _why_unscored(scenario: Scenario, cell: Cell) -> tuple[str, str]:
    from pipelines.cli.score import waiting

    id_, model = shlex.quote(cell.scenario_id), shlex.quote(cell.model_id)
    if not scenario.is_scorable:
        return f"scenarios of type {scenario.type} cannot be scored yet", "name the scenarios to gate"
    if not cell.recorded:
        return "no run is recorded", f"assay import, or assay run {id_} --model {model}; or name the scenarios to gate"
    if (waits := waiting(cell)) is not None:
        return waits["reason"], waits["remedy"]
    return "its runs wait to be scored", f"assay score {id_} --model {model}"


def _measured(row: Sequence[_Side]) -> Measured:
    from scoring.gate import Measured

    model, *others = (side.standing.qualities for side in row)
    return Measured(qualities=model, baseline=others[0] if others else ())


def _is_judged_by_kin(cell: Cell) -> bool:
    return cell.head is not None and cell.head.is_judge_family


def _bounds(bounds: Bounds) -> list[str]:
    asked = (("min_quality", bounds.min_quality is not None), ("baseline", bounds.has_baseline))
    return [name for name, is_asked in asked if is_asked]


def _row(row: Sequence[_Side], outcome: Outcome) -> dict[str, Any]:
    """One scenario: the estimates, the checks by bound, and the runs behind them with their single qualities."""
    runs: dict[str, Any] = {"model_runs": None, "baseline_runs": None}
    for name, side in zip(runs, row, strict=False):
        runs[name] = _runs([side]) | {"qualities": list(side.standing.qualities)}
    return {"scenario_id": row[0].cell.scenario_id, **_outcome(outcome), **runs}


def _overall(rows: Sequence[Sequence[_Side]], outcome: Outcome) -> dict[str, Any]:
    sides = [*zip(*rows, strict=True)]
    runs = dict(zip(("model_runs", "baseline_runs"), map(_runs, sides), strict=False))
    return {**_outcome(outcome), "model_runs": None, "baseline_runs": None, **runs}


def _runs(sides: Sequence[_Side]) -> dict[str, Any]:
    """How many runs the scores cover, and how many of these failed."""
    covered = sum(side.standing.runs for side in sides)
    return {"covered": covered, "failed": sum(side.standing.failed_runs for side in sides)}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    found = asdict(outcome)
    return found | {"checks": {check["bound"].value: check for check in found["checks"]}}
