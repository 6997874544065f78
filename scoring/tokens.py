"""The smallest parts of JSON as models write it: numbers, odd constants, characters that nothing can store."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from scoring.records import Json

MAX_DIGITS = 4000
"""Integers with more digits than this are kept as text, below the limit at which Python refuses to read them."""

_MAX_NAMED = 5
_HARMFUL = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(slots=True)
class Problems:
    """What one reading saw and left alone, counted; `notes` says it in a bounded number of words."""

    duplicates: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)

    def object_of(self, pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        """The object of these members; of equal keys the last one counts."""
        found = dict(pairs)
        if len(found) != len(pairs):
            counted = Counter(name for name, _ in pairs)
            self.duplicates.update(name for name, count in counted.items() if count > 1)
        return found

    def notes(self) -> tuple[str, ...]:
        """At most one sentence about duplicate keys and one for each sort of odd number."""
        named = [
            f"key {clean_text(name[:80])!r} is given more than once" for name in list(self.duplicates)[:_MAX_NAMED]
        ]
        more = len(self.duplicates) - len(named)
        keys = [f"{', '.join(named)}{f' and {more} more' if more > 0 else ''}: the last one counts"] if named else []
        return (*keys, *(f"{what} is no number here and kept as text" for what in self.numbers))


def read_constant(problems: Problems, name: str) -> str:
    """NaN and the infinities as their own name, which equals no number."""
    problems.numbers[name] += 1
    return name


def read_float(problems: Problems, digits: str) -> float | str:
    """The number, or its text where it is larger than any float."""
    number = float(digits)
    if math.isfinite(number):
        return number
    problems.numbers["a number beyond 1e308"] += 1
    return digits


def read_int(problems: Problems, digits: str) -> int | str:
    """The exact integer, or its text where it has more than 4,000 digits."""
    if len(digits) <= MAX_DIGITS:
        return int(digits)
    problems.numbers[f"an integer of more than {MAX_DIGITS} digits"] += 1
    return digits


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates written as visible escapes."""
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_clean(value: Json) -> bool:
    """Whether no key and no text in the value holds NUL or a lone surrogate."""
    match value:
        case str():
            return _HARMFUL.search(value) is None
        case list():
            return all(is_clean(item) for item in value)
        case dict():
            return all(_HARMFUL.search(name) is None and is_clean(item) for name, item in value.items())
        case _:
            return True
