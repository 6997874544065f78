"""The ranking: the log scale and its laws, unknown parts, several scenarios, and who cannot be told apart (SPEC 8)."""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.errors import InputError
from scoring.ranking import Place, Result, Weights, blend, groups_of, log_score, log_scores, rank

EQUAL = {"film": Weights(), "drug": Weights()}
LEADERBOARD = Path(__file__).parents[2] / ".." / "shared" / "data" / "extractbench_leaderboard" / "leaderboard.csv"
AMOUNTS = st.floats(1e-9, 1e9)
SCALES = st.floats(1e-6, 1e6)


def result(
    model_id: str,
    quality: float = 80,
    *,
    scenario_id: str = "film",
    seconds: float | None = 1,
    cost: float | None = 1,
    qualities: tuple[float, ...] = (),
) -> Result:
    return Result(
        scenario_id=scenario_id,
        model_id=model_id,
        quality=quality,
        qualities=qualities or (quality,),
        duration_seconds=seconds,
        cost_usd=cost,
    )


def by_model(places: list[Place]) -> dict[str, Place]:
    return {place.model_id: place for place in places}


@pytest.mark.parametrize(
    ("x", "best", "score"),
    [
        (10, 10, 100),
        (12, 10, 92.0819),
        (20, 10, 69.897),
        (100, 10, 0),
        (1000, 10, 0),
        (0, 10, 100),
        (0, 0, 100),
        (5, 5, 100),
    ],
)
def test_the_best_has_100_and_ten_times_worse_has_0(x: float, best: float, score: float) -> None:
    assert log_score(x, best) == pytest.approx(score, abs=1e-4)


def test_ten_and_twelve_dollars_are_100_and_92() -> None:
    assert [round(score) for score in log_scores([10.0, 12.0]) if score is not None] == [100, 92]


def test_others_are_measured_against_the_cheapest_that_costs_something() -> None:
    assert log_scores([0.0, 10.0, 12.0, None]) == [100, 100, pytest.approx(92.08, abs=0.01), None]


@given(AMOUNTS, AMOUNTS)
def test_a_score_lies_within_0_and_100(x: float, best: float) -> None:
    assert 0 <= log_score(x, best) <= 100


@given(AMOUNTS)
def test_ten_times_the_best_is_0(best: float) -> None:
    assert log_score(best * 10, best) == pytest.approx(0, abs=1e-9)


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_more_never_scores_better(one: float, other: float, best: float) -> None:
    low, high = sorted((one, other))
    assert log_score(low, best) >= log_score(high, best)


@given(st.lists(st.none() | AMOUNTS, min_size=1, max_size=8), SCALES)
def test_the_currency_makes_no_difference(values: list[float | None], scale: float) -> None:
    scaled = log_scores([None if value is None else value * scale for value in values])
    for before, after in zip(log_scores(values), scaled, strict=True):
        assert (before is None) == (after is None)
        if before is not None:
            assert after == pytest.approx(before, abs=1e-6)


@example(quality=1.5, speed=None, cost=None, weight=5e-324, share=0.0)
@given(
    st.floats(0, 100), st.none() | st.floats(0, 100), st.none() | st.floats(0, 100), st.floats(0, 100), st.floats(0, 1)
)
def test_a_blend_lies_between_its_known_parts(
    quality: float, speed: float | None, cost: float | None, weight: float, share: float
) -> None:
    weights = Weights(quality=weight, speed=(100 - weight) * share, cost=(100 - weight) * (1 - share))
    known = [part for part in (quality, speed, cost) if part is not None]

    total = blend(quality, speed, cost, weights)

    assert not math.isnan(total)
    assert min(known) - 1e-9 <= total <= max(known) + 1e-9


def test_the_weight_of_an_unknown_part_goes_to_the_known_ones_in_proportion() -> None:
    weights = Weights(quality=60, speed=20, cost=20)

    assert blend(90, 50, None, weights) == pytest.approx(80)
    assert blend(90, None, None, weights) == 90


