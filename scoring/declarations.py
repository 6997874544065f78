"""What the subschemas of one place declare: properties, maps, items and tuples, texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scoring.fragments import Fragment, Option, options_of
from scoring.patterns import matches
from scoring.records import Json


def own_property(fragments: Sequence[Fragment], name: str) -> Iterator[Fragment]:
    """The declarations of this very key, patterns that also match it included."""
    declared = [fragment for fragment in fragments if name in _mapping(fragment, "properties")]
    for fragment in declared:
        child = _mapping(fragment, "properties")[name]
        yield fragment.below(child, "properties", name) or replace(fragment, schema={})
    if declared:
        yield from _by_pattern(fragments, name)


def map_property(fragments: Sequence[Fragment], name: str) -> Iterator[Fragment]:
    """The subschemas of a key that no `properties` declares: by pattern, else of all other keys."""
    matched = list(_by_pattern(fragments, name))
    yield from matched
    for fragment in fragments:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            child = fragment.schema.get(keyword)
            if not matched and isinstance(child, dict) and child:
                yield from _present(fragment.below(child, keyword))


def _by_pattern(fragments: Sequence[Fragment], name: str) -> Iterator[Fragment]:
    for fragment in fragments:
        for pattern, child in _mapping(fragment, "patternProperties").items():
            if matches(pattern, name):
                yield from _present(fragment.below(child, "patternProperties", pattern))


def tuple_length(option: Option) -> int:
    """How many positions of a list have a subschema of their own."""
    return max((len(_prefix(fragment)[1]) for fragment in option.fragments), default=0)


def _prefix(fragment: Fragment) -> tuple[str, list[Json]]:
    for keyword in ("prefixItems", "items"):
        found = fragment.schema.get(keyword)
        if isinstance(found, list):
            return keyword, found
    return "prefixItems", []


def positional(fragment: Fragment, index: int) -> Iterator[Fragment]:
    """The subschema of the item at one position of a tuple."""
    keyword, found = _prefix(fragment)
    if index < len(found):
        yield from _present(fragment.below(found[index], keyword, index))
    else:
        yield from rest_of(fragment)


def rest_of(fragment: Fragment) -> Iterator[Fragment]:
    """The subschema of all items that have none of their own."""
    keyword = "additionalItems" if isinstance(fragment.schema.get("items"), list) else "items"
    for name in (keyword, "unevaluatedItems"):
        yield from _present(fragment.below(fragment.schema.get(name), name))


def _declared_in(fragment: Fragment) -> Iterator[str]:
    for option in options_of((fragment,)):
        yield from declared_names(option)


def declared_names(option: Option) -> dict[str, None]:
    """The declared property names in the order of the schema."""
    return {name: None for fragment in option.fragments for name in _mapping(fragment, "properties")}


def _mapping(fragment: Fragment, keyword: str) -> dict[str, Json]:
    found = fragment.schema.get(keyword)
    return found if isinstance(found, dict) else {}


def is_nullable(fragments: Sequence[Fragment]) -> bool:
    """Whether null is allowed in so many words."""
    return any(_allows_null(fragment.schema) for fragment in fragments)


def _allows_null(schema: dict[str, Json]) -> bool:
    branches = [branch for keyword in ("anyOf", "oneOf") for branch in _parts(schema, keyword)]
    return (
        schema.get("nullable") is True
        or schema.get("type") == "null"
        or "null" in _parts(schema, "type")
        or None in _parts(schema, "enum")
        or any(isinstance(branch, dict) and _allows_null(branch) for branch in branches)
    )


def _parts(schema: dict[str, Json], keyword: str) -> list[Json]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def text_of(option: Option, keyword: str) -> str:
    """The nearest `title` or `description`, empty where there is none."""
    found = [fragment.schema.get(keyword) for fragment in option.fragments]
    return next((value for value in found if isinstance(value, str)), "")


def enum_values(option: Option) -> tuple[Json, ...]:
    """The allowed values of an `enum` or `const`, empty where neither is there."""
    for fragment in option.fragments:
        allowed = fragment.schema.get("enum")
        if isinstance(allowed, list):
            return tuple(allowed)
        if "const" in fragment.schema:
            return (fragment.schema["const"],)
    return ()


def _present(fragment: Fragment | None) -> Iterator[Fragment]:
    if fragment is not None:
        yield fragment


def item_names(option: Option, values: Sequence[Json]) -> list[str]:
    """The property names of the items of these lists, declared ones first."""
    declared = [name for fragment in option.fragments for child in rest_of(fragment) for name in _declared_in(child)]
    held = [name for items in values if isinstance(items, list) for item in items[:50] for name in _keys_of(item)]
    return list(dict.fromkeys([*declared, *held]))


def _keys_of(value: Json) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def keys_among(values: Sequence[Json]) -> list[str]:
    """The keys of these objects in the order they are first met."""
    return list(dict.fromkeys(name for value in values for name in _keys_of(value)))


def declares_properties(option: Option) -> bool:
    """Whether an object says which keys it has, so that any other key lies outside the schema."""
    return any(
        bool(_mapping(fragment, "properties")) or fragment.schema.get("additionalProperties") is False
        for fragment in option.fragments
    )
