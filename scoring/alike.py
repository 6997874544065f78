"""The similarity of many texts with many others, as the embedding rung would see each pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scoring.attempt import COSINE_DIGITS, Attempt
from scoring.similarity import combined_similarity

MOST_COMBINED = 10_000
"""Up to this many pairs, what the words say beside the cosine is weighed for every pair; in longer lists only for
pairs whose cosine alone reaches the lower limit.
"""


def similarities(
    attempt: Attempt, left: Sequence[str], right: Sequence[str], context: str
) -> npt.NDArray[np.float64] | None:
    """A row for each left normal form, a column for each right one; None while a vector is open."""
    ours, theirs = attempt.vectors_of(left), attempt.vectors_of(right)
    cutoffs = attempt.task.config.cutoffs
    if ours is None or theirs is None or cutoffs is None:
        return None
    cosines: npt.NDArray[np.float64] = (ours @ theirs.T).astype(np.float64)
    found = cosines.round(COSINE_DIGITS)
    every = np.ones_like(found, dtype=bool) if found.size <= MOST_COMBINED else found >= cutoffs.undecided
    name = attempt.task.config.embedding_model or ""
    for i, j in np.argwhere(every):
        found[i, j] = combined_similarity(
            left[i], right[j], float(found[i, j]), model_name=name, context_normal=context
        )
    return found
