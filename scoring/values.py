"""Equality of two leaf values without any model: the rungs `exact`, `normalized` and `calendar` (SPEC 3.1 to 3.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal

from scoring.dates import compare_dates, date_key, is_evident_date
from scoring.numbers import number_key, number_match
from scoring.records import Json, Kind, Rung
from scoring.text import folded_form, normal_form


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeMatch:
    """Two values are the same without any model. `note` says what was assumed, empty where nothing was."""

    rung: Rung
    note: str = ""


_EXACT = FreeMatch(rung=Rung.EXACT)
_NORMALIZED = FreeMatch(rung=Rung.NORMALIZED)
_CALENDAR = FreeMatch(rung=Rung.CALENDAR)

_SHORTEST_NOTATION = 8
_UUID = re.compile(r"(?:urn:uuid:|\{)?([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\}?")
_DOI = re.compile(r"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s?)?(10\.[0-9]{4,9}/\S+)")
_BARE_HOST = re.compile(r"([a-z][a-z0-9+.-]*://[^/?#\s]+)/?")
_LONGEST_INTEGER_BITS = 13_000


def free_match(kind: Kind, reference: Json, candidate: Json) -> FreeMatch | None:
    """How two leaf values are the same by the rungs that need no model, None where these rungs find no match.

    Symmetric; every value but NaN matches itself.
    """
    if type(reference) is type(candidate) and _is_identical(reference, candidate):
        return _EXACT
    match kind:
        case Kind.TEXT:
            return _text_match(reference, candidate)
        case Kind.PROSE | Kind.ENUM:
            return _NORMALIZED if _same_form(reference, candidate) else None
        case Kind.NUMBER:
            return _number_match(reference, candidate)
        case Kind.DATE:
            return _date_match(reference, candidate)
        case Kind.BOOLEAN:
            return _boolean_match(reference, candidate)
        case Kind.IDENTIFIER:
            return _identifier_match(reference, candidate)


def key_of(kind: Kind, value: Json) -> Hashable | None:
    """A key such that values with equal keys have a free match; None where there is none (NaN, infinities)."""
    match kind:
        case Kind.TEXT | Kind.PROSE | Kind.ENUM:
            return _form_of(value)
        case Kind.NUMBER:
            key = number_key(value)
            return key if key is not None else _other_key(value)
        case Kind.DATE:
            return _date_key(value)
        case Kind.BOOLEAN:
            read = _boolean_of(value)
            return ("boolean", read) if read is not None else _other_key(value)
        case Kind.IDENTIFIER:
            text = text_of(value)
            return identifier_form(text) if text is not None else _other_key(value)


def text_of(value: Json) -> str | None:
    """A scalar as the text it stands for in a text field; None for null, lists, objects, NaN and infinities.

    A JSON number is its plain decimal text (`4.0` is `4`, `1e-7` is `0.0000001`), a boolean `true` or `false`.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return _integer_text(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else f"{Decimal(repr(value)):f}"
    return None


def identifier_form(text: str) -> str:
    """The form in which identifiers are compared: folded text, one notation each for UUID, DOI and bare web address.

    Digits, hyphens, inner spaces and a closing full stop stay: `007` is not `7`. A UUID may stand with or without
    hyphens, braces and `urn:uuid:`; a DOI with or without `doi:` or its resolver; a bare host may end in a slash.
    """
    form = folded_form(text)
    if len(form) < _SHORTEST_NOTATION:
        return form
    if uuid := _UUID.fullmatch(form):
        return uuid[1].replace("-", "")
    if doi := _DOI.fullmatch(form):
        return f"doi:{doi[1]}"
    if address := _BARE_HOST.fullmatch(form):
        return address[1]
    return form


def _integer_text(value: int) -> str:
    """Decimal digits; hexadecimal for integers so long that Python refuses to print them."""
    return str(value) if value.bit_length() < _LONGEST_INTEGER_BITS else hex(value)


def _is_identical(reference: Json, candidate: Json) -> bool:
    if isinstance(reference, float):
        return reference == candidate and math.isfinite(reference)
    if isinstance(reference, list | dict):
        return _is_same_tree(reference, candidate)
    return reference == candidate


def _is_same_tree(reference: Json, candidate: Json) -> bool:
    """Whether two lists or objects are equal and `1` is nowhere `true`; without recursion, whatever their depth."""
    stack = [(reference, candidate)]
    while stack:
        left, right = stack.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            stack.extend(zip(left, right, strict=True))
        elif isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            stack.extend((left[key], right[key]) for key in left)
        elif left != right:
            return False
    return True


def _form_of(value: Json) -> str | None:
    if isinstance(value, str):
        return normal_form(value)
    text = text_of(value)
    return normal_form(text) if text is not None else None


def _same_form(reference: Json, candidate: Json) -> bool:
    form = _form_of(reference)
    return form is not None and form == _form_of(candidate)


def _text_match(reference: Json, candidate: Json) -> FreeMatch | None:
    if _same_form(reference, candidate):
        return _NORMALIZED
    if isinstance(reference, str) and isinstance(candidate, str):
        return _evident_date_match(reference, candidate)
    if isinstance(reference, int | float) and isinstance(candidate, int | float):
        return _number_match(reference, candidate)
    return None


def _evident_date_match(reference: str, candidate: str) -> FreeMatch | None:
    """Dates in a text field count as dates only where both texts are unmistakably dates."""
    if is_evident_date(reference) and is_evident_date(candidate):
        return _calendar_match(reference, candidate)
    return None


def _number_match(reference: Json, candidate: Json) -> FreeMatch | None:
    note = number_match(reference, candidate)
    if note is None:
        return _NORMALIZED if _are_same_texts(reference, candidate) else None
    return FreeMatch(rung=Rung.NORMALIZED, note=note) if note else _NORMALIZED


def _date_match(reference: Json, candidate: Json) -> FreeMatch | None:
    if _same_form(reference, candidate):
        return _NORMALIZED
    left, right = _date_text(reference), _date_text(candidate)
    return _calendar_match(left, right) if left is not None and right is not None else None


def _calendar_match(reference: str, candidate: str) -> FreeMatch | None:
    comparison = compare_dates(reference, candidate)
    if not comparison.is_same:
        return None
    return FreeMatch(rung=Rung.CALENDAR, note=comparison.note) if comparison.note else _CALENDAR


def _date_text(value: Json) -> str | None:
    """Years and compact dates may stand as JSON numbers; booleans are no dates."""
    return None if isinstance(value, bool) else text_of(value)


def _boolean_match(reference: Json, candidate: Json) -> FreeMatch | None:
    left, right = _boolean_of(reference), _boolean_of(candidate)
    if left is None or right is None:
        return _NORMALIZED if _are_same_texts(reference, candidate) else None
    return _NORMALIZED if left is right else None


def _boolean_of(value: Json) -> bool | None:
    """A boolean, or the text `true` or `false` in any case. `yes`, `1` and 1 are none."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(normal_form(value))
    return value if isinstance(value, bool) else None


def _are_same_texts(reference: Json, candidate: Json) -> bool:
    """Whether two texts that are no value of their field's kind are at least the same text."""
    return (
        isinstance(reference, str) and isinstance(candidate, str) and normal_form(reference) == normal_form(candidate)
    )


def _identifier_match(reference: Json, candidate: Json) -> FreeMatch | None:
    left, right = text_of(reference), text_of(candidate)
    if left is None or right is None:
        return None
    return _NORMALIZED if identifier_form(left) == identifier_form(right) else None


def _date_key(value: Json) -> Hashable | None:
    text = _date_text(value)
    if text is None:
        return _other_key(value)
    return date_key(text) or normal_form(text)


def _other_key(value: Json) -> Hashable | None:
    """A key for a value that is not of its field's kind. Only equal texts, or equal values of one type, share it."""
    if isinstance(value, str):
        return normal_form(value)
    return (type(value).__name__, value) if isinstance(value, bool | int) else None
