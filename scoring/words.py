"""The words of a normal form, and the spellings of one word that say the same.

A word is a run of letters of any script, a number with its sign and marks, or a symbol that carries meaning (`%`, `<`,
`+`); other punctuation only separates. The dots of `U.S.A` separate too, so that initials are words of one letter.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache

from scoring.word_tables import (
    ABBREVIATIONS,
    CURRENCIES,
    FULL_NUMBERS,
    MONEY_SCALES,
    ORDINAL_WORDS,
    REGIONAL_ENDINGS,
    ROMAN_NUMERALS,
    SCALES,
    SYMBOL_WORDS,
)

Words = tuple[str, ...]

_SEPARATORS = (
    r"\s\d\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e\u00a0-\u00bf\u2000-\u206f\u20a0-\u20cf"  # white space, digits, marks
    r"\u3000-\u3004\u3008-\u303f\u060c\u061b\u061f"  # marks of Chinese, Japanese and Arabic
)
_TOKEN = re.compile(
    r"(?:(?<![^\s(])-(?=\d))?\d+(?:[.,]\d+)*"  # a number, negative only where the dash cannot join two words
    rf"|[^{_SEPARATORS}]+[+#]*"  # letters, with the marks of C++ and C#
    r"|(?<=\w)-(?=\s|$|[,;)])"  # the dash of a blood group
    r"|[%°<>=±~≈≤≥×÷^²³¹¼½¾+&$£€¥₹§]"
)
_ORDINAL = re.compile(r"\d+th")
_DECIMAL = re.compile(r"\d{1,15}(?:[.,]\d{1,6})?")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+")
_UNMARKED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"})


@lru_cache(1 << 16)
def words_of(normal: str) -> Words:
    """The words of a normal form in their order; thousands marks and inner apostrophes are gone."""
    words = _TOKEN.findall(_APOSTROPHE.sub("", normal))
    return tuple(word.replace(",", "") if _THOUSANDS.fullmatch(word) else word for word in words)


def without_accents(words: Words) -> Words:
    """The words with accents taken off Latin and Greek letters; other scripts keep all their marks."""
    return tuple(word if word.isascii() else _bare(word) for word in words)


@lru_cache(1 << 14)
def _bare(word: str) -> str:
    kept = []
    base = ""
    for char in unicodedata.normalize("NFD", word):
        if not unicodedata.combining(char):
            base = char
        elif _is_latin_or_greek(base):
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_UNMARKED)


def _is_latin_or_greek(char: str) -> bool:
    return char < "\u03ff" or "\u1e00" <= char < "\u2000"


def collapsed(words: Words) -> Words:
    """The words with each run of single letters made one word: `u s a` is `usa`."""
    result: list[str] = []
    run: list[str] = []
    for word in (*words, ""):
        if len(word) == 1 and word.isalpha():
            run.append(word)
            continue
        if run:
            result.append("".join(run))
            run = []
        if word:
            result.append(word)
    return tuple(result)


def with_plain_symbols(words: Words) -> Words:
    """The words with `&` as `and` and `%` as `percent`."""
    return tuple(SYMBOL_WORDS.get(word, word) for word in words)


def with_full_words(words: Words) -> Words:
    """The words with well-known abbreviations written out: `intl`, `dept`, `km`; `st` stays, it has two meanings."""
    full = tuple(ABBREVIATIONS.get(word, word) for word in words)
    return full[: -len(_OF_AMERICA)] if full == (*_UNITED_STATES, *_OF_AMERICA) else full


_UNITED_STATES, _OF_AMERICA = ("united", "states"), ("of", "america")


def with_one_region(words: Words) -> Words:
    """The words in one spelling where British and American usage differ: `labour` is `labor`."""
    return tuple(_in_one_region(word) for word in words)


def _in_one_region(word: str) -> str:
    if len(word) < 6:
        return word
    for ending, common in REGIONAL_ENDINGS:
        if word.endswith(ending):
            return word[: -len(ending)] + common
    return word


def with_digits(words: Words) -> Words:
    """The words with numbers in digits: `two`, `twenty-five`, `ii` are 2, 25, 2; `second` and `2nd` are `2th`.

    `50 million` and `£50m` become one number. A closing `the second`, as in `Henry the Second`, is 2.
    """
    result: list[str] = []
    for place, word in enumerate(words):
        joined = _joined_number(result[-2:], word)
        if joined:
            result[-1] = joined
        else:
            result.append(_in_digits(word, is_first=place == 0))
    if len(result) > 2 and result[-2] == "the" and _ORDINAL.fullmatch(result[-1]):
        result[-2:] = [result[-1][:-2]]
    return tuple(result)


def _joined_number(before: list[str], word: str) -> str:
    """The number that the word makes with the number before it, empty where it makes none."""
    if not before or not before[-1][:1].isdigit():
        return ""
    number = before[-1]
    if word in {"st", "nd", "rd", "th"} and number.isdigit():
        return f"{number}th"
    if number in _TENS and (ones := FULL_NUMBERS.get(word) or ORDINAL_WORDS.get(word, 0)) and ones < 10:
        return f"{int(number) + ones}{'th' if word in ORDINAL_WORDS else ''}"
    scale = SCALES.get(word) or (MONEY_SCALES.get(word) if before[0] in CURRENCIES else None)
    return _scaled(number, scale) if scale else ""


def _scaled(number: str, scale: int) -> str:
    """The number times the scale; as it stands where it is no plain decimal."""
    if not _DECIMAL.fullmatch(number):
        return ""
    return f"{(Decimal(number.replace(',', '.')) * scale).normalize():f}"


_TENS = frozenset(str(tens) for tens in range(20, 100, 10))


def _in_digits(word: str, *, is_first: bool) -> str:
    if word in FULL_NUMBERS:
        return str(FULL_NUMBERS[word])
    if word in SCALES:
        return str(SCALES[word])
    if word in ORDINAL_WORDS:
        return f"{ORDINAL_WORDS[word]}th"
    if not is_first and word in ROMAN_NUMERALS:
        return str(ROMAN_NUMERALS[word])
    return word
