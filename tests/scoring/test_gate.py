"""The gate: intervals of means and differences, what holds, how certain it is, and the laws of both."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.errors import InputError
from scoring.gate import (
    Bounds,
    Certainty,
    Check,
    Estimate,
    Measured,
    Outcome,
    Problem,
    Standing,
    outcome_of,
    problems_of,
)
from scoring.repetitions import interval_of

MIN_80 = Bounds(min_quality=80)
BASELINE = Bounds(has_baseline=True)

# Quarters are exact in binary, so that bounds are met exactly now and then.
quarters = st.integers(0, 400).map(lambda number: number / 4)
runs = st.lists(quarters, min_size=1, max_size=6).map(tuple)
many_runs = st.lists(quarters, min_size=3, max_size=6).map(tuple)
scenarios = st.lists(st.builds(Measured, qualities=runs, baseline=runs), min_size=1, max_size=4) | st.lists(
    st.builds(Measured, qualities=many_runs, baseline=many_runs), min_size=1, max_size=4
)
bounds = st.builds(
    Bounds, min_quality=quarters, has_baseline=st.just(value=True), margin=quarters, is_strict=st.booleans()
)


def one(*qualities: float, baseline: tuple[float, ...] = ()) -> list[Measured]:
    return [Measured(qualities=qualities, baseline=baseline)]


def check(outcome: Outcome) -> Check:
    (only,) = outcome.checks
    return only


def all_hold(outcome: Outcome) -> bool:
    return all(one.holds for one in outcome.checks)


def interval(estimate: Estimate | None) -> tuple[float, float]:
    assert estimate is not None
    assert estimate.interval is not None
    return estimate.interval


def test_the_interval_of_one_mean_is_that_of_the_results() -> None:
    outcome = outcome_of(one(51, 49, 53, 47), MIN_80)

    assert interval(outcome.quality) == pytest.approx(interval_of([51, 49, 53, 47]))


def test_the_interval_of_a_difference_is_that_of_welch() -> None:
    model, baseline = (71.0, 64.0, 75.5, 80.25), (83.0, 84.5, 81.0)
    expected = stats.ttest_ind(model, baseline, equal_var=False).confidence_interval()

    outcome = outcome_of(one(*model, baseline=baseline), BASELINE)

    assert interval(outcome.difference) == pytest.approx((expected.low, expected.high))


def test_over_scenarios_the_variances_of_the_means_add_up() -> None:
    samples = (40.0, 44.0, 48.0), (70.0, 71.0, 75.0, 76.0)
    parts = [statistics.variance(sample) / len(sample) for sample in samples]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 3)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts)) / 2

    outcome = outcome_of([Measured(qualities=sample) for sample in samples], MIN_80)

    assert outcome.quality is not None
    assert outcome.quality.value == pytest.approx((44 + 73) / 2)
    assert interval(outcome.quality) == pytest.approx((58.5 - half, 58.5 + half))


def test_what_differs_between_scenarios_is_no_chance() -> None:
    outcome = outcome_of([*one(10, 10, 10), *one(90, 90, 90)], Bounds(min_quality=50, is_strict=True))

    assert interval(outcome.quality) == (50, 50)
    assert all_hold(outcome)


@pytest.mark.parametrize(
    ("qualities", "certainty", "is_reached"),
    [
        ((90.0, 91.0, 92.0), Certainty.CERTAIN, True),
        ((70.0, 71.0, 72.0), Certainty.CERTAIN, False),
        ((70.0, 85.0, 95.0), Certainty.UNDECIDED, True),
        ((60.0, 75.0, 90.0), Certainty.UNDECIDED, False),
        ((90.0, 91.0), Certainty.NO_INTERVAL, True),
        ((20.0,), Certainty.NO_INTERVAL, False),
        ((80.0, 80.0, 80.0), Certainty.CERTAIN, True),
    ],
)
def test_a_quality_is_judged_by_its_mean_and_strictly_by_its_interval(
    qualities: tuple[float, ...], certainty: Certainty, is_reached: bool
) -> None:
    plain = check(outcome_of(one(*qualities), MIN_80))
    strict = check(outcome_of(one(*qualities), Bounds(min_quality=80, is_strict=True)))

    assert (plain.certainty, plain.is_reached, plain.holds) == (certainty, is_reached, is_reached)
    assert strict.holds == (is_reached and certainty is Certainty.CERTAIN)


@pytest.mark.parametrize(
    ("baseline", "certainty", "holds", "holds_strictly"),
    [
        ((60.0, 61.0, 62.0), Certainty.CERTAIN, True, True),
        ((90.0, 91.0, 92.0), Certainty.CERTAIN, False, False),
        ((81.0, 82.0, 83.0), Certainty.UNDECIDED, True, False),
        ((79.0, 80.0, 81.0), Certainty.UNDECIDED, True, False),
        ((81.0, 82.0), Certainty.NO_INTERVAL, False, False),
        ((79.0, 80.0), Certainty.NO_INTERVAL, True, False),
    ],
)
def test_a_loss_counts_where_it_is_beyond_chance_and_strictly_where_it_is_not_ruled_out(
    baseline: tuple[float, ...], certainty: Certainty, holds: bool, holds_strictly: bool
) -> None:
    measured = one(78.0, 81.0, 84.0, baseline=baseline)
    plain = check(outcome_of(measured, BASELINE))
    strict = check(outcome_of(measured, Bounds(has_baseline=True, is_strict=True)))

    assert (plain.certainty, plain.holds, strict.holds) == (certainty, holds, holds_strictly)


def test_a_margin_is_the_loss_that_is_allowed() -> None:
    measured = one(80, 80, 80, baseline=(83, 83, 83))

    assert not all_hold(outcome_of(measured, Bounds(has_baseline=True, margin=2.5)))
    assert all_hold(outcome_of(measured, Bounds(has_baseline=True, margin=3, is_strict=True)))


def test_what_arithmetic_loses_is_no_loss() -> None:
    measured = one(*[0.1 + 0.2] * 3, baseline=(0.3 + 1e-12,) * 3)

    assert all_hold(outcome_of(measured, BASELINE))


def test_one_run_that_rises_can_settle_what_was_open() -> None:
    """Welch's interval narrows with the spread, so only a rise of all runs alike is sure never to turn a pass round."""
    open_ = outcome_of(one(10, 50, 50, baseline=(60, 60, 60)), BASELINE)
    settled = outcome_of(one(50, 50, 50, baseline=(60, 60, 60)), BASELINE)

    assert (all_hold(open_), all_hold(settled)) == (True, False)


