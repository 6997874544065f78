"""Which values at a stable path are one answer: those that are equal by the free rungs of the field's kind (SPEC 7)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from scoring.drafts import Draft, id_in, key_in
from scoring.item_keys import item_key, order_text
from scoring.records import Json
from scoring.schema import Node
from scoring.spots import child_of

_FAR = 1 << 30


@dataclass(slots=True, kw_only=True)
class AnswerKeys:
    """The keys of values at the places of one owner's version. Keys are texts that do not depend on a hash seed."""

    root: Node
    owner: Draft
    _nodes: dict[str, Node] = field(default_factory=dict)

    def node_at(self, path: str) -> Node:
        """The schema's node at a stable path, seen with what the owner's version holds above it."""
        node = self._nodes.get(path)
        if node is None:
            node = self._nodes[path] = self._step(path) if path else self.root
        return node

    def _step(self, path: str) -> Node:
        above_path, _, step = path.rpartition("/")
        above, held = self.node_at(above_path), self.owner.value(above_path)
        step = step.replace("~1", "/").replace("~0", "~")
        if id_in(step) is not None or isinstance(held, list):
            place = above.for_value(held if isinstance(held, list) else [])
            return place.item(self._index(path))
        return child_of(above.for_value(held if isinstance(held, dict) else {}), key_in(step))

    def _index(self, path: str) -> int:
        pointer = self.owner.pointer(path)
        last = "" if pointer is None else pointer.rpartition("/")[2]
        return int(last) if last.isdigit() and len(last) < 10 else _FAR

    def key(self, path: str, value: Json) -> str:
        """Equal keys mean one answer at this path."""
        return self._text(self.node_at(path), value)

    def item_key(self, list_path: str, item: Json) -> str:
        """The key of an item of a list that it is not yet in."""
        return self._text(self.list_at(list_path).item(_FAR), item)

    def name_key(self, list_path: str, item: Json) -> str | None:
        """What tells an item from others of its list: its key properties, else its name; None where it has neither."""
        place = self.list_at(list_path)
        names = place.keys or ((place.label,) if place.label else ())
        if not names or not isinstance(item, dict):
            return None
        node = place.item(_FAR).for_value(item)
        parts = [self._text(child_of(node, name), item[name]) for name in names if item.get(name)]
        return json.dumps(parts) if len(parts) == len(names) else None

    def list_at(self, path: str) -> Node:
        """The node of a list, also where the owner's version holds nothing there."""
        held = self.owner.value(path)
        return self.node_at(path).for_value(held if isinstance(held, list) else [])

    def _text(self, node: Node, value: Json) -> str:
        key = item_key(node.for_value(value), value)
        return f"={content_text(value)}" if key is None else f"{type(key).__name__} {order_text(key)}"


def content_text(value: Json) -> str:
    """A value as text, the same for the same content."""
    return json.dumps(value, sort_keys=True)
