"""Where another document (another model's output, an example) speaks of the same place as a leaf of the reference."""

from __future__ import annotations

from scoring.item_keys import item_key
from scoring.records import Json
from scoring.spots import Spot, child_of
from scoring.values import key_of


def counterparts_of(spot: Spot, document: Json) -> list[Json]:
    """The values that `document` has at the reference's place; empty where it says nothing.

    Objects are walked by key. In a list the items count that name themselves as the reference's item does: the same
    value in the list's key or label property. A scalar item has no name of its own, so it has no counterpart.
    """
    values = [document]
    for above, below in zip((*spot.lineage,), (*spot.lineage[1:], spot), strict=True):
        values = _step(above, below, values)
    return [value for value in values if value is not None]


def _step(above: Spot, below: Spot, values: list[Json]) -> list[Json]:
    if below.index is None:
        name = below.path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
        return [value[name] for value in values if isinstance(value, dict) and name in value]
    name_of = above.node.label
    if name_of is None or not isinstance(below.value, dict):
        return []
    wanted = _name(below, below.value, name_of)
    return [
        item
        for value in values
        if isinstance(value, list)
        for item in value
        if isinstance(item, dict) and wanted is not None and _name(below, item, name_of) == wanted
    ]


def _name(spot: Spot, item: dict[str, Json], name_of: str) -> object:
    return item_key(child_of(spot.node, name_of), item.get(name_of))


def is_same_value(spot: Spot, left: Json, right: Json) -> bool:
    """Whether two leaf values are equal at this place by the free rungs' keys."""
    key = key_of(spot.node.kind, left)
    return key is not None and key == key_of(spot.node.kind, right)
