"""Which values count as no value (SPEC 3): null, blank text, empty lists and objects, placeholders."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from scoring.records import DEFAULT_EMPTY_VALUES, Json
from scoring.text import normal_form

_CACHED_CONFIGURATIONS = 256


def is_empty(
    value: Json,
    empty_values: tuple[str, ...] = DEFAULT_EMPTY_VALUES,
    protected: Collection[Json] = (),
) -> bool:
    """Whether a value holds nothing: null, blank text, a whole-value placeholder, or a list or object of only such.

    `0`, `false` and `"0"` are values. `empty_values` are the placeholders, compared in normal form. `protected` are
    texts that mean something at this place, since an enum or the reference uses them: never placeholders here.
    """
    if value is None:
        return True
    if isinstance(value, str):
        return _is_empty_text(value, empty_values, protected)
    if not isinstance(value, list | dict):
        return False
    return not value or _holds_nothing(value, empty_values, protected)


def _holds_nothing(value: Json, empty_values: tuple[str, ...], protected: Collection[Json]) -> bool:
    """Whether no leaf holds anything. A stack of our own, since outputs nest deeper than Python may recurse."""
    stack = [value]
    while stack:
        top = stack.pop()
        if isinstance(top, dict):
            stack.extend(top.values())
        elif isinstance(top, list):
            stack.extend(top)
        elif not is_empty(top, empty_values, protected):
            return False
    return True


def _is_empty_text(text: str, empty_values: tuple[str, ...], protected: Collection[Json]) -> bool:
    form = normal_form(text)
    if not form:
        return True
    if form not in _placeholders(empty_values):
        return False
    return not any(isinstance(kept, str) and normal_form(kept) == form for kept in protected)


@lru_cache(_CACHED_CONFIGURATIONS)
def _placeholders(empty_values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(normal_form, empty_values))
