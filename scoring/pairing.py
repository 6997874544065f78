"""Which item of a candidate's list answers which item of the reference's (SPEC 4).

A set is paired in steps, each over what the steps before left over:

1. Equal items (`scoring.item_keys`) meet by hashing, in linear time. An exact partner is never given away.
2. Objects whose identifying properties are equal, and equal to no other item's, meet.
3. The rest is an optimal assignment over likeness: the pairs with the greatest total. A pair below
   `ITEM_THRESHOLD` does not count and stays unpaired.
4. With an embedding model, the objects left over on both sides are assigned once more with vectors of their texts.

Scalars pair only where the ladder would match them, or where the judge can still decide (undecided similarity with a
judge; prose from the lower limit on): a wrong value is one missed and one extra item, never a forced pair. Items of
different shapes (a text and an object) never pair. What is left is `missed` and `extra`; an extra item that equals an
item already answered, or another extra one, is a duplicate.

Leftovers are put in the order of their content before they are assigned, so that neither the order of the lists nor a
hash seed can matter.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from scoring.assignment import optimal_assignment
from scoring.attempt import Attempt
from scoring.blocks import MOST_PAIRS, blocks_of
from scoring.item_keys import item_key, order_text
from scoring.likeness import Matrix, Names, likeness, objects_likeness
from scoring.records import Json
from scoring.scalar_pairs import pair_scalars
from scoring.schema import Node
from scoring.spots import Spot, child_of
from scoring.values import text_of

ITEM_THRESHOLD = 0.5
"""Two objects, or two lists, less alike than this are two different items."""
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One item of the candidate's list that is not empty."""

    index: int
    value: Json
    key: Hashable | None


@dataclass(slots=True, kw_only=True)
class Pairing:
    """Who answers whom. Positions are those of the two lists; `duplicates` are positions among `extra`."""

    pairs: list[tuple[Spot, Candidate]] = field(default_factory=list)
    missed: list[Spot] = field(default_factory=list)
    extra: list[Candidate] = field(default_factory=list)
    duplicates: set[int] = field(default_factory=set)


def candidates_of(node: Node, held: Sequence[tuple[int, Json]]) -> list[Candidate]:
    """The candidate's items with their keys."""
    return [
        Candidate(index=index, value=value, key=item_key(node.item(index).for_value(value), value))
        for index, value in held
    ]


def pair_set(attempt: Attempt, spot: Spot, candidates: list[Candidate]) -> Pairing:
    """The pairing of a list in which order does not matter."""
    pairing = Pairing()
    missed, extra = _pair_equal(attempt, spot, candidates, pairing)
    if missed and extra:
        missed, extra = _pair_unequal(attempt, spot, missed, extra, pairing)
    pairing.pairs.sort(key=lambda pair: pair[0].index or 0)
    pairing.missed = sorted(missed, key=lambda item: item.index or 0)
    pairing.extra = sorted(extra, key=lambda item: item.index)
    pairing.duplicates = duplicates_among(reference_keys(spot), pairing)
    return pairing


def reference_keys(spot: Spot) -> list[Hashable | None]:
    """The keys of the reference's items, made once."""
    keys: list[Hashable | None] | None = spot.cache.get("keys")
    if keys is None:
        keys = spot.cache["keys"] = [item_key(item.node, item.value) for item in spot.items]
    return keys


def _pair_equal(
    attempt: Attempt, spot: Spot, candidates: list[Candidate], pairing: Pairing
) -> tuple[list[Spot], list[Candidate]]:
    waiting: dict[Hashable, deque[Candidate]] = defaultdict(deque)
    for candidate in candidates:
        if candidate.key is not None:
            waiting[candidate.key].append(candidate)
    missed: list[Spot] = []
    for item, key in zip(spot.items, reference_keys(spot), strict=True):
        found = waiting.get(key) if key is not None else None
        if found:
            pairing.pairs.append((item, found.popleft()))
        else:
            missed.append(item)
    missed = [item for item in missed if not _pair_accepted(attempt, item, waiting, pairing)]
    taken = {candidate.index for _, candidate in pairing.pairs}
    return missed, [candidate for candidate in candidates if candidate.index not in taken]


def _pair_accepted(attempt: Attempt, item: Spot, waiting: dict[Hashable, deque[Candidate]], pairing: Pairing) -> bool:
    for value in attempt.task.config.accepted.get(item.path, ()):
        found = waiting.get(item_key(item.node, value))
        if found:
            pairing.pairs.append((item, found.popleft()))
            return True
    return False


def _pair_unequal(
    attempt: Attempt, spot: Spot, missed: list[Spot], extra: list[Candidate], pairing: Pairing
) -> tuple[list[Spot], list[Candidate]]:
    keys = dict(zip(map(id, spot.items), reference_keys(spot), strict=True))
    missed = sorted(missed, key=lambda item: order_text(keys[id(item)]))
    extra = sorted(extra, key=lambda item: order_text(item.key))
    for pair in (_scalars, _objects, _lists):
        found = pair(attempt, spot, missed, extra)
        pairing.pairs += found
        ours, theirs = {id(item) for item, _ in found}, {item.index for _, item in found}
        missed = [item for item in missed if id(item) not in ours]
        extra = [item for item in extra if item.index not in theirs]
    return missed, extra


def _scalars(attempt: Attempt, spot: Spot, missed: list[Spot], extra: list[Candidate]) -> list[tuple[Spot, Candidate]]:
    del spot
    ours = [item for item in missed if not isinstance(item.value, dict | list)]
    theirs = [item for item in extra if not isinstance(item.value, dict | list)]
    if not ours or not theirs:
        return []
    return [(ours[i], theirs[j]) for i, j in pair_scalars(attempt, ours, [item.value for item in theirs])]


