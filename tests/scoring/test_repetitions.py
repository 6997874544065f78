"""Repetitions of one model: means, spread, interval and the run that stands for the model (SPEC 5)."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.records import Mode, Run, RunStatus, Scorecard, Scores
from scoring.repetitions import interval_of, median_run, summarise

QUALITIES = st.lists(st.floats(0, 100), min_size=1, max_size=12)


def run(repetition: int, *, is_ok: bool = True, seconds: float | None = 2.0, cost: float | None = 0.5) -> Run:
    return Run(
        scenario_id="film",
        model_id="m",
        repetition=repetition,
        status=RunStatus.OK if is_ok else RunStatus.FAILED,
        output="{}" if is_ok else None,
        duration_seconds=seconds,
        cost_usd=cost,
    )


def card(quality: float, completeness: float = 100.0, hallucination: float = 0.0) -> Scorecard:
    scores = Scores(
        quality=quality,
        completeness=completeness,
        correctness=quality,
        hallucination=hallucination,
        reference_weight=1,
        candidate_weight=1,
        shared_weight=1,
        earned_weight=quality / 100,
    )
    return Scorecard(scores=scores, mode=Mode.FULL, fields=(), lists=())


def test_a_model_shows_the_mean_and_the_spread_of_its_runs() -> None:
    summary = summarise([run(1), run(2), run(3)], {1: card(80), 2: card(90), 3: card(70)})

    assert summary.mean_quality == pytest.approx(80)
    assert (summary.lowest_quality, summary.highest_quality) == (70, 90)
    assert summary.median_run == 1
    assert summary.interval == pytest.approx((80 - 24.84138, 100.0))


def test_there_is_no_interval_below_three_runs() -> None:
    assert summarise([run(1), run(2)], {1: card(80), 2: card(90)}).interval is None


def test_the_interval_is_the_textbook_t_interval() -> None:
    qualities = [51.0, 49.0, 53.0, 47.0]
    half = 3.182446305 * statistics.stdev(qualities) / 2

    assert interval_of(qualities) == pytest.approx((50 - half, 50 + half))


@pytest.mark.parametrize(
    ("qualities", "repetition"),
    [
        ({1: 50.0}, 1),
        ({1: 90.0, 2: 10.0}, 2),
        ({1: 10.0, 2: 90.0, 3: 50.0}, 3),
        ({1: 90.0, 2: 70.0, 3: 80.0, 4: 60.0}, 2),
        ({3: 70.0, 1: 70.0, 2: 70.0}, 2),
    ],
)
def test_the_median_run_is_the_lower_of_two_middle_ones(qualities: dict[int, float], repetition: int) -> None:
    assert median_run(qualities) == repetition


def test_failed_runs_are_not_scored_and_count_in_the_success_rate() -> None:
    summary = summarise([run(1), run(2, is_ok=False, seconds=60.0, cost=9.0)], {1: card(80)})

    assert summary.success_rate == 0.5
    assert (summary.runs, summary.scored_runs) == (2, 1)
    assert summary.mean_quality == 80
    assert (summary.mean_duration_seconds, summary.mean_cost_usd) == (2.0, 0.5)


def test_unknown_costs_are_left_out_and_never_free() -> None:
    known = summarise([run(1, cost=None), run(2, cost=4.0)], {})
    unknown = summarise([run(1, cost=None)], {})

    assert known.mean_cost_usd == 4.0
    assert unknown.mean_cost_usd is None


def test_a_model_without_any_run_has_no_scores() -> None:
    summary = summarise([], {})

    assert summary.success_rate == 0.0
    assert summary.mean_quality is None
    assert summary.median_run is None


@given(QUALITIES)
def test_mean_and_median_lie_within_the_spread(qualities: list[float]) -> None:
    cards = {repetition: card(quality) for repetition, quality in enumerate(qualities, 1)}
    summary = summarise([run(repetition) for repetition in cards], cards)

    assert summary.mean_quality is not None
    assert summary.lowest_quality is not None
    assert summary.highest_quality is not None
    assert summary.median_run is not None
    assert summary.lowest_quality <= summary.mean_quality <= summary.highest_quality
    below = sum(quality < cards[summary.median_run].scores.quality for quality in qualities)
    assert below <= (len(qualities) - 1) / 2


@given(QUALITIES)
def test_an_interval_holds_the_mean_within_0_to_100(qualities: list[float]) -> None:
    interval = interval_of(qualities)

    if interval is not None:
        low, high = interval
        mean = math.fsum(qualities) / len(qualities)
        assert 0 <= low <= mean + 1e-9
        assert mean - 1e-9 <= high <= 100
