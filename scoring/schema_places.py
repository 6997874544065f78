"""Every place of a schema document, checked before anything is compared."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.annotations import annotation_of
from scoring.fragments import REFERENCES, Fragment, resolved

_ONE = (
    *("additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "items", "contains"),
    *("propertyNames", "if", "then", "else", "not", "contentSchema"),
)
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")


def check_places(root: Fragment) -> None:
    """Raises SchemaError, naming the pointer, for a reference that leads nowhere or a wrong annotation anywhere."""
    waiting = [root]
    while waiting:
        fragment = waiting.pop()
        annotation_of(fragment.schema, fragment.pointer)
        for keyword in REFERENCES:
            if keyword in fragment.schema:
                resolved(fragment, keyword)
        waiting += [child for child in _children(fragment) if child is not None]


def _children(fragment: Fragment) -> Iterator[Fragment | None]:
    schema = fragment.schema
    for keyword in _ONE:
        yield fragment.below(schema.get(keyword), keyword)
    for keyword in _MANY:
        parts = schema.get(keyword)
        if isinstance(parts, list):
            yield from (fragment.below(part, keyword, index) for index, part in enumerate(parts))
    for keyword in _NAMED:
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (fragment.below(part, keyword, name) for name, part in named.items())
