"""Dates and times as calendar values (SPEC 3.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """One reading of a text as a date."""

    year: int
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DateComparison:
    """Whether two texts are the same date, with a note for people, empty where nothing is to be said."""

    is_same: bool
    note: str = ""


_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")


def parse_date(text: str) -> tuple[Date, ...]:
    """All readings of a text as a date, none where it is no date."""
    match = _ISO.fullmatch(text)
    return (Date(year=int(match[1]), month=int(match[2]), day=int(match[3])),) if match else ()


def compare_dates(reference: str, candidate: str) -> DateComparison:
    """Whether one reading of each text is the same date. Symmetric."""
    common = set(parse_date(reference)) & set(parse_date(candidate))
    return DateComparison(is_same=bool(common))


def is_evident_date(text: str) -> bool:
    """Whether a text is a date even where nobody says that dates stand there."""
    return bool(_ISO.fullmatch(text))


def date_key(text: str) -> tuple[object, ...] | None:
    """A key such that texts with equal keys are the same date; None where a text has no reading or several."""
    readings = parse_date(text)
    return ("date", readings[0]) if len(readings) == 1 else None
