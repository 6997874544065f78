"""Which branch of a union a value belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.fragments import Fragment, Option
from scoring.kinds import is_iso_date
from scoring.records import Json

_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def json_type(value: Json) -> str | None:
    """The JSON type of a value, every number as `number`; None for null."""
    return _TYPES.get(value.__class__)


def best_option(options: Sequence[Option], value: Json) -> int | None:
    """The index of the option that fits the value best, the first of equal ones; None where no type fits.

    An option fits better for each constant (a discriminator) that agrees, then for required keys that are there, then
    for declared keys against undeclared ones, then for properties of the declared type.
    """
    found = json_type(value)
    fits = [(_fit(option, value), -index) for index, option in enumerate(options) if option.type in (None, found)]
    if not fits:
        return None
    return -max(fits)[1]


def _fit(option: Option, value: Json) -> tuple[int, int, int, int]:
    constants = _constants(option.fragments, value)
    if not isinstance(value, dict):
        return (constants, 0, int(option.type is not None), _format(option.fragments, value))
    declared = dict(_properties(option.fragments))
    required = {name for fragment in option.fragments for name in _names(fragment.schema.get("required"))}
    nested = sum(_constants_in(declared[name], item) for name, item in value.items() if name in declared)
    known = sum(1 for name in value if name in declared)
    typed = sum(1 for name, item in value.items() if name in declared and _may_be(declared[name], item))
    return (constants + nested, -len(required - value.keys()), 2 * known - len(value), typed)


def _constants(fragments: Sequence[Fragment], value: Json) -> int:
    return sum(_constants_in(fragment.schema, value) for fragment in fragments)


def _constants_in(schema: Mapping[str, Json], value: Json) -> int:
    if "const" in schema:
        return 1 if schema["const"] == value else -8
    allowed = schema.get("enum")
    if isinstance(allowed, list):
        return 1 if value in allowed else -8
    return 0


def _format(fragments: Sequence[Fragment], value: Json) -> int:
    formats = [fragment.schema["format"] for fragment in fragments if "format" in fragment.schema]
    if not formats or not isinstance(value, str):
        return 0
    return 1 if formats[0] in ("date", "date-time") and is_iso_date(value) else -1


def _properties(fragments: Sequence[Fragment]) -> list[tuple[str, dict[str, Json]]]:
    found = [fragment.schema.get("properties") for fragment in fragments]
    pairs = [pair for properties in found if isinstance(properties, dict) for pair in properties.items()]
    return [(name, schema if isinstance(schema, dict) else {}) for name, schema in pairs]


def _names(value: Json) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _may_be(schema: Mapping[str, Json], value: Json) -> bool:
    named = schema.get("type")
    found = json_type(value)
    allowed = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return found in allowed or (found == "number" and "integer" in allowed) or (found is None and "null" in allowed)
