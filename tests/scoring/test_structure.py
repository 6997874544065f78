"""Weights, missing and extra parts, and values of another shape (SPEC 5)."""

from __future__ import annotations

import pytest

from scoring.records import Json, Outcome, Scorecard, Side, Verdict
from tests.checker import check
from tests.solver import config_with, says, scored

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}


def obj(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


def card_of(schema: Json, reference: Json, candidate: Json) -> Scorecard:
    card = scored(schema, reference, candidate)
    check(card)
    return card


def weights(card: Scorecard) -> dict[str, tuple[float, float, float]]:
    return {
        f"{row.path}{'*' if row.side is Side.CANDIDATE else ''}": (
            round(row.reference_weight, 4),
            round(row.candidate_weight, 4),
            round(row.shared_weight, 4),
        )
        for row in card.fields
    }


def test_fields_weigh_one_or_what_is_annotated() -> None:
    schema = obj(a=TEXT, b={"type": "string", "x-assay": {"weight": 3}})
    assert weights(card_of(schema, {"a": "x", "b": "y"}, {"a": "x"})) == {"/a": (1, 1, 1), "/b": (3, 0, 0)}


def test_a_nested_object_shares_its_weight_and_an_unexpected_key_weighs_one_share() -> None:
    schema = obj(o=obj(a=TEXT, b=TEXT))
    found = card_of(schema, {"o": {"a": "x", "b": "y"}}, {"o": {"a": "x", "b": "y", "new": "z"}, "top": "t"})
    assert weights(found) == {
        "/o/a": (0.5, 0.5, 0.5),
        "/o/b": (0.5, 0.5, 0.5),
        "/o/new": (0, 0.5, 0),
        "/top": (0, 1, 0),
    }


def test_an_item_weighs_its_share_of_the_list_on_either_side() -> None:
    schema = obj(l={"type": "array", "items": TEXT})
    found = weights(card_of(schema, {"l": ["a", "b"]}, {"l": ["a", "x", "y", "z"]}))
    assert found == {
        "/l/0": (0.5, 0.5, 0.5),
        "/l/1": (0.5, 0, 0),
        "/l/1*": (0, 0.5, 0),
        "/l/2*": (0, 0.5, 0),
        "/l/3*": (0, 0.5, 0),
    }
    assert weights(card_of(schema, {}, {"l": ["a", "b"]})) == {"/l/0*": (0, 0.5, 0), "/l/1*": (0, 0.5, 0)}


def test_a_missing_object_leaves_a_row_a_leaf_and_a_missing_list_a_row_an_item() -> None:
    schema = obj(o=obj(a=TEXT, b=obj(c=TEXT)), l={"type": "array", "items": obj(k=TEXT)})
    card = card_of(schema, {"o": {"a": "x", "b": {"c": "y"}}, "l": [{"k": "p"}, {"k": "q"}]}, {})
    assert weights(card) == {"/o/a": (0.5, 0, 0), "/o/b/c": (0.5, 0, 0), "/l/0": (0.5, 0, 0), "/l/1": (0.5, 0, 0)}
    assert card.lists[0].missed == ({"k": "p"}, {"k": "q"})


def test_empty_against_empty_counts_nowhere() -> None:
    schema = obj(a=TEXT, l={"type": "array", "items": TEXT}, o=obj(b=TEXT))
    card = card_of(schema, {"a": None, "l": [], "o": {}}, {"a": "n/a", "l": [""]})
    assert card.scores.quality == 100
    assert {row.outcome for row in card.fields} == {Outcome.EMPTY}
    assert (card.lists[0].matched, card.lists[0].precision, card.lists[0].recall) == (0, 1, 1)


@pytest.mark.parametrize(
    ("reference", "candidate", "kind"),
    [("x", {"k": "x"}, "text"), ({"k": "x"}, "x", "object"), ({"k": "x"}, ["x"], "object"), ("x", ["x"], "text")],
)
def test_a_value_of_another_shape_is_one_mismatch_with_the_whole_weight(
    reference: Json, candidate: Json, kind: str
) -> None:
    card = card_of({"type": "object"}, {"a": reference}, {"a": candidate})
    assert [(row.outcome, row.kind) for row in card.fields] == [(Outcome.MISMATCH, kind)]
    assert weights(card) == {"/a": (1, 1, 1)}
    assert card.scores.quality == 0
    assert any("/a" in problem for problem in card.problems)


@pytest.mark.parametrize("candidate", ["text", 4, [{"a": "x"}]])
def test_a_root_of_another_shape_leaves_everything_missing(candidate: Json) -> None:
    card = card_of(obj(a=TEXT, b=NUMBER), {"a": "x", "b": 1}, candidate)
    assert weights(card) == {"/a": (1, 0, 0), "/b": (1, 0, 0), "*": (0, 1, 0)}


@pytest.mark.parametrize(
    ("reference", "candidate", "quality"), [("Paris", "PARIS", 100), ("Paris", "Rome", 0), (4, 4.0, 100)]
)
def test_a_root_may_be_a_single_value(reference: Json, candidate: Json, quality: float) -> None:
    assert card_of({}, reference, candidate).scores.quality == quality


def test_a_root_may_be_a_list() -> None:
    card = card_of({"type": "array", "items": TEXT}, ["a", "b"], ["b", "c"])
    assert (card.lists[0].path, card.lists[0].matched) == ("", 1)
    assert weights(card) == {"/0": (0.5, 0, 0), "/1": (0.5, 0.5, 0.5), "/1*": (0, 0.5, 0)}


def test_ignored_fields_leave_no_rows() -> None:
    schema = obj(a=TEXT, b={"type": "string", "x-assay": {"ignore": True}})
    card = card_of(schema, {"a": "x", "b": "y"}, {"a": "x", "b": "z"})
    assert [row.path for row in card.fields] == ["/a"]
    assert card_of(schema, {"a": "x"}, {"a": "x", "b": "z"}).scores.quality == 100


def test_keys_with_slashes_and_tildes_are_escaped_in_paths() -> None:
    card = card_of({"type": "object"}, {"a/b": "x", "c~d": {"e": "y"}}, {"a/b": "x", "c~d": {"e": "y"}})
    assert [row.path for row in card.fields] == ["/a~1b", "/c~0d/e"]


def test_leaves_of_a_paired_item_stand_under_the_reference_s_index() -> None:
    schema = obj(l={"type": "array", "items": obj(k=TEXT, v=NUMBER)})
    card = card_of(schema, {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}, {"l": [{"k": "b", "v": 3, "w": "!"}]})
    rows = {row.path: row for row in card.fields}
    assert rows["/l/1/v"].outcome is Outcome.MISMATCH
    assert (rows["/l/1/w"].outcome, rows["/l/1/w"].side) == (Outcome.EXTRA, Side.REFERENCE)
    assert rows["/l/0"].outcome is Outcome.MISSING
    assert {row.list_path for row in card.fields} == {"/l"}


def test_a_confirmed_extra_enters_all_totals_and_raises_the_score() -> None:
    schema = obj(a=TEXT, b=TEXT, l={"type": "array", "items": TEXT})
    reference: Json = {"a": "x", "l": ["p", "q"]}
    candidate: Json = {"a": "x", "b": "new", "l": ["p", "r"]}
    config = config_with(has_judge=True)
    plain = card_of(schema, reference, candidate)
    refused = scored(schema, reference, candidate, config=config, judge=says(Verdict.UNSURE))
    confirmed = scored(schema, reference, candidate, config=config, judge=says(Verdict.CORRECT))
    check(refused)
    check(confirmed)
    assert refused.scores == plain.scores
    assert confirmed.scores.quality > plain.scores.quality
    assert confirmed.scores.hallucination == 0
    assert confirmed.lists[0].hallucinated == ()
    assert {found.path for found in confirmed.findings} == {"/b", "/l/1"}
    assert not refused.findings


def test_neither_a_duplicate_nor_a_key_outside_the_schema_is_asked_about() -> None:
    config = config_with(has_judge=True)
    card = scored(obj(l={"type": "array", "items": TEXT}), {"l": ["a"]}, {"l": ["a", "A"], "z": "y"}, config=config)
    assert sum(row.outcome is Outcome.EXTRA for row in card.fields) == 2


def test_a_reference_that_breaks_its_schema_is_compared_as_it_is() -> None:
    card = card_of(obj(a=NUMBER), {"a": ["x"]}, {"a": ["x"]})
    assert card.scores.quality == 100
    assert any("reference breaks its schema" in problem for problem in card.problems)


def nested(value: Json, levels: int) -> Json:
    for _ in range(levels):
        value = {"k": [value]}
    return value


@pytest.mark.parametrize("levels", [40, 95, 180])
def test_values_nested_very_deep_have_a_score(levels: int) -> None:
    deep = nested("x", levels)
    assert card_of({"type": "object"}, {"a": deep}, {"a": nested("x", levels)}).scores.quality == pytest.approx(100)
    assert card_of({"type": "object"}, {"a": deep}, {"a": nested("y", levels)}).scores.quality == 0
    assert card_of({"type": "object"}, {"a": "x"}, {"a": deep}).scores.quality == 0
    assert card_of({"type": "object"}, {}, {"a": deep}).scores.quality == 0
