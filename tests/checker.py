"""An independent reading of SPEC 5: every total is recomputed from the rows, and each row is checked by itself."""

from __future__ import annotations

import math
from fractions import Fraction

from scoring.records import FieldScore, Outcome, Rung, Scorecard

TOLERANCE = 1e-6


def check(card: Scorecard) -> None:
    """Raises AssertionError where a scorecard contradicts itself."""
    for row in card.fields:
        _check_row(row)
    for found in card.lists:
        assert 0 <= found.precision <= 1
        assert 0 <= found.recall <= 1
        assert 0 <= found.f1 <= 1
        assert len(found.hallucinated) <= len(found.extra)
        assert found.duplicates <= len(found.extra)
    if card.unreadable is None:
        _check_totals(card)


def _check_row(row: FieldScore) -> None:
    e, g, b = row.reference_weight, row.candidate_weight, row.shared_weight
    assert all(math.isfinite(x) and x >= 0 for x in (e, g, b, row.credit)), row
    assert row.credit <= 1, row
    assert b <= min(e, g) + TOLERANCE, row
    assert row.similarity is None or -1 <= row.similarity <= 1, row
    match row.outcome:
        case Outcome.MATCH:
            assert row.credit == 1, row
            assert row.rung is not None, row
            assert not row.reason, row
        case Outcome.PARTIAL:
            assert 0 < row.credit < 1, row
            assert row.reason, row
        case Outcome.MISMATCH:
            assert row.credit == 0, row
            assert row.reason, row
        case Outcome.MISSING:
            assert (g, b, row.credit, row.rung) == (0, 0, 0, Rung.MISSING), row
        case Outcome.EXTRA:
            assert (row.credit, e, b) in ((0, 0, 0), (1, g, g)), row
        case Outcome.EMPTY:
            assert (e, g, b, row.credit) == (0, 0, 0, 0), row


def _check_totals(card: Scorecard) -> None:
    exact = [
        tuple(Fraction(x) for x in (row.reference_weight, row.candidate_weight, row.shared_weight, row.credit))
        for row in card.fields
    ]
    e, g, b = (sum(row[i] for row in exact) for i in range(3))
    c = sum(row[2] * row[3] for row in exact)
    scores = card.scores
    for total, shown in ((e, scores.reference_weight), (g, scores.candidate_weight), (b, scores.shared_weight)):
        assert math.isclose(float(total), shown, abs_tol=TOLERANCE)
    assert math.isclose(float(c), scores.earned_weight, abs_tol=TOLERANCE)
    both_empty = e == 0 and g == 0
    _near(scores.completeness, b / e if e else int(both_empty))
    _near(scores.correctness, c / b if b else int(both_empty))
    _near(scores.hallucination, (g - b) / g if g else 0)
    over_e, over_g = c / e if e else Fraction(0), c / g if g else Fraction(0)
    harmonic = 2 * over_e * over_g / (over_e + over_g) if over_e and over_g else Fraction(0)
    _near(scores.quality, 1 if both_empty else harmonic)


def _near(shown: float, share: Fraction | int) -> None:
    assert 0 <= shown <= 100
    assert math.isclose(shown, 100 * float(share), abs_tol=100 * TOLERANCE), (shown, float(share))
