"""How far an embedding model can be trusted: labelled pairs give precision and recall per limit, and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.errors import InputError
from scoring.guards import guard_against
from scoring.records import Vector
from scoring.similarity import combined_similarity
from scoring.strictness import StrictnessPoint, StrictnessTable
from scoring.variants import is_variant

Z_95 = 1.959964
WANTED_PRECISION: dict[float, float] = {0.0: 0.95, 0.5: 0.98, 1.0: 0.99}
"""The precision that each strictness asks for; 0.98 at `normal` is SPEC 3's."""
RARELY_SAME = 0.10
LEAST_PAIRS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two texts in normal form and whether people call them the same; `context` is what the field itself says."""

    reference: str
    candidate: str
    is_same: bool
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPair:
    """What people say of a pair, and its similarity; 1 where a free rung matched, -1 where a guard forbade a match."""

    similarity: float
    is_same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRow:
    """What happens at one limit. `matched` pairs have at least this similarity, `right` of them are the same.

    Precision and recall lie in 0..1 (1 where nothing matched, or nothing is the same), each with its 95% interval.
    """

    limit: float
    matched: int
    right: int
    precision: float
    precision_interval: tuple[float, float]
    recall: float
    recall_interval: tuple[float, float]


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """The 95% interval of a share `count / total` in 0..1 (Wilson 1927); (0, 1) for an empty total."""
    if total == 0:
        return 0.0, 1.0
    share, z2 = count / total, Z_95**2
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z_95 * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    # Rounding may move an end past the share itself, which lies at an end for no hit and for nothing but hits.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def texts_to_embed(pairs: Sequence[LabelledPair]) -> tuple[str, ...]:
    """The distinct texts of the pairs that only similarity can decide."""
    undecided = [pair for pair in pairs if _decided(pair) is None]
    return tuple(dict.fromkeys(text for pair in undecided for text in (pair.reference, pair.candidate)))


def scored_pairs(
    pairs: Sequence[LabelledPair], vectors: Mapping[str, Vector], model_name: str
) -> tuple[ScoredPair, ...]:
    """Each pair with its similarity under this model; `vectors` holds what `texts_to_embed` named."""
    return tuple(ScoredPair(similarity=_similarity(pair, vectors, model_name), is_same=pair.is_same) for pair in pairs)


def _similarity(pair: LabelledPair, vectors: Mapping[str, Vector], model_name: str) -> float:
    decided = _decided(pair)
    if decided is not None:
        return decided
    cosine = float(vectors[pair.reference] @ vectors[pair.candidate])
    return combined_similarity(
        pair.reference, pair.candidate, cosine, model_name=model_name, context_normal=pair.context
    )


def _decided(pair: LabelledPair) -> float | None:
    """1 for what matches without any model, -1 for what a guard keeps from matching, else None."""
    if pair.reference == pair.candidate or is_variant(pair.reference, pair.candidate, pair.context):
        return 1.0
    return None if guard_against(pair.reference, pair.candidate, pair.context) is None else -1.0


def limit_rows(pairs: Sequence[ScoredPair], limits: Sequence[float]) -> tuple[LimitRow, ...]:
    """One row a limit, in rising order of the limits."""
    same = sum(pair.is_same for pair in pairs)
    return tuple(_row(pairs, limit, same) for limit in sorted(limits))


def _row(pairs: Sequence[ScoredPair], limit: float, same: int) -> LimitRow:
    matched = [pair.is_same for pair in pairs if pair.similarity >= limit]
    right = sum(matched)
    return LimitRow(
        limit=limit,
        matched=len(matched),
        right=right,
        precision=right / len(matched) if matched else 1.0,
        precision_interval=wilson_interval(right, len(matched)),
        recall=right / same if same else 1.0,
        recall_interval=wilson_interval(right, same),
    )


def limits_between(low: float, high: float, *, step: float = 0.005) -> tuple[float, ...]:
    """The limits from `low` to `high`, both included, a step apart and rounded to six digits."""
    count = round((high - low) / step)
    return tuple(round(low + place * step, 6) for place in range(count + 1))


def strictness_table(model: str, pairs: Sequence[ScoredPair], limits: Sequence[float]) -> StrictnessTable:
    """The table of a model that these pairs give.

    `same` at each strictness is the lowest limit from which on every limit holds the wanted precision (0.95, 0.98 and
    0.99 for lenient, normal and strict). `undecided` is the highest limit below which fewer than one pair in ten is the
    same, and never above `same`. Raises InputError with fewer than 20 pairs of either kind, or where no limit is
    precise enough.
    """
    same = sum(pair.is_same for pair in pairs)
    if min(same, len(pairs) - same) < LEAST_PAIRS:
        raise InputError(
            f"{same} pairs are the same and {len(pairs) - same} are not",
            where="labelled pairs",
            remedy=f"Label at least {LEAST_PAIRS} of each kind",
        )
    rows = limit_rows(pairs, limits)
    undecided = _undecided_limit(pairs, [row.limit for row in rows])
    points = []
    for strictness, wanted in WANTED_PRECISION.items():
        limit = _lowest_precise(rows, wanted)
        points.append(StrictnessPoint(strictness=strictness, same=limit, undecided=min(undecided, limit)))
    return StrictnessTable(model=model, points=tuple(points))


def _lowest_precise(rows: Sequence[LimitRow], wanted: float) -> float:
    found = None
    for row in reversed(rows):
        if row.matched and row.precision < wanted:
            break
        if row.matched:
            found = row.limit
    if found is None:
        best = max(rows, key=lambda row: row.precision if row.matched else -1.0)
        raise InputError(
            f"no limit reaches a precision of {wanted:g}; the best is {best.precision:.3f} at {best.limit:g}",
            where="labelled pairs",
            remedy="Use a better embedding model, or check the labels of the pairs that match wrongly",
        )
    return found


def _undecided_limit(pairs: Sequence[ScoredPair], limits: Sequence[float]) -> float:
    """The highest limit below which fewer than one pair in ten is the same; the lowest limit where none is."""
    found = limits[0]
    for limit in limits:
        below = [pair.is_same for pair in pairs if -1 < pair.similarity < limit]
        if below and sum(below) / len(below) >= RARELY_SAME:
            break
        found = limit
    return found
