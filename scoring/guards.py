"""What similarity may not be trusted with (SPEC 3): numbers, units, negations and opposites.

Two texts that say the same but for a number, a unit, a `not` or a word turned into its opposite lie close together for
every embedding model. Such a pair never matches by similarity. The guard sees words only: it may stop a pair that a
reader would accept (`three apples`, `several apples`), and then a judge decides or the texts differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from scoring.word_tables import (
    COMPOUND_ENDINGS,
    CURRENCIES,
    FULL_NUMBERS,
    LAST_ROMAN,
    MONEY_SCALES,
    NEGATING_PREFIXES,
    NEGATIONS,
    OPPOSITE_PREFIXES,
    OPPOSITES,
    UNITS,
)
from scoring.words import Words, with_digits, without_accents, words_of

_DIGITS = re.compile(r"-?\d+(?:[.,]\d+)*")
_GLUED = re.compile(r"(\d)'?([^\W\d_]+)")
_PLAIN_ENDINGS = frozenset({"st", "nd", "rd", "th", *MONEY_SCALES})
_FRACTIONS = {"½": Fraction(1, 2), "¼": Fraction(1, 4), "¾": Fraction(3, 4), "half": Fraction(1, 2)}
_LETTER_WORDS = frozenset("aeiouyzw")
# Number words that often are none (`the one that`, `a second time`): alone on one side they prove nothing.
_SOFT = frozenset({"one", "first", "second", "zero", "half"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What one text states: its numbers, those that may be mere words, units, negations and words."""

    hard: frozenset[str]
    soft: frozenset[str]
    units: frozenset[str]
    letters: Words
    negations: int
    words: frozenset[str]
    opposed: frozenset[str]


@lru_cache(1 << 14)
def guard_against(left_normal: str, right_normal: str, context_normal: str = "") -> str | None:
    """Why similarity may not match these two normal forms, None where it may.

    `numbers differ`, `units differ`, `letters differ` (Plan A, Plan B), `negation`, or `opposites: left/right`.
    Symmetric; reads digits, spelled-out numbers, ordinals, roman numerals and versions. A number that only one side
    has, and that the context (the field's title and description in normal form) names as well, is no difference.
    """
    if left_normal == right_normal:
        return None
    left, right, said = _facts(left_normal), _facts(right_normal), _facts(context_normal)
    if _have_other_numbers(left, right, said):
        return "numbers differ"
    if left.units and right.units and left.units != right.units:
        return "units differ"
    if left.letters and right.letters and left.letters != right.letters:
        return "letters differ"
    if (left.negations > 0) != (right.negations > 0) and not said.negations:
        return "negation"
    if left.opposed.isdisjoint(right.words):
        return None
    return _opposites(left.words - right.words, right.words - left.words)


def _have_other_numbers(left: _Facts, right: _Facts, said: _Facts) -> bool:
    """Whether one side states a number that neither the other nor the context states."""
    only_left = left.hard - right.hard - right.soft
    only_right = right.hard - left.hard - left.soft
    if only_left and only_right:
        return True
    if (only_left | only_right) - said.hard - said.soft:
        return True
    return bool(left.soft - right.hard - right.soft) and bool(right.soft - left.hard - left.soft)


@lru_cache(1 << 14)
def _facts(normal: str) -> _Facts:
    words = without_accents(words_of(normal))
    numbers = (*_numbers(words), *((letters, False) for letters in _glued_letters(normal)))
    return _Facts(
        hard=frozenset(value for value, is_soft in numbers if not is_soft),
        soft=frozenset(value for value, is_soft in numbers if is_soft),
        units=frozenset(_units(words)),
        letters=tuple(_letters(words)),
        negations=sum(_is_negation(words, place) for place in range(len(words))),
        words=frozenset(words),
        opposed=frozenset().union(*map(_opposites_of, words)),
    )