def test_without_runs_there_is_no_estimate_and_no_check() -> None:
    asked = Bounds(min_quality=0, has_baseline=True)
    no_model, no_baseline, nothing = (
        outcome_of(measured, asked) for measured in ([*one(baseline=(5,)), *one(90)], one(90), [])
    )

    assert (no_model.quality, no_model.difference, no_model.checks) == (None, None, ())
    assert (no_baseline.baseline, len(no_baseline.checks)) == (None, 1)
    assert nothing.checks == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "no bound is given"),
        ({"min_quality": -1}, "--min-quality: -1 is out of range"),
        ({"min_quality": 100.5}, "--min-quality: 100.5 is out of range"),
        ({"min_quality": math.nan}, "--min-quality: nan is out of range"),
        ({"has_baseline": True, "margin": -2}, "--margin: -2 is out of range"),
        ({"min_quality": 50, "margin": 2}, "--margin: a margin is the loss allowed against a baseline"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(asked: dict[str, float], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Bounds(**asked)  # type: ignore[arg-type]  # a mapping of its keyword arguments
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("standing", "problems"),
    [
        (Standing(is_scored=False, is_stale=True), (Problem.UNSCORED,)),
        (Standing(is_scored=True, runs=3, qualities=(1, 2, 3)), ()),
        (Standing(is_scored=True, runs=3, failed_runs=1, qualities=(1, 2)), (Problem.FAILED_RUNS,)),
        (Standing(is_scored=True, runs=3, failed_runs=3), (Problem.NO_OUTPUT,)),
        (
            Standing(is_scored=True, is_stale=True, has_new_runs=True, is_exact_only=True, runs=1, qualities=(1,)),
            (Problem.STALE, Problem.NEW_RUNS, Problem.EXACT_ONLY),
        ),
    ],
)
def test_all_that_speaks_against_a_score_is_named(standing: Standing, problems: tuple[Problem, ...]) -> None:
    assert problems_of(standing) == problems


@given(scenarios, bounds, quarters)
def test_raising_all_runs_alike_never_turns_a_pass_into_a_fail(
    measured: list[Measured], asked: Bounds, rise: float
) -> None:
    room = 100 - max(quality for each in measured for quality in each.qualities)
    raised = [
        Measured(qualities=tuple(quality + min(rise, room) for quality in each.qualities), baseline=each.baseline)
        for each in measured
    ]

    before, after = outcome_of(measured, asked), outcome_of(raised, asked)

    assert all(now.holds or not then.holds for then, now in zip(before.checks, after.checks, strict=True))


@given(scenarios, quarters, st.data())
def test_raising_any_run_never_turns_a_reached_quality_into_a_missed_one(
    measured: list[Measured], least: float, data: st.DataObject
) -> None:
    raised = [
        Measured(qualities=tuple(data.draw(quarters.map(lambda new, q=q: max(q, new))) for q in each.qualities))
        for each in measured
    ]

    asked = Bounds(min_quality=least)

    assert all_hold(outcome_of(raised, asked)) or not all_hold(outcome_of(measured, asked))


@given(scenarios, bounds, quarters, quarters)
def test_lowering_a_bound_never_turns_a_pass_into_a_fail(
    measured: list[Measured], asked: Bounds, less: float, more: float
) -> None:
    assert asked.min_quality is not None
    lower = Bounds(
        min_quality=max(0, asked.min_quality - less),
        has_baseline=True,
        margin=min(100, asked.margin + more),
        is_strict=asked.is_strict,
    )

    before, after = outcome_of(measured, asked), outcome_of(measured, lower)

    assert all(now.holds or not then.holds for then, now in zip(before.checks, after.checks, strict=True))


@given(scenarios)
def test_swapping_the_models_mirrors_the_difference_and_its_interval(measured: list[Measured]) -> None:
    swapped = [Measured(qualities=each.baseline, baseline=each.qualities) for each in measured]

    there, back = outcome_of(measured, BASELINE).difference, outcome_of(swapped, BASELINE).difference

    assert there is not None
    assert back is not None
    assert back.value == -there.value
    if there.interval is None:
        assert back.interval is None
    else:
        assert back.interval == (-there.interval[1], -there.interval[0])


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.integers(3, 9), st.floats(0, 100), st.integers(3, 9)), min_size=1, max_size=5
    )
)
def test_constant_qualities_leave_nothing_to_chance(rows: list[tuple[float, int, float, int]]) -> None:
    measured = [Measured(qualities=(a,) * n, baseline=(b,) * m) for a, n, b, m in rows]

    outcome = outcome_of(measured, Bounds(min_quality=50, has_baseline=True))

    for estimate in (outcome.quality, outcome.baseline, outcome.difference):
        assert estimate is not None
        assert estimate.interval == (estimate.value, estimate.value)
    assert {one.certainty for one in outcome.checks} == {Certainty.CERTAIN}


@given(st.lists(st.builds(Measured, qualities=st.lists(st.floats(0, 100), min_size=3).map(tuple)), min_size=1))
def test_an_interval_is_finite_holds_its_mean_and_stays_in_range(measured: list[Measured]) -> None:
    quality = outcome_of(measured, MIN_80).quality

    assert quality is not None
    low, high = interval(quality)
    assert 0 <= low <= quality.value <= high <= 100


@given(scenarios, bounds)
def test_what_holds_strictly_holds_at_all(measured: list[Measured], asked: Bounds) -> None:
    strict, plain = (
        outcome_of(
            measured, Bounds(min_quality=asked.min_quality, has_baseline=True, margin=asked.margin, is_strict=is_strict)
        )
        for is_strict in (True, False)
    )

    for with_strict, without in zip(strict.checks, plain.checks, strict=True):
        assert without.holds or not with_strict.holds
