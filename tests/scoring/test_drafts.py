from __future__ import annotations

import pytest

from scoring.drafts import Draft, draft_of, overlap
from scoring.item_ids import assign_item_ids
from scoring.paths import holds
from scoring.records import Json

CONTENT: Json = {"a": {"b": 1}, "text": "x", "@odd/key": 2, "people": [{"name": "Ann", "tags": ["t"]}]}
IDS = assign_item_ids(CONTENT)
ANN = f"/people/@{IDS['/people/0']}"


def draft() -> Draft:
    return draft_of(CONTENT, IDS)


@pytest.mark.parametrize(
    ("path", "value"),
    [("/a/b", 2), ("/a/new", 3), ("/new/deep/er", 4), (f"{ANN}/name", "Bea"), ("/@@odd~1key", 5), ("/text", {"c": 1})],
)
def test_a_value_is_put_where_its_path_says(path: str, value: Json) -> None:
    made = draft()
    assert made.put(path, value)
    assert (made.value(path), made.holds(path)) == (value, True)
    assert draft().content == CONTENT


@pytest.mark.parametrize("path", ["/text/below", "/people/@gone/name", "/people/7", "/people/key"])
def test_nothing_is_put_where_an_item_is_gone_or_no_object_stands(path: str) -> None:
    made = draft()
    assert not made.put(path, 1)
    assert made.content == CONTENT


def test_an_item_is_added_with_its_id_and_ids_for_its_own_lists() -> None:
    made = draft()
    assert made.add("/people", "new1", {"name": "Bea", "tags": ["u", "v"]})
    assert made.value("/people/@new1/name") == "Bea"
    assert made.item_ids["/people/1"] == "new1"
    assert {"/people/1/tags/0", "/people/1/tags/1"} <= made.item_ids.keys()
    assert not made.add("/people", "new1", {"name": "again"})


def test_a_list_is_made_where_nothing_stands_and_nowhere_else() -> None:
    made = draft()
    assert made.add("/later/list", "one", "x")
    assert made.value("/later/list") == ["x"]
    assert not made.add("/text", "one", "x")


def test_ids_below_a_replaced_value_name_what_is_there_now() -> None:
    made = draft()
    assert made.put(ANN, {"name": "Ann", "tags": ["p", "q"]})
    assert all(holds(made.content, place) for place in made.item_ids)
    assert made.item_ids["/people/0"] == IDS["/people/0"]
    assert len(made.item_ids) == 3


@pytest.mark.parametrize(
    ("left", "right", "is_overlap"),
    [("/a", "/a", True), ("/a", "/a/b", True), ("/a/b", "/a", True), ("/a", "/ab", False), ("", "/a", True)],
)
def test_paths_overlap_where_one_is_at_or_above_the_other(left: str, right: str, is_overlap: bool) -> None:
    assert overlap(left, right) == is_overlap
