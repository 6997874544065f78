"""Making runs: which repetitions are missing, what they may cost, and what came of calling the models for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING

from pipelines.rectangles import Cell
from resources.chat_client import ChatClient, Habits, estimated_tokens
from resources.judge_calls import Fault
from resources.judge_prices import Spending
from resources.model_calls import CalledModel, Unanswered, WantedRun
from resources.models import task_of
from resources.pace import RETRIED, Gate
from resources.running import Made, RunMaking
from resources.settings import CallSettings
from scoring.errors import InputError
from scoring.records import Run, RunStatus

if TYPE_CHECKING:
    from pipelines.session import Session

AT_ONCE = 8
"""Requests in flight at one server where models.yaml says nothing."""

OnProgress = Callable[[int, int, str], None]
"""Called with the repetitions settled so far, all that are wanted, and what goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """What making the runs of one model on one scenario takes.

    `missing` are the repetitions that will be asked for, each with about `input_tokens`. `cost_usd` is the most that
    they cost together, retries aside; None where a price or `max_answer_tokens` is unknown. `problem` says why none can
    be made.
    """

    scenario_id: str
    model_id: str
    recorded: int = 0
    missing: tuple[int, ...] = ()
    input_tokens: int = 0
    cost_usd: float | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What making runs takes, and what they may cost together; None for no limit."""

    cells: tuple[CellPlan, ...] = ()
    limit_usd: float | None = None

    @property
    def requests(self) -> int:
        """Repetitions that will be asked for."""
        return sum(len(cell.missing) for cell in self.cells)

    @property
    def cost_usd(self) -> float | None:
        """The most that they cost; None where that is unknown for one of them."""
        costs = [cell.cost_usd for cell in self.cells if cell.missing]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The models of which nobody knows what they may cost."""
        return tuple(dict.fromkeys(cell.model_id for cell in self.cells if cell.missing and cell.cost_usd is None))


@dataclass(slots=True, kw_only=True)
class CellReport:
    """What came of the wanted repetitions of one model on one scenario.

    `runs` were recorded here (kept without their outputs), `elsewhere` by another process meanwhile. `unanswered` says
    of each of the others why it is missing, `problem` why none could be asked for.
    """

    scenario_id: str
    model_id: str
    wanted: int = 0
    runs: list[Run] = field(default_factory=list)
    elsewhere: int = 0
    unanswered: list[Unanswered] = field(default_factory=list)
    problem: str | None = None

    @property
    def failed_runs(self) -> int:
        """Runs in which the model gave no output."""
        return sum(run.status is RunStatus.FAILED for run in self.runs)

    @property
    def cost_usd(self) -> float | None:
        """What the recorded runs cost; None where that is unknown for one of them."""
        known = [run.cost_usd for run in self.runs if run.cost_usd is not None]
        return sum(known) if len(known) == len(self.runs) else None

    @property
    def error(self) -> str | None:
        """Why not all is there; None where it is."""
        if self.problem is not None:
            return self.problem
        if not self.unanswered:
            return None
        first = next((one for one in self.unanswered if one.requests), self.unanswered[0])
        return f"{len(self.unanswered)} of {self.wanted} missing runs were not made: {first.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MakingReport:
    """What came of making runs, a row a model of a scenario."""

    cells: tuple[CellReport, ...] = ()
    duration_seconds: float = 0.0

    @property
    def failed(self) -> tuple[CellReport, ...]:
        """The cells that still lack runs."""
        return tuple(cell for cell in self.cells if cell.error is not None)

    @property
    def is_outage(self) -> bool:
        """Whether some runs are missing because a server did not work, so that a later try may make them."""
        return any(one.fault in RETRIED for cell in self.cells for one in cell.unanswered)


