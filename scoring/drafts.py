"""A reference that is being changed by stable paths."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from scoring.edits import Snapshot
from scoring.item_ids import complete_item_ids, name_items_below
from scoring.paths import extend, holds, resolve, steps_of
from scoring.records import Json


def id_in(step: str) -> str | None:
    """The item id that a step of a stable path holds; None for a key or a position."""
    return step[1:] if step.startswith("@") and not step.startswith("@@") else None


def key_in(step: str) -> str:
    """The key that a step of a stable path stands for, which holds no item id."""
    return step[1:] if step.startswith("@@") else step


@lru_cache(1 << 14)
def _steps(path: str) -> tuple[tuple[str, str | None], ...]:
    """The steps of a stable path as they stand in a pointer, and the item ids of those that hold one."""
    steps = steps_of(path)
    return tuple((extend("", key_in(step))[1:], id_in(step)) for step in steps)


def is_within(path: str, above: str) -> bool:
    """Whether a path is another one or lies below it."""
    return path == above or path.startswith(f"{above}/")


def overlap(path: str, other: str) -> bool:
    """Whether a change at one of two paths can change what stands at the other."""
    return is_within(path, other) or is_within(other, path)


@dataclass(slots=True, kw_only=True)
class Draft:
    """Content and item ids that change together. Make it with `draft_of`."""

    content: Json
    item_ids: dict[str, str]
    _places: dict[tuple[str, str], str] = field(default_factory=dict)

    def pointer(self, path: str) -> str | None:
        """The JSON Pointer that a stable path names here; None where an item is gone. Keys need not exist."""
        walked = ""
        for step, item_id in _steps(path):
            place = f"{walked}/{step}" if item_id is None else self._places.get((walked, item_id))
            if place is None:
                return None
            walked = place
        return walked

    def holds(self, path: str) -> bool:
        """Whether a value stands at the path, null included."""
        pointer = self.pointer(path)
        return pointer is not None and holds(self.content, pointer)

    def value(self, path: str) -> Json:
        """What stands at the path, None where nothing does."""
        pointer = self.pointer(path)
        if pointer is None:
            return None
        try:
            return resolve(self.content, pointer)
        except KeyError:
            return None

    def put(self, path: str, value: Json) -> bool:
        """Whether `value` now stands at the path: objects that it needs are made, but no item and no list is."""
        pointer = self.pointer(path)
        if pointer is None or not self._make_objects(pointer):
            return False
        if isinstance(self.value(path), dict | list):
            self._forget_below(pointer)
        return self._set(pointer, copy.deepcopy(value))

    def add(self, list_path: str, item_id: str, item: Json) -> bool:
        """Whether `item` is now the last item of the list, which is made where nothing stands."""
        if self.value(list_path) in (None, "", {}) and not self.put(list_path, []):
            return False
        pointer = self.pointer(list_path)
        items = self.value(list_path)
        if pointer is None or not isinstance(items, list) or (pointer, item_id) in self._places:
            return False
        items.append(copy.deepcopy(item))
        place = f"{pointer}/{len(items) - 1}"
        self._name(place, item_id)
        self._name_below(place, item)
        return True

    def _make_objects(self, pointer: str) -> bool:
        """Whether all above the pointer are containers that can hold it."""
        walked, value = "", self.content
        for step in steps_of(pointer)[:-1]:
            walked = extend(walked, step)
            if isinstance(value, dict) and value.get(step) is None:
                value[step] = {}
            if not holds(self.content, walked):
                return False
            value = resolve(self.content, walked)
        last = steps_of(pointer)[-1:]
        return isinstance(value, dict) or not last or holds(self.content, pointer)

    def _set(self, pointer: str, value: Json) -> bool:
        parent, _, _ = pointer.rpartition("/")
        if not pointer:
            self.content = value
        else:
            above, step = resolve(self.content, parent), steps_of(pointer)[-1]
            if isinstance(above, dict):
                above[step] = value
            elif isinstance(above, list):
                above[int(step)] = value
        self._name_below(pointer, value)
        return True

    def _forget_below(self, pointer: str) -> None:
        for place in [place for place in self.item_ids if place.startswith(f"{pointer}/")]:
            del self._places[place.rpartition("/")[0], self.item_ids.pop(place)]

    def _name(self, place: str, item_id: str) -> None:
        self.item_ids[place] = item_id
        self._places[place.rpartition("/")[0], item_id] = place

    def _name_below(self, pointer: str, value: Json) -> None:
        if not isinstance(value, dict | list):
            return
        found = {place: item_id for place, item_id in self.item_ids.items() if place.startswith(f"{pointer}/")}
        name_items_below(found, pointer, value)
        for place, item_id in found.items():
            self._name(place, item_id)


def draft_of(content: Json, item_ids: Mapping[str, str]) -> Draft:
    """A draft that starts from a copy of a version; items without an id get one."""
    ids = complete_item_ids(content, item_ids)
    places = {(place.rpartition("/")[0], item_id): place for place, item_id in ids.items()}
    return Draft(content=copy.deepcopy(content), item_ids=ids, _places=places)


def draft_from(snapshot: Snapshot) -> Draft:
    """A draft of a version."""
    return draft_of(snapshot.content, snapshot.item_ids)
