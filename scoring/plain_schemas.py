"""Schemas so plain that they need no metaschema: sure to be valid, and told so a hundred times faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scoring.records import Json

PLAIN_DRAFTS = frozenset(
    {
        "json-schema.org/draft/2020-12/schema",
        "json-schema.org/draft/2019-09/schema",
        "json-schema.org/draft-07/schema",
    }
)
_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def is_plainly_valid(schema: Json) -> bool:
    """Whether the schema is certainly valid in each of `PLAIN_DRAFTS`.

    True only where every keyword is one that those drafts read alike and its value is what they ask for; False says
    nothing.
    """
    if isinstance(schema, bool):
        return True
    return isinstance(schema, dict) and all(_is_plain(keyword, value) for keyword, value in schema.items())


def _is_plain(keyword: str, value: Json) -> bool:
    is_valid = _KEYWORDS.get(keyword)
    return keyword.startswith("x-") if is_valid is None else is_valid(value)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_anything(_value: Json) -> bool:
    return True


def _is_list(value: Json) -> bool:
    return isinstance(value, list)


def _is_type(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and _are_distinct_texts(value) and _TYPES.issuperset(map(str, value))
    return isinstance(value, str) and value in _TYPES


def _are_distinct_texts(value: Json) -> bool:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return False
    return len({str(item) for item in value}) == len(value)


def _are_named_schemas(value: Json) -> bool:
    return isinstance(value, dict) and all(map(is_plainly_valid, value.values()))


def _are_schemas(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_plainly_valid, value))


_KEYWORDS: Mapping[str, Callable[[Json], bool]] = {
    **dict.fromkeys(("$schema", "title", "description", "$comment", "format", "pattern"), _is_text),
    **dict.fromkeys(("readOnly", "writeOnly", "uniqueItems"), _is_flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("default", "const"), _is_anything),
    **dict.fromkeys(("enum", "examples"), _is_list),
    **dict.fromkeys(("items", "additionalProperties", "not"), is_plainly_valid),
    **dict.fromkeys(("anyOf", "allOf", "oneOf"), _are_schemas),
    **dict.fromkeys(("properties", "$defs", "definitions"), _are_named_schemas),
    "type": _is_type,
    "required": _are_distinct_texts,
    "$ref": _is_text,
}
