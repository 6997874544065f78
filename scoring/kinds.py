"""Which kind a leaf is, from its schema and the reference's values there, never from a candidate (SPEC 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from scoring.dates import is_evident_date, parse_date
from scoring.fragments import Fragment, Option
from scoring.records import Json, Kind

LONG_TEXT = 240
"""A string is prose from this maxLength on, and from this length in the reference on; in characters."""

LABEL_WORDS = 12
"""Texts of list items with at most so many words and no full stop are labels, even when called `description`."""

_DATE_FORMATS = frozenset({"date", "date-time", "time", "datetime", "timestamp"})
_IDENTIFIER_FORMATS = frozenset(
    {
        *("email", "idn-email", "uri", "url", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "guid"),
        *("hostname", "idn-hostname", "ipv4", "ipv6", "json-pointer", "relative-json-pointer", "regex", "iban", "bic"),
        *("isbn", "issn", "doi", "ean", "gtin", "vin", "sku"),
    }
)
_IDENTIFIER_NAMES = frozenset(
    {
        *(
            "id",
            "ids",
            "uuid",
            "guid",
            "sku",
            "isbn",
            "issn",
            "doi",
            "ean",
            "gtin",
            "upc",
            "iban",
            "vin",
            "orcid",
            "lei",
        ),
        *("isin", "cusip", "url", "uri", "email", "hash", "sha", "sha1", "sha256", "md5", "checksum"),
    }
)
_PROSE_NAMES = frozenset(
    {
        *("summary", "summaries", "description", "descriptions", "notes", "note", "abstract", "biography", "bio"),
        *("synopsis", "overview", "comment", "comments", "remark", "remarks", "explanation", "rationale", "narrative"),
        *("commentary", "reasoning", "justification", "blurb", "freetext"),
    }
)
_LABEL_NAMES = frozenset({"description", "descriptions"})
_PROSE_PHRASES = re.compile(
    r"\bfree[- ]?(?:text|form)\b|\bparagraphs?\b|\bsentences?\b|\bin (?:your|its|their) own words\b|\bprose\b"
    r"|\bnarrative\b",
    re.IGNORECASE,
)
_PROSE_OPENINGS = re.compile(
    r"\s*(?:(?:an?|the)\s+)?(?:[\w-]+\s+){0,2}?(summary|abstract|biography|synopsis|overview|explanation|description)"
    r"(?:\s+(?:of|for|about)\b|\s*[.,;(]|\s*$)",
    re.IGNORECASE,
)
_DATE_PHRASES = re.compile(
    r"\byyyy\b|\biso[- ]?8601\b|\bdd[-/. ]mm\b|\bmm[-/. ]dd\b|\brfc[- ]?3339\b|\bdate-?time\b", re.IGNORECASE
)
_DATE_NAMES = frozenset({"date", "dates", "datetime", "timestamp", "time", "dob", "birthday", "birthdate", "deadline"})
_CIRCA = re.compile(r"\s*c(?:a|irca)?\b", re.IGNORECASE)  # "CA-1661" is a store more often than a year
_FILE_NAMES = frozenset({"name", "filename", "file", "path", "title"})
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ][0-9]{2}:[0-9]{2}.*)?")
_CODE_PATTERN = re.compile(r"\\d|\[[^\]]*0-9|\[[A-Za-z-]+\]\{")
_FREE_PATTERN = re.compile(r"\\s|\.[*+]|\\w[*+]|(?<!\\) |\\p")
_DATE_PATTERN = re.compile(r"(?:\\d|\[0-9\])\{4\}\)?[-/.](?:\(.{0,40}\)|(?:\\d|\[0-9\])\{(?:1,)?2\})")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_SENTENCE = re.compile(r"(?<=[^\W\d_A-Z]{2})[.!?…]+[\"'”’»)]*(?:\s+|$)|[。！？]")
_SENTENCE_WORD = re.compile(r"(?<![^\W_])[^\W\d_A-Z][^\W\d_]*")
_DIGIT = re.compile(r"\d")
_NUMERIC = re.compile(r"\d|[½¼¾]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """A kind, and in words what it was concluded from."""

    kind: Kind
    why: str


def kind_of(name: str, option: Option, values: Sequence[Json], *, is_in_list: bool) -> Basis:
    """The kind of the leaf called `name`, whose reference values are `values` (empty and missing ones left out)."""
    if option.type != "boolean" and any(
        "enum" in fragment.schema or "const" in fragment.schema for fragment in option.fragments
    ):
        return Basis(kind=Kind.ENUM, why="the schema lists the allowed values")
    match option.type or _type_among(values):
        case "boolean":
            return Basis(kind=Kind.BOOLEAN, why="type boolean")
        case "number":
            return Basis(kind=Kind.NUMBER, why="type number")
        case _:
            texts = [value for value in values if isinstance(value, str)]
            return _kind_of_string(words_of(name), option.fragments, texts, is_in_list and _are_labels(texts))


def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a property name, whether written `likeThis`, `like_this` or `Like this`."""
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", name)))


def reads_as_number(text: str) -> bool:
    """Whether a string in a number field may be meant as a number at all."""
    return _NUMERIC.search(text) is not None


