"""Ids of list items that survive reordering and edits, so that a path goes on naming the same item (SPEC 7).

The items of a list and of its next version are paired as a scored list is (`scoring.pairing`: equal items, equal keys,
the most alike), whatever the order of the list; then objects with the same name, objects that are alike but for their
name or key, and texts that share most characters. An item that finds no partner is new: its id is a short hash of its
content, with a counter where a sibling has that id.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence

import numpy as np
from rapidfuzz import fuzz, process

from scoring.attempt import Attempt
from scoring.item_keys import item_key
from scoring.likeness import NAMELESS, Matrix, objects_likeness
from scoring.pairing import assign, candidates_of, pair_set
from scoring.paths import extend
from scoring.records import Context, Json, Known, ScoringConfig
from scoring.schema import Node, compile_schema
from scoring.spots import MAX_DEPTH, Spot, child_of, grow
from scoring.staleness import content_hash
from scoring.task import Task
from scoring.text import normal_form

ID_DIGITS = 10
EVIDENT = 0.6
"""How alike (0..1) two objects must be but for their names, or two texts, for one to be an edit of the other."""
MOST_CELLS = 250_000
"""Leftovers that make more pairs than this are not compared by similarity: nothing is evident among so many."""

Items = list[tuple[int, Json]]
Pairs = list[tuple[int, int]]
Ids = dict[str, str]


def assign_item_ids(
    content: Json, node: Node | None = None, previous: tuple[Json, Mapping[str, str]] | None = None
) -> Ids:
    """The id of every list item of `content`, by JSON Pointer; ids are unique among siblings.

    `node` is the root of the compiled schema, None where there is none. `previous` is the version before and its ids:
    an item that is still there, moved or edited, keeps its id. Lists nested below `MAX_DEPTH` get no ids.
    """
    old, old_ids = previous if previous is not None else (None, {})
    root = node if node is not None else compile_schema({}, content if old is None else old)
    ids: Ids = {}
    _carry(ids, old_ids, root, ("", content), ("", old))
    return ids


def complete_item_ids(content: Json, item_ids: Mapping[str, str]) -> Ids:
    """`item_ids`, and new ids for the list items of `content` that have none."""
    ids = dict(item_ids)
    name_items_below(ids, "", content)
    return ids


def new_item_id(value: Json, taken: Collection[str] = ()) -> str:
    """The id of a new item: a hash of its content, with a counter where a sibling has that id."""
    digest = content_hash(value)
    found, copies = digest[:ID_DIGITS], 0
    while found in taken:
        copies += 1
        found = hashlib.sha256(f"{digest}#{copies}".encode()).hexdigest()[:ID_DIGITS]
    return found


def name_items_below(ids: Ids, path: str, value: Json) -> None:
    """Adds new ids for those list items at and below a pointer that have none; `value` is what stands there."""
    if path.count("/") >= MAX_DEPTH:
        return
    if isinstance(value, dict):
        for name, held in value.items():
            name_items_below(ids, extend(path, name), held)
    elif isinstance(value, list):
        places = [f"{path}/{index}" for index in range(len(value))]
        taken = {ids[place] for place in places if place in ids}
        for place, item in zip(places, value, strict=True):
            if place not in ids:
                ids[place] = new_item_id(item, taken)
                taken.add(ids[place])
            name_items_below(ids, place, item)


def _carry(ids: Ids, old_ids: Mapping[str, str], node: Node, now: tuple[str, Json], old: tuple[str, Json]) -> None:
    """Give ids to all items at and below a place, from the same place of the version before."""
    path, value = now
    if path.count("/") >= MAX_DEPTH or not isinstance(value, dict | list):
        return
    place = node.for_value(value)
    if isinstance(value, dict):
        before = old[1] if isinstance(old[1], dict) else {}
        for name, held in value.items():
            _carry(
                ids,
                old_ids,
                child_of(place, name),
                (extend(path, name), held),
                (extend(old[0], name), before.get(name)),
            )
        return
    before_items = old[1] if isinstance(old[1], list) else []
    partners = dict(partners_of(place, before_items, value))
    _name_items(ids, old_ids, (path, value), old[0], partners)
    for index, item in enumerate(value):
        origin = partners.get(index)
        source: tuple[str, Json] = ("", None)
        if origin is not None:
            source = f"{old[0]}/{origin}", before_items[origin]
        _carry(ids, old_ids, place.item(index), (f"{path}/{index}", item), source)


def _name_items(
    ids: Ids, old_ids: Mapping[str, str], now: tuple[str, list[Json]], old_path: str, partners: Mapping[int, int]
) -> None:
    path, value = now
    taken: set[str] = set()
    for index, origin in sorted(partners.items()):
        known = old_ids.get(f"{old_path}/{origin}")
        if known is not None and known not in taken:
            ids[f"{path}/{index}"] = known
            taken.add(known)
    for index, item in enumerate(value):
        if f"{path}/{index}" not in ids:
            ids[f"{path}/{index}"] = new_item_id(item, taken)
            taken.add(ids[f"{path}/{index}"])


def partners_of(node: Node, old: Sequence[Json], new: Sequence[Json]) -> Pairs:
    """Pairs of positions (new, old) of the items of two versions of one list; a position pairs at most once."""
    pairs = _same_places(old, new)
    for step in (_as_scored, _by_name, _alike_but_for_names, _alike_texts, _equal_leftovers):
        ours, theirs = _rest(old, {j for _, j in pairs}), _rest(new, {i for i, _ in pairs})
        if not ours or not theirs:
            break
        pairs += step(node, ours, theirs)
    return pairs


def _same_places(old: Sequence[Json], new: Sequence[Json]) -> Pairs:
    """All of an unchanged list, so that equal copies keep their ids too."""
    return [(i, i) for i in range(len(new))] if list(old) == list(new) else []


def _rest(items: Sequence[Json], taken: set[int]) -> Items:
    return [(index, item) for index, item in enumerate(items) if index not in taken]


def _as_scored(node: Node, ours: Items, theirs: Items) -> Pairs:
    spot = grow(node, [item for _, item in ours], ())
    attempt = _attempt(spot)
    held = [(index, item) for index, item in theirs if item is not None]
    pairing = pair_set(attempt, spot, candidates_of(spot.node, held))
    return [(candidate.index, ours[item.index or 0][0]) for item, candidate in pairing.pairs]


def _attempt(spot: Spot) -> Attempt:
    """A pass without an embedding model or judge, for what pairs by content alone."""
    task = Task(
        root=spot,
        schema={},
        reference=spot.value,
        config=ScoringConfig(),
        context=Context(),
        check=lambda _: [],
        problems=(),
    )
    return Attempt(task=task, known=Known())


def _by_name(node: Node, ours: Items, theirs: Items) -> Pairs:
    """Objects with the same name, which nobody else on either side has: their key was edited."""
    if node.label is None:
        return []
    left, right = _names(node, node.label, ours), _names(node, node.label, theirs)
    return [(right[name], left[name]) for name in left.keys() & right.keys()]


def _names(node: Node, label: str, items: Items) -> dict[Hashable, int]:
    found: dict[Hashable, int] = {}
    counts: Counter[Hashable] = Counter()
    for index, item in items:
        name = item.get(label) if isinstance(item, dict) else None
        key = item_key(child_of(node.item(index).for_value(item), label), name) if name else None
        if key is not None:
            counts[key] += 1
            found[key] = index
    return {key: index for key, index in found.items() if counts[key] == 1}


def _alike_but_for_names(node: Node, ours: Items, theirs: Items) -> Pairs:
    left = [(index, item) for index, item in ours if isinstance(item, dict)]
    right = [(index, item) for index, item in theirs if isinstance(item, dict)]
    if not left or not right or len(left) * len(right) > MOST_CELLS:
        return []
    left, right = sorted(left, key=_by_content), sorted(right, key=_by_content)
    attempt = _attempt(grow(node, [], ()))
    place = node.item(left[0][0]).for_value(left[0][1])
    matrix = objects_likeness(
        attempt, place, NAMELESS, [item for _, item in left], [item for _, item in right], vectors=False
    )
    return [(right[j][0], left[i][0]) for i, j in assign(matrix, EVIDENT)]


def _alike_texts(node: Node, ours: Items, theirs: Items) -> Pairs:
    del node
    left = sorted(((index, item) for index, item in ours if isinstance(item, str)), key=_by_content)
    right = sorted(((index, item) for index, item in theirs if isinstance(item, str)), key=_by_content)
    if not left or not right or len(left) * len(right) > MOST_CELLS:
        return []
    forms = [[normal_form(text) for _, text in side] for side in (left, right)]
    ratios: Matrix = process.cdist(forms[0], forms[1], scorer=fuzz.ratio, dtype=np.float32)
    return [(right[j][0], left[i][0]) for i, j in assign(ratios, 100 * EVIDENT)]


def _equal_leftovers(node: Node, ours: Items, theirs: Items) -> Pairs:
    """Empty items and other values that scoring does not pair: the same content, in order."""
    del node
    waiting: dict[str, list[int]] = {}
    for index, item in reversed(ours):
        waiting.setdefault(_content_text(item), []).append(index)
    return [(index, found.pop()) for index, item in theirs if (found := waiting.get(_content_text(item)))]


def _by_content(item: tuple[int, Json]) -> tuple[str, int]:
    return _content_text(item[1]), item[0]


def _content_text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