def test_quality_counts_alone_where_all_weight_lies_on_unknown_parts() -> None:
    assert blend(70, None, 30, Weights(quality=0, speed=100, cost=0)) == 70


@pytest.mark.parametrize("weights", [(50, 50, 50), (-10, 60, 50), (math.nan, 50, 50), (0, 0, 0)])
def test_weights_that_do_not_sum_to_100_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match=r"sum to 100|0\.\.100"):
        Weights(quality=weights[0], speed=weights[1], cost=weights[2])


def test_much_weight_on_cost_lets_the_cheap_one_win() -> None:
    results = [result("dear", 95, cost=10), result("cheap", 80, cost=1)]

    by_quality = rank(results, {"film": Weights(quality=100, speed=0, cost=0)})
    by_cost = rank(results, {"film": Weights(quality=20, speed=0, cost=80)})

    assert [place.model_id for place in by_quality] == ["dear", "cheap"]
    assert [place.model_id for place in by_cost] == ["cheap", "dear"]


def test_a_model_without_known_cost_says_so() -> None:
    places = by_model(rank([result("open", cost=None), result("hosted")], EQUAL))

    assert places["open"].cost is None
    assert places["open"].unknown_parts == ("cost",)
    assert places["hosted"].unknown_parts == ()


def test_over_several_scenarios_the_mean_of_the_scenario_scores_counts() -> None:
    results = [result("a", 100), result("a", 50, scenario_id="drug"), result("b", 80)]
    weights = {"film": Weights(quality=100, speed=0, cost=0), "drug": Weights(quality=100, speed=0, cost=0)}

    places = by_model(rank(results, weights))

    assert (places["a"].total, places["a"].scenarios) == (75, 2)
    assert (places["b"].total, places["b"].scenarios) == (80, 1)


def test_every_scenario_has_a_scale_of_its_own() -> None:
    results = [
        result("a", cost=1),
        result("b", cost=10),
        result("a", cost=1000, scenario_id="drug"),
        result("b", cost=100, scenario_id="drug"),
    ]

    assert {place.cost for place in rank(results, EQUAL)} == {50.0}


def test_equal_totals_share_a_position() -> None:
    places = rank([result("b"), result("a"), result("c", 10)], EQUAL)

    assert [(place.position, place.model_id) for place in places] == [(1, "a"), (1, "b"), (3, "c")]


def test_an_empty_ranking_is_empty() -> None:
    assert rank([], {}) == []


def noisy(model_id: str, mean: float, spread: float, scenarios: int, *, runs: int = 1) -> list[Result]:
    generator = random.Random(f"{model_id}{mean}")
    rows = []
    for number in range(scenarios):
        own = tuple(min(100.0, max(0.0, generator.gauss(mean, spread))) for _ in range(runs))
        rows.append(result(model_id, sum(own) / runs, scenario_id=str(number), qualities=own))
    return rows


def weights_for(results: list[Result]) -> dict[str, Weights]:
    return {one.scenario_id: Weights() for one in results}


def test_models_apart_by_more_than_chance_are_told_apart() -> None:
    results = noisy("good", 90, 4, 20) + noisy("bad", 60, 4, 20)

    assert all(place.tied_with == () for place in rank(results, weights_for(results)))


def test_models_that_differ_by_chance_alone_cannot_be_told_apart() -> None:
    results = noisy("one", 80, 10, 20) + noisy("two", 80, 10, 20)

    assert by_model(rank(results, weights_for(results)))["one"].tied_with == ("two",)


def test_a_small_steady_lead_over_the_same_scenarios_is_a_real_one() -> None:
    base = [random.Random(number).uniform(20, 90) for number in range(20)]
    ahead = [random.Random(-number).uniform(1, 3) for number in range(20)]
    results = [result("one", quality, scenario_id=str(number)) for number, quality in enumerate(base)]
    results += [result("two", base[number] + lead, scenario_id=str(number)) for number, lead in enumerate(ahead)]

    assert all(place.tied_with == () for place in rank(results, weights_for(results)))


