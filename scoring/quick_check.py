"""A fast yes for documents that keep to a plain schema, so that the full validator only runs to name violations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scoring.records import Json

Check = Callable[[Any], bool]
"""True only where the value certainly keeps to the schema; False means that the full validator must look."""

_BEYOND = frozenset(
    {
        *("$id", "id", "$dynamicRef", "$recursiveRef", "$anchor", "patternProperties", "pattern", "propertyNames"),
        *("uniqueItems", "contains", "prefixItems", "additionalItems", "unevaluatedItems", "unevaluatedProperties"),
        *("not", "if", "dependencies", "dependentSchemas", "dependentRequired", "multipleOf", "extends", "disallow"),
        *("minProperties", "maxProperties", "minContains", "maxContains", "exclusiveMinimum", "exclusiveMaximum"),
        *("divisibleBy",),
    }
)
_BESIDE_REFERENCES = frozenset(
    {"$ref", "$schema", "$defs", "definitions", "$comment", "title", "description", "default", "examples", "x-assay"}
)
_CLASSES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}


def quick_check(schema: Json) -> Check | None:
    """A check for this schema document, None where it says more than plain types, properties, items and references."""
    try:
        return _check(schema, schema, {})
    except NotImplementedError:
        return None


def quick_checks_of_parts(schema: Json) -> Callable[[Json], Check]:
    """The check of any part of a schema document that `quick_check` has one for; each is made once."""
    made: dict[int, Check] = {}
    references: dict[int, Check] = {}

    def of(part: Json) -> Check:
        key = id(part)
        if key not in made:
            made[key] = _check(part, schema, references)
        return made[key]

    return of


def _check(schema: Json, root: Json, memo: dict[int, Check]) -> Check:
    if schema is True:
        return lambda _: True
    if not isinstance(schema, dict) or not _BEYOND.isdisjoint(schema):
        raise NotImplementedError
    if "$ref" in schema:
        return _reference(schema, root, memo)
    parts = [part for make in _MAKERS for part in make(schema, root, memo)]
    return parts[0] if len(parts) == 1 else _all(parts)


def _reference(schema: dict[str, Json], root: Json, memo: dict[int, Check]) -> Check:
    target = schema["$ref"]
    if not _BESIDE_REFERENCES.issuperset(schema) or not isinstance(target, str):
        raise NotImplementedError
    found = _local(root, target)
    key = id(found)
    if key not in memo:
        memo[key] = lambda value: memo[key](value)  # what a recursive reference meets until its own check is made
        memo[key] = _check(found, root, memo)
    return lambda value: memo[key](value)


def _local(root: Json, target: str) -> Json:
    found = root
    if target != "#" and (not target.startswith("#/") or "~" in target or "%" in target):
        raise NotImplementedError
    for step in target.split("/")[1:]:
        if not isinstance(found, dict) or step not in found:
            raise NotImplementedError
        found = found[step]
    return found


def _all(parts: list[Check]) -> Check:
    def check(value: Any) -> bool:
        for part in parts:  # noqa: SIM110 - a generator here would double the depth of the stack
            if not part(value):
                return False
        return True

    return check


def _types(schema: dict[str, Json], _root: Json, _memo: dict[int, Check]) -> list[Check]:
    named = schema.get("type")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else None
    if names is None:
        return []
    classes = frozenset(kind for name in names for kind in _CLASSES.get(str(name), ()))
    if schema.get("nullable") is True:
        classes |= {type(None)}
    return [lambda value: value.__class__ in classes]


def _values(schema: dict[str, Json], _root: Json, _memo: dict[int, Check]) -> list[Check]:
    if "const" in schema:
        raise NotImplementedError
    allowed = schema.get("enum")
    if not isinstance(allowed, list):
        return []
    if not all(isinstance(item, str) or item is None for item in allowed):
        raise NotImplementedError
    known = {*allowed, None} if schema.get("nullable") is True else set(allowed)
    return [lambda value: (value is None or value.__class__ is str) and value in known]


def _limits(schema: dict[str, Json], _root: Json, _memo: dict[int, Check]) -> list[Check]:
    checks: list[Check] = []
    for keyword, kind in (("Length", str), ("Items", list)):
        low, high = schema.get(f"min{keyword}", 0), schema.get(f"max{keyword}", math.inf)
        if f"min{keyword}" in schema or f"max{keyword}" in schema:
            checks.append(_sized(kind, low, high))
    if "minimum" in schema or "maximum" in schema:
        checks.append(_between(schema.get("minimum", -math.inf), schema.get("maximum", math.inf)))
    return checks


def _sized(kind: type[str] | type[list[Any]], low: Any, high: Any) -> Check:
    return lambda value: value.__class__ is not kind or low <= len(value) <= high


def _between(low: Any, high: Any) -> Check:
    return lambda value: value.__class__ not in (int, float) or low <= value <= high


def _properties(schema: dict[str, Json], root: Json, memo: dict[int, Check]) -> list[Check]:
    declared = schema.get("properties", {})
    required = schema.get("required", [])
    others = schema.get("additionalProperties", True)
    if not isinstance(declared, dict) or not isinstance(required, list):
        raise NotImplementedError
    if not declared and not required and others is True:
        return []
    checks = {name: _check(child, root, memo) for name, child in declared.items()}
    other = None if others is False else _check(others, root, memo)

    def check(value: Any) -> bool:
        if value.__class__ is not dict:
            return True
        for name, item in value.items():
            known = checks.get(name, other)
            if known is None or not known(item):
                return False
        return not required or all(name in value for name in required)

    return [check]


def _items(schema: dict[str, Json], root: Json, memo: dict[int, Check]) -> list[Check]:
    if "items" not in schema:
        return []
    each = _check(schema["items"], root, memo)

    def check(value: Any) -> bool:
        if value.__class__ is list:
            for item in value:
                if not each(item):
                    return False
        return True

    return [check]


def _branches(schema: dict[str, Json], root: Json, memo: dict[int, Check]) -> list[Check]:
    checks: list[Check] = []
    for keyword in ("allOf", "anyOf"):
        parts = schema.get(keyword)
        if isinstance(parts, list):
            made = [_check(part, root, memo) for part in parts]
            checks.append(_all(made) if keyword == "allOf" else _any(made))
    if "oneOf" in schema:
        raise NotImplementedError
    return checks


def _any(parts: list[Check]) -> Check:
    def check(value: Any) -> bool:
        for part in parts:  # noqa: SIM110 - a generator here would double the depth of the stack
            if part(value):
                return True
        return False

    return check


_MAKERS = (_types, _values, _limits, _properties, _items, _branches)
