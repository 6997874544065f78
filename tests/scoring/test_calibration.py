from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.calibration import ScoredPair, limit_rows, limits_between, strictness_table, wilson_interval
from scoring.errors import InputError


def pairs(same: list[float], other: list[float]) -> list[ScoredPair]:
    return [ScoredPair(similarity=value, is_same=True) for value in same] + [
        ScoredPair(similarity=value, is_same=False) for value in other
    ]


def test_the_interval_is_wilsons() -> None:
    low, high = wilson_interval(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)


def test_nothing_known_is_any_share() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@example(count=0, more=205)
@given(st.integers(0, 500), st.integers(1, 500))
def test_the_share_lies_in_its_interval(count: int, more: int) -> None:
    total = count + more
    low, high = wilson_interval(count, total)
    assert 0 <= low <= count / total <= high <= 1


def test_a_row_counts_what_matches_at_its_limit() -> None:
    (row,) = limit_rows(pairs([0.9, 0.8, 0.4], [0.85, 0.1]), [0.8])
    assert (row.matched, row.right) == (3, 2)
    assert row.precision == pytest.approx(2 / 3)
    assert row.recall == pytest.approx(2 / 3)


def test_the_table_takes_the_lowest_limits_that_are_precise_enough() -> None:
    table = strictness_table("m", pairs([0.9] * 100 + [0.6] * 10, [0.7] * 4 + [0.2] * 50), limits_between(0.0, 1.0))
    lenient, normal, strict = table.points
    assert (lenient.same, normal.same, strict.same) == (0.205, 0.705, 0.705)
    assert lenient.undecided <= 0.205 < normal.undecided <= 0.6


def test_too_few_pairs_make_no_table() -> None:
    with pytest.raises(InputError, match="at least 20"):
        strictness_table("m", pairs([0.9] * 30, [0.1] * 3), limits_between(0.0, 1.0))


def test_a_model_that_tells_nothing_apart_makes_no_table() -> None:
    with pytest.raises(InputError, match=r"no limit reaches"):
        strictness_table("m", pairs([0.5] * 50, [0.5] * 50), limits_between(0.0, 1.0))


def test_limits_are_a_step_apart() -> None:
    assert limits_between(0.98, 1.0) == (0.98, 0.985, 0.99, 0.995, 1.0)
