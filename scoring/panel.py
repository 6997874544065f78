"""Many votes on one question become one answer: both orders of the values, several judges (SPEC 6, Fairness).

A vote is one model's answer in one order. Each vote on `compare` says what A and B are worth:

| verdict | A | B |
| --- | --- | --- |
| both correct | 1 | 1 |
| A better | 1 | its credit, kept within 0.25..0.9 |
| A wrong | its credit, kept within 0..0.25 | 1 |
| both wrong | its credit, kept within 0..0.25 | the same |

A swapped vote is mapped back first. The two orders of one model count as one opinion: their mean, or a tie where the
verdict flipped with the order (`is_position_conflict`). The opinions of all models then give the median worth of A and
of B (of an even number the mean of the two in the middle), and the verdict follows from the two medians. On `verify`
the verdict of more than half of the models counts, else `unsure`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from scoring.records import Answer, Question, QuestionKind, Verdict
from scoring.verdicts import WEAKER_FROM, WEAKER_TO, WRONG_TO, within

_TIE = 1e-9
_MIRRORED = {
    Verdict.A_BETTER: Verdict.B_BETTER,
    Verdict.B_BETTER: Verdict.A_BETTER,
    Verdict.A_WRONG: Verdict.B_WRONG,
    Verdict.B_WRONG: Verdict.A_WRONG,
}
_FAVOURS_A = (Verdict.A_BETTER, Verdict.B_WRONG)
_FAVOURS_B = (Verdict.B_BETTER, Verdict.A_WRONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What may be voted once on a question: one judge model, in the question's own order or with A and B swapped."""

    judge_model: str
    is_swapped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One judge model's answer as it gave it: where the ballot is swapped, its A is the question's B."""

    ballot: Ballot
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opinion:
    """What one model makes of A and B, over all its votes."""

    worths: tuple[float, float]
    is_position_conflict: bool = False


def ballots_for(kind: QuestionKind, judge_models: Sequence[str], *, is_swapped: bool) -> tuple[Ballot, ...]:
    """The votes that an answer needs. Only `compare` has two orders."""
    orders = (False, True) if is_swapped and kind is QuestionKind.COMPARE else (False,)
    return tuple(Ballot(judge_model=model, is_swapped=order) for model in judge_models for order in orders)


def message_for(question: Question, ballot: Ballot) -> str:
    """The user message of this ballot: the question's own, or the same with A and B exchanged."""
    if not ballot.is_swapped:
        return question.message
    body = json.loads(question.message)
    body["A"], body["B"] = body["B"], body["A"]
    return json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def mapped_back(vote: Vote) -> Answer:
    """The vote in the question's own order."""
    answer = vote.answer
    return replace(answer, verdict=_MIRRORED.get(answer.verdict, answer.verdict)) if vote.ballot.is_swapped else answer


def is_flipped(first: Answer, second: Answer) -> bool:
    """Whether one of two answers in the same order favours A and the other B."""
    verdicts = (first.verdict, second.verdict)
    return any(one in _FAVOURS_A for one in verdicts) and any(one in _FAVOURS_B for one in verdicts)


def combined(kind: QuestionKind, votes: Sequence[Vote]) -> Answer:
    """The one answer that these votes (at least one) make, whatever order they come in."""
    ordered = sorted(votes, key=lambda vote: (vote.ballot.judge_model, vote.ballot.is_swapped))
    if len(ordered) == 1:
        return mapped_back(ordered[0])
    return _compared(ordered) if kind is QuestionKind.COMPARE else _verified(ordered)


def worths_of(answer: Answer) -> tuple[float, float]:
    """What A and B are worth after one `compare` answer; raises ValueError for a `verify` verdict."""
    match answer.verdict:
        case Verdict.BOTH_CORRECT:
            return 1.0, 1.0
        case Verdict.A_BETTER:
            return 1.0, within(answer.credit, WEAKER_FROM, WEAKER_TO)
        case Verdict.B_BETTER:
            return within(answer.credit, WEAKER_FROM, WEAKER_TO), 1.0
        case Verdict.A_WRONG:
            return within(answer.credit, 0.0, WRONG_TO), 1.0
        case Verdict.B_WRONG:
            return 1.0, within(answer.credit, 0.0, WRONG_TO)
        case Verdict.BOTH_WRONG:
            credit = within(answer.credit, 0.0, WRONG_TO)
            return credit, credit
        case Verdict.CORRECT | Verdict.WRONG | Verdict.UNSURE:
            raise ValueError(f"{answer.verdict} does not answer a comparison")


def _compared(votes: Sequence[Vote]) -> Answer:
    by_model = groupby(votes, key=lambda vote: vote.ballot.judge_model)
    opinions = [_opinion([mapped_back(vote) for vote in group]) for _, group in by_model]
    a, b = (median(opinion.worths[side] for opinion in opinions) for side in (0, 1))
    return _answer(
        votes,
        _verdict_of(a, b, Counter(mapped_back(vote).verdict for vote in votes)),
        credit=min(a, b),
        worths=(a, b),
        has_conflict=any(opinion.is_position_conflict for opinion in opinions),
    )


def _opinion(answers: Sequence[Answer]) -> _Opinion:
    if len(answers) == 2 and is_flipped(*answers):
        return _Opinion(worths=(1.0, 1.0), is_position_conflict=True)
    worths = [worths_of(answer) for answer in answers]
    a, b = (sum(pair[side] for pair in worths) / len(worths) for side in (0, 1))
    return _Opinion(worths=(a, b))


def _verdict_of(a: float, b: float, said: Counter[Verdict]) -> Verdict:
    """The verdict that these worths mean. On the border between weaker and wrong the more frequent word counts."""
    if max(a, b) <= WRONG_TO:
        return Verdict.BOTH_WRONG
    if abs(a - b) <= _TIE:
        return Verdict.BOTH_CORRECT
    weaker, wrong = (Verdict.A_BETTER, Verdict.B_WRONG) if a > b else (Verdict.B_BETTER, Verdict.A_WRONG)
    is_border = abs(min(a, b) - WRONG_TO) <= _TIE
    if is_border:
        return wrong if said[wrong] >= said[weaker] and said[wrong] else weaker
    return wrong if min(a, b) < WRONG_TO else weaker


def _verified(votes: Sequence[Vote]) -> Answer:
    verdict, count = Counter(vote.answer.verdict for vote in votes).most_common(1)[0]
    winner = verdict if 2 * count > len(votes) else Verdict.UNSURE
    return _answer(votes, winner, credit=float(winner is Verdict.CORRECT), worths=None, has_conflict=False)


def _answer(
    votes: Sequence[Vote],
    verdict: Verdict,
    *,
    credit: float,
    worths: tuple[float, float] | None,
    has_conflict: bool,
) -> Answer:
    """The combined answer, with the words of the first vote that agrees and the verdicts of all."""
    answers = [mapped_back(vote) for vote in votes]
    speaker = next((answer for answer in answers if answer.verdict is verdict), answers[0])
    said = ", ".join(
        f"{vote.ballot.judge_model}{' (swapped)' if vote.ballot.is_swapped else ''} {answer.verdict}"
        for vote, answer in zip(votes, answers, strict=True)
    )
    return Answer(
        verdict=verdict,
        credit=credit,
        basis=speaker.basis,
        reason=f"{speaker.reason} [{said}]",
        worths=worths,
        votes=len(votes),
        is_position_conflict=has_conflict,
    )
