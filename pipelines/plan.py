"""What a round will need of its judges, found out without asking any of them.

The plan is the round's own first steps: texts get their vectors (which are kept), questions get the answers that the
cache holds, and what is left over is what will be asked. All questions of a model arise at once, so their number is
exact; what a request costs is an upper bound, but for retries and repaired answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from pipelines.attempts import Attempt, advanced, begin
from pipelines.judging import FoundOut, beside_others
from pipelines.rectangles import Cell
from resources.vectors import EmbeddingError as EmbeddingServiceError
from scoring.errors import EmbeddingError, InputError
from scoring.records import Question

if TYPE_CHECKING:
    from pipelines.round import OnProgress
    from pipelines.session import Session
    from resources.judge import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """What one model of one scenario needs: its distinct questions, and how many of them nobody has answered yet.

    `problem` is None, or why it cannot be scored at all.
    """

    scenario_id: str
    model_id: str
    questions: int = 0
    open_questions: int = 0
    problem: str | None = None


@dataclass(slots=True, kw_only=True)
class JudgePlan:
    """What one judge model will be asked. `cost_usd` is the most it can come to, None where its price is unknown."""

    judge_model: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def add(self, input_tokens: int, output_tokens: int, cost_usd: float | None) -> None:
        """One request more."""
        self.requests += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        known = self.cost_usd is not None and cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost_usd or 0.0) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlan:
    """What a round will need.

    `open_questions` are distinct and will be asked; `cached` are distinct and answered already. `texts` counts the
    texts that were compared by similarity to find this out.
    """

    models: tuple[ModelPlan, ...] = ()
    judges: tuple[JudgePlan, ...] = ()
    open_questions: int = 0
    cached: int = 0
    texts: int = 0
    limit_usd: float | None = None

    @property
    def cost_usd(self) -> float | None:
        """The most that the round can cost, None where the price of one of its judges is unknown."""
        costs = [judge.cost_usd for judge in self.judges]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The judges whose price is unknown."""
        return tuple(judge.judge_model for judge in self.judges if judge.cost_usd is None)


@dataclass(slots=True, kw_only=True, eq=False)
class _Draft:
    """The plan while it grows."""

    models: list[ModelPlan] = field(default_factory=list)
    judges: dict[str, JudgePlan] = field(default_factory=dict)
    asked: set[tuple[str, str]] = field(default_factory=set)
    cached: int = 0
    texts: int = 0

    def add_questions(self, judge: Judge, scenario_id: str, questions: Iterable[Question]) -> None:
        """What these open questions will come to, each counted once."""
        new = {question.question_id: question for question in questions}
        new = {id_: question for id_, question in new.items() if (scenario_id, id_) not in self.asked}
        self.asked |= {(scenario_id, id_) for id_ in new}
        for request in judge.planned(scenario_id, new.values()):
            plan = self.judges.setdefault(request.judge_model, JudgePlan(judge_model=request.judge_model))
            plan.add(request.input_tokens, request.output_tokens, request.cost_usd)


def plan_round(session: Session, cells: Sequence[Cell], *, on_progress: OnProgress | None = None) -> RoundPlan:
    """What a round over these (scenario id, model id) will need. No judge is asked; nothing but vectors is stored."""
    draft = _Draft()
    for scenario_id, group in groupby(sorted(set(cells)), key=itemgetter(0)):
        if on_progress:
            on_progress(len(draft.models), len(cells), f"planning {scenario_id}")
        _plan_scenario(session, list(group), draft)
    return RoundPlan(
        models=tuple(draft.models),
        judges=tuple(draft.judges.values()),
        open_questions=len(draft.asked),
        cached=draft.cached,
        texts=draft.texts,
        limit_usd=session.workspace.config.budgets.judge_usd,
    )


def _plan_scenario(session: Session, cells: list[Cell], draft: _Draft) -> None:
    try:
        preparation = session.preparation(cells[0][0])
    except InputError as error:
        draft.models += [ModelPlan(scenario_id=cell[0], model_id=cell[1], problem=str(error)) for cell in cells]
        return
    recorded = session.warehouse.runs_of_many(cells)
    attempts = [begin(cell, preparation, runs, replaces=None) for cell, runs in recorded.items() if runs]
    found, cached = FoundOut(), set[str]()
    for attempt in beside_others(session, attempts):
        draft.models.append(_planned(session, attempt, found, cached, draft))
    draft.cached += len(cached)


def _planned(session: Session, attempt: Attempt, found: FoundOut, cached: set[str], draft: _Draft) -> ModelPlan:
    scenario_id, model_id = attempt.cell
    try:
        attempt = _with_vectors(session, attempt, found, draft)
    except (InputError, EmbeddingError, EmbeddingServiceError) as error:
        return ModelPlan(scenario_id=scenario_id, model_id=model_id, problem=str(error))
    settings = attempt.preparation.judge
    if settings is None or not attempt.questions:
        return ModelPlan(scenario_id=scenario_id, model_id=model_id)
    judge = session.judge(settings)
    known = judge.known(scenario_id, attempt.questions)
    open_ = [question for question in attempt.questions if question.question_id not in known]
    cached |= set(known)
    draft.add_questions(judge, scenario_id, open_)
    return ModelPlan(
        scenario_id=scenario_id, model_id=model_id, questions=len(attempt.questions), open_questions=len(open_)
    )


def _with_vectors(session: Session, attempt: Attempt, found: FoundOut, draft: _Draft) -> Attempt:
    """The attempt once no text is open any more."""
    attempt = advanced(attempt, found.known_to(attempt))
    while attempt.texts:
        name = attempt.embedding_model
        known = found.vectors.get(name, {})
        texts = [text for text in attempt.texts if text not in known]
        draft.texts += len(texts)
        found.vectors[name] = {**known, **session.embeddings(attempt.preparation.embedding).vectors(texts)}
        attempt = advanced(attempt, found.known_to(attempt))
    return attempt
