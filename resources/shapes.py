"""Values of files held against their shapes, and what is said about those that do not fit."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from resources.sources import KeyPath, Source
from scoring.errors import InputError
from scoring.records import Json

S = TypeVar("S", bound=BaseModel)

_SHOWN = 60
_UNION_NAMES = {"float", "int", "str", "bool", "none"}
_EXPECTED = {
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "dict_type": "a mapping (`key: value` lines)",
    "model_type": "a mapping (`key: value` lines)",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
    "too_short": "a list of at least {min_length} entries",
    "literal_error": "{expected}",
}
_BASE_URL = "a base URL like https://host/v1, without a user name or key in it"
_VARIABLE = "the name of an environment variable, like PROVIDER_API_KEY (never the key itself)"


def shaped(shape: type[S], source: Source, value: Json, path: KeyPath = ()) -> S | list[InputError]:
    """The value at `path` of the source as the shape, or everything that is wrong with it. Nothing counts as `{}`."""
    if value is None:
        value = {}
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        found = _by_place(value, error.errors(include_url=False))
        return [_complaint(shape, source, path, keys, details) for keys, details in found]


def _by_place(value: Json, details: Sequence[ErrorDetails]) -> Iterator[tuple[KeyPath, list[ErrorDetails]]]:
    """What is wrong at each key, without the members of a union that the value was never meant for."""
    places: dict[KeyPath, list[ErrorDetails]] = defaultdict(list)
    for detail in details:
        places[_existing(value, detail["loc"])].append(detail)
    for keys, found in places.items():
        if not any(len(other) > len(keys) and other[: len(keys)] == keys for other in places):
            yield keys, found


def _existing(value: Any, loc: Sequence[str | int]) -> KeyPath:
    """The error's path without the names that pydantic puts in for members of a union."""
    keys: list[str | int] = []
    for position, part in enumerate(loc):
        if _has(value, part):
            value = value[part]
            keys.append(part)
        elif position == len(loc) - 1 and isinstance(value, dict) and not _is_union_name(part):
            keys.append(part)
    return tuple(keys)


def _has(value: Any, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, dict) and part in value


def _is_union_name(part: str | int) -> bool:
    return not isinstance(part, str) or not part.isidentifier() or part.endswith("Shape") or part in _UNION_NAMES


def _complaint(
    shape: type[BaseModel], source: Source, path: KeyPath, keys: KeyPath, details: Sequence[ErrorDetails]
) -> InputError:
    where = source.place((*path, *keys))
    label = _label((*path, *keys))
    first = details[0]
    match first["type"]:
        case "extra_forbidden":
            remedy = _choices(str(keys[-1]), sorted(_allowed_keys(shape, keys[:-1])))
            return InputError(f"unknown key {label}", where=where, remedy=remedy)
        case "missing":
            return InputError(f"the key {label} is missing", where=where)
        case kind if kind not in _EXPECTED and not kind.startswith("string_pattern"):
            return InputError(f"{label}: {first['msg']}", where=where)
    expected = " or ".join(dict.fromkeys(_expected(detail) for detail in details))
    found = "" if _may_hold_a_secret(keys) else f", found {_shown(first['input'])}"
    return InputError(f"{label} must be {expected}{found}", where=where, remedy=_hint(first))


def _label(path: KeyPath) -> str:
    """The key path in words: `scoring.strictness`, `entry 2: id`, `the file`."""
    if path and isinstance(path[0], int):
        rest = _label(path[1:]) if len(path) > 1 else ""
        return f"entry {path[0] + 1}" + (f": {rest}" if rest else "")
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "the file"


def _expected(detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "string_pattern_mismatch":
        return _BASE_URL if "https" in context["pattern"] else _VARIABLE
    return _EXPECTED.get(kind, detail["msg"]).format(**context)


def _may_hold_a_secret(keys: KeyPath) -> bool:
    return any("key" in str(part) or "url" in str(part) for part in keys)


def _shown(value: Any) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return f"a list of {len(value)}"
        case None:
            return "nothing (null)"
        case bool():
            return str(value).lower()
        case _:
            text = repr(value)
            return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _hint(detail: ErrorDetails) -> str:
    found = detail["input"]
    if detail["type"] == "string_type" and isinstance(found, int | float):
        return "Put it in quotes."
    if detail["type"] != "literal_error" or not isinstance(found, str):
        return ""
    words = re.findall(r"'([^']+)'", detail["ctx"]["expected"])
    near = difflib.get_close_matches(found.casefold(), words, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def _choices(found: str, allowed: Sequence[str]) -> str:
    if found.casefold() in ("api_key", "key", "token"):
        return "Keys come from the environment only: name the variable with api_key_env."
    near = difflib.get_close_matches(found.casefold(), allowed, n=1, cutoff=0.6)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}Allowed here: {', '.join(allowed)}."


def _allowed_keys(shape: type[BaseModel], keys: KeyPath) -> set[str]:
    shapes = [shape]
    for key in keys:
        if isinstance(key, str):
            shapes = [inner for outer in shapes for inner in _shapes_in_field(outer, key)]
    return {name for found in shapes for name in found.model_fields}


def _shapes_in_field(shape: type[BaseModel], key: str) -> Iterator[type[BaseModel]]:
    field = shape.model_fields.get(key)
    return _shapes_in(field.annotation) if field else iter(())


def _shapes_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _shapes_in(inner)
