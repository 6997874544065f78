"""Cron expressions of five fields, as Dagster reads them: checked here, since importing Dagster costs a second."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from zoneinfo import available_timezones

NIGHTLY = "0 3 * * *"
WEEKLY = "0 3 * * 1"
WORDS: Mapping[str, str] = {"nightly": NIGHTLY, "weekly": WEEKLY}

# fmt: off
_MONTHS = {"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
           "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}
# fmt: on
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_FIELDS: tuple[tuple[str, int, int, Mapping[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_PART = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[1-9]\d?))?")
_LONGEST_MONTHS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_REMEDY = 'write nightly, weekly, or minute, hour, day, month and weekday like "0 3 * * 1"'


def cron_of(written: str) -> str:
    """The cron expression that a word (`nightly`, `weekly`) or an expression stands for.

    Raises ValueError that says what is wrong and what to write.
    """
    fields = WORDS.get(written.strip(), written).split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{written!r} is no time to repeat; {_REMEDY}")
    for text, (name, low, high, names) in zip(fields, _FIELDS, strict=True):
        if not all(_is_part(part.casefold(), low, high, names) for part in text.split(",")):
            raise ValueError(f"{text!r} is no {name} ({low} to {high}); {_REMEDY}")
    if _never_comes(fields[2], fields[3]):
        raise ValueError(f"{written!r} names a day that its month does not have; {_REMEDY}")
    return " ".join(fields)


def timezone_problem(name: str) -> str | None:
    """Why this is no time zone, with the nearest names; None where it is one."""
    known = available_timezones()
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"nearest known: {', '.join(near)}" if near else "write one like UTC or Europe/Amsterdam"
    return f"unknown time zone {name!r}; {hint}"


def _is_part(part: str, low: int, high: int, names: Mapping[str, int]) -> bool:
    found = _PART.fullmatch(part)
    if found is None or (found["step"] and found["first"] and not found["last"]):
        return False
    ends = [_number(end, names) for end in (found["first"], found["last"]) if end is not None]
    return all(end is not None and low <= end <= high for end in ends) and ends == sorted(
        ends, key=lambda end: end or 0
    )


def _number(text: str, names: Mapping[str, int]) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 2 else names.get(text)


def _never_comes(day: str, month: str) -> bool:
    months = {_number(one.casefold(), _MONTHS) for one in month.split(",")}
    days = day.split(",")
    if not all(one.isdecimal() for one in days) or None in months:
        return False
    return all(int(one) > _LONGEST_MONTHS.get(number or 0, 31) for one in days for number in months)
