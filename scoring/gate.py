"""Whether a model is good enough, or no worse than another beyond chance: the rule of `assay gate`.

Runs are independent of each other, scenarios are given: what is judged is a mean over exactly these scenarios, and only
its runs could have come out otherwise. Both models meet the same scenarios, so a difference is taken scenario by
scenario.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from scipy.special import stdtrit

from scoring.errors import InputError
from scoring.repetitions import CONFIDENCE, FEWEST_RUNS_FOR_INTERVAL, mean_of

TOLERANCE = 1e-6
"""Points of quality that arithmetic may cost: less than this below a bound is not below it."""


class Problem(StrEnum):
    """Why a model's latest score cannot be taken as it stands."""

    UNSCORED = "unscored"
    STALE = "stale"
    NEW_RUNS = "new_runs"
    NO_OUTPUT = "no_output"
    FAILED_RUNS = "failed_runs"
    EXACT_ONLY = "exact_only"


class Certainty(StrEnum):
    """How far chance is ruled out: the interval lies wholly on one side of the bound, or not, or there is none."""

    CERTAIN = "certain"
    UNDECIDED = "undecided"
    NO_INTERVAL = "no_interval"


class Bound(StrEnum):
    """What was asked for: a least quality, or to be no worse than a baseline."""

    MIN_QUALITY = "min_quality"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a model must hold, in points of quality.

    `min_quality` (0..100) is the least mean quality, None where none is asked for. With `has_baseline` the model may
    lose at most `margin` points (0..100) to a baseline. With `is_strict` what could be chance does not hold.
    """

    min_quality: float | None = None
    has_baseline: bool = False
    margin: float = 0.0
    is_strict: bool = False

    def __post_init__(self) -> None:
        """Raise InputError unless a bound is asked for and each lies within 0..100."""
        if self.min_quality is None and not self.has_baseline:
            raise InputError("no bound is given", remedy="Add --min-quality Q, or --baseline MODEL, or both")
        for option, value in (("--min-quality", self.min_quality), ("--margin", self.margin)):
            if value is not None and not 0 <= value <= 100:
                raise InputError(
                    f"{value:g} is out of range", where=option, remedy="Allowed: points of quality, 0..100"
                )
        if self.margin and not self.has_baseline:
            raise InputError(
                "a margin is the loss allowed against a baseline", where="--margin", remedy="Add --baseline"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is recorded of one model on one scenario: its latest score and its runs.

    `qualities` (0..100) are those of the scored runs; `runs` counts those that the score covers, the failed ones
    included.
    """

    is_scored: bool
    is_stale: bool = False
    has_new_runs: bool = False
    is_exact_only: bool = False
    runs: int = 0
    failed_runs: int = 0
    qualities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The qualities (0..100) of the scored runs on one scenario, those of the baseline beside them; empty for none."""

    qualities: tuple[float, ...]
    baseline: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean or a difference of means in points, and its 95% interval; None where runs are too few for one."""

    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One bound on one estimate.

    `is_reached` says whether the estimate itself is at least `least`, `certainty` whether chance could turn that round,
    and `holds` what follows from both.
    """

    bound: Bound
    estimate: Estimate
    least: float
    is_reached: bool
    holds: bool
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What some scenarios together say: the estimates, None where runs are missing, and a check for each bound.

    A bound whose estimate is missing has no check, and does not hold.
    """

    quality: Estimate | None
    baseline: Estimate | None
    difference: Estimate | None
    checks: tuple[Check, ...]


def problems_of(standing: Standing) -> tuple[Problem, ...]:
    """All that speaks against taking this score as it stands, the gravest first."""
    if not standing.is_scored:
        return (Problem.UNSCORED,)
    has_output = bool(standing.qualities)
    found = (
        (Problem.STALE, standing.is_stale),
        (Problem.NEW_RUNS, standing.has_new_runs),
        (Problem.NO_OUTPUT, not has_output),
        (Problem.FAILED_RUNS, has_output and standing.failed_runs > 0),
        (Problem.EXACT_ONLY, standing.is_exact_only),
    )
    return tuple(problem for problem, holds in found if holds)


