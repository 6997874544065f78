"""Who stands where: quality, speed and cost in one position, and which positions are no real difference (SPEC 8)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from scoring.errors import InputError
from scoring.repetitions import mean_of

TOTAL_WEIGHT = 100.0
BOOTSTRAP_DRAWS = 1000
DRAWS_AT_ONCE = 50
BOOTSTRAP_SEED = 1979
CONFIDENCE = 0.95

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much quality, speed and cost weigh in a position; none is negative and together they are 100."""

    quality: float = TOTAL_WEIGHT / 3
    speed: float = TOTAL_WEIGHT / 3
    cost: float = TOTAL_WEIGHT / 3

    def __post_init__(self) -> None:
        """Raise InputError unless the weights are finite, not negative and sum to 100."""
        parts = (self.quality, self.speed, self.cost)
        if not all(math.isfinite(part) and part >= 0 for part in parts):
            raise InputError(f"a weight is negative or no number: {parts}", remedy="Weights lie in 0..100.")
        if not math.isclose(sum(parts), TOTAL_WEIGHT, abs_tol=0.01):
            raise InputError(
                f"quality, speed and cost weigh {sum(parts):g} together",
                remedy="They must sum to 100, e.g. 50, 25, 25.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a model showed on one scenario.

    `quality` is the mean over its runs, `qualities` those of the single runs (0..100). Duration and cost are means of
    one run, None where nobody recorded them.
    """

    scenario_id: str
    model_id: str
    quality: float
    qualities: tuple[float, ...]
    duration_seconds: float | None
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """The score of one model on one scenario, each part 0..100.

    `speed` and `cost` are None where unknown; `total` then spreads their weight over the known parts in proportion.
    """

    scenario_id: str
    model_id: str
    total: float
    quality: float
    speed: float | None
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One row of the ranking.

    `position` counts from 1; equal totals share a position. The scores are means over the model's scenarios,
    `scenarios` says how many stand behind them. `speed_scenarios` and `cost_scenarios` say for how many of those the
    part was known. `tied_with` names the models that cannot be told apart from this one.
    """

    position: int
    model_id: str
    total: float
    quality: float
    speed: float | None
    cost: float | None
    mean_duration_seconds: float | None
    mean_cost_usd: float | None
    scenarios: int
    speed_scenarios: int
    cost_scenarios: int
    tied_with: tuple[str, ...]

    @property
    def unknown_parts(self) -> tuple[str, ...]:
        """The parts whose weight went to the others on at least one scenario."""
        counts = {"speed": self.speed_scenarios, "cost": self.cost_scenarios}
        return tuple(part for part, count in counts.items() if count < self.scenarios)


def log_score(x: float, best: float) -> float:
    """`100 * (1 - log10(x / best))` within 0..100: best 100, ten times worse 0 (SPEC 8). Lower `x` is better.

    A free result scores 100. `best` is the least `x` that is not free; where nothing costs anything it does not matter.
    """
    if x <= best or x <= 0:
        return 100.0
    if best <= 0 or math.isinf(x):
        return 0.0
    return min(100.0, max(0.0, 100.0 * (1.0 - (math.log10(x) - math.log10(best)))))


def log_scores(values: Sequence[float | None]) -> list[float | None]:
    """The log score of each value among its peers, None where it is unknown."""
    best = min((value for value in values if value is not None and value > 0), default=0.0)
    return [None if value is None else log_score(value, best) for value in values]


def blend(quality: float, speed: float | None, cost: float | None, weights: Weights) -> float:
    """The weighted mean of the parts that are known, 0..100; quality alone where no known part has a weight."""
    parts = [(quality, weights.quality), (speed, weights.speed), (cost, weights.cost)]
    known = [(part, weight) for part, weight in parts if part is not None]
    total = math.fsum(weight for _, weight in known)
    if total <= 0:
        return quality
    mean = math.fsum(part * weight for part, weight in known) / total
    values = [part for part, _ in known]
    return min(max(values), max(min(values), mean))  # with the least of weights a product loses its digits


def blends_of(results: Sequence[Result], weights: Mapping[str, Weights]) -> list[Blend]:
    """The blend of every result against the others of its scenario; `weights` has an entry per scenario."""
    by_scenario: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_scenario[result.scenario_id].append(result)
    return [
        Blend(
            scenario_id=scenario_id,
            model_id=result.model_id,
            total=blend(result.quality, speed, cost, weights[scenario_id]),
            quality=result.quality,
            speed=speed,
            cost=cost,
        )
        for scenario_id, peers in by_scenario.items()
        for result, speed, cost in zip(
            peers,
            log_scores([peer.duration_seconds for peer in peers]),
            log_scores([peer.cost_usd for peer in peers]),
            strict=True,
        )
    ]


def rank(results: Sequence[Result], weights: Mapping[str, Weights]) -> list[Place]:
    """The models of `results`, best first: the mean of their scenario scores, with ties by the bootstrap (SPEC 8).

    The order among equal totals is quality, then the id, so that it never depends on the order of the results.
    """
    blends: dict[str, list[Blend]] = defaultdict(list)
    for one in blends_of(results, weights):
        blends[one.model_id].append(one)
    ties = indistinguishable(results, weights)
    places = [_place(model_id, own, results, ties) for model_id, own in blends.items()]
    places.sort(key=lambda place: (-place.total, -place.quality, place.model_id))
    return [_at(place, 1 + sum(other.total > place.total for other in places)) for place in places]


def _place(model_id: str, own: Sequence[Blend], results: Sequence[Result], ties: frozenset[frozenset[str]]) -> Place:
    mine = [result for result in results if result.model_id == model_id]
    return Place(
        position=0,
        model_id=model_id,
        total=_mean(one.total for one in own),
        quality=_mean(one.quality for one in own),
        speed=mean_of(one.speed for one in own),
        cost=mean_of(one.cost for one in own),
        mean_duration_seconds=mean_of(result.duration_seconds for result in mine),
        mean_cost_usd=mean_of(result.cost_usd for result in mine),
        scenarios=len(own),
        speed_scenarios=sum(one.speed is not None for one in own),
        cost_scenarios=sum(one.cost is not None for one in own),
        tied_with=tuple(sorted(other for pair in ties if model_id in pair for other in pair - {model_id})),
    )


def _mean(values: Iterable[float]) -> float:
    mean = mean_of(values)
    return 0.0 if mean is None else mean


def _at(place: Place, position: int) -> Place:
    return replace(place, position=position)


def groups_of(places: Sequence[Place]) -> list[tuple[str, ...]]:
    """Neighbours in the ranking of which no two can be told apart: maximal groups of two or more, best first.

    Groups may overlap: the second may be like the first and like the third while those two differ.
    """
    groups: list[tuple[str, ...]] = []
    end = 0
    for start, place in enumerate(places):
        stop = start + 1
        while stop < len(places) and all(places[stop].model_id in one.tied_with for one in places[start:stop]):
            stop += 1
        if stop > max(end, start + 1):
            groups.append((place.model_id, *(one.model_id for one in places[start + 1 : stop])))
            end = stop
    return groups


def indistinguishable(results: Sequence[Result], weights: Mapping[str, Weights]) -> frozenset[frozenset[str]]:
    """The pairs of models whose difference in total is no more than chance would make it (SPEC 8).

    A paired bootstrap: scenarios are drawn with replacement, the same ones for both models, and within each scenario
    the runs of each model; speed and cost stay as measured. A pair is told apart where 0 lies outside the 95% Student
    t interval of the difference with the bootstrap's standard error, corrected for small samples by sqrt(n / (n - 1))
    (Hesterberg 2015), n being the scenarios both models have, or with one scenario the runs of the model that has
    fewer. Without two of either there is no telling. The draws are seeded: equal results give equal answers in any
    order.
    """
    models = sorted({result.model_id for result in results})
    scenarios = sorted({result.scenario_id for result in results})
    if len(models) < 2:
        return frozenset()
    board = _board(results, weights, scenarios, models)
    means, errors = _paired_differences(board)
    counts = _sample_sizes(board)
    enough = counts >= 2
    sizes = np.where(enough, counts, 2)
    limits = stdtrit(sizes - 1, (1 + CONFIDENCE) / 2) * errors * np.sqrt(sizes / (sizes - 1))
    is_tied = ~enough | (np.abs(means) <= limits + 1e-9)
    return frozenset(
        frozenset((models[one], models[other]))
        for one in range(len(models))
        for other in range(one + 1, len(models))
        if is_tied[one, other]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Board:
    """Scenario x model arrays. `qualities` holds those of the single runs, padded; total = slope * quality + base."""

    is_there: Numbers
    qualities: Numbers
    runs: npt.NDArray[np.int64]
    slope: Numbers
    base: Numbers


def _board(
    results: Sequence[Result], weights: Mapping[str, Weights], scenarios: Sequence[str], models: Sequence[str]
) -> _Board:
    rows = {scenario_id: index for index, scenario_id in enumerate(scenarios)}
    columns = {model_id: index for index, model_id in enumerate(models)}
    shape = (len(scenarios), len(models))
    longest = max(max(1, len(result.qualities)) for result in results)
    board = _Board(
        is_there=np.zeros(shape),
        qualities=np.zeros((*shape, longest)),
        runs=np.zeros(shape, dtype=np.int64),
        slope=np.zeros(shape),
        base=np.zeros(shape),
    )
    singles = {(result.scenario_id, result.model_id): result.qualities or (result.quality,) for result in results}
    for one in blends_of(results, weights):
        cell = rows[one.scenario_id], columns[one.model_id]
        own = singles[one.scenario_id, one.model_id]
        board.is_there[cell] = 1.0
        board.runs[cell] = len(own)
        board.qualities[cell][: len(own)] = own
        at_zero = blend(0.0, one.speed, one.cost, weights[one.scenario_id])
        board.base[cell] = at_zero
        board.slope[cell] = (blend(100.0, one.speed, one.cost, weights[one.scenario_id]) - at_zero) / 100.0
    return board


def _paired_differences(board: _Board) -> tuple[Numbers, Numbers]:
    """Model x model: the mean difference in total over common scenarios, and its standard error by the bootstrap."""
    generator = np.random.Generator(np.random.PCG64(BOOTSTRAP_SEED))
    scenarios = board.is_there.shape[0]
    drawn = []
    for start in range(0, BOOTSTRAP_DRAWS, DRAWS_AT_ONCE):
        draws = min(DRAWS_AT_ONCE, BOOTSTRAP_DRAWS - start)
        counts = generator.multinomial(scenarios, np.full(scenarios, 1 / scenarios), size=draws).astype(np.float64)
        drawn.append(_differences(counts, board, _resampled(board, draws, generator)))
    observed = board.qualities.sum(axis=2) / np.maximum(board.runs, 1)
    mean = _differences(np.ones((1, scenarios)), board, observed[None])[0]
    every = np.concatenate(drawn)
    return mean, every.std(axis=0)


def _resampled(board: _Board, draws: int, generator: np.random.Generator) -> Numbers:
    """The mean quality of every cell in each draw, its runs drawn with replacement."""
    longest = board.qualities.shape[2]
    picks = (generator.random((draws, *board.qualities.shape)) * board.runs[None, :, :, None]).astype(np.int64)
    values = np.take_along_axis(np.broadcast_to(board.qualities, picks.shape), picks, axis=3)
    is_counted = np.arange(longest) < board.runs[:, :, None]
    means: Numbers = (values * is_counted).sum(axis=3) / np.maximum(board.runs, 1)
    return means


def _differences(counts: Numbers, board: _Board, qualities: Numbers) -> Numbers:
    """Draw x model x model: the mean total of one model less that of the other over their common scenarios.

    `counts` says how often each draw holds each scenario. A pair without a common scenario in a draw has no
    difference there: 0.
    """
    totals = (board.slope * qualities + board.base) * board.is_there * counts[:, :, None]
    sums = np.swapaxes(totals, 1, 2) @ board.is_there
    weights = np.swapaxes(board.is_there * counts[:, :, None], 1, 2) @ board.is_there
    result: Numbers = (sums - np.swapaxes(sums, 1, 2)) / np.maximum(weights, 1)
    return result


def _sample_sizes(board: _Board) -> npt.NDArray[np.int64]:
    """Model x model: how many independent observations stand behind the difference of the two."""
    common = (board.is_there.T @ board.is_there).astype(np.int64)
    fewest = np.where(board.is_there > 0, board.runs, np.iinfo(np.int64).max).min(axis=0)
    runs = np.minimum(fewest[:, None], fewest[None, :])
    return np.where(common >= 2, common, np.where(common == 1, runs, 0))
