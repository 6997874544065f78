"""How far a judge can be trusted: figures over its answers, each with an interval and what it means (SPEC 6).

| figure | counts | good |
| --- | --- | --- |
| position bias | questions asked in both orders in which the judge preferred one value each time: the share in which it was the one in the same place, not the same value | at most 10% |
| first place | answers that prefer one value: the share that prefer A; a coin throws which value is A, so half is fair | 40% to 60% |
| repeat | questions asked twice in the same order: the share with the same verdict | at least 90% |
| self-preference | values that the judge holds right: their share among models of its own family less that among the others | at most 10 points |
| reviewers | Cohen's kappa between the judge's verdicts and those of people | at least 0.6 |
| panel | Krippendorff's alpha (nominal) between the verdicts of the judges of a panel | at least 0.667 |

Intervals are 95%: Wilson's for shares, Newcombe's for the difference of two. A figure is good where all of its interval
is, bad where none of it is, and unclear between.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scoring.panel import is_flipped
from scoring.records import Answer, Verdict

CONFIDENCE = 0.95
_FOR_A = frozenset({Verdict.A_BETTER, Verdict.B_WRONG})
_FOR_B = frozenset({Verdict.B_BETTER, Verdict.A_WRONG})

QuestionKey = tuple[str, str]
"""A scenario id and a question id."""

Pairs = Mapping[QuestionKey, tuple[Answer, Answer]]
"""Two answers to each question, both in the question's own order of A and B."""


class Measure(StrEnum):
    """What a figure measures."""

    POSITION_BIAS = "position_bias"
    FIRST_PLACE = "first_place"
    REPEAT = "repeat"
    SELF_PREFERENCE = "self_preference"
    REVIEWERS_COMPARE = "reviewers_compare"
    REVIEWERS_VERIFY = "reviewers_verify"
    PANEL_COMPARE = "panel_compare"
    PANEL_VERIFY = "panel_verify"


class Standing(StrEnum):
    """How a figure stands against what is good: with all, none or some of its interval, or without a value."""

    GOOD = "good"
    UNCLEAR = "unclear"
    BAD = "bad"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of one judge. `observations` is what it was counted over; `says` is the count in words.

    `estimate` is None where there is nothing to count, and then `says` tells why. `against` are the single questions
    that count against the judge, where there are such.
    """

    measure: Measure
    judge: str
    estimate: Estimate | None
    observations: int
    says: str
    against: tuple[QuestionKey, ...] = ()

    @property
    def standing(self) -> Standing:
        """How it stands against what is good."""
        if self.estimate is None:
            return Standing.UNMEASURED
        low, high = GOOD[self.measure]
        if low <= self.estimate.low and self.estimate.high <= high:
            return Standing.GOOD
        is_outside = self.estimate.high < low or self.estimate.low > high
        return Standing.BAD if is_outside else Standing.UNCLEAR


GOOD: dict[Measure, tuple[float, float]] = {
    Measure.POSITION_BIAS: (0.0, 0.10),
    Measure.FIRST_PLACE: (0.40, 0.60),
    Measure.REPEAT: (0.90, 1.0),
    Measure.SELF_PREFERENCE: (-1.0, 0.10),
    Measure.REVIEWERS_COMPARE: (0.6, 1.0),
    Measure.REVIEWERS_VERIFY: (0.6, 1.0),
    Measure.PANEL_COMPARE: (0.667, 1.0),
    Measure.PANEL_VERIFY: (0.667, 1.0),
}
"""The values of each measure that are good."""


def share_of(count: int, total: int) -> Estimate | None:
    """The share with Wilson's interval; None of nothing."""
    if total == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(count, total).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return Estimate(value=count / total, low=float(interval.low), high=float(interval.high))


def difference_of(first: Estimate, second: Estimate) -> Estimate:
    """The first share less the second, with the interval of Newcombe (1998, method 10) from those of Wilson."""
    value = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value=value, low=max(-1.0, value - below), high=min(1.0, value + above))


def position_bias(judge: str, pairs: Pairs) -> Figure:
    """How often the verdict followed the place when A and B were exchanged. A tie in either order follows neither."""
    decided = {key: pair for key, pair in pairs.items() if all(map(_is_decided, pair))}
    flipped = {key: pair for key, pair in decided.items() if is_flipped(*pair)}
    to_first = sum(first.verdict in _FOR_A for first, _ in flipped.values())
    changed = sum(first.verdict is not second.verdict for first, second in pairs.values())
    says = (
        f"asked in both orders, {len(flipped)} of {len(decided)} preferences stayed with the place "
        f"({to_first} with the first, {len(flipped) - to_first} with the second); "
        f"{changed} of {len(pairs)} verdicts changed in any way"
    )
    return Figure(
        measure=Measure.POSITION_BIAS,
        judge=judge,
        estimate=share_of(len(flipped), len(decided)),
        observations=len(decided),
        says=says if decided else f"no question of {len(pairs)} had a preference in both orders",
        against=tuple(flipped),
    )


