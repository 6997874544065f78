"""Whether a document keeps to a schema, said in words for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend as _extend

from scoring.dialects import dialect_of
from scoring.paths import pointer_of
from scoring.patterns import matches
from scoring.quick_check import Check, quick_check, quick_checks_of_parts
from scoring.records import Json

Checker = Callable[[Json], list[str]]

MAX_VIOLATIONS = 20
_MAX_COUNTED = 100_000
_SHOWN = 80
_checking_class: Any = _extend  # the library leaves it untyped


def violations(schema: Json, value: Json) -> list[str]:
    """What in `value` breaks the schema, in words with the JSON Pointer; at most 20, then how many more there are.

    The same fault in many items of a list is named once and counted. Formats are not checked, nor patterns that cannot
    be searched safely. Never raises for a value; a schema that is none raises SchemaError.
    """
    return checker_of(schema)(value)


def checker_of(schema: Json) -> Checker:
    """`violations` for one schema, made ready once and kept."""
    return _checker(json.dumps(schema))


@lru_cache(maxsize=64)
def _checker(schema_text: str) -> Checker:
    schema = json.loads(schema_text)
    base, _ = dialect_of(schema)
    keywords = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
        "type": _type(base),
        "enum": _enum(base),
    }
    is_fine = quick_check(schema)
    if is_fine is not None:
        check_of = quick_checks_of_parts(schema)
        keywords |= {"properties": _properties(check_of), "items": _items(check_of)}
    validator = _checking_class(base, keywords)(schema)

    def check(value: Json) -> list[str]:
        try:
            return [] if is_fine is not None and is_fine(value) else _named(validator.iter_errors(value))
        except RecursionError:
            return ["/: nested too deep to be checked against the schema"]

    return check


def _named(errors: Iterator[Any]) -> list[str]:
    first: dict[tuple[str, str], str] = {}
    counts: dict[tuple[str, str], int] = {}
    for number, error in enumerate(errors):
        steps = list(error.absolute_path)
        message = _message(error)
        key = (pointer_of("*" if isinstance(step, int) else step for step in steps), message)
        first.setdefault(key, pointer_of(steps) or "/")
        counts[key] = counts.get(key, 0) + 1
        if number >= _MAX_COUNTED:
            break
    found = [f"{place}: {key[1]}{_more(counts[key])}" for key, place in first.items()]
    rest = len(found) - MAX_VIOLATIONS
    return found if rest <= 0 else [*found[:MAX_VIOLATIONS], f"and {rest} more"]


def _more(count: int) -> str:
    return f" (and {count - 1} more like it)" if count > 1 else ""


def _message(error: Any) -> str:
    if error.validator in ("anyOf", "oneOf"):
        fits = "more than one" if "each of" in error.message else "none"
        return f"{_shown(error.instance)} fits {fits} of the allowed forms"
    message: str = error.message
    return message if len(message) <= 2 * _SHOWN else f"{message[:_SHOWN]} ... {message[-_SHOWN:]}"


def _shown(value: Json) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value[:_SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _type(base: Any) -> Any:
    def check(validator: Any, types: Any, value: Json, schema: Any) -> Iterator[Any]:
        if value is None and schema.get("nullable") is True:
            return
        if any(True for _ in base.VALIDATORS["type"](validator, types, value, schema)):
            wanted = types if isinstance(types, str) else " or ".join(str(name) for name in types)
            yield ValidationError(f"{_shown(value)} is not of type {wanted}")

    return check


def _enum(base: Any) -> Any:
    def check(validator: Any, allowed: Any, value: Json, schema: Any) -> Iterator[Any]:
        if value is None and schema.get("nullable") is True:
            return
        if any(True for _ in base.VALIDATORS["enum"](validator, allowed, value, schema)):
            names = ", ".join(_shown(item) for item in allowed[:10]) + (", ..." if len(allowed) > 10 else "")
            yield ValidationError(f"{_shown(value)} is not one of {names}")

    return check


def _properties(check_of: Callable[[Json], Check]) -> Any:
    """Only properties that break the schema are looked at closely: the others need not even be visited."""

    def check(validator: Any, properties: Any, value: Json, _schema: Any) -> Iterator[Any]:
        if not isinstance(value, dict):
            return
        for name, subschema in properties.items():
            if name in value and not check_of(subschema)(value[name]):
                yield from validator.descend(value[name], subschema, path=name, schema_path=name)

    return check


def _items(check_of: Callable[[Json], Check]) -> Any:
    def check(validator: Any, items: Any, value: Json, _schema: Any) -> Iterator[Any]:
        is_fine = check_of(items)
        for position, item in enumerate(value if isinstance(value, list) else ()):
            if not is_fine(item):
                yield from validator.descend(item, items, path=position)

    return check


def _pattern(_validator: Any, pattern: Any, value: Json, _schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and matches(pattern, value) is False:
        yield ValidationError(f"{_shown(value)} does not match the pattern {pattern}")


def _unique_items(_validator: Any, is_wanted: Any, value: Json, _schema: Any) -> Iterator[Any]:
    """By one text for each item: the library compares every pair of items, which takes minutes for 10,000 objects."""
    if is_wanted and isinstance(value, list) and len({_one_text(item) for item in value}) < len(value):
        yield ValidationError("the list holds the same item more than once")


def _one_text(value: Json) -> str:
    return json.dumps(_whole_numbers(value), sort_keys=True)


def _whole_numbers(value: Json) -> Json:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole_numbers(item) for item in value]
        case dict():
            return {name: _whole_numbers(item) for name, item in value.items()}
        case _:
            return value


def _pattern_properties(validator: Any, patterns: Any, value: Json, _schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for pattern, subschema in patterns.items():
            for name, item in value.items():
                if matches(pattern, name):
                    yield from validator.descend(item, subschema, path=name, schema_path=pattern)
