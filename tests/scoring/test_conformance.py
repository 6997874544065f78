import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.conformance import MAX_VIOLATIONS, violations
from scoring.errors import SchemaError
from scoring.paths import pointer_of
from scoring.quick_check import quick_check
from scoring.records import Json

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data" / "docubench"


def test_a_document_that_fits_breaks_nothing() -> None:
    schema: Json = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert violations(schema, {"a": 1, "b": 2}) == []


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "number"}, "x", '/: "x" is not of type number'),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": 1}, "/a: 1 is not of type string or null"),
        ({"items": {"enum": ["a", "b"]}}, ["c"], '/0: "c" is not one of "a", "b"'),
        ({"required": ["a"]}, {}, "/: 'a' is a required property"),
        ({"additionalProperties": False}, {"z": 1}, "('z' was unexpected)"),
        ({"pattern": "^[a-z]+$"}, "X", "does not match the pattern"),
        ({"patternProperties": {"^n": {"type": "number"}}}, {"n/1": "x"}, "/n~11: "),
        ({"type": "object"}, [1], "a list is not of type object"),
    ],
)
def test_a_violation_names_place_and_fault(schema: Json, value: Json, words: str) -> None:
    found = violations(schema, value)
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    ("items", "is_fine"),
    [
        ([1, 2], True),
        ([1, 1.0], False),
        ([True, 1], True),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], False),
        ([[], {}], True),
    ],
)
def test_unique_items_are_told_apart_as_json_values(items: list[Json], is_fine: bool) -> None:
    assert violations({"uniqueItems": True}, items) == (
        [] if is_fine else ["/: the list holds the same item more than once"]
    )


def test_ten_thousand_unique_objects_are_checked() -> None:
    assert violations({"uniqueItems": True}, [{"n": number} for number in range(10_000)]) == []


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_union_that_nothing_fits_is_said_in_json_words(keyword: str) -> None:
    assert violations({keyword: [{"type": "string"}, {"type": "number"}]}, None) == [
        "/: null fits none of the allowed forms"
    ]


def test_a_value_that_fits_two_of_one_is_said() -> None:
    assert violations({"oneOf": [{"type": "number"}, {"minimum": 0}]}, 1) == [
        "/: 1 fits more than one of the allowed forms"
    ]


def test_nullable_allows_null() -> None:
    schema: Json = {"properties": {"a": {"type": "string", "nullable": True, "enum": ["x"]}}}
    assert violations(schema, {"a": None}) == []
    assert violations({**schema, "propertyNames": True}, {"a": None}) == []
    assert violations(schema, {"a": "y"}) == ['/a: "y" is not one of "x"']


def test_the_same_fault_in_many_items_is_named_once() -> None:
    schema: Json = {"items": {"properties": {"n": {"type": "number"}}}}
    assert violations(schema, [{"n": None}] * 10_000) == ["/0/n: null is not of type number (and 9999 more like it)"]


def test_many_faults_are_cut_at_twenty() -> None:
    found = violations({"additionalProperties": {"type": "number"}}, {f"k{i}": "x" for i in range(500)})
    assert len(found) == MAX_VIOLATIONS + 1
    assert found[-1] == "and 480 more"


def test_messages_stay_short() -> None:
    assert len(violations({"type": "number"}, "x" * 1_000_000)[0]) < 300
    assert len(violations({"maxLength": 5}, "x" * 1_000_000)[0]) < 300
    assert len(violations({"uniqueItems": True}, [1, 1] * 10_000)[0]) < 300


def test_deep_nesting_is_a_finding_and_no_crash() -> None:
    schema: Json = {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}, "uniqueItems": True}}}
    value: Json = []
    for _ in range(2_000):
        value = [value]
    assert violations(schema, value) == ["/: nested too deep to be checked against the schema"]


def test_a_catastrophic_pattern_is_not_searched() -> None:
    assert violations({"pattern": "^(a+)+$"}, "a" * 60 + "b") == []


def test_a_pattern_that_python_cannot_read_is_passed_over() -> None:
    assert violations({"pattern": r"^\p{Lu}"}, "x") == []
    assert violations({"patternProperties": {"(": {"type": "number"}}}, {"a": "x"}) == []


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(SchemaError):
        violations({"type": "strng"}, 1)


def test_the_draft_decides_what_keywords_mean() -> None:
    tuple_of_one: Json = {"items": [{"type": "string"}], "additionalItems": False}
    assert violations(tuple_of_one, ["a", 1])
    old: Json = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert violations(old, 1)


SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 1, "maximum": 3},
    {"type": ["string", "null"], "minLength": 1, "maxLength": 2},
    {"enum": ["a", None, "b"]},
    {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"], "additionalProperties": False},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"type": "number"}},
    {"anyOf": [{"type": "string"}, {"type": "object", "required": ["a"]}], "allOf": [{"maxLength": 3}]},
    {"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}},
    {"items": {"type": "string", "title": "x", "x-own": 5}, "format": "date", "default": 3},
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from([1.0, 2.5, "", "a", "b", "abcd"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(st.sampled_from(SCHEMAS), VALUES)
def test_the_fast_yes_is_never_wrong(schema: dict[str, Any], value: Json) -> None:
    check = quick_check(schema)
    assert check is not None
    if check(value):
        assert jsonschema.Draft202012Validator(schema).is_valid(value)
    elif not any(isinstance(here, float) for here in _flat(value)):
        assert not jsonschema.Draft202012Validator(schema).is_valid(value)


@given(st.sampled_from(SCHEMAS), VALUES)
def test_every_place_that_the_library_names_is_named_and_no_other(schema: dict[str, Any], value: Json) -> None:
    errors = jsonschema.Draft202012Validator(schema).iter_errors(value)
    theirs = {pointer_of(error.absolute_path) or "/" for error in errors}
    ours = {words.partition(": ")[0] for words in violations(schema, value)}
    # Items with the same fault are named by their first, so ours may be fewer, and never where theirs has none.
    assert bool(ours) == bool(theirs)
    assert ours <= theirs
    assert {_shape_of(place) for place in theirs} == {_shape_of(place) for place in ours}


def _shape_of(place: str) -> str:
    return re.sub(r"/\d+", "/*", place)


def _flat(value: Json) -> list[Json]:
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else []
    return [value, *(deep for item in inner for deep in _flat(item))]


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "a"},
        {"not": {}},
        {"oneOf": [{}]},
        {"const": 1},
        {"enum": [1, True]},
        {"$ref": "#a"},
        {"items": False},
        {"$ref": "#/$defs/a", "maxLength": 3, "$defs": {"a": {}}},
        {"properties": {"a": {"if": {}}}},
        {"items": [{}]},
    ],
    ids=str,
)
def test_what_the_fast_check_does_not_know_it_leaves_alone(schema: dict[str, Any]) -> None:
    assert quick_check(schema) is None


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data stand beside the repository")
def test_all_real_outputs_are_checked_in_few_words() -> None:
    for path in sorted((SHARED / "outputs").glob("*/*.json")):
        schema = json.loads((SHARED / "schema" / path.name).read_text(encoding="utf-8"))
        found = violations(schema, json.loads(path.read_text(encoding="utf-8")).get("data"))
        assert len(found) <= MAX_VIOLATIONS + 1
        assert all(len(text) < 400 for text in found), path
