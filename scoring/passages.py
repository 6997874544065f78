"""Which parts of the source documents a question shows: all of them, or the passages that matter when they are long.

Documents of at most `WHOLE_CHARACTERS` together are shown whole. Longer ones are cut into paragraphs; a paragraph
counts by the rarity of the words it shares with the values and the field's name, and the best ones are shown in the
order in which they stand, until the same number of characters is full. The choice depends on nothing else.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from scoring.records import Document
from scoring.text import normal_form

WHOLE_CHARACTERS = 24_000
PASSAGE_CHARACTERS = 1_200
_GAP = "\n[...]\n"
_WORD = re.compile(r"\w+")


def documents_for(documents: Sequence[Document], texts: Iterable[str]) -> tuple[Document, ...]:
    """The documents, each whole or reduced to its passages that share words with the texts; a cut is marked `[...]`."""
    if sum(len(document.text) for document in documents) <= WHOLE_CHARACTERS:
        return tuple(documents)
    wanted = frozenset(word for text in texts for word in _WORD.findall(normal_form(text)))
    return _chosen(tuple(documents), wanted)


def _chosen(documents: tuple[Document, ...], wanted: frozenset[str]) -> tuple[Document, ...]:
    passages = [
        (number, place, text)
        for number, document in enumerate(documents)
        for place, text in enumerate(_passages(document.text))
    ]
    words = {passage: _words(passage[2]) & wanted for passage in passages}
    spread = Counter(word for found in words.values() for word in found)
    value = {
        passage: sum(math.log(1 + len(passages) / spread[word]) for word in sorted(found))
        for passage, found in words.items()
    }
    kept: set[tuple[int, int, str]] = set()
    room = WHOLE_CHARACTERS
    for passage in sorted(passages, key=lambda passage: (-value[passage], passage[:2])):
        if value[passage] > 0 and len(passage[2]) <= room:
            kept.add(passage)
            room -= len(passage[2])
    return tuple(
        Document(name=document.name, text=_GAP.join(text for at, _, text in sorted(kept) if at == number))
        for number, document in enumerate(documents)
        if any(at == number for at, _, _ in kept)
    )


@lru_cache(256)
def _passages(text: str) -> tuple[str, ...]:
    """The text cut at paragraphs, and inside long paragraphs at the last space before the limit."""
    pieces: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        rest = paragraph.strip()
        while len(rest) > PASSAGE_CHARACTERS:
            cut = rest.rfind(" ", 1, PASSAGE_CHARACTERS) + 1 or PASSAGE_CHARACTERS
            pieces.append(rest[:cut].strip())
            rest = rest[cut:].strip()
        if rest:
            pieces.append(rest)
    return tuple(pieces)


@lru_cache(4096)
def _words(passage: str) -> frozenset[str]:
    return frozenset(_WORD.findall(normal_form(passage)))
