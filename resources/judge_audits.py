"""What an audit of a judge reads: cached questions, votes on the same question again, whose values were judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, text

from resources.chat_replies import answer_text
from resources.judge_answers import StoredAnswers
from resources.judge_calls import JudgeCall
from resources.stored_text import shown
from scoring.panel import Ballot, Vote
from scoring.questions import PROMPT_VERSION, read_answer
from scoring.records import Answer, Json, Question, QuestionKind
from scoring.text import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedValue:
    """A value of a model that a question was about. `side` is `A`, `B` or, in an empty place, `value`."""

    scenario_id: str
    question_id: str
    family: str
    side: str


@dataclass(frozen=True, slots=True)
class RepeatedAnswers:
    """An answer store in which a question has the vote that its judge gave the second time, in the same order.

    Second votes stand in the ledger only: the cached answer stays the first one. Whoever asks through this store pays
    once for a second vote.
    """

    inner: StoredAnswers

    def votes(self, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The second votes that are known on those of the questions that have one."""
        found: dict[str, list[Vote]] = {}
        parameters = {"scenario_id": scenario_id, "ids": list(question_ids)}
        with self.inner.engine.connect() as connection:
            for row in connection.execute(_SECOND_ANSWERS, parameters):
                answer = read_answer(QuestionKind(row.question_kind), answer_text(row.answer_text))
                if isinstance(answer, Answer):
                    vote = Vote(ballot=Ballot(judge_model=row.judge_model), answer=answer)
                    found.setdefault(row.question_id, []).append(vote)
        return found

    def claim(self, scenario_id: str, question_ids: Iterable[str], worker_id: str) -> frozenset[str]:
        """Those of the questions that now are this worker's to ask."""
        return self.inner.claim(scenario_id, question_ids, worker_id)

    def renew(self, worker_id: str) -> None:
        """What this worker has claimed stays its own for a while longer."""
        self.inner.renew(worker_id)

    def release(self, worker_id: str) -> None:
        """This worker claims nothing any more."""
        self.inner.release(worker_id)

    def keep(self, calls: Sequence[JudgeCall]) -> None:
        """These calls are recorded; the cached answers stay as they are."""
        self.inner.keep(calls)


_SECOND_ANSWERS = text("""
select question_id, question_kind, judge_model, answer_text from (
    select c.question_id, q.question_kind, c.judge_model, c.answer_text,
           row_number() over (partition by c.question_id, c.judge_model order by c.judge_call_id) as answer_number
    from assay.judge_calls c join assay.judge_questions q using (scenario_id, question_id)
    where c.scenario_id = :scenario_id and c.question_id = any(cast(:ids as text[]))
      and not c.is_swapped and c.error_kind is null
) answered where answer_number = 2
""")
_QUESTIONS = text("""
select question_id, question_kind, path, prompt from assay.judge_questions q
where scenario_id = :scenario_id and prompt_version = :prompt_version
  and (select count(*) from assay.judge_answers a
       where a.scenario_id = q.scenario_id and a.question_id = q.question_id and not a.is_swapped
         and a.judge_model = any(cast(:judge_models as text[]))) = cardinality(cast(:judge_models as text[]))
order by question_id
""")


def cached_questions(engine: Engine, scenario_id: str, judge_models: Sequence[str]) -> list[Question]:
    """The questions of the scenario that every one of these judges has answered, by id."""
    parameters = {
        "scenario_id": scenario_id,
        "judge_models": sorted(set(judge_models)),
        "prompt_version": PROMPT_VERSION,
    }
    with engine.connect() as connection:
        return [
            Question(
                question_id=row.question_id, kind=QuestionKind(row.question_kind), path=row.path, message=row.prompt
            )
            for row in connection.execute(_QUESTIONS, parameters)
        ]


_VALUES = text("""
select distinct f.question_id, m.family, f.candidate_text
from bi.field_scores f join assay.models m using (model_id)
where f.is_latest and f.scenario_id = :scenario_id and f.question_id = any(cast(:ids as text[]))
order by 1, 2, 3
""")


def judged_values(engine: Engine, scenario_id: str, questions: Iterable[Question]) -> list[JudgedValue]:
    """Whose values these questions were about, in the newest scores; a value that is both sides' is left out."""
    asked = {question.question_id: question for question in questions}
    with engine.connect() as connection:
        rows = connection.execute(_VALUES, {"scenario_id": scenario_id, "ids": list(asked)}).all()
    found = [
        JudgedValue(scenario_id=scenario_id, question_id=row.question_id, family=row.family, side=side)
        for row in rows
        if (side := _side_of(asked[row.question_id], row.candidate_text)) is not None
    ]
    return list(dict.fromkeys(found))


def values_of(question: Question) -> dict[str, Json]:
    """The values that the question is about: `A` and `B`, or `value`."""
    body = json.loads(question.message)
    return {side: body[side] for side in ("A", "B", "value") if side in body}


def _side_of(question: Question, candidate_text: str | None) -> str | None:
    if question.kind is QuestionKind.VERIFY:
        return "value"
    sides = [side for side, value in values_of(question).items() if _text_of(value) == clean(candidate_text or "")]
    return sides[0] if len(sides) == 1 else None


def _text_of(value: Json) -> str:
    return clean(shown(value)[0] or "")