def _type_among(values: Sequence[Json]) -> str | None:
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return "number"
    return None


def _kind_of_string(
    words: Sequence[str], fragments: Sequence[Fragment], texts: Sequence[str], are_labels: bool
) -> Basis:
    return (
        _from_format(fragments)
        or _date_from_schema(words, fragments, texts)
        or _identifier_from_schema(words, fragments)
        or _date_from_reference(words, texts)
        or _prose_from_schema(words, fragments, are_labels)
        or _prose_from_reference(texts)
        or Basis(kind=Kind.TEXT, why="a string of no special kind")
    )


def _from_format(fragments: Sequence[Fragment]) -> Basis | None:
    for format_ in _strings(fragments, "format"):
        if format_.lower() in _DATE_FORMATS:
            return Basis(kind=Kind.DATE, why=f"format {format_}")
        if format_.lower() in _IDENTIFIER_FORMATS:
            return Basis(kind=Kind.IDENTIFIER, why=f"format {format_}")
    return None


def _date_from_schema(words: Sequence[str], fragments: Sequence[Fragment], texts: Sequence[str]) -> Basis | None:
    if any(_DATE_PATTERN.search(pattern) for pattern in _strings(fragments, "pattern")):
        return Basis(kind=Kind.DATE, why="the pattern describes a date")
    said = any(_DATE_PHRASES.search(text) for key in ("description", "title") for text in _strings(fragments, key))
    is_file = bool(words) and words[-1] in _FILE_NAMES
    if said and not is_file and (not texts or any(_DIGIT.search(text) for text in texts)):
        return Basis(kind=Kind.DATE, why="the description names a date format")
    return None


def _date_from_reference(words: Sequence[str], texts: Sequence[str]) -> Basis | None:
    if texts and all(is_evident_date(text) and not _CIRCA.match(text) for text in texts):
        return Basis(kind=Kind.DATE, why="the reference holds dates")
    if texts and words and words[-1] in _DATE_NAMES and all(parse_date(text) for text in texts):
        return Basis(kind=Kind.DATE, why=f"the name ends in {words[-1]!r} and the reference holds dates or times")
    return None


def is_iso_date(text: str) -> bool:
    """Whether the text is a full calendar date in ISO order, with or without a time."""
    found = _ISO_DATE.fullmatch(text.strip())
    if found is None:
        return False
    try:
        date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return False
    return True


def _identifier_from_schema(words: Sequence[str], fragments: Sequence[Fragment]) -> Basis | None:
    patterns = _strings(fragments, "pattern")
    if any(_CODE_PATTERN.search(pattern) and not _FREE_PATTERN.search(pattern) for pattern in patterns):
        return Basis(kind=Kind.IDENTIFIER, why="the pattern describes a code")
    if words and words[-1] in _IDENTIFIER_NAMES:
        return Basis(kind=Kind.IDENTIFIER, why=f"the name ends in {words[-1]!r}")
    return None


def _prose_from_schema(words: Sequence[str], fragments: Sequence[Fragment], are_labels: bool) -> Basis | None:
    if words and words[-1] in _PROSE_NAMES and not (are_labels and words[-1] in _LABEL_NAMES):
        return Basis(kind=Kind.PROSE, why=f"the name ends in {words[-1]!r}")
    for said in _strings(fragments, "description"):
        opening = _PROSE_OPENINGS.match(said)
        if _PROSE_PHRASES.search(said) or (opening and not (are_labels and opening[1].lower() in _LABEL_NAMES)):
            return Basis(kind=Kind.PROSE, why="the description speaks of free text")
    if any(_max_length(fragment) >= LONG_TEXT for fragment in fragments):
        return Basis(kind=Kind.PROSE, why=f"maxLength is {LONG_TEXT} or more")
    return None


def _prose_from_reference(texts: Sequence[str]) -> Basis | None:
    if texts and 3 * sum(1 for text in texts if _is_prose(text)) >= len(texts):
        return Basis(kind=Kind.PROSE, why="the reference holds several sentences or long texts")
    return None


def _is_prose(text: str) -> bool:
    sentences = [part for part in _SENTENCE.split(text) if _reads_as_sentence(part)]
    return len(sentences) >= 2 or (len(text) >= LONG_TEXT and len(sentences) == 1)


def _reads_as_sentence(part: str) -> bool:
    """Five words, three of them beginning small (addresses, titles and lists of names have fewer), or eight signs of a
    script without spaces."""
    if len(_SENTENCE_WORD.findall(part)) >= 3 and len(part.split()) >= 5:
        return True
    return " " not in part.strip() and len(part) >= 8 and not part.isascii()


def _are_labels(texts: Sequence[str]) -> bool:
    return 4 * sum(1 for text in texts if _is_label(text)) >= 3 * len(texts)


def _is_label(text: str) -> bool:
    return len(text.split()) <= LABEL_WORDS and not _SENTENCE.search(text)


def _max_length(fragment: Fragment) -> int:
    value = fragment.schema.get("maxLength")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _strings(fragments: Sequence[Fragment], keyword: str) -> list[str]:
    found = [fragment.schema.get(keyword) for fragment in fragments]
    return [value for value in found if isinstance(value, str)]
