"""What judges are asked in a round: the questions of all models of a chunk at once, all or nothing for each model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.attempts import Attempt
from resources.judge_calls import Answered, QuestionKey, Raised
from resources.judge_prices import Spending
from scoring.records import Answer, Json, Known, RunStatus, Unreadable, Vector

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.recorded_runs import RecordedRun
    from resources.settings import JudgeSettings

Say = Callable[[str], None]


@dataclass(slots=True, kw_only=True, eq=False)
class FoundOut:
    """What a round knows so far: vectors by embedding model, answers by scenario."""

    vectors: dict[str | None, Mapping[str, Vector]] = field(default_factory=dict)
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)

    def known_to(self, attempt: Attempt) -> Known:
        """What the core may use for this attempt."""
        return Known(
            vectors=self.vectors.get(attempt.embedding_model, {}), answers=self.answers.get(attempt.cell[0], {})
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The attempts whose every question was answered, and why the others have to be given up."""

    able: tuple[Attempt, ...] = ()
    failed: tuple[tuple[Attempt, str], ...] = ()


def judged(session: Session, attempts: Sequence[Attempt], found: FoundOut, spending: Spending, say: Say) -> Judged:
    """The questions of these attempts are asked, each once; `found` holds the answers afterwards.

    A question belongs to the first attempt that raised it, and so do the requests made for it.
    """
    able: list[Attempt] = []
    failed: list[tuple[Attempt, str]] = []
    for settings, group in _by_judge(attempts):
        asking = list(group)
        first = _first_raised(asking)
        say(f"asking the judge {len(first)} questions")
        answered = session.judge(settings).answer(
            [raised for raised, _ in first.values()],
            spending=spending,
            on_answers=lambda done, total: say(f"the judge gave {done} of {total} answers"),
        )
        for (scenario_id, question_id), answer in answered.answers.items():
            found.answers.setdefault(scenario_id, {})[question_id] = answer
        for attempt in asking:
            counted = _counted(attempt, answered, first)
            reason = _failure_of(attempt, answered)
            if reason is None:
                able.append(counted)
            else:
                failed.append((counted, reason))
    return Judged(able=tuple(able), failed=tuple(failed))


def _by_judge(attempts: Sequence[Attempt]) -> Iterator[tuple[JudgeSettings, Iterable[Attempt]]]:
    """The attempts by the settings of their judge, in the order in which these first come."""
    settings = dict.fromkeys(attempt.preparation.judge for attempt in attempts)
    for one in settings:
        if one is not None:
            yield one, [attempt for attempt in attempts if attempt.preparation.judge == one]


def _first_raised(attempts: Iterable[Attempt]) -> dict[QuestionKey, tuple[Raised, Attempt]]:
    first: dict[QuestionKey, tuple[Raised, Attempt]] = {}
    for attempt in attempts:
        for question in attempt.questions:
            raised = Raised(scenario_id=attempt.cell[0], question=question, scoring_record_id=attempt.record_id)
            first.setdefault(raised.key, (raised, attempt))
    return first


def _counted(attempt: Attempt, answered: Answered, first: Mapping[QuestionKey, tuple[Raised, Attempt]]) -> Attempt:
    """The attempt with its questions counted."""
    keys = [(attempt.cell[0], question.question_id) for question in attempt.questions]
    free = {id_ for scenario_id, id_ in keys if (scenario_id, id_) in answered.cached}
    free |= {id_ for scenario_id, id_ in keys if first[(scenario_id, id_)][1] is not attempt}
    flipped = {key[1] for key in keys if key in answered.answers and answered.answers[key].is_position_conflict}
    return replace(
        attempt,
        needed=attempt.needed | {id_ for _, id_ in keys},
        cached=attempt.cached | free,
        conflicts=attempt.conflicts | flipped,
    )


def _failure_of(attempt: Attempt, answered: Answered) -> str | None:
    """Why the attempt has no score; None where all its questions are answered."""
    scenario_id = attempt.cell[0]
    open_ = [one for one in attempt.questions if (scenario_id, one.question_id) not in answered.answers]
    if not open_:
        return None
    reason = answered.failures.get((scenario_id, open_[0].question_id), "the judge left it without an answer")
    count = len(attempt.questions)
    return f"{len(open_)} of {count} questions have no answer; the one at {open_[0].path or '(root)'}: {reason}"


def beside_others(session: Session, attempts: list[Attempt]) -> list[Attempt]:
    """The attempts on one scenario, beside what every other model said there, scored in this round or not.

    Only a judge makes use of that (SPEC 3, contested values): without one the attempts stay as they are.
    """
    if not attempts or not attempts[0].preparation.task.has_judge:
        return attempts
    scenario_id = attempts[0].cell[0]
    recorded = session.warehouse.runs_of_many([(scenario_id, one.model_id) for one in session.workspace.models])
    outputs = first_outputs({model_id: runs for (_, model_id), runs in recorded.items()})
    return [among_others(attempt, outputs) for attempt in attempts]


def first_outputs(runs: Mapping[str, Sequence[RecordedRun]]) -> dict[str, Json]:
    """What each model said on a scenario: its first run, by repetition, that can be read; others are left out.

    One output a model, so that a model with many repetitions is one voice among the others.
    """
    from scoring.reading import read_output

    outputs: dict[str, Json] = {}
    for model_id, recorded in sorted(runs.items()):
        for one in recorded:
            if one.run.status is RunStatus.OK:
                reading = read_output(one.run.output or "")
                if not isinstance(reading, Unreadable):
                    outputs[model_id] = reading.value
                    break
    return outputs


def among_others(attempt: Attempt, outputs: Mapping[str, Json]) -> Attempt:
    """The attempt with what the other models said beside it, for what is contested (SPEC 3)."""
    others = tuple(output for model_id, output in sorted(outputs.items()) if model_id != attempt.cell[1])
    task = attempt.preparation.task
    task = replace(task, context=replace(task.context, other_outputs=others))
    return replace(attempt, preparation=replace(attempt.preparation, task=task))
