"""The optimal assignment: one partner for each row and column at most, with the greatest total."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def optimal_assignment(matrix: npt.NDArray[np.floating[Any]]) -> list[tuple[int, int]]:
    """Pairs (row, column) whose values have the greatest sum, rows in order, as many as the shorter side has.

    By scipy's `linear_sum_assignment`. A single row or column needs no more than its greatest value, the first of equal
    ones; and where the greatest values of all rows, or of all columns, are in each other's way nowhere, they are it.
    """
    rows, columns = matrix.shape
    if rows == 1:
        return [(0, int(matrix[0].argmax()))]
    if columns == 1:
        return [(int(matrix[:, 0].argmax()), 0)]
    if rows <= columns and (found := _greatest_of_rows(matrix)) is not None:
        return list(enumerate(found))
    if rows >= columns and (found := _greatest_of_rows(matrix.T)) is not None:
        return sorted((row, column) for column, row in enumerate(found))
    # Loaded here, since it takes longer than all else that one comparison of three files needs.
    from scipy.optimize import linear_sum_assignment

    ours, theirs = linear_sum_assignment(matrix, maximize=True)
    return list(zip(ours.tolist(), theirs.tolist(), strict=True))


def _greatest_of_rows(matrix: npt.NDArray[np.floating[Any]]) -> list[int] | None:
    """The column of each row's greatest value; None where a row has two of them or two rows share a column.

    No assignment can have a greater sum, and none but this has the same.
    """
    best = matrix.argmax(axis=1)
    greatest = matrix[np.arange(len(matrix)), best]
    if np.unique(best).size < best.size or (matrix == greatest[:, None]).sum() > best.size:
        return None
    return [int(column) for column in best]
