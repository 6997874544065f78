"""Calendar values: the `Date` record and its arithmetic.

Years are astronomical (0 is 1 BCE, -332 is 333 BCE) and unbounded, which Python's own `datetime` is not. The calendar
is the proleptic Gregorian one; 29 February of a Julian leap year before 1583 is accepted too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NANOSECONDS_PER_SECOND = 1_000_000_000
_NANOSECONDS_PER_MINUTE = 60 * NANOSECONDS_PER_SECOND
NANOSECONDS_PER_DAY = 86_400 * NANOSECONDS_PER_SECOND
_FIRST_GREGORIAN_YEAR = 1583
_DAYS_PER_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Precision(StrEnum):
    """How much of a date is given. Dates of different precision are different dates."""

    CENTURY = "century"
    DECADE = "decade"
    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"
    DAY = "day"
    TIME = "time of day"


class Convention(StrEnum):
    """What had to be assumed where a notation is read in two ways; two texts are read by one convention."""

    NONE = ""
    DAY_FIRST = "ambiguous order of day and month, read day first"
    MONTH_FIRST = "ambiguous order of day and month, read month first"
    ASTRONOMICAL = "negative year, read as an astronomical one"
    HISTORICAL = "negative year, read as a year BCE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Date:
    """One reading of a text as a date, a date-time, a time of day or a range.

    `year` is astronomical; None for a day of any year and for a time of day. `month` and `day` are 1-based; a quarter
    holds its first month, a week its Monday, a decade or century its first year. `nanoseconds` counts from midnight of
    the written clock (86,400e9 for 24:00), None without a time; `offset_minutes` is the written offset from UTC, None
    without one. `end` is the end of a range, of the same precision. `convention` and `remark` say how it was read.
    """

    precision: Precision
    year: int | None = None
    month: int | None = None
    day: int | None = None
    nanoseconds: int | None = None
    offset_minutes: int | None = None
    end: Date | None = None
    convention: Convention = Convention.NONE
    remark: str = ""


def day_of(year: int | None, month: int, day: int) -> Date | None:
    """The day, None where no calendar has it. Without a year 29 February is one."""
    if not 1 <= month <= len(_DAYS_PER_MONTH) or day < 1:
        return None
    last = _DAYS_PER_MONTH[month - 1] + (month == 2 and _is_leap(year))
    return Date(precision=Precision.DAY, year=year, month=month, day=day) if day <= last else None


def month_of(year: int, month: int) -> Date | None:
    """The month, None outside 1..12."""
    is_month = 1 <= month <= len(_DAYS_PER_MONTH)
    return Date(precision=Precision.MONTH, year=year, month=month) if is_month else None


def year_of(year: int) -> Date:
    """The year."""
    return Date(precision=Precision.YEAR, year=year)


def day_number(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 in the proleptic Gregorian calendar, for any astronomical year."""
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def day_from_number(number: int) -> Date:
    """The day that is `number` days from 1970-01-01."""
    era, day_of_era = divmod(number + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    month = (shifted_month + 2) % 12 + 1
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    return Date(precision=Precision.DAY, year=year_of_era + era * 400 + (month <= 2), month=month, day=day)


def week_of(year: int, week: int, weekday: int | None) -> Date | None:
    """The ISO week, or its day where `weekday` 1..7 is given; None where the year has no such week."""
    fourth = day_number(year, 1, 4)
    monday = fourth - (fourth + 3) % 7 + (week - 1) * 7
    next_fourth = day_number(year + 1, 1, 4)
    if week < 1 or monday >= next_fourth - (next_fourth + 3) % 7 or not 1 <= (weekday or 1) <= 7:
        return None
    found = day_from_number(monday + (weekday or 1) - 1)
    precision = Precision.WEEK if weekday is None else Precision.DAY
    return Date(precision=precision, year=found.year, month=found.month, day=found.day)


def ordinal_day_of(year: int, ordinal: int) -> Date | None:
    """Day 1..366 of a year, None where the year has no such day."""
    is_day = 1 <= ordinal <= 365 + _is_leap(year)
    return day_from_number(day_number(year, 1, 1) + ordinal - 1) if is_day else None


def identity_of(date: Date) -> tuple[object, ...]:
    """What a reading stands for, taken alone: readings of equal identity are the same date."""
    end = identity_of(date.end) if date.end is not None else None
    if date.nanoseconds is None or date.offset_minutes is None:
        return (date.precision, *_written(date), end)
    return (date.precision, "instant", _instant(date), end)


def is_same_date(left: Date, right: Date) -> bool:
    """Whether two readings are the same date. Symmetric.

    Two times with zones are compared as instants. Where one side has no zone the written clocks are compared, and a
    plain date is the same as its own midnight.
    """
    if left.precision is not right.precision or (left.end is None) != (right.end is None):
        return False
    if left.convention and right.convention and left.convention is not right.convention:
        return False
    if left.end is not None and right.end is not None and not is_same_date(left.end, right.end):
        return False
    if left.offset_minutes is not None and right.offset_minutes is not None:
        return _instant(left) == _instant(right)
    return _written(left) == _written(right)


def is_in_order(start: Date, end: Date) -> bool:
    """Whether a range may run from `start` to `end`: equal precision and convention, the end not before the start."""
    if start.precision is not end.precision or start.end is not None or end.end is not None:
        return False
    if (start.year is None) != (end.year is None) or start.convention is not end.convention:
        return False
    return _place(start) <= _place(end)


def _place(date: Date) -> tuple[int, int, int, int]:
    return (date.year or 0, date.month or 0, date.day or 0, date.nanoseconds or 0)


def _written(date: Date) -> tuple[int | None, ...]:
    """The written calendar value, with 24:00 as midnight of the next day."""
    clock = date.nanoseconds or 0
    if clock >= NANOSECONDS_PER_DAY and date.year is not None:
        days = day_number(date.year, date.month or 1, date.day or 1)
        return _written(day_from_number(days + 1))
    return (date.year, date.month, date.day, clock % NANOSECONDS_PER_DAY)


def _instant(date: Date) -> int:
    clock = (date.nanoseconds or 0) - (date.offset_minutes or 0) * _NANOSECONDS_PER_MINUTE
    if date.year is None:
        return clock % NANOSECONDS_PER_DAY
    return day_number(date.year, date.month or 1, date.day or 1) * NANOSECONDS_PER_DAY + clock


def _is_leap(year: int | None) -> bool:
    if year is None:
        return True
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0 or year < _FIRST_GREGORIAN_YEAR)
