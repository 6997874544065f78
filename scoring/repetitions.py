"""What several repetitions of one model on one scenario say together (SPEC 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from scoring.records import Run, RunStatus, Scorecard

CONFIDENCE = 0.95
FEWEST_RUNS_FOR_INTERVAL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """One model on one scenario over its repetitions.

    The scores are means over the scored runs, 0..100, and None where no run was scored. `interval` is the 95% t
    interval of the mean quality, kept within 0..100, None below three scored runs. `median_run` is the repetition
    whose output stands for the model. `success_rate` is the share 0..1 of recorded runs that ended well. Durations
    and costs are means over the successful runs that recorded one, None where none did: an unknown cost is not a free
    one.
    """

    runs: int
    scored_runs: int
    success_rate: float
    mean_quality: float | None
    lowest_quality: float | None
    highest_quality: float | None
    interval: tuple[float, float] | None
    median_run: int | None
    mean_completeness: float | None
    mean_correctness: float | None
    mean_hallucination: float | None
    mean_duration_seconds: float | None
    mean_cost_usd: float | None


def summarise(runs: Sequence[Run], cards: Mapping[int, Scorecard]) -> ModelSummary:
    """The summary of `runs`, all of one model and scenario; `cards` maps a repetition to its scorecard."""
    successful = [run for run in runs if run.status is RunStatus.OK]
    scores = {run.repetition: cards[run.repetition].scores for run in runs if run.repetition in cards}
    qualities = {repetition: score.quality for repetition, score in scores.items()}
    return ModelSummary(
        runs=len(runs),
        scored_runs=len(scores),
        success_rate=len(successful) / len(runs) if runs else 0.0,
        mean_quality=mean_of(qualities.values()),
        lowest_quality=min(qualities.values(), default=None),
        highest_quality=max(qualities.values(), default=None),
        interval=interval_of(list(qualities.values())),
        median_run=median_run(qualities),
        mean_completeness=mean_of(score.completeness for score in scores.values()),
        mean_correctness=mean_of(score.correctness for score in scores.values()),
        mean_hallucination=mean_of(score.hallucination for score in scores.values()),
        mean_duration_seconds=mean_of(run.duration_seconds for run in successful),
        mean_cost_usd=mean_of(run.cost_usd for run in successful),
    )


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known, None where none is. Never outside the values' own range."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return min(max(math.fsum(known) / len(known), min(known)), max(known))


def interval_of(qualities: Sequence[float]) -> tuple[float, float] | None:
    """The 95% Student t interval of the mean quality within 0..100, None below three values (SPEC 5)."""
    count = len(qualities)
    if count < FEWEST_RUNS_FOR_INTERVAL:
        return None
    mean = math.fsum(qualities) / count
    variance = math.fsum((quality - mean) ** 2 for quality in qualities) / (count - 1)
    half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2)) * math.sqrt(variance / count)
    return max(0.0, mean - half), min(100.0, mean + half)


def median_run(qualities: Mapping[int, float]) -> int | None:
    """The repetition of median quality: the lower of two middle ones, the earlier of equals (SPEC 5)."""
    if not qualities:
        return None
    ordered = sorted(qualities, key=lambda repetition: (qualities[repetition], repetition))
    return ordered[(len(ordered) - 1) // 2]