def runnable_cells(session: Session, scenario_ids: Sequence[str], model_ids: Sequence[str] | None) -> list[Cell]:
    """These scenarios by these models; without names, by all models that can be called.

    Raises InputError for an unknown id, a scenario of a type that cannot be run, a model that cannot be called.
    """
    workspace = session.workspace
    scenarios = [workspace.scenario(scenario_id) for scenario_id in dict.fromkeys(scenario_ids)]
    named = [workspace.model(model_id).model_id for model_id in dict.fromkeys(model_ids or ())]
    chosen = named or [model.model_id for model in workspace.models if model.model_id in workspace.endpoints]
    if not chosen:
        remedy = "Give a model base_url and api_key_env there"
        raise InputError("no model can be called", where="models.yaml", remedy=remedy)
    cells = [(scenario.scenario_id, model_id) for scenario in scenarios for model_id in chosen]
    for cell in cells:
        if (problem := _problem_of(session, cell)) is not None:
            raise problem
    return cells


def _problem_of(session: Session, cell: Cell) -> InputError | None:
    """Why no run of this cell can be made; None where it can."""
    scenario, model_id = session.workspace.scenario(cell[0]), cell[1]
    if not scenario.is_scorable:
        remedy = "Record its outputs elsewhere and import them"
        message = f"scenarios of type {scenario.type} cannot be run yet, only enrichment"
        return InputError(message, where=scenario.scenario_id, remedy=remedy)
    if model_id not in session.workspace.endpoints:
        return InputError(f"{model_id!r} cannot be called", where="models.yaml", remedy="Give it a base_url there")
    return None


def missing_repetitions(expected: int, recorded: Iterable[int]) -> tuple[int, ...]:
    """The numbers of the runs that are missing: as many as there are too few, the lowest free ones."""
    taken = set(recorded)
    free = (number for number in range(1, expected + len(taken) + 1) if number not in taken)
    return tuple(number for number, _ in zip(free, range(expected - len(taken)), strict=False))


def plan_runs(session: Session, cells: Sequence[Cell]) -> RunPlan:
    """What making the missing runs of these (scenario id, model id) takes. No model is called."""
    recorded = session.warehouse.repetitions_of(cells)
    models = _called_models(session, cells, Spending(), {})
    plans = [_plan(session, cell, recorded[cell], models) for cell in cells]
    return RunPlan(cells=tuple(plans), limit_usd=session.workspace.config.budgets.runs_usd)


def _plan(session: Session, cell: Cell, recorded: set[int], models: Mapping[str, CalledModel]) -> CellPlan:
    scenario_id, model_id = cell
    scenario = session.workspace.scenario(scenario_id)
    missing = missing_repetitions(scenario.repetitions, recorded)
    problem = _problem_of(session, cell)
    if not missing or problem is not None:
        words = str(problem) if missing else None
        return CellPlan(scenario_id=scenario_id, model_id=model_id, recorded=len(recorded), problem=words)
    messages = task_of(scenario).messages
    most = models[model_id].most_usd(messages)
    return CellPlan(
        scenario_id=scenario_id,
        model_id=model_id,
        recorded=len(recorded),
        missing=missing,
        input_tokens=estimated_tokens(messages),
        cost_usd=None if most is None else most * len(missing),
    )


def make_runs(
    session: Session,
    cells: Sequence[Cell],
    *,
    spending: Spending | None = None,
    on_progress: OnProgress | None = None,
    environment: Mapping[str, str] | None = None,
) -> MakingReport:
    """The missing runs of these (scenario id, model id), each recorded as soon as its answer is there.

    What is recorded is never asked for again, so that another call goes on where this one ended, however it ended.
    Models may spend what `budgets.runs_usd` allows, or what `spending` leaves where several calls share it. Raises what
    the stores raise; all else is reported.
    """
    started = monotonic()
    spending = spending or Spending(limit_usd=session.workspace.config.budgets.runs_usd)
    plan = plan_runs(session, sorted(set(cells)))
    reports = {(one.scenario_id, one.model_id): _begun(one) for one in plan.cells}
    watch = _Watch(reports=reports, total=plan.requests, on_progress=on_progress)
    wanted = list(_wanted(session, plan))
    models = _called_models(session, [(one.scenario_id, one.model_id) for one in wanted], spending, environment)
    making = RunMaking(
        models=models,
        at_once=_at_once(session, models),
        store=session.warehouse.run_store,
        on_made=watch.take,
    )
    watch.say("calling models")
    making.make(wanted)
    return MakingReport(cells=tuple(reports.values()), duration_seconds=monotonic() - started)


