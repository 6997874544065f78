"""The type of a place in words, as a judge and a reader of results see it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from scoring.declarations import enum_values, is_nullable, rest_of
from scoring.fragments import Fragment, Option, options_of
from scoring.records import Json, Kind

_MAX_VALUES = 20


def type_text(options: Sequence[Option], kind: Kind) -> str:
    """For instance `string (date)`, `integer or null`, `array of string`, `one of "a", "b"`."""
    names = list(dict.fromkeys(_name(option, kind) for option in options))
    if any(is_nullable(option.fragments) for option in options):
        names.append("null")
    return " or ".join(names)


def _name(option: Option, kind: Kind) -> str:
    values = enum_values(option)
    if values:
        return _listed(values)
    match option.type:
        case None:
            return "any"
        case "array":
            return _array(option)
        case "number":
            return "integer" if _is_integer(option.fragments) else "number"
        case "string" if kind is Kind.DATE:
            return "string (date)"
        case _:
            return option.type


def _array(option: Option) -> str:
    items = [child for fragment in option.fragments for child in rest_of(fragment)]
    types = list(dict.fromkeys(inner.type for inner in options_of(items) if inner.type)) if items else []
    return f"array of {' or '.join(types)}" if types else "array"


def _listed(values: Sequence[Json]) -> str:
    named = [value for value in values if value is not None]
    shown = [json.dumps(value, ensure_ascii=False) for value in named[:_MAX_VALUES]]
    more = len(named) - len(shown)
    return f"one of {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"


def _is_integer(fragments: Sequence[Fragment]) -> bool:
    named = [fragment.schema.get("type") for fragment in fragments]
    return any(name == "integer" or (isinstance(name, list) and "integer" in name) for name in named)
