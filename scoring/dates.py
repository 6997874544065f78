"""Dates and times as calendar values, in any common notation (SPEC 3.3).

The rules:

- ISO 8601 is year, month, day whatever the locale. `14 March 1972`, `le 14 mars 1972`, `14.III.1972`, `21AUG2015`,
  `1972年3月14日` are read in the languages of `months`. A text is read whole or not at all.
- A date of other precision is another date: `1972`, `1972-03`, `Q1 1972`, `1970s`, `1972-03-14` all differ.
- `05/04/2017` has two readings and matches either; the note says so. Two such texts are read by one convention, so that
  `05/04/2017` is not `04/05/2017`. With points (`05.04.2017`) the day stands first.
- A two-digit year may be of either century; no clock decides. `Mar '72` likewise.
- Times with zones are instants. Where one side has no zone the written clocks are compared. A plain date is its own
  midnight, in whatever zone it is written.
- `333 BCE` is `333 BC`, not `333 CE`; `333 CE` is `333`. A negative year is read as ISO 8601 has it and as a year BCE.
- `c. 1972` is `1972`, and the note says so.
- A range (`1999-2003`, `14-16 March 1972`, `from 1999 to 2003`) is the same as one of equal start and end.
- An impossible date (`2023-02-30`, `25:00`), a duration and a word such as `today` are texts without reading.

Machine, clock, time zone and locale have no influence. Texts over 120 characters are no dates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from scoring.calendars import Convention, Precision, identity_of, is_in_order, is_same_date
from scoring.calendars import Date as Date
from scoring.clocks import Clock, SplitTime, split_time
from scoring.eras import Era, split_era
from scoring.notations import (
    coarse_readings,
    east_asian_readings,
    iso_readings,
    numeric_readings,
    worded_readings,
)
from scoring.text import folded_form

_LONGEST_TEXT = 120
_CACHE_SIZE = 1 << 15
_MOST_SEPARATORS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class DateComparison:
    """Whether two texts are the same date; `note` says what had to be assumed for that, empty where nothing was."""

    is_same: bool
    note: str = ""


def parse_date(text: str) -> tuple[Date, ...]:
    """All readings of a text as a date, none where it is no date."""
    return _readings(text) if len(text) <= _LONGEST_TEXT else ()


def compare_dates(reference: str, candidate: str) -> DateComparison:
    """Whether a reading of the one text is the same date as a reading of the other. Symmetric."""
    notes = [
        _note_on(left, right)
        for left in parse_date(reference)
        for right in parse_date(candidate)
        if is_same_date(left, right)
    ]
    return DateComparison(is_same=bool(notes), note=min(notes, key=len, default=""))


@lru_cache(_CACHE_SIZE)
def date_key(text: str) -> tuple[object, ...] | None:
    """A key such that texts with equal keys are the same date; None where a text has no reading or several."""
    readings = parse_date(text)
    is_certain = len(readings) == 1 and not readings[0].convention
    return identity_of(readings[0]) if is_certain else None


def is_evident_date(text: str) -> bool:
    """Whether a text can hardly be anything but a date, even where nothing says that dates stand there.

    True for whole dates with separators and a full year, and for dates with words and a full year; not for bare
    numbers, times, short years and approximate ones.
    """
    return len(text) <= _LONGEST_TEXT and _is_evident(text)


@lru_cache(_CACHE_SIZE)
def _is_evident(text: str) -> bool:
    if not _MAY_BE_EVIDENT.search(text):
        return False
    readings = _readings(text)
    return bool(readings) and all(
        reading.year is not None and reading.precision is not Precision.TIME and not reading.remark
        for reading in readings
    )


# A letter beside the digits, or three numbers with marks between them and a year of four digits.
_MAY_BE_EVIDENT = re.compile(
    r"(?=.*\d)(?=.*[^\W\d_])|^\s*(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-]\d{4})\b"
)


@lru_cache(_CACHE_SIZE)
def _readings(text: str) -> tuple[Date, ...]:
    form = _plain_form(text)
    if not any(char.isdigit() or char == "元" for char in form):
        return ()
    form, is_circa = _without_circa(form)
    found = _single(form)
    if not found or "–" in text:
        found = [*found, *_ranges(form)]
    if is_circa:
        found = [replace(date, remark="approximate date") for date in found if date.precision is not Precision.TIME]
    return tuple(dict.fromkeys(found))


def _plain_form(text: str) -> str:
    form = folded_form(text)
    if not form.isascii():
        form = "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in form)
    return form.rstrip(" ,;").removesuffix(".").rstrip()


_CIRCA = re.compile(
    r"^(?:circa|ca\.?|c\.|approximately|approx\.?|about|around|environ|vers|omstreeks|rond|ungefähr|etwa|około|ok\.|"
    r"cirka|noin|hacia|alrededor de|~|≈)\s*(?=\w)|\s*(?:\?|\(\?\)|\(circa\)|\(approx\.?\))$"
)


def _without_circa(form: str) -> tuple[str, bool]:
    rest = _CIRCA.sub("", form)
    return rest, rest != form


# --- one date ---


def _single(form: str) -> list[Date]:
    """Readings of a text as one date, date-time or time of day."""
    split = split_time(form)
    return _days(form) if split is None else _with_time(split)


def _with_time(split: SplitTime) -> list[Date]:
    if split.clock is None:
        return []
    rest = _AT.sub("", split.rest).strip(" ,")
    if not rest:
        return [_at(Date(precision=Precision.TIME), split.clock)]
    return [_at(day, split.clock) for day in _days(rest) if day.precision is Precision.DAY]


_AT = re.compile(
    r"(?:^|\s|(?<=,))(?:at|um|om|à|a las|alle(?: ore)?|às|kl\.?|klo|o|в|uhr|o'clock|hrs?|h)(?=\s|$)|^t(?=$)"
)


def _at(day: Date, clock: Clock) -> Date:
    return replace(day, nanoseconds=clock.nanoseconds, offset_minutes=clock.offset_minutes)


def _days(form: str) -> list[Date]:
    """Readings without a time of day, in the first notation that reads the text."""
    for notation in (iso_readings, numeric_readings, coarse_readings, east_asian_readings, worded_readings):
        if found := notation(form):
            return found
    era = split_era(form)
    return _days_in_era(era) if era is not None else []


def _days_in_era(era: Era) -> list[Date]:
    if era.rest.isdigit():
        year = int(era.rest)
        return [_in_era(Date(precision=Precision.YEAR, year=year), era)] if year else []
    if found := worded_readings(era.rest, is_year_literal=True):
        return [_in_era(date, era) for date in found if date.year]
    found = coarse_readings(era.rest) or iso_readings(era.rest) or numeric_readings(era.rest)
    return [_in_era(date, era) for date in found if date.year and date.year > 0 and not date.remark]


def _in_era(date: Date, era: Era) -> Date:
    """The date with its year counted in its era. Decades and centuries before the era run backwards."""
    year = date.year or 0
    if not era.is_before:
        return date
    match date.precision:
        case Precision.CENTURY:
            return replace(date, year=1 - year - 99)
        case Precision.DECADE:
            return replace(date, year=1 - year - 9)
        case _:
            return replace(date, year=1 - year)


# --- ranges ---

_SEPARATOR = re.compile(
    r"\s*(?:/|~|\.\.+|から|\s(?:to|through|thru|till?|until|and|bis|au|et|à|tot|al|a|hasta|ao|do|po|til|till|по|до)\s|-)\s*"
)
_RANGE_PREFIX = re.compile(r"^(?:from|between|von|vom|zwischen|du|de|entre|van|tussen|dal|del?|od|från|fra|с)\s+")
_SHORT_END = re.compile(r"(\d\d)(\d\d)\s?[-/]\s?(\d\d)")
_LAST_TOKEN = re.compile(r"[^\W_]+\.?$")
_FIRST_TOKEN = re.compile(r"^[^\W_]+")


def _ranges(form: str) -> list[Date]:
    """Readings of a text as a range: at the first separator where both sides are dates."""
    form = _RANGE_PREFIX.sub("", form)
    if short := _SHORT_END.fullmatch(form):
        return _range_of(_single(short[1] + short[2]), _single(short[1] + short[3]))
    for number, separator in enumerate(_SEPARATOR.finditer(form)):
        if number == _MOST_SEPARATORS:
            break
        for start, end in _sides(form[: separator.start()], form[separator.end() :]):
            if found := _range_of(_single(start), _single(end)):
                return found
    return []


def _sides(left: str, right: str) -> Iterator[tuple[str, str]]:
    """The two sides as they stand, then with what one side leaves to the other: `14-16 March 1972`, `333-323 BC`."""
    if not left or not right:
        return
    last, first = _LAST_TOKEN.search(left), _FIRST_TOKEN.search(right)
    yield left, right
    if last and first:
        yield left + right[first.end() :], left[: last.start()] + right
        yield left + " " + _tail_of(right), right


def _tail_of(right: str) -> str:
    """The year, with its era, that closes a text: `14 March` takes it over from `16 April 1972`."""
    year = re.search(r"\d{3,4}\D*$", right)
    return year[0] if year else ""


def _range_of(starts: list[Date], ends: list[Date]) -> list[Date]:
    return [
        replace(start, end=end, remark=start.remark or end.remark)
        for start in starts
        for end in ends
        if start.year is not None and is_in_order(start, end)
    ]


# --- what is said about a match ---


def _note_on(left: Date, right: Date) -> str:
    if not (left.convention or right.convention or left.remark or right.remark or left.nanoseconds):
        return ""
    conventions = {side.convention.value for side in (left, right)} - {Convention.NONE.value}
    remarks = {side.remark for side in (left, right)} - {""}
    if left.nanoseconds is not None and right.nanoseconds is not None:
        remarks |= {"time zone on one side only"} if _has_one_zone(left, right) else set()
    return "; ".join([*sorted(conventions), *sorted(remarks)])


def _has_one_zone(left: Date, right: Date) -> bool:
    return (left.offset_minutes is None) != (right.offset_minutes is None)
