from __future__ import annotations

import pytest

from scoring.answer_keys import AnswerKeys
from scoring.drafts import draft_of
from scoring.item_ids import assign_item_ids
from scoring.new_items import NewItems
from scoring.records import Json
from scoring.schema import compile_schema

ROBERT: Json = {"name": "Robert Downey Jr.", "role": "actor"}
NAMELESS: Json = {"street": "Long Lane", "number": 3, "town": "Gent"}
CONTENT: Json = {"people": [ROBERT], "places": [NAMELESS], "tags": ["red"], "codes": [{"code": "A1", "name": "x"}]}
IDS = assign_item_ids(CONTENT)


def items() -> NewItems:
    return NewItems(keys=AnswerKeys(root=compile_schema({}, CONTENT), owner=draft_of(CONTENT, IDS)))


@pytest.mark.parametrize(
    ("list_path", "proposal", "is_known"),
    [
        ("/people", {"name": "robert downey jr.", "role": "producer"}, True),
        ("/people", {"name": "R. Downey Jr.", "role": "actor"}, True),
        ("/people", {"name": "Ann Lee", "role": "actor"}, False),
        ("/places", {"street": "Long Lane", "number": 3, "town": "Ghent"}, True),
        ("/places", {"street": "Short Row", "number": 8, "town": "Luik"}, False),
        ("/tags", "RED", True),
        ("/tags", "reddish", False),
        ("/codes", {"code": "a1", "name": "y"}, True),
        ("/codes", {"code": "A2", "name": "x"}, False),
        ("/nowhere", "new", False),
    ],
)
def test_an_item_that_the_owner_has_is_no_new_item(list_path: str, proposal: Json, is_known: bool) -> None:
    assert (items().path_of(list_path, proposal) in {f"{list_path}/@{IDS.get(f'{list_path}/0')}"}) == is_known


def test_the_second_proposal_of_an_item_has_the_path_of_the_first() -> None:
    known = items()
    first = known.path_of("/people", {"name": "Ann Lee", "role": "chair"})
    assert known.path_of("/people", {"name": "Lee, Ann", "role": "clerk"}) == first
    assert known.path_of("/people", {"name": "Anna Leigh"}) != first


def test_what_is_forgotten_can_be_proposed_again_under_the_same_path() -> None:
    known = items()
    first = known.path_of("/tags", "green")
    known.forget([first])
    assert known.path_of("/tags", "green") == first
