"""A schema that passes as plain is one that the metaschemas accept; everything else is left to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft201909Validator, Draft202012Validator

from scoring.plain_schemas import is_plainly_valid

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"
VALIDATORS = (Draft7Validator, Draft201909Validator, Draft202012Validator)
KEYWORDS = [
    *("$schema", "$id", "$ref", "$defs", "definitions", "title", "format", "type", "properties", "required", "enum"),
    *("items", "prefixItems", "additionalProperties", "anyOf", "allOf", "not", "const", "default", "examples"),
    *(
        "minimum",
        "exclusiveMinimum",
        "minLength",
        "maxItems",
        "multipleOf",
        "uniqueItems",
        "readOnly",
        "x-assay",
        "other",
    ),
]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.5, -1.5])
    | st.sampled_from(["string", "number", "array", "", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYWORDS), values, max_size=5))
def test_what_passes_as_plain_is_valid_in_every_plain_draft(schema: dict[str, Any]) -> None:
    if is_plainly_valid(schema):
        for validator in VALIDATORS:
            assert validator(validator.META_SCHEMA).is_valid(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": ["string", "null"], "format": "date", "description": "d", "x-assay": {"kind": "date"}},
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"enum": [1, "x", None]}, "b": {"$ref": "#/$defs/b"}},
        },
        {"type": "array", "items": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}, "minItems": 1},
    ],
)
def test_common_schemas_pass_as_plain(schema: Any) -> None:
    assert is_plainly_valid(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objet"},
        {"type": []},
        {"type": ["string", "string"]},
        {"required": ["a", "a"]},
        {"required": "a"},
        {"properties": []},
        {"properties": {"a": 5}},
        {"items": [{}]},
        {"anyOf": []},
        {"exclusiveMinimum": True},
        {"minLength": -1},
        {"unheard_of": 1},
        [],
        "object",
        None,
    ],
)
def test_whatever_is_wrong_or_rare_is_left_to_the_metaschema(schema: Any) -> None:
    assert not is_plainly_valid(schema)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
def test_most_real_schemas_pass_as_plain() -> None:
    schemas = [json.loads(path.read_text()) for path in sorted((SHARED / "docubench/schema").glob("*.json"))]
    assert sum(map(is_plainly_valid, schemas)) > 0.8 * len(schemas) > 0