def _numbers(words: Words) -> Iterator[tuple[str, bool]]:
    """The numbers of a text in one spelling, each with whether its word may be no number at all."""
    digits = with_digits(words)
    last = len(digits) - 1
    spelled_soft = {with_digits(("x", word))[1] for word in words if word in _SOFT - _FRACTIONS.keys()}
    for place, word in enumerate(digits):
        if word in _FRACTIONS:
            yield str(_FRACTIONS[word]), word in _SOFT
        elif word[-2:] == "th" and word[:-2].isdigit():
            yield word[:-2], word in spelled_soft
        elif _DIGITS.fullmatch(word):
            yield _plain(word), word in spelled_soft
        elif place == last > 0 and len(word) == 1 and word.isalpha() and not _is_unit_place(digits[place - 1]):
            yield str(LAST_ROMAN.get(word, word)), False  # Elizabeth I, Plan B


def _glued_letters(normal: str) -> Iterator[str]:
    """What letters right behind a number make of it: the `o` of `4o`, the decade of `1930s`; no units, no ordinals."""
    for match in _GLUED.finditer(normal):
        if match[1].endswith("0") and match[2] == "s":
            yield "decade"
        elif match[2] not in UNITS and match[2] not in _PLAIN_ENDINGS:
            yield match[2]


def _plain(number: str) -> str:
    """The number without closing zeros after its mark: `1.50` is `1.5`; a version keeps all its parts."""
    whole, mark, rest = number.replace(",", ".").partition(".")
    if not mark or "." in rest:
        return number.replace(",", ".")
    return f"{whole}.{rest}".rstrip("0").rstrip(".")


def _units(words: Words) -> Iterator[str]:
    """The units that stand beside a number, in one spelling."""
    for place, word in enumerate(words):
        unit = UNITS.get(word)
        before, after = _word_at(words, place - 1), _word_at(words, place + 1)
        if unit is None or (word in MONEY_SCALES and _word_at(words, place - 2) in CURRENCIES):
            continue
        if _is_unit_place(before) or (word in CURRENCIES and _is_number(after)):
            yield unit


def _letters(words: Words) -> Iterator[str]:
    """Single letters that name something: `Plan B`, `William G. Frost`; not those that are words of some language."""
    for place, word in enumerate(words):
        if len(word) == 1 and word.isalpha():
            is_run = any(len(beside) == 1 for beside in (_word_at(words, place - 1), _word_at(words, place + 1)))
            if is_run or word not in _LETTER_WORDS:
                yield word


def _word_at(words: Words, place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""


def _is_unit_place(before: str) -> bool:
    return before == "°" or _is_number(before)


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word[1:2].isdigit() or word in FULL_NUMBERS


def _is_negation(words: Words, place: int) -> bool:
    """Whether the word negates; `no` before a number is the abbreviation of number."""
    if words[place] not in NEGATIONS:
        return False
    return not (words[place] == "no" and place + 1 < len(words) and _is_number(words[place + 1]))


def _opposites(only_left: frozenset[str], only_right: frozenset[str]) -> str | None:
    """The first pair of opposites, in the order of the alphabet, of which each side has one word and not the other."""
    found = sorted(
        tuple(sorted((word, other))) for word in only_left for other in _opposites_of(word) if other in only_right
    )
    return f"opposites: {found[0][0]}/{found[0][1]}" if found else None


@lru_cache(1 << 14)
def _opposites_of(word: str) -> frozenset[str]:
    """All words that are this word's opposite: known pairs, and what another beginning or ending makes of it."""
    found = set(OPPOSITES.get(word, ()))
    found.update(prefix + word for prefix in NEGATING_PREFIXES if len(word) > 3)
    found.update(word.removeprefix(prefix) for prefix in NEGATING_PREFIXES if len(word) > 3 + len(prefix))
    if len(word) > 4:
        found.update(_with_other_prefix(word))
        found.update(_with_other_ending(word))
    return frozenset(found - {word})


def _with_other_prefix(word: str) -> Iterator[str]:
    """`hypotension` for `hypertension`."""
    for first, second in (*OPPOSITE_PREFIXES, *((b, a) for a, b in OPPOSITE_PREFIXES)):
        if word.startswith(first):
            yield second + word[len(first) :]


def _with_other_ending(word: str) -> Iterator[str]:
    """`nitrite` for `nitrate`, `chloride` for `chlorine`: compounds of one stem."""
    if word[-3:] in COMPOUND_ENDINGS:
        yield from (word[:-3] + ending for ending in COMPOUND_ENDINGS)
