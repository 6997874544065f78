"""Keys of whole values: equal keys mean equal values by the free rungs, so that equal items meet in linear time."""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import lru_cache

from scoring.records import Json, Kind, ListOrder
from scoring.schema import Node
from scoring.spots import MAX_DEPTH, child_of
from scoring.text import normal_form
from scoring.values import key_of

MOST_KEPT_CHARACTERS = 1_000
"""Keys of objects of more text than this are made anew each time, so that the kept ones need little memory."""


def item_key(node: Node, value: Json, depth: int = 0) -> Hashable | None:
    """The key of a value at a place, None where it has none (NaN, or nested too deep). Ignored fields do not matter."""
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        return _deep_key(value)
    if isinstance(value, dict):
        return _object_key(node, value, depth)
    if isinstance(value, list):
        return _list_key(node, value, depth)
    if isinstance(value, str) and node.kind is Kind.TEXT:  # `key_of` says the same; this is by far the most common case
        return normal_form(value)
    return key_of(node.kind, value)


def _deep_key(value: Json) -> Hashable | None:
    """What is nested very deep is equal only as it is written; None where even that cannot be told."""
    try:
        return ("deep", json.dumps(value, sort_keys=True))
    except RecursionError:
        return None


def _object_key(node: Node, value: dict[str, Json], depth: int) -> Hashable | None:
    held = value.values()
    if set(map(type, held)) == {str} and sum(map(len, held)) <= MOST_KEPT_CHARACTERS:  # type: ignore[arg-type]  # all are texts
        return _key_of_texts(node, tuple(value.items()))
    return _key_of_fields(node, value, depth)


@lru_cache(1 << 12)
def _key_of_texts(node: Node, items: tuple[tuple[str, Json], ...]) -> Hashable | None:
    """Kept for a while: an output is compared once for its texts, once for its questions and once for good."""
    return _key_of_fields(node, dict(items), 0)


def _key_of_fields(node: Node, value: dict[str, Json], depth: int) -> Hashable | None:
    parts: list[tuple[str, Hashable]] = []
    for name in sorted(value):
        child = value[name]
        place = child_of(node, name)
        if child is None or child == "" or place.is_ignored:
            continue
        key = item_key(place.for_value(child), child, depth + 1)
        if key is None:
            return None
        if key != _NO_ITEMS:
            parts.append((name, key))
    return ("object", *parts)


def _list_key(node: Node, value: list[Json], depth: int) -> Hashable | None:
    parts: list[Hashable] = []
    for index, item in enumerate(value):
        if item is None or item == "":
            continue
        key = item_key(node.item(index).for_value(item), item, depth + 1)
        if key is None:
            return None
        parts.append(key)
    if not parts:
        return _NO_ITEMS
    if node.order is ListOrder.SET:
        parts.sort(key=order_text)
    return ("list", *parts)


_NO_ITEMS = ("list",)


def order_text(key: Hashable) -> str:
    """A text by which keys sort the same way in every process, whatever the hash seed."""
    text = key if isinstance(key, str) else repr(key)
    return text if "frozenset" not in text else _sorted_text(key)


def _sorted_text(key: Hashable) -> str:
    if isinstance(key, frozenset):
        return "{" + ",".join(sorted(map(_sorted_text, key))) + "}"
    if isinstance(key, tuple):
        return "(" + ",".join(map(_sorted_text, key)) + ")"
    return repr(key)
