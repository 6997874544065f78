"""Kappa and alpha: published figures, and where there is none."""

from __future__ import annotations

import pytest

from resources.rater_agreement import cohens_kappa, krippendorffs_alpha


def table(*cells: tuple[str, str, int]) -> tuple[list[str], list[str]]:
    rated = [(one, other) for one, other, count in cells for _ in range(count)]
    return [one for one, _ in rated], [other for _, other in rated]


def test_kappa_is_that_of_the_textbook() -> None:
    # Fleiss, Levin and Paik (2003), table 18.1 collapsed as in 18.3: kappa .676
    first, second = table(
        ("p", "p", 75), ("p", "n", 1), ("p", "o", 4),
        ("n", "p", 5), ("n", "n", 4), ("n", "o", 1),
        ("o", "p", 0), ("o", "n", 0), ("o", "o", 10),
    )  # fmt: skip
    found = cohens_kappa(first, second)
    assert found is not None
    assert found.value == pytest.approx(0.676, abs=5e-4)
    assert found.low < found.value < found.high <= 1


@pytest.mark.parametrize(("first", "second"), [([], []), (["a"], ["a"]), (["a", "a"], ["a", "a"])])
def test_kappa_is_not_defined_where_nothing_varies(first: list[str], second: list[str]) -> None:
    assert cohens_kappa(first, second) is None
    assert krippendorffs_alpha([first, second]) is None


def test_full_agreement_is_one() -> None:
    ratings = ["a", "b", "a", "c"] * 5
    for found in (cohens_kappa(ratings, ratings), krippendorffs_alpha([ratings, ratings, ratings])):
        assert found is not None
        assert (found.value, found.high) == (pytest.approx(1), pytest.approx(1))


def test_alpha_is_that_of_its_author_and_the_same_each_time() -> None:
    # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, A: two raters, ten things, two values: .095
    ratings = [list("0100000000"), list("1110010100")]
    found = krippendorffs_alpha(ratings)
    assert found is not None
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.low <= found.value <= found.high
    assert krippendorffs_alpha(ratings) == found
