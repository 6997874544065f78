"""An audit of judges: cached questions asked again, with A and B exchanged and as they were, and what that shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from resources.chat_client import estimated_tokens
from resources.judge_audits import JudgedValue, RepeatedAnswers, cached_questions, judged_values
from resources.judge_ballots import most_usd
from resources.judge_calls import AnswerStore, QuestionKey, Raised
from resources.judge_prices import Spending, price_of
from scoring import audit
from scoring.audit import Figure, Measure, Pairs
from scoring.errors import InputError
from scoring.panel import Ballot, Vote, mapped_back, message_for, worths_of
from scoring.questions import SYSTEM_MESSAGE
from scoring.records import Answer, Question, QuestionKind, Verdict

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.judge import OnAnswers
    from resources.reviewed_verdicts import ReviewedVerdict
    from resources.settings import JudgeSettings

OnProgress = Callable[[int, int, str], None]
Votes = Mapping[QuestionKey, Sequence[Vote]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The scenarios that have one judge (or panel), with the cached questions it is audited over.

    `sample` are those that are asked again: the first ones by id, and an id is a hash, so that the sample is a fair one
    and the same each time. `is_alone` is False where other scenarios ask one of its models in another way.
    """

    settings: JudgeSettings
    scenario_ids: tuple[str, ...]
    questions: tuple[Raised, ...]
    sample: tuple[Raised, ...]
    is_alone: bool = True

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of its models, each once."""
        return tuple(dict.fromkeys(endpoint.model for endpoint in self.settings.models))

    def named(self, judge: str) -> str:
        """The judge's name in figures, with its scenarios where the name alone says too little."""
        return judge if self.is_alone else f"{judge} ({', '.join(self.scenario_ids)})"

    @property
    def swaps(self) -> tuple[Raised, ...]:
        """Those of the sample that can be asked in both orders."""
        return tuple(one for one in self.sample if one.question.kind is QuestionKind.COMPARE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an audit will ask at most, repairs and retries aside. `cost_usd` is None where a price is unknown."""

    questions: int = 0
    sample: int = 0
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found: its figures, the requests that it made, and why questions have no second answer."""

    figures: tuple[Figure, ...] = ()
    calls: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heard:
    """The votes of a bench: cached ones by the order they saw, and those on the same order again."""

    bench: Bench
    votes: Votes
    repeats: Votes
    values: Sequence[JudgedValue]
    reviewed: Sequence[ReviewedVerdict] = ()
    failures: tuple[str, ...] = ()
    calls: int = 0
    families: Mapping[str, str] = field(default_factory=dict)


def benches(session: Session, scenario_ids: Sequence[str] | None, *, sample: int) -> list[Bench]:
    """A bench for each judge of these scenarios (all if None). Raises InputError where nothing can be audited."""
    chosen = [session.workspace.scenario(one) for one in scenario_ids or ()] or session.workspace.scenarios
    by_judge: dict[JudgeSettings, list[str]] = {}
    for scenario in chosen:
        if scenario.scoring.judge.value is not None:
            by_judge.setdefault(scenario.scoring.judge.value, []).append(scenario.scenario_id)
    if not by_judge:
        remedy = "Name one under judge: in assay.yaml or in the scenario"
        raise InputError("none of these scenarios has a judge", remedy=remedy)
    found = [_bench(session, settings, ids, sample) for settings, ids in by_judge.items()]
    if not any(bench.questions for bench in found):
        remedy = "Score first: assay score. An audit asks again what was asked"
        raise InputError("no question has been answered by the present judge yet", remedy=remedy)
    names = Counter(judge for bench in found for judge in bench.judges)
    return [replace(bench, is_alone=all(names[judge] == 1 for judge in bench.judges)) for bench in found]


def _bench(session: Session, settings: JudgeSettings, scenario_ids: Sequence[str], sample: int) -> Bench:
    names = [endpoint.model for endpoint in settings.models]
    questions = [
        Raised(scenario_id=scenario_id, question=question)
        for scenario_id in scenario_ids
        for question in cached_questions(session.warehouse.engine, scenario_id, names)
    ]
    questions.sort(key=lambda one: (one.question.question_id, one.scenario_id))
    return Bench(
        settings=settings,
        scenario_ids=tuple(scenario_ids),
        questions=tuple(questions),
        sample=tuple(questions[:sample]),
    )


def plan_of(session: Session, found: Sequence[Bench]) -> Plan:
    """What auditing these benches will ask, an upper bound of the tokens and the cost."""
    plan = Plan(questions=sum(len(one.questions) for one in found), sample=sum(len(one.sample) for one in found))
    for bench in found:
        for one, ballot, is_cached in _wanted(session, bench):
            plan = replace(plan, cached=plan.cached + 1) if is_cached else _planned(session, plan, bench, one, ballot)
    return plan


def _wanted(session: Session, bench: Bench) -> Iterator[tuple[Raised, Ballot, bool]]:
    """Every second vote that the audit needs, and whether it is known."""
    swapped = _votes(session.warehouse.answers, bench.swaps)
    repeated = _votes(RepeatedAnswers(session.warehouse.answers), bench.sample)
    for votes, asked, is_swapped in ((swapped, bench.swaps, True), (repeated, bench.sample, False)):
        for one in asked:
            cast = {vote.ballot for vote in votes.get(one.key, ())}
            for judge in bench.judges:
                ballot = Ballot(judge_model=judge, is_swapped=is_swapped)
                yield one, ballot, ballot in cast


def _planned(session: Session, plan: Plan, bench: Bench, one: Raised, ballot: Ballot) -> Plan:
    messages = [{"content": SYSTEM_MESSAGE}, {"content": message_for(one.question, ballot)}]
    price = price_of(ballot.judge_model, session.workspace.models)
    longest = bench.settings.max_answer_tokens
    cost = None if price is None or plan.cost_usd is None else plan.cost_usd + most_usd(price, messages, longest)
    return replace(
        plan,
        calls=plan.calls + 1,
        input_tokens=plan.input_tokens + estimated_tokens(messages),
        output_tokens=plan.output_tokens + longest,
        cost_usd=cost,
    )


def audited(
    session: Session, found: Sequence[Bench], *, reviews: Path | None = None, on_progress: OnProgress | None = None
) -> AuditReport:
    """The figures of these benches, after what is not known was asked within the judges' budget.

    Every request is in the ledger and every answer kept, so that the same audit again asks nothing. Raises InputError
    for a file of reviews that cannot be read.
    """
    reviewed = _reviewed(found, reviews)
    spending = Spending(limit_usd=session.workspace.config.budgets.judge_usd)
    heard = [_heard(session, bench, reviewed, spending, on_progress) for bench in found]
    return AuditReport(
        figures=tuple(figure for one in heard for figure in _figures(session, one)),
        calls=sum(one.calls for one in heard),
        failures=tuple(reason for one in heard for reason in one.failures),
    )


def _reviewed(found: Sequence[Bench], reviews: Path | None) -> list[ReviewedVerdict]:
    if reviews is None:
        return []
    from resources.reviewed_verdicts import read_reviewed

    return read_reviewed(reviews, [(one.scenario_id, one.question) for bench in found for one in bench.questions])


def _heard(
    session: Session,
    bench: Bench,
    reviewed: Sequence[ReviewedVerdict],
    spending: Spending,
    on_progress: OnProgress | None,
) -> _Heard:
    from resources.judge import Judge

    store = session.warehouse.answers
    failures: list[str] = []
    calls = 0
    families: dict[str, str] = {}
    for store_, asked, is_swapped in ((store, bench.swaps, True), (RepeatedAnswers(store), bench.sample, False)):
        judge = Judge(replace(bench.settings, is_swapped=is_swapped), store=store_, models=session.workspace.models)
        what = "with A and B exchanged" if is_swapped else "the same again"
        answered = judge.answer(asked, spending=spending, on_answers=_saying(what, on_progress))
        failures += answered.failures.values()
        calls += answered.calls
        families = {endpoint.model: judge.family_of(endpoint) for endpoint in bench.settings.models}
    own = {one.key for one in bench.questions}
    return _Heard(
        bench=bench,
        votes=_votes(store, bench.questions),
        repeats=_votes(RepeatedAnswers(store), bench.questions),
        values=_values(session, bench),
        reviewed=[one for one in reviewed if (one.scenario_id, one.question.question_id) in own],
        failures=tuple(failures),
        calls=calls,
        families=families,
    )


def _saying(what: str, on_progress: OnProgress | None) -> OnAnswers | None:
    """What tells the progress of asking, in these words."""
    return None if on_progress is None else lambda done, total: on_progress(done, total, what)


def _votes(store: AnswerStore, asked: Iterable[Raised]) -> Votes:
    ids: dict[str, list[str]] = {}
    for one in asked:
        ids.setdefault(one.scenario_id, []).append(one.question.question_id)
    return {
        (scenario_id, id_): votes
        for scenario_id, own in ids.items()
        for id_, votes in store.votes(scenario_id, own).items()
    }


def _values(session: Session, bench: Bench) -> list[JudgedValue]:
    by_scenario: dict[str, list[Question]] = {}
    for one in bench.questions:
        by_scenario.setdefault(one.scenario_id, []).append(one.question)
    engine = session.warehouse.engine
    return [value for id_, questions in by_scenario.items() for value in judged_values(engine, id_, questions)]


def _figures(session: Session, heard: _Heard) -> Iterator[Figure]:
    for judge in heard.bench.judges:
        own = _cast(heard.votes, Ballot(judge_model=judge))
        exchanged = _cast(heard.votes, Ballot(judge_model=judge, is_swapped=True))
        again = _cast(heard.repeats, Ballot(judge_model=judge))
        name = heard.bench.named(judge)
        yield audit.position_bias(name, _pairs(own, exchanged))
        yield audit.first_place(name, list(own.values()))
        yield audit.repeat(name, _pairs(own, again))
        yield _self_preference(judge, heard, own)
        yield from _with_reviewers(name, heard.reviewed, own)
    if len(heard.bench.judges) > 1:
        yield from _of_panel(session, heard)


def _cast(votes: Votes, ballot: Ballot) -> dict[QuestionKey, Answer]:
    """What was voted on this ballot, in each question's own order."""
    return {key: mapped_back(vote) for key, cast in votes.items() for vote in cast if vote.ballot == ballot}


def _pairs(first: Mapping[QuestionKey, Answer], second: Mapping[QuestionKey, Answer]) -> Pairs:
    return {key: (answer, second[key]) for key, answer in first.items() if key in second}


def _self_preference(judge: str, heard: _Heard, own: Mapping[QuestionKey, Answer]) -> Figure:
    family = heard.families[judge].casefold()
    won: dict[bool, list[bool]] = {True: [], False: []}
    judged = {(value.scenario_id, value.question_id, value.side, value.family.casefold()) for value in heard.values}
    for scenario_id, question_id, side, is_kin in sorted({(*one[:3], one[3] == family) for one in judged if one[3]}):
        if (answer := own.get((scenario_id, question_id))) is not None:
            won[is_kin].append(_is_held_right(answer, side))
    name = heard.bench.named(judge)
    return audit.self_preference(name, heard.families[judge], own=won[True], others=won[False])


def _is_held_right(answer: Answer, side: str) -> bool:
    if side == "value":
        return answer.verdict is Verdict.CORRECT
    return worths_of(answer)["AB".index(side)] == 1.0


def _with_reviewers(
    judge: str, reviewed: Sequence[ReviewedVerdict], answers: Mapping[QuestionKey, Answer]
) -> Iterator[Figure]:
    from resources.rater_agreement import cohens_kappa

    measures = {
        QuestionKind.COMPARE: Measure.REVIEWERS_COMPARE,
        QuestionKind.VERIFY: Measure.REVIEWERS_VERIFY,
    }
    for kind, measure in measures.items():
        rated = {
            (one.scenario_id, one.question.question_id): one.verdict for one in reviewed if one.question.kind is kind
        }
        rated = {key: verdict for key, verdict in rated.items() if key in answers}
        if rated:
            differing = tuple(key for key, verdict in rated.items() if answers[key].verdict is not verdict)
            estimate = cohens_kappa(
                [verdict.value for verdict in rated.values()], [answers[key].verdict.value for key in rated]
            )
            says = f"the judge said what reviewers said on {len(rated) - len(differing)} of {len(rated)} questions"
            yield Figure(
                measure=measure,
                judge=judge,
                estimate=estimate,
                observations=len(rated),
                says=says if estimate else f"{says}; kappa needs two different verdicts",
                against=differing,
            )


def _of_panel(session: Session, heard: _Heard) -> Iterator[Figure]:
    from resources.rater_agreement import krippendorffs_alpha

    panel = heard.bench.named(" + ".join(heard.bench.judges))
    votes = [_cast(heard.votes, Ballot(judge_model=judge)) for judge in heard.bench.judges]
    for kind, measure in (
        (QuestionKind.COMPARE, Measure.PANEL_COMPARE),
        (QuestionKind.VERIFY, Measure.PANEL_VERIFY),
    ):
        keys = [one.key for one in heard.bench.questions if one.question.kind is kind]
        if keys:
            ratings = [[cast[key].verdict.value for key in keys] for cast in votes]
            said = zip(keys, zip(*ratings, strict=True), strict=True)
            split = tuple(key for key, verdicts in said if len(set(verdicts)) > 1)
            estimate = krippendorffs_alpha(ratings)
            says = f"all judges said the same on {len(keys) - len(split)} of {len(keys)} questions"
            yield Figure(
                measure=measure,
                judge=panel,
                estimate=estimate,
                observations=len(keys),
                says=says if estimate else f"{says}; alpha needs two questions and two different verdicts",
                against=split,
            )
    yield from _with_reviewers(panel, heard.reviewed, _whole_answers(session, heard))


def _whole_answers(session: Session, heard: _Heard) -> dict[QuestionKey, Answer]:
    """What the panel as one said to the reviewed questions."""
    judge = session.judge(heard.bench.settings)
    by_scenario: dict[str, list[Question]] = {}
    for one in heard.reviewed:
        by_scenario.setdefault(one.scenario_id, []).append(one.question)
    return {
        (scenario_id, id_): answer
        for scenario_id, questions in by_scenario.items()
        for id_, answer in judge.known(scenario_id, questions).items()
    }
