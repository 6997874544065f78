"""Which proposals of new list items are one item, and the path that it has (SPEC 7)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
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
    name: Hashable | None
    value: Json


@dataclass(slots=True, kw_only=True)
class _List:
    """The items of one list, with the first of each key and of each name."""

    items: list[_Item] = field(default_factory=list)
    by_key: dict[Hashable, _Item] = field(default_factory=dict)
    by_name: dict[Hashable, _Item] = field(default_factory=dict)

    def add(self, item: _Item) -> None:
        self.items.append(item)
        self.by_key.setdefault(item.key, item)
        if item.name is not None:
            self.by_name.setdefault(item.name, item)


@dataclass(slots=True, kw_only=True)
class NewItems:
    """The items that the owner's lists hold or that somebody proposed for them, by the list's stable path."""

    keys: AnswerKeys
    _lists: dict[str, _List] = field(default_factory=dict)

    def path_of(self, list_path: str, value: Json) -> str:
        """The stable path of the item that a proposal is: one that is there or was proposed before, else a new one."""
        known = self._lists.get(list_path)
        if known is None:
            known = self._lists[list_path] = self._held(list_path)
        key, name = self.keys.item_key(list_path, value), self.keys.name_key(list_path, value)
        same = known.by_key.get(key) or (None if name is None else known.by_name.get(name))
        same = same or self._named_alike(list_path, known, value) or self._alike(list_path, known, value, name)
        if same is not None:
            return same.path
        taken = {item.path.rpartition("/")[2][1:] for item in known.items}
        path = f"{list_path}/@{new_item_id(value, taken)}"
        known.add(_Item(path=path, key=key, name=name, value=value))
        return path

    def forget(self, paths: Collection[str]) -> None:
        """What was proposed under these paths is as if it never had been."""
        gone = set(paths)
        for list_path, known in self._lists.items():
            kept = _List()
            for item in known.items:
                if item.path not in gone or self.keys.owner.holds(item.path):
                    kept.add(item)
            self._lists[list_path] = kept

    def _held(self, list_path: str) -> _List:
        known = _List()
        pointer, held = self.keys.owner.pointer(list_path), self.keys.owner.value(list_path)
        for index, value in enumerate(held if isinstance(held, list) else []):
            item_id = self.keys.owner.item_ids.get(f"{pointer}/{index}")
            if item_id is not None:
                key, name = self.keys.item_key(list_path, value), self.keys.name_key(list_path, value)
                known.add(_Item(path=f"{list_path}/@{item_id}", key=key, name=name, value=value))
        return known

    def _named_alike(self, list_path: str, known: _List, value: Json) -> _Item | None:
        """The item with a spelling variant of the same name, in a list whose items have a name and no key."""
        node = self.keys.list_at(list_path)
        name = _text_at(value, node.label)
        if node.keys or name is None:
            return None
        names = ((item, _text_at(item.value, node.label)) for item in known.items)
        return next((item for item, other in names if other is not None and is_variant(other, name)), None)

    def _alike(self, list_path: str, known: _List, value: Json, name: Hashable | None) -> _Item | None:
        """The object that scoring would pair with an object where one of the two has neither key nor name."""
        if not isinstance(value, dict):
            return None
        rest = [item for item in known.items if isinstance(item.value, dict) and (name is None or item.name is None)]
        pairs = partners_of(self.keys.list_at(list_path), _values(rest), [value]) if rest else []
        return rest[pairs[0][1]] if pairs else None


def _values(items: Sequence[_Item]) -> list[Json]:
    return [item.value for item in items]


def _text_at(value: Json, name: str | None) -> str | None:
    """The normal form of a text property of an object, None where there is none."""
    held = value.get(name) if isinstance(value, dict) and name is not None else None
    return normal_form(held) if isinstance(held, str) and held else None
