"""From the judge's verdict on A and B to what the candidate earns and what the reference learns (SPEC 6).

| seen from the candidate | credit | finding |
| --- | --- | --- |
| both correct | 1 | none |
| candidate better | 1 | `better` |
| reference wrong, candidate right | 1 | `reference_wrong` |
| candidate weaker | the judge's, kept within 0.25..0.9 | none |
| candidate wrong | the judge's, kept within 0..0.25 | none |
| both wrong | the judge's, kept within 0..0.25 | `reference_wrong` without a proposal |
| value for an empty place, confirmed | 1 | `filled_gap` |
| value for an empty place, refused or unsure | 0 | none |
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scoring.decisions import Decision, outcome_of
from scoring.records import Answer, Evidence, Origin, Outcome, Rung, Setting, Verdict

WEAKER_FROM, WEAKER_TO = 0.25, 0.9
WRONG_TO = 0.25
_POSITION_CONFLICT = Setting(
    text="position_conflict: the verdict flipped with the order of the values, which counts as a tie",
    origin=Origin.DEFAULT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a verdict is worth to the candidate: credit 0..1, the finding it leaves, and the words for it."""

    credit: float
    words: str
    evidence: Evidence | None = None
    has_proposal: bool = True


def worth_of(answer: Answer, *, is_reference_a: bool) -> Worth:
    """What the answer to a `compare` question means for the candidate; raises ValueError for a `verify` verdict."""
    worth = _worth_by_verdict(answer, is_reference_a=is_reference_a)
    if answer.worths is None:
        return worth
    return replace(worth, credit=answer.worths[1 if is_reference_a else 0])


def _worth_by_verdict(answer: Answer, *, is_reference_a: bool) -> Worth:
    match answer.verdict:
        case Verdict.BOTH_CORRECT:
            return Worth(credit=1.0, words="both correct")
        case Verdict.A_BETTER | Verdict.B_BETTER:
            return _better(answer, is_candidate_better=(answer.verdict is Verdict.B_BETTER) == is_reference_a)
        case Verdict.A_WRONG | Verdict.B_WRONG:
            return _wrong(answer, is_candidate_wrong=(answer.verdict is Verdict.B_WRONG) == is_reference_a)
        case Verdict.BOTH_WRONG:
            credit = within(answer.credit, 0.0, WRONG_TO)
            return Worth(credit=credit, words="both wrong", evidence=Evidence.REFERENCE_WRONG, has_proposal=False)
        case Verdict.CORRECT | Verdict.WRONG | Verdict.UNSURE:
            raise ValueError(f"{answer.verdict} does not answer a comparison")


def _better(answer: Answer, *, is_candidate_better: bool) -> Worth:
    if is_candidate_better:
        return Worth(credit=1.0, words="better than the reference", evidence=Evidence.BETTER)
    return Worth(credit=within(answer.credit, WEAKER_FROM, WEAKER_TO), words="weaker than the reference")


def _wrong(answer: Answer, *, is_candidate_wrong: bool) -> Worth:
    if is_candidate_wrong:
        return Worth(credit=within(answer.credit, 0.0, WRONG_TO), words="wrong")
    return Worth(credit=1.0, words="right where the reference is wrong", evidence=Evidence.REFERENCE_WRONG)


def within(credit: float, low: float, high: float) -> float:
    """The credit, or the limit that it lies beyond."""
    return min(high, max(low, credit))


def compared(worth: Worth, answer: Answer, question_id: str, *, similarity: float | None, contested: bool) -> Decision:
    """The leaf's decision after a `compare` answer."""
    outcome = outcome_of(worth.credit)
    reason = "" if outcome is Outcome.MATCH else f"judge: {worth.words} ({answer.basis}): {answer.reason}"
    return Decision(
        outcome=outcome,
        credit=worth.credit,
        rung=Rung.JUDGE,
        similarity=similarity,
        reason=reason,
        setting=_POSITION_CONFLICT if answer.is_position_conflict else None,
        question_id=question_id,
        is_contested=contested,
        evidence=worth.evidence,
        has_proposal=worth.has_proposal,
    )


def verified(answer: Answer, question_id: str) -> Decision:
    """The decision on a value in an empty place: `extra`, with credit 1 only where the judge confirms it."""
    is_confirmed = answer.verdict is Verdict.CORRECT
    said = "" if is_confirmed else f"judge: {answer.verdict} ({answer.basis}): {answer.reason}"
    return Decision(
        outcome=Outcome.EXTRA,
        credit=1.0 if is_confirmed else 0.0,
        rung=Rung.JUDGE,
        reason=said,
        question_id=question_id,
        evidence=Evidence.FILLED_GAP if is_confirmed else None,
    )
