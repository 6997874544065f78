"""Which kind a leaf is, from its schema and the reference's values there, never from a candidate (SPEC 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from scoring.fragments import Fragment, Option
from scoring.records import Json, Kind

LONG_TEXT = 240
"""A string is prose from this maxLength on, and from this length in the reference on; in characters."""

LABEL_WORDS = 6
"""Up to so many words without a full stop are a label, which alone does not make a `description` prose."""

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
_LABEL_NAMES = frozenset({"description", "descriptions", "note", "notes"})
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
_DATE_NAMES = frozenset({"date", "dates", "datetime", "timestamp", "dob", "birthday", "birthdate", "deadline"})
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ][0-9]{2}:[0-9]{2}.*)?")
_ERA_DATE = re.compile(r"(?:c(?:a|irca)?\.? ?)?[0-9]{1,5} ?(?:b\.?c\.?(?:e\.?)?|a\.?d\.?|c\.?e\.?)", re.IGNORECASE)
_CODE_PATTERN = re.compile(r"\\d|\[[^\]]*0-9|\[[A-Za-z-]+\]\{")
_FREE_PATTERN = re.compile(r"\\s|\.[*+]|\\w[*+]|(?<!\\) |\\p")
_DATE_PATTERN = re.compile(r"(?:\\d|\[0-9\])\{4\}\)?[-/.](?:\(.{0,40}\)|(?:\\d|\[0-9\])\{(?:1,)?2\})")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|[0-9]+")
_SENTENCE = re.compile(r"[.!?…。！？](?:[\"'”’)]*)(?:\s+|$)")
_NUMERIC = re.compile(r"[0-9]|^[½¼¾]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """A kind, and in words what it was concluded from."""

    kind: Kind
    why: str


def kind_of(name: str, option: Option, values: Sequence[Json]) -> Basis:
    """The kind of the leaf called `name`, whose reference values are `values` (empty and missing ones left out)."""
    if any("enum" in fragment.schema or "const" in fragment.schema for fragment in option.fragments):
        return Basis(kind=Kind.ENUM, why="the schema lists the allowed values")
    match option.type or _type_among(values):
        case "boolean":
            return Basis(kind=Kind.BOOLEAN, why="type boolean")
        case "number":
            return Basis(kind=Kind.NUMBER, why="type number")
        case _:
            return _kind_of_string(name, option.fragments, [value for value in values if isinstance(value, str)])


def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a property name, whether written `likeThis`, `like_this` or `Like this`."""
    return tuple(word.lower() for word in _WORD.findall(name))


def reads_as_number(text: str) -> bool:
    """Whether a string in a number field may be meant as a number at all."""
    return _NUMERIC.search(text) is not None


def _type_among(values: Sequence[Json]) -> str | None:
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return "number"
    return None


def _kind_of_string(name: str, fragments: Sequence[Fragment], texts: Sequence[str]) -> Basis:
    words = words_of(name)
    return (
        _from_format(fragments)
        or _date_from_words(words, fragments, texts)
        or _identifier_from_words(words, fragments)
        or _prose_from_schema(words, fragments, texts)
        or _from_reference(texts)
        or Basis(kind=Kind.TEXT, why="a string of no special kind")
    )


def _from_format(fragments: Sequence[Fragment]) -> Basis | None:
    for format_ in _strings(fragments, "format"):
        if format_.lower() in _DATE_FORMATS:
            return Basis(kind=Kind.DATE, why=f"format {format_}")
        if format_.lower() in _IDENTIFIER_FORMATS:
            return Basis(kind=Kind.IDENTIFIER, why=f"format {format_}")
    return None


def _date_from_words(words: Sequence[str], fragments: Sequence[Fragment], texts: Sequence[str]) -> Basis | None:
    looks_right = not texts or any(any(char.isdigit() for char in text) for text in texts)
    if not looks_right:
        return None
    if any(_DATE_PATTERN.search(pattern) for pattern in _strings(fragments, "pattern")):
        return Basis(kind=Kind.DATE, why="the pattern describes a date")
    said = [text for key in ("description", "title") for text in _strings(fragments, key) if _DATE_PHRASES.search(text)]
    if said and (words and words[-1] not in ("name", "filename", "title")):
        return Basis(kind=Kind.DATE, why="the description names a date format")
    if texts and all(is_iso_date(text) for text in texts):
        return Basis(kind=Kind.DATE, why="the reference holds ISO dates")
    if texts and all(_ERA_DATE.fullmatch(text.strip()) for text in texts):
        return Basis(kind=Kind.DATE, why="the reference holds years with an era")
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


def _identifier_from_words(words: Sequence[str], fragments: Sequence[Fragment]) -> Basis | None:
    patterns = _strings(fragments, "pattern")
    if any(_CODE_PATTERN.search(pattern) and not _FREE_PATTERN.search(pattern) for pattern in patterns):
        return Basis(kind=Kind.IDENTIFIER, why="the pattern describes a code")
    if words and words[-1] in _IDENTIFIER_NAMES:
        return Basis(kind=Kind.IDENTIFIER, why=f"the name ends in {words[-1]!r}")
    return None


def _prose_from_schema(words: Sequence[str], fragments: Sequence[Fragment], texts: Sequence[str]) -> Basis | None:
    is_label = bool(texts) and all(_is_label(text) for text in texts)
    if words and words[-1] in _PROSE_NAMES and not (is_label and words[-1] in _LABEL_NAMES):
        return Basis(kind=Kind.PROSE, why=f"the name ends in {words[-1]!r}")
    for said in _strings(fragments, "description"):
        opening = _PROSE_OPENINGS.match(said)
        if _PROSE_PHRASES.search(said) or (opening and not (is_label and opening[1].lower() in _LABEL_NAMES)):
            return Basis(kind=Kind.PROSE, why="the description speaks of free text")
    if any(_max_length(fragment) >= LONG_TEXT for fragment in fragments):
        return Basis(kind=Kind.PROSE, why=f"maxLength is {LONG_TEXT} or more")
    return None


def _from_reference(texts: Sequence[str]) -> Basis | None:
    if any(_is_prose(text) for text in texts):
        return Basis(kind=Kind.PROSE, why="the reference holds several sentences or a long text")
    return None


def _is_prose(text: str) -> bool:
    return len(text) >= LONG_TEXT or sum(1 for part in _SENTENCE.split(text) if len(part.split()) >= 4) >= 2


def _is_label(text: str) -> bool:
    return len(text.split()) <= LABEL_WORDS and not _SENTENCE.search(text)


def _max_length(fragment: Fragment) -> int:
    value = fragment.schema.get("maxLength")
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _strings(fragments: Sequence[Fragment], keyword: str) -> list[str]:
    found = [fragment.schema.get(keyword) for fragment in fragments]
    return [value for value in found if isinstance(value, str)]
