"""Figures over a judge's answers: what counts, how wide the interval is, and when a figure is good."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.audit import (
    GOOD,
    MEANINGS,
    Estimate,
    Figure,
    Measure,
    Pairs,
    Standing,
    difference_of,
    first_place,
    position_bias,
    repeat,
    self_preference,
    share_of,
)
from scoring.records import Answer, Verdict

A, B, TIE = Verdict.A_BETTER, Verdict.B_BETTER, Verdict.BOTH_CORRECT


def said(verdict: Verdict) -> Answer:
    return Answer(verdict=verdict, credit=0.5, basis="knowledge", reason="So it is.")


def pairs(*verdicts: tuple[Verdict, Verdict]) -> Pairs:
    return {("s", f"q{number}"): (said(one), said(other)) for number, (one, other) in enumerate(verdicts)}


@pytest.mark.parametrize(
    ("verdicts", "value", "observations", "against"),
    [
        ([(A, A), (B, B)], 0.0, 2, 0),
        ([(A, B), (B, B)], 0.5, 2, 1),
        ([(A, Verdict.A_WRONG), (Verdict.B_WRONG, Verdict.B_BETTER)], 1.0, 2, 2),
        ([(A, Verdict.B_WRONG)], 0.0, 1, 0),
        ([(A, TIE), (TIE, TIE), (Verdict.BOTH_WRONG, B), (A, B)], 1.0, 1, 1),
    ],
)
def test_position_bias_counts_preferences_that_stay_with_the_place(
    verdicts: list[tuple[Verdict, Verdict]], value: float, observations: int, against: int
) -> None:
    found = position_bias("j", pairs(*verdicts))
    assert found.estimate is not None
    assert (found.estimate.value, found.observations, len(found.against)) == (value, observations, against)


def test_flips_are_told_apart_by_the_place_that_they_favour() -> None:
    assert "3 of 3 preferences stayed with the place (2 with the first, 1 with the second)" in (
        position_bias("j", pairs((A, B), (A, B), (B, A))).says
    )


def test_first_place_counts_winners_alone() -> None:
    found = first_place("j", [said(A), said(Verdict.B_WRONG), said(B), said(Verdict.A_WRONG), said(A), said(TIE)])
    assert found.estimate is not None
    assert (found.estimate.value, found.observations) == (0.6, 5)


def test_a_changed_verdict_counts_against_repeating() -> None:
    found = repeat("j", pairs((A, A), (A, Verdict.B_WRONG), (TIE, TIE), (Verdict.CORRECT, Verdict.CORRECT)))
    assert found.estimate is not None
    assert (found.estimate.value, found.against) == (0.75, (("s", "q1"),))


@pytest.mark.parametrize(
    "figure",
    [
        position_bias("j", {}),
        position_bias("j", pairs((TIE, TIE))),
        first_place("j", []),
        repeat("j", {}),
        self_preference("j", "", own=[True], others=[True]),
        self_preference("j", "kin", own=[], others=[True]),
        self_preference("j", "kin", own=[True], others=[]),
    ],
)
def test_nothing_to_count_is_no_value_and_says_why(figure: Figure) -> None:
    assert (figure.estimate, figure.standing, figure.observations) == (None, Standing.UNMEASURED, 0)
    assert figure.says


def test_self_preference_is_a_difference_of_shares() -> None:
    found = self_preference("j", "kin", own=[True] * 56 + [False] * 14, others=[True] * 48 + [False] * 32)
    assert found.estimate is not None
    # Newcombe (1998), table II, example (a), method 10: 56/70 against 48/80
    assert found.estimate.value == pytest.approx(0.2)
    assert (found.estimate.low, found.estimate.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )
    assert "56 of 70 values by family kin were held right (80%)" in found.says


def test_a_share_has_wilsons_interval() -> None:
    found = share_of(81, 263)
    assert found is not None
    # Newcombe (1998), two-sided intervals for a single proportion, table I, method 3
    assert (found.low, found.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))


@pytest.mark.parametrize(
    ("low", "high", "standing"),
    [
        (0.0, 0.08, Standing.GOOD),
        (0.0, 0.10, Standing.GOOD),
        (0.05, 0.2, Standing.UNCLEAR),
        (0.11, 0.4, Standing.BAD),
    ],
)
def test_a_figure_is_bad_only_where_all_its_interval_is(low: float, high: float, standing: Standing) -> None:
    estimate = Estimate(value=(low + high) / 2, low=low, high=high)
    figure = Figure(measure=Measure.POSITION_BIAS, judge="j", estimate=estimate, observations=9, says="")
    assert figure.standing is standing


def test_a_low_agreement_is_bad_and_a_high_one_good() -> None:
    def of(low: float, high: float) -> Standing:
        estimate = Estimate(value=low, low=low, high=high)
        return Figure(measure=Measure.REVIEWERS_COMPARE, judge="j", estimate=estimate, observations=9, says="").standing

    assert [of(0.7, 0.9), of(0.5, 0.7), of(0.1, 0.3)] == [Standing.GOOD, Standing.UNCLEAR, Standing.BAD]


def test_every_measure_has_its_words_and_what_is_good() -> None:
    assert set(MEANINGS) == set(GOOD) == set(Measure)


COUNTS = st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total)))


@given(COUNTS, COUNTS)
def test_intervals_hold_their_value_and_stay_in_range(first: tuple[int, int], second: tuple[int, int]) -> None:
    one, other = share_of(*first), share_of(*second)
    assert one is not None
    assert other is not None
    assert 0 <= one.low <= one.value + 1e-12 <= one.high + 2e-12 <= 1 + 4e-12
    difference = difference_of(one, other)
    assert -1 <= difference.low <= difference.value <= difference.high <= 1
    back = difference_of(other, one)
    assert (back.low, back.high) == (pytest.approx(-difference.high), pytest.approx(-difference.low))
