"""The core entry: scores one output against one scenario, or says what must be answered first (SPEC 5).

The sub-scores come from four weights, which are sums over the rows: E what the reference fills, G what the candidate
fills, B what both fill, C what was earned over B.

| score | formula |
| --- | --- |
| completeness | B / E |
| correctness | C / B |
| hallucination | (G - B) / G |
| quality | harmonic mean of C / E and C / G, which is 2C / (E + G) |

All are 0..100. Nothing on both sides is 100 (and hallucination 0), nothing in common is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from scoring.attempt import Attempt
from scoring.records import FieldScore, Known, Open, Reading, Scorecard, Scores, Unreadable
from scoring.structure import compare_root
from scoring.task import Task


def score(task: Task, reading: Reading | Unreadable, known: Known) -> Scorecard | Open:
    """The whole scorecard of one output, or the texts or questions that are open.

    Answer what is open, hand everything known in again, and repeat until a scorecard comes back: texts come first,
    since similarity decides which items pair; then, with a judge, all questions at once. The same arguments give the
    same result in every process. Raises EmbeddingError for a vector that says nothing.
    """
    if isinstance(reading, Unreadable):
        return _unreadable(task, reading)
    attempt = Attempt(task=task, known=known)
    compare_root(attempt, reading.value)
    still_open = attempt.still_open()
    if still_open is not None:
        return still_open
    breaches = (f"the output breaks the schema: {text}" for text in task.check(reading.value))
    return Scorecard(
        scores=scores_of(attempt.rows),
        mode=task.config.mode,
        fields=tuple(attempt.rows),
        lists=tuple(attempt.lists),
        findings=tuple(attempt.findings),
        problems=(
            *task.problems,
            *(f"repaired: {repair}" for repair in reading.repairs),
            *reading.problems,
            *attempt.problems,
            *breaches,
        ),
    )


def scores_of(rows: Iterable[FieldScore]) -> Scores:
    """The four scores of a run from its rows alone."""
    kept = list(rows)
    return scores_from(
        reference_weight=math.fsum(row.reference_weight for row in kept),
        candidate_weight=math.fsum(row.candidate_weight for row in kept),
        shared_weight=math.fsum(row.shared_weight for row in kept),
        earned_weight=math.fsum(row.shared_weight * row.credit for row in kept),
    )


def scores_from(
    *, reference_weight: float, candidate_weight: float, shared_weight: float, earned_weight: float
) -> Scores:
    """The four scores, 0..100, from E, G, B and C."""
    is_nothing = reference_weight <= 0 and candidate_weight <= 0
    total = reference_weight + candidate_weight
    return Scores(
        quality=_percent(2 * earned_weight, total, 100.0),
        completeness=_percent(shared_weight, reference_weight, 100.0 if is_nothing else 0.0),
        correctness=_percent(earned_weight, shared_weight, 100.0 if is_nothing else 0.0),
        hallucination=_percent(candidate_weight - shared_weight, candidate_weight, 0.0),
        reference_weight=reference_weight,
        candidate_weight=candidate_weight,
        shared_weight=shared_weight,
        earned_weight=earned_weight,
    )


def _percent(part: float, whole: float, otherwise: float) -> float:
    return min(100.0, max(0.0, 100.0 * part / whole)) if whole > 0 else otherwise


def _unreadable(task: Task, reading: Unreadable) -> Scorecard:
    """An output that cannot be read scores 0, with the reason, and no rows."""
    weight = task.root.filled
    scores = Scores(
        quality=0.0,
        completeness=0.0,
        correctness=0.0,
        hallucination=0.0,
        reference_weight=weight,
        candidate_weight=0.0,
        shared_weight=0.0,
        earned_weight=0.0,
    )
    return Scorecard(
        scores=scores,
        mode=task.config.mode,
        fields=(),
        lists=(),
        problems=(*task.problems, f"unreadable output ({reading.kind}): {reading.reason}"),
        unreadable=reading,
    )