def _begun(plan: CellPlan) -> CellReport:
    return CellReport(
        scenario_id=plan.scenario_id, model_id=plan.model_id, wanted=len(plan.missing), problem=plan.problem
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watch:
    """Who wants to hear of runs being made, and what came of them so far."""

    reports: Mapping[Cell, CellReport]
    total: int
    on_progress: OnProgress | None

    def take(self, made: Made) -> None:
        report = self.reports[(made.wanted.scenario_id, made.wanted.model_id)]
        if made.run is not None:
            report.runs.append(replace(made.run, output=None))  # ten thousand outputs would not fit
        elif made.unanswered is not None:
            report.unanswered.append(made.unanswered)
        else:
            report.elsewhere += 1
        self.say(made.wanted.scenario_id)

    def say(self, what: str) -> None:
        if self.on_progress:
            done = sum(len(one.runs) + len(one.unanswered) + one.elsewhere for one in self.reports.values())
            self.on_progress(done, self.total, what)


def _wanted(session: Session, plan: RunPlan) -> Iterator[WantedRun]:
    """Scenario by scenario, so that what is complete can be scored; models in turn, so that all servers are busy."""
    for scenario_id, group in groupby(plan.cells, key=attrgetter("scenario_id")):
        task = task_of(session.workspace.scenario(scenario_id))
        messages = task.messages
        places = [(place, one) for one in group for place in enumerate(one.missing)]
        for (_, repetition), one in sorted(places, key=lambda found: found[0][0]):
            yield WantedRun(
                scenario_id=scenario_id,
                model_id=one.model_id,
                repetition=repetition,
                messages=messages,
                form=task.form,
            )


def _called_models(
    session: Session, cells: Iterable[Cell], spending: Spending, environment: Mapping[str, str] | None
) -> dict[str, CalledModel]:
    """The models of these cells that can be called; those of one server share its pace."""
    workspace = session.workspace
    called = dict.fromkeys(model_id for _, model_id in cells if model_id in workspace.endpoints)
    gates = {server: Gate(requests_per_minute=pace) for server, pace in _paces(session, called).items()}
    return {
        model_id: CalledModel(
            model=workspace.model(model_id),
            client=_client(session, model_id, os.environ if environment is None else environment),
            gate=gates[workspace.endpoints[model_id].base_url],
            spending=spending,
        )
        for model_id in called
    }


def _client(session: Session, model_id: str, environment: Mapping[str, str]) -> ChatClient:
    calls = session.workspace.calls[model_id]
    return ChatClient(
        endpoint=session.workspace.endpoints[model_id],
        environment=environment,
        timeout_seconds=calls.timeout_seconds,
        max_answer_tokens=calls.max_answer_tokens,
        role=f"model {model_id} at",
        habits=Habits(has_temperature=False),
        parameters=calls.parameters,
    )


def _paces(session: Session, model_ids: Iterable[str]) -> dict[str, float | None]:
    """Requests a minute by server: the least that one of its models names, None where none does."""
    found = _by_server(session, model_ids)
    named = {server: [one.requests_per_minute for one in calls] for server, calls in found.items()}
    return {server: min((pace for pace in paces if pace is not None), default=None) for server, paces in named.items()}


def _at_once(session: Session, model_ids: Iterable[str]) -> dict[str, int]:
    """Requests in flight by server: the least that one of its models names."""
    found = _by_server(session, model_ids)
    named = {server: [one.at_once for one in calls] for server, calls in found.items()}
    return {
        server: min((count for count in counts if count is not None), default=AT_ONCE)
        for server, counts in named.items()
    }


def _by_server(session: Session, model_ids: Iterable[str]) -> dict[str, list[CallSettings]]:
    found: dict[str, list[CallSettings]] = {}
    for model_id in model_ids:
        found.setdefault(session.workspace.endpoints[model_id].base_url, []).append(session.workspace.calls[model_id])
    return found


def stops_by_budget(report: MakingReport) -> bool:
    """Whether the budget kept runs from being made."""
    return any(one.fault is Fault.BUDGET for cell in report.cells for one in cell.unanswered)
