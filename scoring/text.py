"""The normal form of text: what is left once case, white space, typography and invisible characters are taken away.

The rules (SPEC 3.2), in the order they apply:

1. Unicode is composed (NFC). NFKC is never applied: `10⁵` is not `105`, `²`, `½`, `①` and `™` stay what they are.
2. Full-width and half-width forms, small forms, Latin and Armenian ligatures, digraphs and Roman numerals written as
   one character, `№`, `℃`, `℉` and Arabic presentation forms become the letters they stand for. `…` becomes three full
   stops, the fraction slash a slash.
3. Quotation marks and apostrophes become `'` or `"`, hyphens, dashes and the minus sign become `-`. Spaces just inside
   guillemets go.
4. Invisible characters go: zero-width space, word joiner, byte-order mark, bidi marks, soft hyphen, variation selectors
   of emoji, control characters. Zero-width joiner and non-joiner stay where they change what is read: both between two
   letters of a joining script (Arabic, Indic and their neighbours), the joiner between two emoji. The tag characters
   after a black flag stay, since they say which flag it is. A lone surrogate becomes U+FFFD.
5. White space of any kind collapses to one space and is trimmed.
6. Case is folded. The Turkish dotted and dotless i fold to `i`, so that a word matches itself in every case.
7. One closing full stop goes (`Berlin.` is `Berlin`, `Acme Inc.` is `Acme Inc`, `U.S.` is `U.S`); an ellipsis stays.

Letters, articles, accents and all other punctuation stay: `C++` is not `C`, `-5` is not `5`, `1.5` is not `15`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_CACHED_LENGTH = 256
_CACHE_SIZE = 1 << 16

_SINGLE_QUOTES = "`´ʹʻʼʽˈ׳‘’‚‛′❛❜＇"
_DOUBLE_QUOTES = "ʺ״“”„‟″❝❞〝〞〟＂«»‹›「」『』"
_DASHES = "֊־‐‑‒–—―−⸺⸻﹘﹣－"
_COMPATIBLE_RANGES = (
    (0x0132, 0x0133),
    (0x013F, 0x0140),
    (0x01C4, 0x01CC),
    (0x01F1, 0x01F3),
    (0x2103, 0x2103),
    (0x2109, 0x2109),
    (0x2116, 0x2116),
    (0x2160, 0x217F),
    (0xFB00, 0xFB17),
    (0xFB50, 0xFDFB),
    (0xFE50, 0xFE6F),
    (0xFE70, 0xFEFC),
    (0xFF01, 0xFFEE),
)
_INVISIBLE_RANGES = (
    (0x0000, 0x0008),
    (0x000E, 0x001B),
    (0x007F, 0x0084),
    (0x0086, 0x009F),
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x2064),
    (0x2066, 0x206F),
    (0xFE0E, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
)


def _translation() -> dict[int, str]:
    table = {
        code: unicodedata.normalize("NFKC", chr(code))
        for low, high in _COMPATIBLE_RANGES
        for code in range(low, high + 1)
    }
    table |= {ord(char): "'" for char in _SINGLE_QUOTES}
    table |= {ord(char): '"' for char in _DOUBLE_QUOTES}
    table |= {ord(char): "-" for char in _DASHES}
    table |= {code: "" for low, high in _INVISIBLE_RANGES for code in range(low, high + 1)}
    table |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    return table | {0x2026: "...", 0x0149: "'n", 0x2044: "/", 0x2215: "/", 0x301C: "~"}


_TABLE = _translation()
_GUILLEMET_SPACE = re.compile("(?<=[«‹]) | (?=[»›])")
_JOINERS = re.compile("[\u200c\u200d]+")
_TAGS = re.compile("(\U0001f3f4[\U000e0020-\U000e007f]+)|[\U000e0000-\U000e007f]+")
_DOTTED_I = re.compile("i\u0307+")
_FULL_STOPS = ".。"


def normal_form(text: str) -> str:
    """The form in which two texts are compared: equal forms are equal values (SPEC 3.2).

    Idempotent and independent of locale; a text of nothing but white space and invisible characters gives `""`.
    """
    if len(text) <= _CACHED_LENGTH:
        return _cached_normal_form(text)
    return _without_closing_stop(_fold(text))


def folded_form(text: str) -> str:
    """As `normal_form`, but a closing full stop stays: the form of identifiers."""
    return _cached_folded_form(text) if len(text) <= _CACHED_LENGTH else _fold(text)


def clean(text: str) -> str:
    """As `folded_form`, but case stays too: the text as a reader sees it, safe to print, embed and send."""
    if text.isascii():
        if not text.isprintable() or "`" in text:
            text = text.translate(_TABLE)
        return " ".join(text.split())
    return _clean_unicode(text)


@lru_cache(_CACHE_SIZE)
def _cached_normal_form(text: str) -> str:
    return _without_closing_stop(_fold(text))


@lru_cache(_CACHE_SIZE)
def _cached_folded_form(text: str) -> str:
    return _fold(text)


def _fold(text: str) -> str:
    cleaned = clean(text)
    if cleaned.isascii():
        return cleaned.lower()
    folded = unicodedata.normalize("NFD", cleaned).casefold().replace("ı", "i")
    return unicodedata.normalize("NFC", _DOTTED_I.sub("i", folded))


def _clean_unicode(text: str) -> str:
    text = _GUILLEMET_SPACE.sub("", " ".join(unicodedata.normalize("NFC", text).split()))
    text = _TAGS.sub(lambda match: match[1] or "", text.translate(_TABLE))
    text = _JOINERS.sub(_kept_joiner, text)
    return " ".join(unicodedata.normalize("NFC", text).split())


def _kept_joiner(match: re.Match[str]) -> str:
    """The joiner where it changes what is read, else nothing; a run of joiners counts as its first."""
    text, joiner = match.string, match[0][0]
    if match.start() == 0 or match.end() == len(text):
        return ""
    before, after = text[match.start() - 1], text[match.end()]
    if _is_joining_letter(before) and _is_joining_letter(after):
        return joiner
    return joiner if joiner == "\u200d" and _is_pictograph(before) and _is_pictograph(after) else ""


def _is_joining_letter(char: str) -> bool:
    """Whether a character belongs to a script in which joiners change the shape of words: Arabic to Mongolian."""
    code = ord(char)
    return (0x0600 <= code <= 0x109F or 0x1780 <= code <= 0x1CFF or 0xA800 <= code <= 0xABFF) and not char.isspace()


def _is_pictograph(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk"}


def _without_closing_stop(text: str) -> str:
    if text[-1:] in _FULL_STOPS and len(text) > 1 and text[-2] not in " .。":
        return text[:-1]
    return text
