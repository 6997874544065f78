from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.errors import InputError
from scoring.records import Cutoffs, Origin
from scoring.strictness import (
    HOSTED_TABLE,
    LOCAL_MODEL,
    LOCAL_TABLE,
    StrictnessPoint,
    StrictnessTable,
    cutoffs_of,
    limits_at,
    table_as_json,
    table_for,
    table_from_json,
)


def cutoffs(**settings: object) -> Cutoffs:
    found = cutoffs_of(**({"embedding_model": "a/model"} | settings))  # type: ignore[arg-type]  # any settings
    assert found is not None
    return found


def test_normal_is_086_on_the_scale_of_hosted_models() -> None:
    assert cutoffs().same == 0.86


def test_the_local_model_has_its_own_scale() -> None:
    found = cutoffs(embedding_model=LOCAL_MODEL)
    assert (found.undecided, found.same) == (0.90, 0.97)


def test_without_an_embedding_model_there_are_no_limits() -> None:
    assert cutoffs_of(embedding_model=None) is None


def test_a_name_is_a_place_on_the_scale() -> None:
    assert cutoffs(strictness="strict").same == cutoffs(strictness=1.0).same
    assert cutoffs(strictness="lenient").same == cutoffs(strictness=0).same


def test_an_explicit_threshold_overrides_strictness_and_keeps_the_band() -> None:
    found = cutoffs(strictness="strict", threshold=0.7)
    assert (found.same, found.undecided) == (0.7, 0.62)


def test_the_setting_says_what_decided_and_where_it_stood() -> None:
    setting = cutoffs(strictness="strict", origin=Origin.SCENARIO).setting
    assert setting.origin is Origin.SCENARIO
    assert "strictness strict" in setting.text
    assert "0.93" in setting.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"strictness": 1.5},
        {"strictness": "harsh"},
        {"strictness": float("nan")},
        {"threshold": 1.2},
        {"threshold": float("nan")},
        {"undecided_from": 0.95},
        {"threshold": 0.5, "undecided_from": 0.6},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        cutoffs(**wrong)


@given(st.sampled_from([LOCAL_TABLE, HOSTED_TABLE]), st.floats(0, 1), st.floats(0, 1))
def test_stricter_is_never_laxer(table: StrictnessTable, one: float, other: float) -> None:
    low, high = limits_at(table, min(one, other)), limits_at(table, max(one, other))
    assert low.same <= high.same
    assert low.undecided <= high.undecided
    assert low.undecided <= low.same


def test_a_calibrated_table_goes_before_the_shipped_one() -> None:
    points = (
        StrictnessPoint(strictness=0, same=0.5, undecided=0.4),
        StrictnessPoint(strictness=1, same=0.7, undecided=0.6),
    )
    own = StrictnessTable(model=LOCAL_MODEL, points=points)
    assert table_for(LOCAL_MODEL, (own,)) is own
    assert cutoffs(embedding_model=LOCAL_MODEL, tables=(own,)).same == 0.6


def test_a_table_survives_json() -> None:
    assert table_from_json(json.loads(json.dumps(table_as_json(LOCAL_TABLE)))) == LOCAL_TABLE


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"model": "m"},
        {"model": "m", "points": [1]},
        {"model": "m", "points": [{"strictness": 0, "same": "high", "undecided": 0}]},
        {"model": "m", "points": [{"strictness": 0, "same": 0.5, "undecided": 0.4}]},
        {
            "model": "m",
            "points": [
                {"strictness": 0, "same": 0.9, "undecided": 0.4},
                {"strictness": 1, "same": 0.5, "undecided": 0.4},
            ],
        },
    ],
)
def test_what_is_no_table_is_refused(data: object) -> None:
    with pytest.raises(InputError):
        table_from_json(data)  # type: ignore[arg-type]  # what a file may hold
