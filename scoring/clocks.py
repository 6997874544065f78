"""Times of day and zones within a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.calendars import NANOSECONDS_PER_SECOND

_HOURS_PER_HALF_DAY = 12
_HOURS_PER_DAY = 24
_MINUTES_PER_HOUR = 60
_LARGEST_OFFSET_MINUTES = 14 * _MINUTES_PER_HOUR
_ZONE_HOURS = {
    "z": 0,
    "utc": 0,
    "gmt": 0,
    "wet": 0,
    "west": 1,
    "bst": 1,
    "cet": 1,
    "mez": 1,
    "cest": 2,
    "mesz": 2,
    "eet": 2,
    "eest": 3,
    "msk": 3,
    "jst": 9,
    "kst": 9,
    "est": -5,
    "edt": -4,
    "cst": -6,
    "cdt": -5,
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
}
_ZONE_NAMES = "|".join(sorted(_ZONE_HOURS, key=len, reverse=True))
_ZONE = rf"(?:\s?(?P<name>{_ZONE_NAMES})(?![a-z]))?(?:\s?(?P<offset>[+-]\d{{1,2}}(?::?\d{{2}})?))?"
_HALF = r"(?:\s?(?P<half>[ap])\.?m\b\.?)"
_MINUTES = r"(?P<minute>\d{2})(?:COLON(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,30}))?)?"
_EXTENDED, _BASIC = _MINUTES.replace("COLON", ":"), _MINUTES.replace("COLON", "")
_ZONE_TITLE = (
    r"(?:\s?(?:\[[a-z_]{1,20}(?:/[a-z_]{1,20}){0,2}\]|\([a-z ]{1,40}\)))?"  # what follows an offset says the same again
)
_END = rf"{_ZONE_TITLE}(?![\d:])"
_CLOCKS = (
    re.compile(rf"(?:(?<=\d{{4}}:)|(?<![\d:.,]))(?P<hour>\d{{1,2}})(?:h| ?: ?){_EXTENDED}{_HALF}?{_ZONE}{_END}"),
    re.compile(rf"(?<=\dt)(?P<hour>\d{{2}})(?:{_BASIC})?{_ZONE}{_END}"),
    re.compile(rf"(?<![\d:.,])(?P<hour>\d{{1,2}}){_HALF}{_ZONE}{_END}"),
    re.compile(
        rf"(?<![\d:.,])(?P<hour>\d{{1,2}})\s?時\s?(?P<minute>\d{{1,2}})\s?分(?:\s?(?P<second>\d{{1,2}})\s?秒)?{_ZONE}{_END}"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day: nanoseconds from midnight (86,400e9 for 24:00) and the written offset from UTC, None without."""

    nanoseconds: int
    offset_minutes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitTime:
    """A text without its time of day. `clock` is None where the time is an impossible one."""

    rest: str
    clock: Clock | None


def split_time(form: str) -> SplitTime | None:
    """The text apart from its time of day, None where it holds no time."""
    if ":" not in form and not _MAY_HOLD_TIME.search(form):
        return None
    match = next(filter(None, (notation.search(form) for notation in _CLOCKS)), None)
    if match is None:
        return None
    rest = f"{_CONNECTOR.sub('', form[: match.start()])} {form[match.end() :].strip(' ,')}".strip()
    return SplitTime(rest=rest, clock=_clock_of(match))


_MAY_HOLD_TIME = re.compile(r"\dt\d|\dh\d|\d\s?[ap]\.?m|時")
_CONNECTOR = re.compile(r"(?:(?<=\d)[t_:]|,)\s*$")


def _clock_of(match: re.Match[str]) -> Clock | None:
    parts = match.groupdict()
    hour = _hour_of_day(int(parts["hour"]), parts.get("half"))
    minute, second = int(parts.get("minute") or 0), int(parts.get("second") or 0)
    fraction = int((parts.get("fraction") or "")[:9].ljust(9, "0"))
    offset = _offset_of(parts["name"], parts["offset"])
    if hour is None or minute >= _MINUTES_PER_HOUR or second > _MINUTES_PER_HOUR:
        return None
    if hour == _HOURS_PER_DAY and (minute or second or fraction):
        return None
    if offset is not None and abs(offset) > _LARGEST_OFFSET_MINUTES:
        return None
    seconds = (hour * _MINUTES_PER_HOUR + minute) * 60 + second
    return Clock(nanoseconds=seconds * NANOSECONDS_PER_SECOND + fraction, offset_minutes=offset)


def _hour_of_day(hour: int, half: str | None) -> int | None:
    if half is None:
        return hour if hour <= _HOURS_PER_DAY else None
    if not 1 <= hour <= _HOURS_PER_HALF_DAY:
        return None
    return hour % _HOURS_PER_HALF_DAY + (_HOURS_PER_HALF_DAY if half == "p" else 0)


def _offset_of(name: str | None, offset: str | None) -> int | None:
    """Minutes from UTC of a zone name, of an offset, or of both (`UTC+2`)."""
    if name is None and offset is None:
        return None
    minutes = _ZONE_HOURS.get(name or "z", 0) * _MINUTES_PER_HOUR
    if offset is None:
        return minutes
    digits = offset[1:].replace(":", "")
    hours, rest = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    size = int(hours) * _MINUTES_PER_HOUR + int(rest)
    return minutes + (size if offset[0] == "+" else -size)
