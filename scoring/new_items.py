"""Which proposals of new list items are one item, and the path that it has (SPEC 7)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from scoring.answer_keys import AnswerKeys
from scoring.item_ids import new_item_id, partners_of
from scoring.records import Json
from scoring.text import normal_form
from scoring.variants import is_variant


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    path: str
    key: Hashable
    value: Json


@dataclass(slots=True, kw_only=True)
class NewItems:
    """The items that the owner's lists hold or that somebody proposed for them, by the list's stable path."""

    keys: AnswerKeys
    _lists: dict[str, list[_Item]] = field(default_factory=dict)

    def path_of(self, list_path: str, value: Json) -> str:
        """The stable path of the item that a proposal is: one that is there or was proposed before, else a new one."""
        items = self._items(list_path)
        key = self.keys.item_key(list_path, value)
        same = next((item for item in items if item.key == key), None)
        if same is None:
            same = next((item for item in items if self._is_one_item(list_path, item.value, value)), None)
        if same is not None:
            return same.path
        taken = {item.path.rpartition("/")[2][1:] for item in items}
        path = f"{list_path}/@{new_item_id(value, taken)}"
        items.append(_Item(path=path, key=key, value=value))
        return path

    def forget(self, paths: Sequence[str]) -> None:
        """What was proposed under these paths is as if it never had been."""
        gone = set(paths)
        for items in self._lists.values():
            items[:] = [item for item in items if item.path not in gone]

    def _items(self, list_path: str) -> list[_Item]:
        items = self._lists.get(list_path)
        if items is None:
            items = self._lists[list_path] = self._held(list_path)
        return items

    def _held(self, list_path: str) -> list[_Item]:
        pointer, held = self.keys.owner.pointer(list_path), self.keys.owner.value(list_path)
        if pointer is None or not isinstance(held, list):
            return []
        ids = self.keys.owner.item_ids
        return [
            _Item(path=f"{list_path}/@{ids[place]}", key=self.keys.item_key(list_path, item), value=item)
            for index, item in enumerate(held)
            if (place := f"{pointer}/{index}") in ids
        ]

    def _is_one_item(self, list_path: str, left: Json, right: Json) -> bool:
        """Whether two unequal items have the same key or name; objects without one, whether scoring would pair them."""
        if not isinstance(left, dict) or not isinstance(right, dict):
            return False
        names = self.keys.name_key(list_path, left), self.keys.name_key(list_path, right)
        if None in names:
            return bool(partners_of(self.keys.list_at(list_path), [left], [right]))
        return names[0] == names[1] or self._is_one_name(list_path, left, right)

    def _is_one_name(self, list_path: str, left: dict[str, Json], right: dict[str, Json]) -> bool:
        node = self.keys.list_at(list_path)
        if node.keys or node.label is None:
            return False
        ours, theirs = left.get(node.label), right.get(node.label)
        if not isinstance(ours, str) or not isinstance(theirs, str):
            return False
        return is_variant(normal_form(ours), normal_form(theirs), "") is not None
