from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.edits import Edit, Snapshot
from scoring.finding_log import saved_paths
from scoring.item_ids import assign_item_ids
from scoring.owners_part import changes_between, untouched, value_at, without_edits
from scoring.placed_values import with_value, without_value
from scoring.records import Evidence, Json
from scoring.staleness import content_hash

OWNER: Json = {"year": 1942, "cast": [{"name": "Ilsa"}, {"name": "Rick"}], "place": None}


def snapshot(content: Json, before: Snapshot | None = None) -> Snapshot:
    previous = None if before is None else (before.content, before.item_ids)
    return Snapshot(content=content, item_ids=assign_item_ids(content, None, previous))


def edit(path: str, before: Json, after: Json, *, is_addition: bool = False) -> Edit:
    return Edit(
        path=path,
        before=before,
        after=after,
        evidence=Evidence.BETTER,
        model_ids=("m",),
        round_id=1,
        finding_ids=(1,),
        is_addition=is_addition,
    )


def edited() -> tuple[Snapshot, Snapshot, tuple[Edit, ...]]:
    """The owner's version, the same with three automatic edits, and those."""
    owner = snapshot(OWNER)
    content: Any = deepcopy(OWNER)
    content["year"] = 1943
    content["cast"].append({"name": "Sam", "plays": "piano"})
    content["place"] = {"city": "Casablanca"}
    version = snapshot(content, owner)
    new = f"/cast/@{version.item_ids['/cast/2']}"
    edits = (
        edit("/year", 1942, 1943),
        edit(new, None, {"name": "Sam", "plays": "piano"}, is_addition=True),
        edit("/place/city", None, "Casablanca"),
    )
    return owner, version, edits


def test_without_its_edits_a_version_is_its_owners_part() -> None:
    owner, version, edits = edited()
    assert without_edits(version, edits, owner).content == {"year": 1942, "cast": OWNER["cast"]}  # type: ignore[index, call-overload]  # an object
    assert without_edits(version, (), owner) == version


def test_what_a_save_changed_is_the_owners_and_what_it_left_stays_automatic() -> None:
    owner, version, edits = edited()
    saved = snapshot(with_value(version, "/cast/2/plays", "the piano"), version)
    changes = changes_between(version, saved)
    assert [change.after for change in changes] == ["the piano"]
    kept = untouched(edits, changes)
    assert [one.path for one in kept] == ["/year", "/place/city"]
    part = without_edits(saved, kept, owner)
    assert value_at(part, edits[1].path) == {"name": "Sam", "plays": "the piano"}
    assert value_at(part, "/year") == 1942


def test_moved_items_are_no_change_and_lost_ones_are() -> None:
    before = snapshot(OWNER)
    cast = OWNER["cast"]  # type: ignore[index, call-overload]  # an object
    moved = snapshot({**OWNER, "cast": cast[::-1]}, before)  # type: ignore[dict-item, index]  # an object
    assert changes_between(before, moved) == ()
    fewer = snapshot({**OWNER, "cast": cast[:1]}, before)  # type: ignore[dict-item, index]  # an object
    (lost,) = changes_between(before, fewer)
    assert (lost.path, lost.before, lost.after) == (f"/cast/@{before.item_ids['/cast/1']}", {"name": "Rick"}, None)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab@/~", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab@/~", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300)
@given(before=VALUES, after=VALUES)
def test_there_is_no_change_exactly_where_nothing_differs_but_order(before: Json, after: Json) -> None:
    old = snapshot(before)
    new = snapshot(after, old)
    if content_hash(before) == content_hash(after):
        assert changes_between(old, new) == ()
    assert bool(saved_paths(new, old)) <= bool(changes_between(old, new))


@settings(max_examples=200)
@given(content=VALUES)
def test_taking_back_nothing_leaves_the_version_as_it_is(content: Json) -> None:
    version = snapshot(content)
    assert without_edits(version, (), version) == version


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("/year", 1943, {"year": 1943}),
        ("/place/city", "X", {"place": {"city": "X"}}),
        ("/cast/-", {"name": "Sam"}, {"cast": [{"name": "Ilsa"}, {"name": "Rick"}, {"name": "Sam"}]}),
        ("/cast/0/name", "I", {"cast": [{"name": "I"}, {"name": "Rick"}]}),
        ("/new/-", 1, {"new": [1]}),
        ("/@odd~1key", 1, {"@odd/key": 1}),
    ],
)
def test_a_value_is_set_where_its_owner_says(path: str, value: Json, expected: dict[str, Json]) -> None:
    before = deepcopy(OWNER)
    assert with_value(snapshot(OWNER), path, value) == {**OWNER, **expected}  # type: ignore[dict-item]  # an object
    assert before == OWNER


@pytest.mark.parametrize("path", ["/year/deeper", "/cast/2", "/cast/x", "/cast/01"])
def test_a_place_that_cannot_be_is_named(path: str) -> None:
    with pytest.raises(KeyError, match=r"year|cast"):
        with_value(snapshot(OWNER), path, 1)


def test_what_is_taken_away_is_gone_and_only_what_is_there_can_be() -> None:
    version = snapshot(OWNER)
    stable = f"/cast/@{version.item_ids['/cast/0']}"
    assert without_value(version, stable) == {**OWNER, "cast": [{"name": "Rick"}]}  # type: ignore[dict-item]  # an object
    with pytest.raises(KeyError, match="nothing stands at /gone"):
        without_value(version, "/gone")
