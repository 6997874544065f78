"""The reference as a tree of weighted places, built once for a scenario and shared by all its runs.

Weights (SPEC 5): each field of the root object weighs its `node.weight`. A nested object shares its own weight among
its fields, which are the declared ones and the reference's, in proportion to their weights. A list is one field; an
item weighs the list's weight divided by the number of the reference's items that are not empty, and an object among
the items shares that weight as any nested object does. So the weight the reference fills is the same for every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scoring.emptiness import is_empty
from scoring.paths import extend
from scoring.records import FieldScore, Json
from scoring.schema import Node
from scoring.text import normal_form

MAX_DEPTH = 50
"""Values nested deeper than this below the root are compared as one value, not field by field."""

_WORDS_THAT_MAY_BE_VALUES = frozenset({"na", "none"})


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Spot:
    """One place of the reference: what stands there, what it weighs, and the places below it.

    `weight` is the place's share of all totals, `filled` the part of it that the reference fills, `unit` what a key
    that nobody expects weighs in this object. `list_path` is the pointer of the innermost list around the place.
    `protected` are texts that are no placeholders here. `fields` hold the schema's order, then the reference's; `items`
    leave out empty items. `is_opaque` marks a container below `MAX_DEPTH`. `exact_row` is the row of a candidate that
    holds the very same leaf; `cache` keeps what else comparing derives from the reference alone, so that no run derives
    it again.
    """

    node: Node
    path: str
    value: Json
    is_blank: bool
    weight: float
    parent: Spot | None
    list_path: str | None = None
    index: int | None = None
    filled: float = 0.0
    unit: float = 0.0
    protected: tuple[Json, ...] = ()
    is_opaque: bool = False
    fields: dict[str, Spot] = field(default_factory=dict)
    items: list[Spot] = field(default_factory=list)
    exact_row: FieldScore | None = None
    cache: dict[str, Any] = field(default_factory=dict)

    @property
    def lineage(self) -> tuple[Spot, ...]:
        """The places above this one, the root first."""
        above: list[Spot] = []
        spot = self.parent
        while spot is not None:
            above.append(spot)
            spot = spot.parent
        return tuple(reversed(above))


@lru_cache(1 << 15)
def child_of(node: Node, name: str) -> Node:
    """`node.property(name)`, kept for a while also for keys that only candidates hold."""
    return node.property(name)


def context_of(node: Node) -> str:
    """The title and description of a field in normal form: what an answer may merely repeat."""
    return normal_form(f"{node.title} {node.description}")


def grow(root: Node, reference: Json, empty_values: tuple[str, ...]) -> Spot:
    """The tree of the whole reference. A root object's fields weigh their own weight; any other root weighs 1."""
    spot = Spot(node=root.for_value(reference), path="", value=reference, is_blank=False, weight=1.0, parent=None)
    if isinstance(reference, dict):
        spot.weight = sum(node.weight for node in counted_fields(spot.node, reference).values()) or 1.0
    _fill(spot, empty_values, 0)
    return spot


def counted_fields(node: Node, value: dict[str, Json]) -> dict[str, Node]:
    """The fields among which an object shares its weight: the declared ones, then the value's own; none ignored."""
    fields = dict(node.properties())
    for name in value:
        if name not in fields:
            fields[name] = child_of(node, name)
    return {name: child for name, child in fields.items() if not child.is_ignored}


def holds_nothing(
    node: Node, value: Json, empty_values: tuple[str, ...], protected: tuple[Json, ...] = (), depth: int = 0
) -> bool:
    """Whether nothing but ignored and empty fields stands here. Below `MAX_DEPTH` no field is looked up by itself."""
    if depth < MAX_DEPTH and isinstance(value, dict):
        return all(_is_vain(child_of(node, name), child, empty_values, depth) for name, child in value.items())
    if depth < MAX_DEPTH and isinstance(value, list):
        return all(_is_vain(node.item(index), child, empty_values, depth) for index, child in enumerate(value))
    return is_empty(value, empty_values, protected or protected_at(node, None))


def protected_at(node: Node, reference: Json) -> tuple[Json, ...]:
    """The texts that mean something at a place, so that they are no placeholders there: its enum's, and the
    reference's own where it is a word that can be a value (`NA`, `None`).
    """
    if isinstance(reference, str) and normal_form(reference) in _WORDS_THAT_MAY_BE_VALUES:
        return (*node.enum_values, reference)
    return node.enum_values


def _is_vain(node: Node, value: Json, empty_values: tuple[str, ...], depth: int = 0) -> bool:
    if value is None or node.is_ignored:
        return True
    return holds_nothing(node.for_value(value), value, empty_values, (), depth + 1)


def _fill(spot: Spot, empty_values: tuple[str, ...], depth: int) -> None:
    """Give a new spot its emptiness, its children and the weight that is filled."""
    value = spot.value
    spot.protected = protected_at(spot.node, value)
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        spot.is_opaque, spot.is_blank = True, is_empty(value, empty_values)
    else:
        spot.is_blank = holds_nothing(spot.node, value, empty_values, spot.protected)
    if spot.is_opaque or not isinstance(value, dict | list):
        spot.filled = 0.0 if spot.is_blank else spot.weight
        return
    children = _fields_of(spot, value) if isinstance(value, dict) else _items_of(spot, value, empty_values)
    for child in children:
        _fill(child, empty_values, depth + 1)
    spot.filled = sum(child.filled for child in children)


def _fields_of(spot: Spot, value: dict[str, Json]) -> list[Spot]:
    nodes = counted_fields(spot.node, value)
    total = sum(node.weight for node in nodes.values())
    spot.unit = spot.weight / total if total > 0 else spot.weight
    for name, node in nodes.items():
        found = value.get(name)
        spot.fields[name] = Spot(
            node=node.for_value(found),
            path=extend(spot.path, name),
            value=found,
            is_blank=True,
            weight=spot.unit * node.weight,
            parent=spot,
            list_path=spot.list_path,
        )
    return list(spot.fields.values())


def _items_of(spot: Spot, value: list[Json], empty_values: tuple[str, ...]) -> list[Spot]:
    held = [
        (index, item) for index, item in enumerate(value) if not _is_vain(spot.node.item(index), item, empty_values)
    ]
    spot.unit = spot.weight / max(1, len(held))
    spot.items = [
        Spot(
            node=spot.node.item(index).for_value(item),
            path=f"{spot.path}/{index}",
            value=item,
            is_blank=False,
            weight=spot.unit,
            parent=spot,
            list_path=spot.path,
            index=index,
        )
        for index, item in held
    ]
    return spot.items


def filled_weight(node: Node, value: Json, weight: float, empty_values: tuple[str, ...], depth: int = 0) -> float:
    """How much of `weight` a candidate's value fills at a place where the reference has nothing.

    Shared as `Spot` shares: an object among its declared fields and its own, a list among its items.
    """
    if depth >= MAX_DEPTH or not isinstance(value, dict | list):
        return 0.0 if is_empty(value, empty_values, protected_at(node, None)) else weight
    if isinstance(value, dict):
        nodes = counted_fields(node, value)
        total = sum(child.weight for child in nodes.values()) or 1.0
        parts = ((child, value[name], weight * child.weight / total) for name, child in nodes.items() if name in value)
    else:
        held = [(node.item(i), item) for i, item in enumerate(value)]
        held = [(child, item) for child, item in held if not _is_vain(child, item, empty_values)]
        parts = ((child, item, weight / len(held)) for child, item in held)
    below = depth + 1
    return sum(filled_weight(child.for_value(item), item, share, empty_values, below) for child, item, share in parts)
