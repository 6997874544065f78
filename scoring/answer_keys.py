"""Which values at a stable path are one answer: those that are equal by the free rungs of the field's kind (SPEC 7)."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field

from scoring.drafts import Draft, id_in, key_in
from scoring.item_keys import item_key
from scoring.records import Json
from scoring.schema import Node
from scoring.spots import child_of
from scoring.values import free_match

_FAR = 1 << 30


@dataclass(slots=True, kw_only=True)
class _Answers:
    """The values seen at one path: the answer that each key belongs to, and the first value of each."""

    keys: dict[Hashable, Hashable] = field(default_factory=dict)
    values: list[tuple[Hashable, Json]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class AnswerKeys:
    """The keys of values at the places of one owner's version. It belongs to one merge.

    Values with the same key are one answer. A value that equals two answers which are not equal to each other (a date
    with two readings, say) is the one that was asked about first, so ask in an order that only content decides; the
    owner's value comes first of all.
    """

    root: Node
    owner: Draft
    _nodes: dict[str, Node] = field(default_factory=dict)
    _answers: dict[str, _Answers] = field(default_factory=dict)

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

    def key(self, path: str, value: Json) -> Hashable:
        """The key of the answer that a value is at this path."""
        answers = self._answers.get(path)
        if answers is None:
            answers = self._answers[path] = _Answers()
            if self.owner.holds(path):
                self.key(path, self.owner.value(path))
        node = self.node_at(path).for_value(value)
        own = _value_key(node, value)
        if own not in answers.keys:
            answers.keys[own] = _same_answer(node, answers, value, own)
            if answers.keys[own] == own:
                answers.values.append((own, value))
        return answers.keys[own]

    def item_key(self, list_path: str, item: Json) -> Hashable:
        """The key of an item of a list that it is not yet in; equal keys mean equal items."""
        return _value_key(self.list_at(list_path).item(_FAR).for_value(item), item)

    def name_key(self, list_path: str, item: Json) -> Hashable | None:
        """What tells an item from others of its list: its key properties, else its name; None where it has neither."""
        place = self.list_at(list_path)
        names = place.keys or ((place.label,) if place.label else ())
        if not names or not isinstance(item, dict):
            return None
        node = place.item(_FAR).for_value(item)
        nodes = [(child_of(node, name), item[name]) for name in names if item.get(name)]
        parts = [_value_key(child.for_value(held), held) for child, held in nodes]
        return tuple(parts) if len(parts) == len(names) else None

    def list_at(self, path: str) -> Node:
        """The node of a list, also where the owner's version holds nothing there."""
        held = self.owner.value(path)
        return self.node_at(path).for_value(held if isinstance(held, list) else [])


def _value_key(node: Node, value: Json) -> Hashable:
    key = item_key(node, value)
    return ("content", content_text(value)) if key is None else key


def _same_answer(node: Node, answers: _Answers, value: Json, own: Hashable) -> Hashable:
    """The key of the first answer that the free rungs find equal: two notations of a date, numbers but for noise."""
    if isinstance(value, dict | list) or value is None:
        return own
    for key, known in answers.values:
        if not isinstance(known, dict | list) and free_match(node.kind, known, value) is not None:
            return key
    return own


def content_text(value: Json) -> str:
    """A value as text, the same for the same content."""
    return json.dumps(value, sort_keys=True)
