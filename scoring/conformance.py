"""Whether documents keep to a schema, and whether a schema's own places are in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend as _extend

from scoring.annotations import annotation_of
from scoring.dialects import dialect_of
from scoring.fragments import Fragment, resolved
from scoring.paths import pointer_of
from scoring.patterns import matches
from scoring.records import Json

Checker = Callable[[Json], list[str]]

MAX_VIOLATIONS = 20
_checking_class: Any = _extend  # the library leaves it untyped
_SHOWN = 160


def violations(schema: Json, value: Json) -> list[str]:
    """What in `value` breaks the schema, in words with the JSON Pointer; at most 20, then how many more there are.

    Formats are not checked, nor patterns that Python cannot search safely. Never raises for a value; a schema that is
    none raises SchemaError.
    """
    return checker_of(schema)(value)


def checker_of(schema: Json) -> Checker:
    """`violations` for one schema, made ready once."""
    return _checker(json.dumps(schema))


@lru_cache(maxsize=64)
def _checker(schema_text: str) -> Checker:
    schema = json.loads(schema_text)
    base, _ = dialect_of(schema)
    validator = _checking_class(base, {"pattern": _pattern})(_nullable(schema))

    def check(value: Json) -> list[str]:
        found: list[str] = []
        more = 0
        try:
            for error in validator.iter_errors(value):
                if len(found) < MAX_VIOLATIONS:
                    found.append(f"{pointer_of(error.absolute_path) or '/'}: {error.message[:_SHOWN]}")
                else:
                    more += 1
        except RecursionError:
            found.append("/: nested too deep to be checked against the schema")
        return [*found, f"and {more} more"] if more else found

    return check


def check_places(root: Fragment) -> None:
    """Walks every subschema once; raises SchemaError for an unresolvable reference or a wrong annotation."""
    for fragment in _places(root):
        annotation_of(fragment.schema, fragment.pointer)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in fragment.schema:
                resolved(fragment, keyword)


_ONE = ("additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems", "items", "contains")
_ONE_MORE = ("propertyNames", "if", "then", "else", "not", "contentSchema")
_MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")


def _places(root: Fragment) -> Iterator[Fragment]:
    waiting = [root]
    while waiting:
        fragment = waiting.pop()
        yield fragment
        waiting += [child for child in _children(fragment) if child is not None]


def _children(fragment: Fragment) -> Iterator[Fragment | None]:
    schema = fragment.schema
    for keyword in (*_ONE, *_ONE_MORE):
        yield fragment.below(schema.get(keyword), keyword)
    for keyword in _MANY:
        parts = schema.get(keyword)
        if isinstance(parts, list):
            yield from (fragment.below(part, keyword, index) for index, part in enumerate(parts))
    for keyword in _NAMED:
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (fragment.below(part, keyword, name) for name, part in named.items())


def _pattern(_validator: Any, pattern: Any, value: Json, _schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and isinstance(pattern, str) and matches(pattern, value) is False:
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _nullable(schema: Json) -> Json:
    return schema
