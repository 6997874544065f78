"""The similarity of many texts with many others, as the embedding rung would see each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from scoring.attempt import COSINE_DIGITS, Attempt
from scoring.similarity import combined_similarity

MOST_COMBINED = 10_000
"""Up to this many pairs, what the words say beside the cosine is weighed for every pair; in longer lists only for
pairs whose cosine alone reaches the lower limit.
"""

FEW_CELLS = 32
"""Up to this many cells, plain loops are quicker than a call for the whole matrix."""


def similarity(attempt: Attempt, left: str, right: str, context: str) -> float | None:
    """The similarity of two normal forms; None while a vector is open."""
    cosine = attempt.cosine(left, right)
    if cosine is None:
        return None
    name = attempt.task.config.embedding_model or ""
    return combined_similarity(left, right, cosine, model_name=name, context_normal=context)


def similarities(
    attempt: Attempt, left: Sequence[str], right: Sequence[str], context: str
) -> npt.NDArray[np.float64] | None:
    """A row for each left normal form, a column for each right one; None while a vector is open."""
    cutoffs = attempt.task.config.cutoffs
    found = _cosines(attempt, left, right)
    if found is None or cutoffs is None:
        return None
    lowest = -np.inf if found.size <= MOST_COMBINED else cutoffs.undecided
    name = attempt.task.config.embedding_model or ""
    for i, j in places_of(found >= lowest):
        found[i, j] = combined_similarity(
            left[i], right[j], float(found[i, j]), model_name=name, context_normal=context
        )
    return found


def _cosines(attempt: Attempt, left: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.float64] | None:
    if len(left) * len(right) <= FEW_CELLS:
        cells = [attempt.cosine(one, other) for one in left for other in right]
        return None if None in cells else np.array(cells, dtype=np.float64).reshape(len(left), len(right))
    ours, theirs = attempt.vectors_of(left), attempt.vectors_of(right)
    if ours is None or theirs is None:
        return None
    cosines: npt.NDArray[np.float64] = (ours @ theirs.T).astype(np.float64).round(COSINE_DIGITS)
    return cosines


def places_of(mask: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Row and column of every place that is set; quicker on small matrices than `numpy.argwhere`."""
    rows, columns = mask.nonzero()
    return zip(rows.tolist(), columns.tolist(), strict=True)
