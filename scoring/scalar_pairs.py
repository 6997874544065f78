"""Which unequal scalars of two lists are one item: only what the ladder would match, or the judge may decide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from scoring.attempt import COSINE_DIGITS, Attempt
from scoring.guards import guard_against
from scoring.records import Cutoffs, Json, Kind
from scoring.similarity import combined_similarity
from scoring.spots import Spot
from scoring.text import normal_form
from scoring.values import free_match
from scoring.variants import is_variant

Worth = dict[tuple[int, int], float]

MOST_CROSS_CHECKS = 40_000
"""Up to this many pairs, every leftover is compared with every other by the rungs that have no key for it."""


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
    if len(left) * len(right) > MOST_CROSS_CHECKS:
        return {}
    return {(i, j): 1.0 for i, text in left for j, other in right if is_variant(text, other) is not None}


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
    if not attempt.want_texts([text for _, text in (*left, *right)]):
        return {}
    rows, columns = attempt.vectors_of([text for _, text in left]), attempt.vectors_of([text for _, text in right])
    if rows is None or columns is None:
        return {}
    cosines = np.round(rows @ columns.T, COSINE_DIGITS)
    worth: Worth = {}
    for i, j in np.argwhere(cosines >= cutoffs.undecided):
        kind = ours[left[i][0]].node.kind
        similarity = _pair_similarity(attempt, kind, cutoffs, left[i][1], right[j][1], float(cosines[i, j]))
        if similarity > 0:
            worth[left[i][0], right[j][0]] = similarity
    return worth


def _pair_similarity(attempt: Attempt, kind: Kind, cutoffs: Cutoffs, ours: str, theirs: str, cosine: float) -> float:
    """The similarity of two texts that may be one item, 0 where they may not."""
    if kind is Kind.PROSE:
        return max(cosine, 0.0)
    name = attempt.task.config.embedding_model or ""
    similarity = combined_similarity(ours, theirs, cosine, model_name=name)
    is_match = similarity >= cutoffs.same and guard_against(ours, theirs) is None
    is_undecided = similarity >= cutoffs.undecided and attempt.task.has_judge
    return max(similarity, 1e-6) if is_match or is_undecided else 0.0


def _assigned(worth: Worth) -> list[tuple[int, int]]:
    """The pairs with the greatest total worth."""
    if not worth:
        return []
    ours, theirs = sorted({i for i, _ in worth}), sorted({j for _, j in worth})
    row_at, column_at = {i: n for n, i in enumerate(ours)}, {j: n for n, j in enumerate(theirs)}
    matrix = np.zeros((len(ours), len(theirs)))
    for (i, j), value in worth.items():
        matrix[row_at[i], column_at[j]] = value
    found = zip(*linear_sum_assignment(matrix, maximize=True), strict=True)
    return [(ours[i], theirs[j]) for i, j in found if matrix[i, j] > 0]