def test_one_run_on_one_scenario_proves_nothing() -> None:
    assert by_model(rank([result("a", 99), result("b", 10)], EQUAL))["a"].tied_with == ("b",)


def test_repetitions_on_one_scenario_can_tell_models_apart() -> None:
    results = [result("a", 90, qualities=(89, 90, 91, 90)), result("b", 60, qualities=(59, 61, 60, 60))]
    alike = [result("a", 75, qualities=(50, 100, 60, 90)), result("b", 70, qualities=(95, 45, 80, 60))]

    assert all(place.tied_with == () for place in rank(results, EQUAL))
    assert all(place.tied_with for place in rank(alike, EQUAL))


def test_models_without_a_common_scenario_cannot_be_told_apart() -> None:
    places = by_model(rank([result("a", 99), result("b", 10, scenario_id="drug")], EQUAL))

    assert places["a"].tied_with == ("b",)


def test_the_order_of_the_results_makes_no_difference() -> None:
    results = noisy("one", 80, 10, 8, runs=3) + noisy("two", 78, 10, 8, runs=3) + noisy("three", 60, 10, 8, runs=3)
    shuffled = list(results)
    random.Random(1).shuffle(shuffled)

    assert rank(results, weights_for(results)) == rank(shuffled, weights_for(results))


def test_two_models_of_one_quality_are_called_different_about_one_time_in_twenty() -> None:
    wrong = 0
    for trial in range(40):
        results = noisy(f"a{trial}", 70, 12, 12) + noisy(f"b{trial}", 70, 12, 12)
        wrong += not rank(results, weights_for(results))[0].tied_with

    assert wrong <= 6


def place(model_id: str, *tied_with: str) -> Place:
    return Place(
        position=1,
        model_id=model_id,
        total=0,
        quality=0,
        speed=None,
        cost=None,
        mean_duration_seconds=None,
        mean_cost_usd=None,
        scenarios=1,
        speed_scenarios=0,
        cost_scenarios=0,
        tied_with=tied_with,
    )


@pytest.mark.parametrize(
    ("places", "groups"),
    [
        ([place("a"), place("b")], []),
        ([place("a", "b"), place("b", "a"), place("c")], [("a", "b")]),
        ([place("a", "b"), place("b", "a", "c"), place("c", "b")], [("a", "b"), ("b", "c")]),
        ([place("a", "b", "c"), place("b", "a", "c"), place("c", "a", "b")], [("a", "b", "c")]),
        ([place("a", "c"), place("b"), place("c", "a")], []),
    ],
)
def test_groups_hold_neighbours_of_which_no_two_can_be_told_apart(
    places: list[Place], groups: list[tuple[str, ...]]
) -> None:
    assert groups_of(places) == groups


@pytest.mark.skipif(not LEADERBOARD.exists(), reason="the shared data are not beside this checkout")
def test_the_scale_holds_on_a_real_leaderboard() -> None:
    with LEADERBOARD.open(newline="") as file:
        rows = list(csv.DictReader(file))
    results = [
        result(
            row["Provider"],
            float(row["Overall"]),
            seconds=float(row["Latency_S_Per_Doc_Medium"]),
            cost=float(row["Cost_Per_Page"]) if row["Cost_Per_Page"] else None,
        )
        for row in rows
    ]

    places = by_model(rank(results, EQUAL))

    assert places["OpenAI GPT-5.4 Nano"].cost == 100
    assert places["Google Gemini 3.5 Flash"].speed == 100
    assert places["Google Gemini 3.5 Flash"].cost == pytest.approx(100 * (1 - math.log10(0.0100 / 0.0021)))
    assert places["Reducto Deep Extract"].cost == 0
    assert {name for name, one in places.items() if one.unknown_parts} == {
        "Qwen3.6 35B",
        "Lift Datalab 9B",
        "Gemma4 26B",
        "NuExtract3",
    }