def outcome_of(scenarios: Sequence[Measured], bounds: Bounds) -> Outcome:
    """What these scenarios, one or many, say together; each weighs the same."""
    models = [(1, one.qualities) for one in scenarios]
    baselines = [(1, one.baseline) for one in scenarios] if bounds.has_baseline else []
    quality = _estimate(models, len(scenarios), within=(0.0, 100.0))
    baseline = _estimate(baselines, len(scenarios), within=(0.0, 100.0))
    both = [*models, *((-1, runs) for _, runs in baselines)] if baselines else []
    difference = _estimate(both, len(scenarios), within=(-100.0, 100.0))
    return Outcome(
        quality=quality, baseline=baseline, difference=difference, checks=tuple(_checks(quality, difference, bounds))
    )


def _estimate(
    terms: Sequence[tuple[int, Sequence[float]]], scenarios: int, *, within: tuple[float, float]
) -> Estimate | None:
    """The signed sum of the runs' means over the number of scenarios; None where a term has no run.

    Its variance is the sum of the means' own, `s² / n`, since runs are independent; its degrees of freedom are those of
    Welch and Satterthwaite (Satterthwaite 1946, Biometrics Bulletin 2, 110-114; Welch 1947, Biometrika 34, 28-35). Of
    one term this is Student's interval of the mean, of two that of Welch.
    """
    means = [(sign, mean_of(runs)) for sign, runs in terms]
    known = [sign * mean for sign, mean in means if mean is not None]
    if not terms or len(known) < len(terms):
        return None
    least, most = within
    value = min(most, max(least, math.fsum(known) / scenarios))
    half = _half_width([runs for _, runs in terms])
    if half is None:
        return Estimate(value=value, interval=None)
    half /= scenarios
    return Estimate(value=value, interval=(max(least, value - half), min(most, value + half)))


def _half_width(samples: Sequence[Sequence[float]]) -> float | None:
    """Half the 95% interval of a sum or difference of these samples' means; None where one is too small."""
    if any(len(runs) < FEWEST_RUNS_FOR_INTERVAL for runs in samples):
        return None
    parts = [_variance_of_mean(runs) for runs in samples]
    total = math.fsum(parts)
    if total == 0:
        return 0.0
    freedom = 1 / math.fsum((part / total) ** 2 / (len(runs) - 1) for part, runs in zip(parts, samples, strict=True))
    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * math.sqrt(total)


def _variance_of_mean(runs: Sequence[float]) -> float:
    mean = mean_of(runs) or 0.0
    return math.fsum((one - mean) ** 2 for one in runs) / (len(runs) - 1) / len(runs)


def _checks(quality: Estimate | None, difference: Estimate | None, bounds: Bounds) -> Iterable[Check]:
    if bounds.min_quality is not None and quality is not None:
        yield _check(Bound.MIN_QUALITY, quality, bounds.min_quality, is_strict=bounds.is_strict)
    if bounds.has_baseline and difference is not None:
        yield _check(Bound.BASELINE, difference, 0.0 - bounds.margin, is_strict=bounds.is_strict)


def _check(bound: Bound, estimate: Estimate, least: float, *, is_strict: bool) -> Check:
    certainty = _certainty(estimate, least)
    is_reached = estimate.value >= least - TOLERANCE
    # A loss that could be chance is none; a quality that is reached by chance alone is reached.
    is_excused = bound is Bound.BASELINE and certainty is Certainty.UNDECIDED
    holds = certainty is Certainty.CERTAIN and is_reached if is_strict else is_reached or is_excused
    return Check(bound=bound, estimate=estimate, least=least, is_reached=is_reached, holds=holds, certainty=certainty)


def _certainty(estimate: Estimate, least: float) -> Certainty:
    if estimate.interval is None:
        return Certainty.NO_INTERVAL
    low, high = estimate.interval
    edge = least - TOLERANCE
    return Certainty.UNDECIDED if low < edge <= high else Certainty.CERTAIN
