"""Lists in which order counts (SPEC 2 and 4): an alignment that keeps the order, or position by position.

A sequence is aligned so that the total likeness of its pairs is greatest while no two pairs cross; equal items have
likeness 1, and pairs below the item threshold do not count. So an item in the wrong place is one missed and one extra
item, and a dropped item does not shift the rest. A tuple (`prefixItems`) compares each position with the same one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.attempt import Attempt
from scoring.blocks import MOST_PAIRS
from scoring.likeness import Matrix, likeness
from scoring.pairing import ITEM_THRESHOLD, Candidate, Pairing, reference_keys
from scoring.scalar_pairs import worth_of_scalars
from scoring.spots import Spot

Step = tuple[int, int]

MOST_PLACES = 32
"""Where a long list is cut at equal items, an item is looked for at its first so many places."""


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
    steps = _steps(attempt, spot, candidates)
    ours, theirs = {i for i, _ in steps}, {j for _, j in steps}
    return Pairing(
        pairs=[(spot.items[i], candidates[j]) for i, j in steps],
        missed=[item for i, item in enumerate(spot.items) if i not in ours],
        extra=[candidate for j, candidate in enumerate(candidates) if j not in theirs],
    )


def _steps(attempt: Attempt, spot: Spot, candidates: Sequence[Candidate]) -> list[Step]:
    """The positions that pair. Lists too long for one matrix are cut at equal items and aligned piece by piece."""
    whole = (0, len(spot.items), 0, len(candidates))
    if len(spot.items) * len(candidates) <= MOST_PAIRS:
        return _aligned_piece(attempt, spot, candidates, whole)
    anchors = _common_subsequence(reference_keys(spot), [candidate.key for candidate in candidates])
    steps: list[Step] = []
    i, j = 0, 0
    for at, other in (*anchors, (len(spot.items), len(candidates))):
        if (at - i) * (other - j) <= MOST_PAIRS:
            steps += _aligned_piece(attempt, spot, candidates, (i, at, j, other))
        steps.append((at, other))
        i, j = at + 1, other + 1
    return steps[:-1]


def _aligned_piece(
    attempt: Attempt, spot: Spot, candidates: Sequence[Candidate], piece: tuple[int, int, int, int]
) -> list[Step]:
    """The alignment of items `i` up to `at` with candidates `j` up to `other`."""
    i, at, j, other = piece
    if i == at or j == other:
        return []
    found = _aligned(_cells(attempt, spot, range(i, at), candidates[j:other]))
    return [(i + left, j + right) for left, right in found]


def _common_subsequence(ours: Sequence[Hashable | None], theirs: Sequence[Hashable | None]) -> list[Step]:
    """A longest common subsequence of keys (Hunt and Szymanski), of a key that is very common only some places."""
    places: dict[Hashable, list[int]] = {}
    for j, key in enumerate(theirs):
        if key is not None:
            places.setdefault(key, []).append(j)
    ends: list[int] = []
    chains: list[_Link] = []
    for i, key in enumerate(ours):
        for j in reversed(places.get(key, [])[:MOST_PLACES]):
            length = bisect_left(ends, j)
            link = _Link(step=(i, j), before=chains[length - 1] if length else None)
            ends[length : length + 1] = [j]
            chains[length : length + 1] = [link]
    return _unrolled(chains[-1] if chains else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    step: Step
    before: _Link | None


def _unrolled(link: _Link | None) -> list[Step]:
    steps: list[Step] = []
    while link is not None:
        steps.append(link.step)
        link = link.before
    return steps[::-1]


def _cells(attempt: Attempt, spot: Spot, places: range, candidates: Sequence[Candidate]) -> Matrix:
    """The likeness of every item with every candidate item, 0 where the two may not be one item."""
    items = spot.items[places.start : places.stop]
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
    return _with_equal(
        matrix, reference_keys(spot)[places.start : places.stop], [candidate.key for candidate in candidates]
    )


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
