"""Which unequal scalars of two lists are one item: only what the ladder would match, or the judge may decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoring.alike import similarities
from scoring.assignment import optimal_assignment
from scoring.attempt import Attempt
from scoring.guards import guard_against
from scoring.records import Cutoffs, Json, Kind
from scoring.spots import Spot, context_of
from scoring.text import normal_form
from scoring.values import free_match
from scoring.variants import is_variant

Worth = dict[tuple[int, int], float]

MOST_CROSS_CHECKS = 40_000
"""Up to this many pairs, every leftover is compared with every other by the rungs that have no key for it."""
_LEAST_WORTH = 1e-6


def pair_scalars(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]) -> list[tuple[int, int]]:
    """Pairs of positions: first what needs no model beyond equality, then variants, then similarity."""
    pairs: list[tuple[int, int]] = []
    for step in (_free, _variants, _similar):
        left = _open_positions(len(ours), {i for i, _ in pairs})
        right = _open_positions(len(theirs), {j for _, j in pairs})
        if not left or not right:
            break
        found = _assigned(step(attempt, [ours[i] for i in left], [theirs[j] for j in right]))
        pairs += [(left[i], right[j]) for i, j in found]
    return pairs


def worth_of_scalars(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]) -> Worth:
    """All pairs of positions that may be one item, with what each is worth (0..1)."""
    return _similar(attempt, ours, theirs) | _variants(attempt, ours, theirs) | _free(attempt, ours, theirs)


def _open_positions(count: int, taken: set[int]) -> list[int]:
    return [position for position in range(count) if position not in taken]


def _free(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]) -> Worth:
    """Equal values that share no key: two notations of a date, numbers but for float noise, ambiguous readings."""
    del attempt
    if len(ours) * len(theirs) > MOST_CROSS_CHECKS:
        return {}
    return {
        (i, j): 1.0
        for i, item in enumerate(ours)
        for j, value in enumerate(theirs)
        if not isinstance(value, dict | list) and free_match(item.node.kind, item.value, value) is not None
    }


def _variants(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]) -> Worth:
    left, right = _texts(attempt, ours, theirs)
    if not left or len(left) * len(right) > MOST_CROSS_CHECKS:
        return {}
    context = context_of(ours[0].node)
    return {(i, j): 1.0 for i, text in left for j, other in right if is_variant(text, other, context) is not None}


def _texts(
    attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]
) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The positions and normal forms of what may be compared by similarity; none without an embedding model."""
    left = [
        (i, normal_form(item.value))
        for i, item in enumerate(ours)
        if isinstance(item.value, str) and (attempt.is_embedded(item.node) or attempt.is_continuous(item.node))
    ]
    right = [(j, normal_form(value)) for j, value in enumerate(theirs) if isinstance(value, str)]
    return (left, right) if left else ([], [])


def _similar(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Json]) -> Worth:
    cutoffs = attempt.task.config.cutoffs
    left, right = _texts(attempt, ours, theirs)
    if cutoffs is None or not left or not right:
        return {}
    context = context_of(ours[0].node)
    found = similarities(attempt, [text for _, text in left], [text for _, text in right], context)
    if found is None:
        return {}
    worth: Worth = {}
    for i, j in np.argwhere(found >= cutoffs.undecided):
        (at, text), (other_at, other) = left[i], right[j]
        is_prose = ours[at].node.kind is Kind.PROSE
        if is_prose or _may_be_one(attempt, cutoffs, text, other, float(found[i, j]), context):
            worth[at, other_at] = max(float(found[i, j]), _LEAST_WORTH)
    return worth


def _may_be_one(attempt: Attempt, cutoffs: Cutoffs, ours: str, theirs: str, similarity: float, context: str) -> bool:
    """Whether the embedding rung matches two texts, or a judge can be asked whether they are one."""
    if attempt.task.has_judge:
        return True
    return similarity >= cutoffs.same and guard_against(ours, theirs, context) is None


def _assigned(worth: Worth) -> list[tuple[int, int]]:
    """The pairs with the greatest total worth."""
    if not worth:
        return []
    ours, theirs = sorted({i for i, _ in worth}), sorted({j for _, j in worth})
    row_at, column_at = {i: n for n, i in enumerate(ours)}, {j: n for n, j in enumerate(theirs)}
    matrix = np.zeros((len(ours), len(theirs)))
    for (i, j), value in worth.items():
        matrix[row_at[i], column_at[j]] = value
    found = optimal_assignment(matrix)
    return [(ours[i], theirs[j]) for i, j in found if matrix[i, j] > 0]
