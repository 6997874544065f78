"""What of a reference is its owner's: the content without the automatic edits, and what a save of the owner changed.

The owner reads and saves the reference with its automatic edits in place. A save makes the owner's what it changed; an
automatic edit that it leaves as it was stays an automatic edit, which rounds may still change and a rejection undoes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from scoring.edits import Edit, Snapshot
from scoring.paths import extend, holds, position_path, resolve, stable_path
from scoring.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What differs between two versions at one stable path; None for `before` or `after` is nothing at all."""

    path: str
    before: Json
    after: Json
    is_addition: bool = False


def value_at(snapshot: Snapshot, path: str) -> Json:
    """What stands at a stable path, None where nothing does."""
    pointer = position_path(path, snapshot.item_ids)
    return resolve(snapshot.content, pointer) if pointer is not None and holds(snapshot.content, pointer) else None


def changes_between(before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
    """The smallest places that differ, in the order of the later version; items that only moved are no change."""
    return tuple(_changes(before, after, ("", before.content), ("", after.content), ""))


def _changes(
    before: Snapshot, after: Snapshot, old: tuple[str, Json], new: tuple[str, Json], path: str
) -> Iterator[Change]:
    if isinstance(old[1], dict) and isinstance(new[1], dict):
        for key in dict.fromkeys([*new[1], *old[1]]):
            below = extend(path, f"@{key}" if key.startswith("@") else key)
            places = (extend(old[0], key), old[1].get(key)), (extend(new[0], key), new[1].get(key))
            yield from _changes(before, after, *places, below)
    elif isinstance(old[1], list) and isinstance(new[1], list):
        yield from _item_changes(before, after, (old[0], old[1]), (new[0], new[1]), path)
    elif old[1] != new[1] or isinstance(old[1], bool) != isinstance(new[1], bool):
        yield Change(path=path, before=old[1], after=new[1])


def _item_changes(
    before: Snapshot, after: Snapshot, old: tuple[str, list[Json]], new: tuple[str, list[Json]], path: str
) -> Iterator[Change]:
    ours = {_name_of(before.item_ids, old[0], index): (index, item) for index, item in enumerate(old[1])}
    theirs = {_name_of(after.item_ids, new[0], index): (index, item) for index, item in enumerate(new[1])}
    for name, (index, item) in theirs.items():
        below = extend(path, name)
        if name not in ours:
            yield Change(path=below, before=None, after=item, is_addition=True)
            continue
        place, was = ours[name]
        yield from _changes(before, after, (f"{old[0]}/{place}", was), (f"{new[0]}/{index}", item), below)
    for name, (_, item) in ours.items():
        if name not in theirs:
            yield Change(path=extend(path, name), before=item, after=None)


def _name_of(item_ids: Mapping[str, str], list_path: str, index: int) -> str:
    known = item_ids.get(f"{list_path}/{index}")
    return str(index) if known is None else f"@{known}"


def untouched(edits: Sequence[Edit], changes: Sequence[Change]) -> tuple[Edit, ...]:
    """Those of the edits in place that a save left as they were."""
    return tuple(edit for edit in edits if not any(_overlap(edit.path, change.path) for change in changes))


def _overlap(path: str, other: str) -> bool:
    return f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/")


def without_edits(content: Snapshot, edits: Sequence[Edit], owner: Snapshot) -> Snapshot:
    """The version with these edits taken back to what `owner`, its owner's part before, holds at their paths."""
    taken_back = {
        pointer: edit for edit in edits if (pointer := position_path(edit.path, content.item_ids)) is not None
    }
    ids: dict[str, str] = {}
    found = _without(content, taken_back, owner, "", "", ids)
    return Snapshot(content=None if found is _GONE else found, item_ids=ids)  # type: ignore[arg-type]  # JSON but for the mark


_GONE = object()


def _without(
    version: Snapshot, edits: Mapping[str, Edit], owner: Snapshot, pointer: str, new: str, ids: dict[str, str]
) -> object:
    value = resolve(version.content, pointer)
    edit = edits.get(pointer)
    if edit is not None:
        return _GONE if edit.is_addition else _owners_value(owner, edit.path, new, ids)
    if not isinstance(value, dict | list) or not any(f"{place}/".startswith(f"{pointer}/") for place in edits):
        if isinstance(value, dict | list):
            _keep_ids(version.item_ids, pointer, new, ids)
        return deepcopy(value)
    made = _container(version, edits, owner, pointer, new, ids, value)
    path = stable_path(pointer, version.item_ids)
    return _GONE if pointer and not made and value_at(owner, path) in (None, "") else made


def _container(
    version: Snapshot,
    edits: Mapping[str, Edit],
    owner: Snapshot,
    pointer: str,
    new: str,
    ids: dict[str, str],
    value: dict[str, Json] | list[Json],
) -> Json:
    if isinstance(value, dict):
        built = {key: _without(version, edits, owner, extend(pointer, key), extend(new, key), ids) for key in value}
        return {key: child for key, child in built.items() if child is not _GONE}  # type: ignore[misc]  # JSON but for the mark
    kept: list[Json] = []
    for index in range(len(value)):
        place, later = f"{pointer}/{index}", f"{new}/{len(kept)}"
        item = _without(version, edits, owner, place, later, ids)
        if item is not _GONE:
            kept.append(item)  # type: ignore[arg-type]  # JSON but for the mark
            if place in version.item_ids:
                ids[later] = version.item_ids[place]
    return kept


def _owners_value(owner: Snapshot, path: str, new: str, ids: dict[str, str]) -> object:
    pointer = position_path(path, owner.item_ids)
    if pointer is None or not holds(owner.content, pointer):
        return _GONE
    _keep_ids(owner.item_ids, pointer, new, ids)
    return deepcopy(resolve(owner.content, pointer))


def _keep_ids(item_ids: Mapping[str, str], pointer: str, new: str, ids: dict[str, str]) -> None:
    for place, item_id in item_ids.items():
        if place.startswith(f"{pointer}/"):
            ids[new + place[len(pointer) :]] = item_id
