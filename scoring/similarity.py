"""The similarity that the embedding rung compares with its limits: the cosine, and for the local model a second signal.

A small embedding model does not tell an answer inside a sentence from an answer that is another one. How the words of
the two texts relate does, so for the local model each relation has a level on the cosine scale and the cosine moves the
similarity around that level. The levels were set on the tuning halves of the labelled pairs; the figures of each
relation are printed by `python -m benchmarks.agreement` and stand in docs/agreement.md. For every other model the
similarity is the cosine itself, so that hosted models and explicit thresholds mean exactly what they say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from rapidfuzz.distance import OSA

from scoring.restated import answer_words, canonical, singular, without_fillers
from scoring.strictness import LOCAL_MODEL
from scoring.word_tables import COPULAS, FILLERS
from scoring.words import Words

_SEGMENTS = re.compile(r"""[()\[\]"]|(?<=\S): |; | - """)
_CENTRE = 0.93
_OVERLAP_CEILING = 0.965
_OVERLAP_FLOOR = 0.90


class Relation(StrEnum):
    """How the words of two texts relate, surest first."""

    SAME_WORDS = "same words"
    SENTENCE = "answer in a sentence"
    APPOSITION = "answer with an explanation"
    MIDDLE_NAMES = "middle names left out"
    MISSPELT = "one letter differs"
    CONTAINED = "more specific"
    SHORTENED = "less specific"
    ONE_WORD = "one word of several"
    OVERLAP = "some words shared"
    DISJOINT = "no word shared"


# The similarity at a cosine of 0.93, and how much it moves with the cosine.
_LEVELS: dict[Relation, tuple[float, float]] = {
    Relation.SAME_WORDS: (0.99, 0.1),
    Relation.SENTENCE: (0.99, 0.1),
    Relation.APPOSITION: (0.988, 0.1),
    Relation.MIDDLE_NAMES: (0.988, 0.1),
    Relation.MISSPELT: (0.978, 0.1),
    Relation.CONTAINED: (0.978, 0.2),
    Relation.SHORTENED: (0.977, 0.2),
    Relation.ONE_WORD: (0.972, 0.2),
}


def combined_similarity(
    reference_normal: str, candidate_normal: str, cosine: float, *, model_name: str, context_normal: str = ""
) -> float:
    """How alike two texts are, on the cosine scale of `model_name`, in -1..1; never falling as the cosine rises.

    The texts are normal forms (SPEC 3.2); the context is the field's title and description in normal form.
    """
    if model_name != LOCAL_MODEL:
        return cosine
    relation = relation_of(reference_normal, candidate_normal, context_normal)
    if relation in _LEVELS:
        level, slope = _LEVELS[relation]
        return max(cosine, min(1.0, level + slope * (cosine - _CENTRE)))
    if relation is Relation.OVERLAP:
        return _of_overlap(reference_normal, candidate_normal, cosine)
    return cosine


def _of_overlap(reference_normal: str, candidate_normal: str, cosine: float) -> float:
    """Texts that share words and differ in others never match; the closer the spelling, the higher in the band."""
    if cosine <= _OVERLAP_FLOOR:
        return cosine
    closeness = _closeness_of(reference_normal, candidate_normal)
    return _OVERLAP_FLOOR + (min(cosine, _OVERLAP_CEILING) - _OVERLAP_FLOOR) * (0.1 + 0.9 * closeness)


@lru_cache(1 << 14)
def _closeness_of(reference_normal: str, candidate_normal: str) -> float:
    return _closeness(*_leftovers(content(reference_normal), content(candidate_normal)))


