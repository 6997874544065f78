from __future__ import annotations

import pytest

from scoring.answer_keys import AnswerKeys
from scoring.drafts import draft_of
from scoring.item_ids import assign_item_ids
from scoring.records import Json
from scoring.schema import compile_schema

CONTENT: Json = {"n": 5, "day": "1972-03-14", "text": "Gent", "code": "007", "o": {"x": 1, "y": None}, "l": ["a", "b"]}
SCHEMA: Json = {
    "properties": {
        "n": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "code": {"type": "string", "x-assay": {"kind": "identifier"}},
    }
}
KEYS = AnswerKeys(root=compile_schema(SCHEMA, CONTENT), owner=draft_of(CONTENT, assign_item_ids(CONTENT)))


@pytest.mark.parametrize(
    ("path", "left", "right", "is_one"),
    [
        ("/n", 7, 7.0, True),
        ("/n", 7, "7", True),
        ("/n", 1234.5, "1,234.5", True),
        ("/n", 7, 8, False),
        ("/day", "1972-03-14", "14 March 1972", True),
        ("/day", "1972-03-14", "1972-03-24", False),
        ("/text", "Brugge", " BRUGGE ", True),
        ("/text", "Brugge", "Luik", False),
        ("/code", "007", "7", False),
        ("/o", {"x": 1}, {"x": 1.0, "y": ""}, True),
        ("/o", {"x": 1}, {"x": 2}, False),
        ("/l", ["a", "b"], ["b", "a"], True),
        ("/nowhere", None, "x", False),
    ],
)
def test_values_that_the_free_rungs_find_equal_are_one_answer(path: str, left: Json, right: Json, is_one: bool) -> None:
    assert (KEYS.key(path, left) == KEYS.key(path, right)) == is_one


def test_a_value_that_equals_two_answers_is_the_owners() -> None:
    owner: Json = {"day": "2020-03-04"}
    keys = AnswerKeys(root=compile_schema(SCHEMA, owner), owner=draft_of(owner, {}))
    assert keys.key("/day", "03/04/2020") == keys.key("/day", "2020-03-04")
    assert keys.key("/day", "2020-04-03") != keys.key("/day", "2020-03-04")
