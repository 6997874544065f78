"""Lists in which order counts (SPEC 2 and 4): an alignment that keeps the order, or position by position.

A sequence is aligned so that the total likeness of its pairs is greatest while no two pairs cross; equal items have
likeness 1, and pairs below the item threshold do not count. So an item in the wrong place is one missed and one extra
item, and a dropped item does not shift the rest. A tuple (`prefixItems`) compares each position with the same one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoring.attempt import Attempt
from scoring.likeness import Matrix, likeness
from scoring.pairing import ITEM_THRESHOLD, Candidate, Pairing, reference_keys
from scoring.scalar_pairs import worth_of_scalars
from scoring.spots import Spot


def pair_positions(attempt: Attempt, spot: Spot, candidates: Sequence[Candidate]) -> Pairing:
    """Each position with the same position."""
    del attempt
    at = {candidate.index: candidate for candidate in candidates}
    places = {item.index for item in spot.items}
    return Pairing(
        pairs=[(item, at[item.index]) for item in spot.items if item.index in at],
        missed=[item for item in spot.items if item.index not in at],
        extra=[candidate for candidate in candidates if candidate.index not in places],
    )


def pair_sequence(attempt: Attempt, spot: Spot, candidates: Sequence[Candidate]) -> Pairing:
    """The order-keeping pairing with the greatest total likeness; of equal ones, the one that pairs earliest."""
    matrix = _cells(attempt, spot, candidates)
    steps = _aligned(matrix)
    ours, theirs = {i for i, _ in steps}, {j for _, j in steps}
    return Pairing(
        pairs=[(spot.items[i], candidates[j]) for i, j in steps],
        missed=[item for i, item in enumerate(spot.items) if i not in ours],
        extra=[candidate for j, candidate in enumerate(candidates) if j not in theirs],
    )


def _cells(attempt: Attempt, spot: Spot, candidates: Sequence[Candidate]) -> Matrix:
    """The likeness of every item with every candidate item, 0 where the two may not be one item."""
    items = spot.items
    matrix = np.zeros((len(items), len(candidates)), dtype=np.float32)
    ours = [i for i, item in enumerate(items) if not isinstance(item.value, dict | list)]
    theirs = [j for j, item in enumerate(candidates) if not isinstance(item.value, dict | list)]
    worth = worth_of_scalars(attempt, [items[i] for i in ours], [candidates[j].value for j in theirs])
    for (i, j), value in worth.items():
        matrix[ours[i], theirs[j]] = value
    whole = [i for i, item in enumerate(items) if isinstance(item.value, dict | list)]
    others = [j for j, item in enumerate(candidates) if isinstance(item.value, dict | list)]
    if whole and others:
        left, right = [items[i].value for i in whole], [candidates[j].value for j in others]
        alike = likeness(attempt, spot.node.item(0), left, right, vectors=False)
        matrix[np.ix_(whole, others)] = np.where(alike >= ITEM_THRESHOLD, alike, np.float32(0))
    return _with_equal(matrix, reference_keys(spot), [candidate.key for candidate in candidates])


def _with_equal(matrix: Matrix, ours: Sequence[object], theirs: Sequence[object]) -> Matrix:
    places: dict[object, list[int]] = {}
    for j, key in enumerate(theirs):
        if key is not None:
            places.setdefault(key, []).append(j)
    for i, key in enumerate(ours):
        matrix[i, places.get(key, [])] = 1.0
    return matrix


def _aligned(matrix: Matrix) -> list[tuple[int, int]]:
    """The pairs of the best alignment, by dynamic programming over rows."""
    rows, columns = matrix.shape
    best = np.zeros((rows + 1, columns + 1), dtype=np.float64)
    for i in range(rows):
        paired = np.where(matrix[i] > 0, best[i, :-1] + matrix[i], 0.0)
        best[i + 1, 1:] = np.maximum.accumulate(np.maximum(best[i, 1:], paired))
    steps: list[tuple[int, int]] = []
    i, j = rows, columns
    while i > 0 and j > 0:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            steps.append((i, j))
    return steps[::-1]