@lru_cache(1 << 14)
def relation_of(reference_normal: str, candidate_normal: str, context_normal: str = "") -> Relation:
    """How the candidate's words, without those that repeat the context, relate to the reference's."""
    wanted = content(reference_normal)
    if len(wanted) > 1 and content_words(reference_normal).isdisjoint(content_words(candidate_normal)):
        return Relation.DISJOINT
    said = _singulars(without_fillers(answer_words(reference_normal, candidate_normal, context_normal)))
    only_wanted, only_said = _leftovers(wanted, said)
    if not only_wanted and not only_said:
        return Relation.SAME_WORDS
    if only_wanted and only_said:
        if _is_misspelt(only_wanted, only_said, len(wanted)):
            return Relation.MISSPELT
        return Relation.OVERLAP if len(only_wanted) < len(wanted) else Relation.DISJOINT
    if only_said:
        return _containing(reference_normal, candidate_normal, wanted, said)
    return _contained(reference_normal, candidate_normal, wanted, said)


@lru_cache(1 << 14)
def content(normal: str) -> Words:
    """The words of a text that carry meaning, canonical and singular."""
    return _singulars(without_fillers(canonical(normal)))


@lru_cache(1 << 14)
def content_words(normal: str) -> frozenset[str]:
    """The same words as a set, with the small ones."""
    return frozenset(singular(word) for word in canonical(normal))


def _singulars(words: Words) -> Words:
    return tuple(singular(word) for word in words)


def _leftovers(left: Words, right: Words) -> tuple[Words, Words]:
    """The words that only the left side has, and those that only the right side has, counted."""
    left_counts, right_counts = Counter(left), Counter(right)
    return tuple((left_counts - right_counts).elements()), tuple((right_counts - left_counts).elements())


def _containing(reference: str, candidate: str, wanted: Words, said: Words) -> Relation:
    """The candidate holds all the reference's words and more."""
    words, own = canonical(candidate), canonical(reference)
    added = frozenset(words).difference(own)
    is_long = len(words) - len(own) >= 3 and not FILLERS.isdisjoint(added)
    if is_long or (len(words) >= 5 and not COPULAS.isdisjoint(added)):
        return Relation.SENTENCE
    if _is_segment(candidate, content(reference)):
        return Relation.APPOSITION
    if _has_only_middle_more(wanted, said):
        return Relation.MIDDLE_NAMES
    return Relation.CONTAINED if _is_little_more(wanted, said) else Relation.OVERLAP


def _contained(reference: str, candidate: str, wanted: Words, said: Words) -> Relation:
    """The candidate holds a part of the reference's words and no other."""
    if _is_segment(reference, content(candidate)):
        return Relation.APPOSITION
    if _has_only_middle_more(said, wanted):
        return Relation.MIDDLE_NAMES
    return Relation.SHORTENED if len(said) > 1 else Relation.ONE_WORD


def _is_segment(text: str, words: Words) -> bool:
    """Whether the words are all that stands between two strong marks of the text, or before the first comma there."""
    parts = [part for part in _SEGMENTS.split(text) if part.strip(" ,")]
    return any(words in (content(part), content(part.partition(",")[0])) for part in parts)


def _has_only_middle_more(short: Words, long: Words) -> bool:
    return len(short) == 2 < len(long) and short[0] == long[0] and short[-1] == long[-1] and len(short[-1]) > 2


def _is_little_more(short: Words, long: Words) -> bool:
    """Whether one or two words were put before or behind the others, not between them."""
    return len(long) - len(short) <= 2 and (long[: len(short)] == short or long[-len(short) :] == short)


def _is_misspelt(left: Sequence[str], right: Sequence[str], count: int) -> bool:
    """Whether the sides differ in one letter of one longer word that begins alike, in a name of several words."""
    if len(left) != 1 or len(right) != 1 or (count == 1 and len(left[0]) < 8):
        return False
    one, other = left[0], right[0]
    if min(len(one), len(other)) < 5 or one[0] != other[0] or not (one + other).isalpha():
        return False
    return OSA.distance(one, other, score_cutoff=1) <= 1


def _closeness(left: Sequence[str], right: Sequence[str]) -> float:
    """How alike the words that differ are spelt, in 0..1: 1 / (1 + letters to change in the least alike of them)."""
    few, many = sorted((left, right), key=len)
    if not few:
        return 1.0
    return 1.0 / (1.0 + max(min(OSA.distance(word, other) for other in many) for word in few))
