"""The optimal assignment against trying every one."""

import subprocess
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scoring.assignment import optimal_assignment

MATRICES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


def best_total(matrix: np.ndarray) -> float:
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.T
    rows = range(matrix.shape[0])
    return max(
        sum(matrix[i, j] for i, j in zip(rows, js, strict=True))
        for js in permutations(range(matrix.shape[1]), len(rows))
    )


@given(MATRICES)
def test_no_other_assignment_has_a_greater_total(matrix: np.ndarray) -> None:
    pairs = optimal_assignment(matrix)
    assert sum(matrix[i, j] for i, j in pairs) == pytest.approx(best_total(matrix))


@given(MATRICES)
def test_every_row_and_column_has_one_partner_at_most(matrix: np.ndarray) -> None:
    pairs = optimal_assignment(matrix)
    rows, columns = zip(*pairs, strict=True)
    assert len(pairs) == min(matrix.shape) == len(set(rows)) == len(set(columns))
    assert list(rows) == sorted(rows)


def test_of_equal_values_in_a_single_row_the_first_is_taken() -> None:
    assert optimal_assignment(np.array([[0.5, 1.0, 1.0]])) == [(0, 1)]
    assert optimal_assignment(np.array([[0.5], [0.5]])) == [(0, 0)]


@given(
    st.permutations(range(4)).flatmap(
        lambda order: st.tuples(st.just(order), arrays(np.float64, (3, 4), elements=st.floats(0, 0.9)))
    )
)
def test_values_that_are_the_greatest_of_their_rows_and_columns_are_taken(given_: tuple[list[int], np.ndarray]) -> None:
    order, matrix = given_
    for row in range(3):
        matrix[row, order[row]] = 1.0
    assert optimal_assignment(matrix) == [(row, order[row]) for row in range(3)]
    assert optimal_assignment(matrix.T) == sorted((order[row], row) for row in range(3))


def test_scipy_is_loaded_only_where_items_compete() -> None:
    code = (
        "import sys, numpy as np; from scoring.assignment import optimal_assignment as best;"
        "best(np.array([[0.9, 0.1], [0.2, 0.8]])); assert 'scipy' not in sys.modules;"
        "best(np.array([[0.9, 0.8], [0.8, 0.1]])); assert 'scipy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