def _objects(attempt: Attempt, spot: Spot, missed: list[Spot], extra: list[Candidate]) -> list[tuple[Spot, Candidate]]:
    ours = [item for item in missed if isinstance(item.value, dict)]
    theirs = [item for item in extra if isinstance(item.value, dict)]
    if not ours or not theirs:
        return []
    pairs = _by_identity(spot, ours, theirs)
    names = Names(keys=spot.node.keys, label=spot.node.label)
    # A list that has to be cut may leave relatives in different blocks, so what is left meets once more.
    passes = (False, False, True) if len(ours) * len(theirs) > MOST_PAIRS else (False, True)
    for vectors in passes:
        mine, yours = _rest(ours, theirs, pairs)
        if not mine or not yours or (vectors and not _can_embed(attempt, mine, yours)):
            break
        for rows, columns in blocks_of(_values(mine), _values(yours)):
            left, right = [mine[i] for i in rows], [yours[j] for j in columns]
            matrix = objects_likeness(attempt, left[0].node, names, _values(left), _values(right), vectors=vectors)
            pairs += [(left[i], right[j]) for i, j in assign(matrix, ITEM_THRESHOLD)]
    return pairs


def _lists(attempt: Attempt, spot: Spot, missed: list[Spot], extra: list[Candidate]) -> list[tuple[Spot, Candidate]]:
    ours = [item for item in missed if isinstance(item.value, list)]
    theirs = [item for item in extra if isinstance(item.value, list)]
    if not ours or not theirs:
        return []
    matrix = likeness(
        attempt, spot.node.item(0), [item.value for item in ours], [item.value for item in theirs], vectors=False
    )
    return [(ours[i], theirs[j]) for i, j in assign(matrix, ITEM_THRESHOLD)]


def _values(items: Sequence[Spot] | Sequence[Candidate]) -> list[dict[str, Json]]:
    return [item.value for item in items if isinstance(item.value, dict)]


def _rest(
    ours: list[Spot], theirs: list[Candidate], pairs: list[tuple[Spot, Candidate]]
) -> tuple[list[Spot], list[Candidate]]:
    taken = {id(item) for item, _ in pairs}, {item.index for _, item in pairs}
    return [item for item in ours if id(item) not in taken[0]], [item for item in theirs if item.index not in taken[1]]


def _by_identity(spot: Spot, ours: list[Spot], theirs: list[Candidate]) -> list[tuple[Spot, Candidate]]:
    """Objects whose identifying properties are equal to each other's and to nobody else's."""
    names = spot.node.keys
    if not names:
        return []
    left: dict[Hashable, list[Spot]] = defaultdict(list)
    right: dict[Hashable, list[Candidate]] = defaultdict(list)
    for item in ours:
        left[_identity(item, item.value, names)].append(item)
    for candidate in theirs:
        right[_identity(ours[0], candidate.value, names)].append(candidate)
    return [
        (items[0], right[key][0])
        for key, items in left.items()
        if key is not None and len(items) == 1 and len(right.get(key, ())) == 1
    ]


def _identity(spot: Spot, value: Json, names: Sequence[str]) -> Hashable | None:
    if not isinstance(value, dict):
        return None
    parts = []
    for name in names:
        held = value.get(name)
        place = child_of(spot.node, name)
        key = None if held is None or held == "" else item_key(place.for_value(held), held)
        if key is None:
            return None
        parts.append(key)
    return tuple(parts)


def _can_embed(attempt: Attempt, ours: Sequence[Spot], theirs: Sequence[Candidate]) -> bool:
    """Whether the texts of the leftovers have vectors; those that have none are open after this call."""
    if attempt.task.config.embedding_model is None:
        return False
    node = ours[0].node
    texts = [
        text
        for value in (*(item.value for item in ours), *(item.value for item in theirs))
        if isinstance(value, dict)
        for name, held in value.items()
        if isinstance(held, str) and attempt.is_embedded(child_of(node, name))
        for text in (text_of(held),)
        if text
    ]
    return attempt.want_texts(texts)


def assign(matrix: Matrix, threshold: float) -> list[tuple[int, int]]:
    """The pairs (row, column) with the greatest total; no pair below the threshold, rows in order."""
    kept = np.where(matrix >= threshold - _ROUNDING, matrix, np.float32(0))
    rows, columns = np.flatnonzero(kept.any(axis=1)).tolist(), np.flatnonzero(kept.any(axis=0)).tolist()
    if not rows:
        return []
    found = optimal_assignment(kept[np.ix_(rows, columns)])
    return [(rows[i], columns[j]) for i, j in found if kept[rows[i], columns[j]] > 0]


def extra_only(node: Node, held: Sequence[tuple[int, Json]]) -> Pairing:
    """The pairing of a list that the reference does not have: everything is extra."""
    pairing = Pairing(extra=candidates_of(node, held))
    pairing.duplicates = duplicates_among([], pairing)
    return pairing


def duplicates_among(keys: Sequence[Hashable | None], pairing: Pairing) -> set[int]:
    """Surplus copies: extra items that equal an item of the reference, a paired item or an earlier extra item."""
    seen = {key for key in keys if key is not None}
    seen |= {candidate.key for _, candidate in pairing.pairs}
    copies: set[int] = set()
    for candidate in pairing.extra:
        if candidate.key is not None and candidate.key in seen:
            copies.add(candidate.index)
        seen.add(candidate.key)
    return copies
