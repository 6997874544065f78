from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.records import Context, Cutoffs, Document, Json, Origin, ScoringConfig, Setting
from scoring.staleness import Ingredients, changes_since, content_hash, scoring_config_hash

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def config(**changes: object) -> ScoringConfig:
    cutoffs = Cutoffs(same=0.97, undecided=0.9, setting=Setting(text="strictness normal", origin=Origin.DEFAULT))
    return ScoringConfig(**({"embedding_model": "local", "cutoffs": cutoffs} | changes))  # type: ignore[arg-type]  # a table of changes


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1.0}),
        ([1e2], [100]),
        (json.loads('{"n": 9007199254740993}'), json.loads('{ "n" : 9007199254740993 }')),
    ],
)
def test_the_spelling_of_content_makes_no_difference(left: Json, right: Json) -> None:
    assert content_hash(left) == content_hash(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1, 2], [2, 1]),
        ({"a": None}, {}),
        ("1", 1),
        (True, 1),
        (9007199254740993, 9007199254740992),
        ("a\ud800", "a?"),
    ],
)
def test_different_content_has_different_hashes(left: Json, right: Json) -> None:
    assert content_hash(left) != content_hash(right)


@given(JSON)
def test_content_that_went_through_a_file_keeps_its_hash(content: Json) -> None:
    assert content_hash(json.loads(json.dumps(content, indent=3))) == content_hash(content)


def test_infinity_has_a_hash() -> None:
    assert content_hash(float("inf")) != content_hash(float("-inf"))


@pytest.mark.parametrize(
    "changed",
    [
        {"embedding_model": "other"},
        {"cutoffs": Cutoffs(same=0.98, undecided=0.9, setting=Setting(text="", origin=Origin.SCENARIO))},
        {"empty_values": ("nix",)},
        {"accepted": {"/a": ["x"]}},
        {"judge_models": ("judge",)},
        {"judge_models": ("judge",), "is_judge_swapped": True},
    ],
)
def test_each_setting_that_changes_scores_changes_the_config_hash(changed: dict[str, object]) -> None:
    schema: Json = {"type": "object"}
    assert scoring_config_hash(schema=schema, config=config(**changed)) != scoring_config_hash(
        schema=schema, config=config()
    )


def test_where_a_setting_came_from_makes_no_difference() -> None:
    moved = Cutoffs(same=0.97, undecided=0.9, setting=Setting(text="threshold 0.97", origin=Origin.SCENARIO))
    assert scoring_config_hash(schema={}, config=config(cutoffs=moved)) == scoring_config_hash(
        schema={}, config=config()
    )


def test_documents_count_only_where_a_judge_reads_them() -> None:
    before, after = (Context(documents=(Document(name="a.txt", text=text),)) for text in ("old", "new"))
    for judges, is_same in (((), True), (("judge",), False)):
        hashes = {
            scoring_config_hash(schema={}, config=config(judge_models=judges), context=context)
            for context in (before, after)
        }
        assert (len(hashes) == 1) is is_same


def test_a_stale_score_says_what_changed() -> None:
    scored = Ingredients(reference_hash="r1", config_hash="c1", runs_hash="u1")
    assert changes_since(scored, scored) == ()
    now = Ingredients(reference_hash="r2", config_hash="c2", runs_hash="u1")
    assert changes_since(scored, now) == ("reference", "scoring config")