def first_place(judge: str, answers: Sequence[Answer]) -> Figure:
    """How often the winner was A, over all answers that have a winner."""
    for_a = sum(answer.verdict in _FOR_A for answer in answers)
    decided = for_a + sum(answer.verdict in _FOR_B for answer in answers)
    return Figure(
        measure=Measure.FIRST_PLACE,
        judge=judge,
        estimate=share_of(for_a, decided),
        observations=decided,
        says=f"A won {for_a} of {decided} times" if decided else f"no answer of {len(answers)} prefers a value",
    )


def repeat(judge: str, pairs: Pairs) -> Figure:
    """How often the same question had the same verdict again."""
    changed = tuple(key for key, (first, second) in pairs.items() if first.verdict is not second.verdict)
    same = len(pairs) - len(changed)
    return Figure(
        measure=Measure.REPEAT,
        judge=judge,
        estimate=share_of(same, len(pairs)),
        observations=len(pairs),
        says=f"asked again, {same} of {len(pairs)} verdicts were the same" if pairs else "no question was asked twice",
        against=changed,
    )


def self_preference(judge: str, family: str, *, own: Sequence[bool], others: Sequence[bool]) -> Figure:
    """How much more often values of the judge's own family were held right than those of other models."""
    first, second = share_of(sum(own), len(own)), share_of(sum(others), len(others))
    if not family:
        says = "the judge's family is not known: name it in models.yaml or as judge.family"
    elif first is None or second is None:
        lacking = f"of family {family}" if first is None else "of another family"
        says = f"no value by a model {lacking} was judged"
    else:
        says = (
            f"{sum(own)} of {len(own)} values by family {family} were held right ({first.value:.0%}), "
            f"{sum(others)} of {len(others)} by others ({second.value:.0%})"
        )
    is_known = bool(family) and first is not None and second is not None
    return Figure(
        measure=Measure.SELF_PREFERENCE,
        judge=judge,
        estimate=difference_of(first, second) if is_known and first and second else None,
        observations=len(own) + len(others) if is_known else 0,
        says=says,
    )


def _is_decided(answer: Answer) -> bool:
    return answer.verdict in _FOR_A or answer.verdict in _FOR_B


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A measure in words: its name, what it says and when it is good, what to do where it is bad, how to know more."""

    name: str
    text: str
    remedy: str
    more: str


MEANINGS: dict[Measure, Meaning] = {
    Measure.POSITION_BIAS: Meaning(
        name="position bias",
        text="how often a preference follows the place of a value, not the value; good up to 10%",
        remedy="set judge.swap: true, so that a verdict which flips counts as a tie, or take a stronger judge",
        more="ask more with --sample N",
    ),
    Measure.FIRST_PLACE: Meaning(
        name="first place",
        text="how often A wins, over all cached answers; chance decides which value is A, so 40% to 60% is good",
        remedy="set judge.swap: true, or take a stronger judge",
        more="it grows with every scoring round",
    ),
    Measure.REPEAT: Meaning(
        name="repeat",
        text="how often the same question has the same verdict again; good from 90%",
        remedy="use a panel (judge.panel), or a judge that takes temperature 0",
        more="ask more with --sample N",
    ),
    Measure.SELF_PREFERENCE: Meaning(
        name="self-preference",
        text=(
            "how much more often the judge holds values of its own family right than those of others; good up to 10 "
            "points. A family that is simply better wins more often too: compare with a judge of another family"
        ),
        remedy="take a judge of another family, or a panel of several families",
        more="it grows with every scoring round",
    ),
    Measure.REVIEWERS_COMPARE: Meaning(
        name="reviewers, compare",
        text="Cohen's kappa with people's verdicts on two values: 0 is chance, 1 is full agreement; good from 0.6",
        remedy=(
            "read the questions on which they differ (assay history SCENARIO --question ID); then sharpen the "
            "descriptions in the schema, add examples or documents, or take a stronger judge"
        ),
        more="have more questions reviewed",
    ),
    Measure.REVIEWERS_VERIFY: Meaning(
        name="reviewers, verify",
        text="Cohen's kappa with people's verdicts on values in empty places; good from 0.6",
        remedy=(
            "read the questions on which they differ (assay history SCENARIO --question ID); then add documents or "
            "examples, or take a stronger judge"
        ),
        more="have more questions reviewed",
    ),
    Measure.PANEL_COMPARE: Meaning(
        name="panel, compare",
        text=(
            "Krippendorff's alpha between the judges of the panel on two values: 0 is chance, 1 is full agreement; "
            "good from 0.667"
        ),
        remedy="read the questions on which they differ; a judge that stands alone may be the weak one",
        more="it grows with every scoring round",
    ),
    Measure.PANEL_VERIFY: Meaning(
        name="panel, verify",
        text="Krippendorff's alpha between the judges of the panel on values in empty places; good from 0.667",
        remedy="read the questions on which they differ; a judge that stands alone may be the weak one",
        more="it grows with every scoring round",
    ),
}
"""What each measure means to whoever reads it."""
