from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.item_ids import assign_item_ids, complete_item_ids, new_item_id
from scoring.paths import resolve
from scoring.records import Json
from scoring.schema import compile_schema
from scoring.spots import MAX_DEPTH

ANN: Json = {"name": "Ann Lee", "role": "chair", "since": 2001}
BOB: Json = {"name": "Bob Ray", "role": "clerk", "since": 2009}
CY: Json = {"name": "Cy Orr", "role": "cook", "since": 2015}


def follow(before: Json, after: Json, schema: Json = True) -> list[int | None]:
    """For each item of the list after, the position in the list before whose id it has."""
    node = compile_schema(schema, before)
    old = assign_item_ids(before, node)
    new = assign_item_ids(after, node, (before, old))
    places = {item_id: int(place[1:]) for place, item_id in old.items() if place.count("/") == 1}
    return [places.get(new[f"/{index}"]) for index in range(len(after))]  # type: ignore[arg-type]  # a list


@pytest.mark.parametrize(
    ("before", "after", "origins"),
    [
        ([ANN, BOB], [BOB, ANN], [1, 0]),
        ([ANN, BOB], [ANN, CY, BOB], [0, None, 1]),
        ([ANN, BOB, CY], [CY], [2]),
        ([ANN, BOB], [{**BOB, "role": "guard"}, ANN], [1, 0]),  # type: ignore[dict-item]  # an object
        ([ANN, BOB], [{**BOB, "name": "Robert Ray"}, ANN], [1, 0]),  # type: ignore[dict-item]  # an object
        ([ANN, BOB], [{**BOB, "name": "Zed"}, {**ANN, "since": 2002}], [1, 0]),  # type: ignore[dict-item]  # objects
        (["red", "dark blue"], ["green", "red"], [None, 0]),
        (["red", "dark blue"], ["deep dark blue", "red"], [1, 0]),
        (["a", "a", "b"], ["a", "a", "b"], [0, 1, 2]),
        ([1, 2, 3], [3, 1], [2, 0]),
        ([[1, 2], [3, 4]], [[3, 4], [1, 2, 5]], [1, 0]),
        ([None, "x"], ["x", None], [1, 0]),
        ([], ["x"], [None]),
    ],
)
def test_an_item_that_is_moved_or_edited_keeps_its_id(before: Json, after: Json, origins: list[int | None]) -> None:
    assert follow(before, after) == origins


KEYED: Json = {"type": "array", "x-assay": {"key": ["id"]}, "items": {"type": "object"}}


@pytest.mark.parametrize(
    ("before", "after", "origins"),
    [
        ([{"id": 1, "of": "a"}, {"id": 2, "of": "b"}], [{"id": 2, "of": "a"}, {"id": 1, "of": "b"}], [1, 0]),
        ([{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}], [{"id": 9, "name": "Bob"}], [1]),
        ([{"id": 1, "a": 1, "b": 2}, {"id": 2, "a": 3, "b": 4}], [{"id": 7, "a": 3, "b": 4}], [1]),
    ],
)
def test_the_key_comes_first_and_may_be_edited_itself(before: Json, after: Json, origins: list[int | None]) -> None:
    assert follow(before, after, KEYED) == origins


def test_a_sequence_is_followed_by_content_too() -> None:
    assert follow(["one", "two"], ["two", "one"], {"type": "array", "x-assay": {"list": "sequence"}}) == [1, 0]


def test_items_of_nested_lists_are_followed_with_their_item() -> None:
    before: Json = {"teams": [{"name": "A", "people": ["Ann", "Bob"]}, {"name": "B", "people": ["Bob"]}]}
    after: Json = {"teams": [{"name": "B", "people": ["Dee", "Bob"]}, {"name": "A", "people": ["Bob", "Ann"]}]}
    old = assign_item_ids(before)
    new = assign_item_ids(after, None, (before, old))
    assert new["/teams/0/people/1"] == old["/teams/1/people/0"]
    assert new["/teams/1/people/0"] == old["/teams/0/people/1"]
    assert new["/teams/0"] == old["/teams/1"]


def test_an_item_that_comes_back_has_the_id_it_had() -> None:
    first = assign_item_ids([ANN, BOB])
    without = assign_item_ids([ANN], None, ([ANN, BOB], first))
    assert assign_item_ids([BOB, ANN], None, ([ANN], without)) == {"/0": first["/1"], "/1": first["/0"]}


def test_copies_have_ids_of_their_own() -> None:
    ids = assign_item_ids(["x", "x", "x"])
    assert len(set(ids.values())) == 3
    assert ids["/0"] == new_item_id("x")


def test_ids_do_not_depend_on_how_a_number_is_spelt() -> None:
    assert assign_item_ids([{"n": 1.0}]) == assign_item_ids([json.loads('{"n": 1}')])


def test_only_items_without_an_id_are_completed() -> None:
    assert complete_item_ids(["x", "y"], {"/0": "mine"}) == {"/0": "mine", "/1": new_item_id("y")}
    assert complete_item_ids(["x", "x"], {"/1": new_item_id("x")})["/0"] != new_item_id("x")


def test_lists_nested_very_deep_have_no_ids() -> None:
    deep: Json = "end"
    for _ in range(300):
        deep = [deep]
    assert len(assign_item_ids(deep, None, (deep, {}))) == MAX_DEPTH


def test_many_items_are_followed_in_little_time() -> None:
    before: list[Json] = [f"item {n}" for n in range(3000)]
    after = [*before[1500:], *(f"new thing {n * n}" for n in range(1500))]
    assert follow(before, after)[:1500] == list(range(1500, 3000))


SCALARS = st.sampled_from(["red", "dark red", "Red", "blue", 1, 2.5, True, None, ""])
OBJECTS = st.dictionaries(st.sampled_from(["name", "id", "x"]), SCALARS | st.lists(SCALARS, max_size=3), max_size=3)
LISTS = st.lists(SCALARS | OBJECTS | st.lists(SCALARS, max_size=2), max_size=6)
MANY = settings(max_examples=300, deadline=None)


@MANY
@given(LISTS, LISTS)
def test_every_item_has_an_id_unique_among_its_siblings(before: Json, after: Json) -> None:
    ids = assign_item_ids(after, None, (before, assign_item_ids(before)))
    siblings = [(place.rpartition("/")[0], item_id) for place, item_id in ids.items()]
    assert len(set(siblings)) == len(siblings)
    assert ids.keys() == complete_item_ids(after, {}).keys()
    assert all(isinstance(resolve(after, place.rpartition("/")[0]), list) for place in ids)


@MANY
@given(LISTS)
def test_an_unchanged_list_keeps_all_its_ids(content: Json) -> None:
    ids = assign_item_ids(content)
    assert assign_item_ids(content, None, (content, ids)) == ids


DISTINCT: list[Json] = [ANN, BOB, CY, {"id": 3}, "red", "azure", "", 1, 2.5, True, None, ["x"], [1, 2], []]


@MANY
@given(st.permutations(range(len(DISTINCT))), st.integers(0, len(DISTINCT)))
def test_distinct_items_keep_their_ids_in_any_order(order: list[int], kept: int) -> None:
    ids = assign_item_ids(DISTINCT)
    moved = assign_item_ids([DISTINCT[position] for position in order[:kept]], None, (DISTINCT, ids))
    assert [moved[f"/{index}"] for index in range(kept)] == [ids[f"/{position}"] for position in order[:kept]]
