"""Long lists of objects, cut into blocks of items that have something in common, so that no matrix outgrows memory.

Two items are related when they share a value, or a word of a text, in the same property that is not too common. Each
reference item keeps its few closest relatives; items that are related, directly or over others, form a block, and each
block is paired by itself. Only lists whose leftovers make more than `MOST_PAIRS` pairs are cut; shorter ones
are paired whole, and so is every block that is small enough. In a block that is still too large, the closest
relatives meet one by one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from scoring.records import Json
from scoring.text import normal_form

MOST_PAIRS = 6_000_000
RELATIVES = 8
"""How many related candidates each reference item keeps."""
MOST_SHARING = 64
"""A value or word that more candidates than this share relates nobody."""

Block = tuple[list[int], list[int]]


def blocks_of(ours: Sequence[Json], theirs: Sequence[Json]) -> list[Block]:
    """Positions of reference and of candidate items that may belong together; items without relatives are left out."""
    if len(ours) * len(theirs) <= MOST_PAIRS:
        return [(list(range(len(ours))), list(range(len(theirs))))]
    related = _relatives(ours, theirs)
    return [part for block in _connected(related) for part in _small_enough(block, related)]


def _relatives(ours: Sequence[Json], theirs: Sequence[Json]) -> dict[int, list[int]]:
    """For each reference item its closest candidates, the closest first."""
    having: dict[tuple[str, str], list[int]] = defaultdict(list)
    for j, value in enumerate(theirs):
        for mark in set(_marks(value)):
            having[mark].append(j)
    related: dict[int, list[int]] = {}
    for i, value in enumerate(ours):
        shared: Counter[int] = Counter()
        for mark in sorted(set(_marks(value))):
            found = having.get(mark, ())
            if len(found) <= MOST_SHARING:
                shared.update(found)
        if shared:
            related[i] = [j for j, _ in sorted(shared.items(), key=lambda pair: (-pair[1], pair[0]))[:RELATIVES]]
    return related


def _marks(value: Json) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        return
    for name, held in value.items():
        if isinstance(held, str):
            form = normal_form(held)
            yield name, form
            yield from ((name, word) for word in form.split()[:16])
        elif held is not None and not isinstance(held, dict | list):
            yield name, repr(held)


def _connected(related: dict[int, list[int]]) -> list[Block]:
    owners: dict[int, list[int]] = defaultdict(list)
    for i, found in related.items():
        for j in found:
            owners[j].append(i)
    seen: set[int] = set()
    blocks: list[Block] = []
    for start in related:
        if start not in seen:
            left = _reach(start, related, owners)
            seen |= left
            blocks.append((sorted(left), sorted({j for i in left for j in related[i]})))
    return blocks


def _reach(start: int, related: dict[int, list[int]], owners: dict[int, list[int]]) -> set[int]:
    left, waiting = {start}, [start]
    while waiting:
        for j in related[waiting.pop()]:
            fresh = [i for i in owners[j] if i not in left]
            left.update(fresh)
            waiting += fresh
    return left


def _small_enough(block: Block, related: dict[int, list[int]]) -> Iterable[Block]:
    left, right = block
    if len(left) * len(right) <= MOST_PAIRS:
        yield block
        return
    taken: set[int] = set()
    for i in left:
        free = next((j for j in related[i] if j not in taken), None)
        if free is not None:
            taken.add(free)
            yield [i], [free]
