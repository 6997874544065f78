"""The optimal assignment: one partner for each row and column at most, with the greatest total."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def optimal_assignment(matrix: npt.NDArray[np.floating[Any]]) -> list[tuple[int, int]]:
    """Pairs (row, column) whose values have the greatest sum, rows in order, as many as the shorter side has.

    By scipy's `linear_sum_assignment`; a single row or column needs no more than its greatest value, the first of
    equal ones.
    """
    rows, columns = matrix.shape
    if rows == 1:
        return [(0, int(matrix[0].argmax()))]
    if columns == 1:
        return [(int(matrix[:, 0].argmax()), 0)]
    # Loaded here, since it takes longer than all else that one comparison of three files needs.
    from scipy.optimize import linear_sum_assignment

    ours, theirs = linear_sum_assignment(matrix, maximize=True)
    return list(zip(ours.tolist(), theirs.tolist(), strict=True))
