"""The notations in which dates are written, from ISO 8601 to `le 14 mars 1972`.

Every function takes a casefolded text and gives its readings, none where the text is not in its notation. Nothing here
guesses: a text is read whole or not at all, an impossible date has no reading, and a notation that can be read in two
ways has both readings, each marked with the convention it assumes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from scoring.calendars import (
    Convention,
    Date,
    Precision,
    day_of,
    month_of,
    ordinal_day_of,
    week_of,
    year_of,
)
from scoring.months import is_weekday, month_named

_SHORT_YEAR_REMARK = "two-digit year"
_LAST_DAY = 31
_LONG_YEAR_DIGITS = 3

# --- ISO 8601 and its relatives ---

_ISO_DAY = re.compile(r"([+-]?\d{4}|[+-]\d{5,6})-(\d{1,2})-(\d{1,2})|(\d{4})(\d{2})(\d{2})")
_ISO_MONTH = re.compile(r"([+-]?\d{4})-(\d{2})")
_ISO_WEEK = re.compile(r"(\d{4})-?w(\d{2})(?:-?(\d))?")
_ISO_ORDINAL = re.compile(r"(\d{4})-(\d{3})")
_YEAR = re.compile(r"[+-]?\d{3,4}|[+-]\d{5,6}")
_DAY_OF_ANY_YEAR = re.compile(r"--(\d{2})-?(\d{2})")


def iso_readings(form: str) -> list[Date]:
    """Calendar, week and ordinal dates, months and years as ISO 8601 has them; `1972-03-00` is a month.

    A negative year has two readings: by ISO 8601 `-0332` is 333 BCE, in many data sets it is 332 BCE.
    """
    if day := _ISO_DAY.fullmatch(form):
        return _iso_day(*(part for part in day.groups() if part is not None))
    if month := _ISO_MONTH.fullmatch(form):
        return _with_signed_years(month[1], lambda year: month_of(year, int(month[2])))
    if _YEAR.fullmatch(form):
        return _with_signed_years(form, year_of)
    if week := _ISO_WEEK.fullmatch(form):
        return _found(week_of(int(week[1]), int(week[2]), int(week[3]) if week[3] else None))
    if ordinal := _ISO_ORDINAL.fullmatch(form):
        return _found(ordinal_day_of(int(ordinal[1]), int(ordinal[2])))
    if recurring := _DAY_OF_ANY_YEAR.fullmatch(form):
        return _found(day_of(None, int(recurring[1]), int(recurring[2])))
    return []


def _iso_day(year: str, month: str, day: str) -> list[Date]:
    """A day; with a zero for the day a month, with zeros for both a year, as several data sets write them."""
    if int(day):
        return _with_signed_years(year, lambda number: day_of(number, int(month), int(day)))
    if int(month):
        return _with_signed_years(year, lambda number: month_of(number, int(month)))
    return _with_signed_years(year, year_of)


def _with_signed_years(year: str, date_in: Callable[[int], Date | None]) -> list[Date]:
    number = int(year)
    if number >= 0:
        return _found(date_in(number))
    astronomical, historical = _found(date_in(number)), _found(date_in(number + 1))
    return [replace(date, convention=Convention.ASTRONOMICAL) for date in astronomical] + [
        replace(date, convention=Convention.HISTORICAL) for date in historical
    ]


# --- digits with separators ---

_NUMERIC = re.compile(r"(\d{1,4})(?P<mark>\s?[./-]\s?|\s)(\d{1,2})(?P=mark)(\d{1,4})")
_NUMERIC_MONTH = re.compile(r"(\d{1,2})\s?[./-]\s?(\d{4})|(\d{4})\s?[./]\s?(\d{1,2})")


def numeric_readings(form: str) -> list[Date]:
    """`14/03/1972`, `3-14-1972`, `14.3.72`, `1972/03/14`, `03/1972`.

    With points the day stands first wherever such a date exists. With other marks both orders are readings.
    """
    if month := _NUMERIC_MONTH.fullmatch(form):
        return _found(month_of(int(month[2] or month[3]), int(month[1] or month[4])))
    match = _NUMERIC.fullmatch(form)
    if match is None:
        return []
    first, second, last = match[1], int(match[3]), match[4]
    if len(first) >= _LONG_YEAR_DIGITS:
        return _found(day_of(int(first), second, int(last))) if len(last) <= 2 else []
    readings = [
        date
        for year, remark in _years_of(last)
        for date in _both_orders(year, int(first), second, remark, is_day_first="." in match["mark"])
    ]
    if len(last) == 2 and int(first) > _LAST_DAY:
        readings += [date for year, remark in _years_of(first) for date in _day(year, second, int(last), remark)]
    return readings


def _both_orders(year: int, first: int, second: int, remark: str, *, is_day_first: bool) -> list[Date]:
    day_first, month_first = _day(year, second, first, remark), _day(year, first, second, remark)
    if not (day_first and month_first) or first == second:
        return day_first or month_first
    if is_day_first:
        return day_first
    return [
        replace(day_first[0], convention=Convention.DAY_FIRST),
        replace(month_first[0], convention=Convention.MONTH_FIRST),
    ]


def _years_of(digits: str) -> list[tuple[int, str]]:
    """The years that digits can mean: of two digits those of both centuries, since no clock may decide."""
    if len(digits) >= _LONG_YEAR_DIGITS:
        return [(int(digits), "")]
    return [(century + int(digits), _SHORT_YEAR_REMARK) for century in (1900, 2000)] if len(digits) == 2 else []


def _day(year: int | None, month: int, day: int, remark: str = "") -> list[Date]:
    return [replace(date, remark=remark) for date in _found(day_of(year, month, day))]


# --- East Asian ---

_CJK = re.compile(r"(\d{1,4}|元)\s?[年년](?:\s?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?)?")
_IMPERIAL_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民國": 1911, "民国": 1911}


def east_asian_readings(form: str) -> list[Date]:
    """`1972年3月14日`, `1972년 3월 14일`, and years of the Japanese eras."""
    before = _IMPERIAL_ERAS.get(form[:2])
    match = _CJK.fullmatch(form[2:].lstrip() if before is not None else form)
    if match is None or (match[1] == "元" and before is None):
        return []
    year = (1 if match[1] == "元" else int(match[1])) + (before or 0)
    if match[3]:
        return _found(day_of(year, int(match[2]), int(match[3])))
    return _found(month_of(year, int(match[2]))) if match[2] else [year_of(year)]


# --- coarse dates ---

_QUARTER = re.compile(
    r"q([1-4])[\s/-]*(\d{4})|([1-4])q\s?(\d{4})|(\d{4})[\s/-]*q([1-4])|([1-4])(?:st|nd|rd|th) quarter(?: of)? (\d{4})"
)
_DECADE = re.compile(r"(?:the )?(\d{2,3}0)\s?'?s")
_CENTURY_WORDS = (
    "century|c|jahrhundert|jh|siècle|siecle|eeuw|secolo|siglo|século|wiek|století|sekel|århundrade|århundrede|"
    "vuosisata|век|вік"
)
_CENTURY = re.compile(rf"(?:the )?(\d{{1,2}})(?:st|nd|rd|th|e|er|ème|eme|de|\.|-?го|-?й)? (?:{_CENTURY_WORDS})\.?")


def coarse_readings(form: str) -> list[Date]:
    """Quarters, decades, centuries: `Q1 1972`, `the 1970s`, `19th century`."""
    if quarter := _QUARTER.fullmatch(form):
        groups = quarter.groups()
        number = int(groups[0] or groups[2] or groups[5] or groups[6])
        year = int(groups[1] or groups[3] or groups[4] or groups[7])
        return [Date(precision=Precision.QUARTER, year=year, month=3 * number - 2)]
    if decade := _DECADE.fullmatch(form):
        return [Date(precision=Precision.DECADE, year=int(decade[1]))]
    if century := _CENTURY.fullmatch(form):
        return [Date(precision=Precision.CENTURY, year=100 * int(century[1]) - 99)]
    return []


# --- months by name ---

_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_MOST_TOKENS = 24
_ORDINAL_NAMES = "st nd rd th er re e è ème eme ème º ª o a de ste en te ten ter i y ого го е ое й η ος én án ei in"
_FILLER_NAMES = (
    "the of de del di le la el il l d den der das dne dnia dia día am on at in year anno an im vom kl um om à a alle "
    "ore uhr clock o h r roku rok г года год р року рік στις του της în no i e la dan van maand"
)
_ORDINALS, _FILLERS = frozenset(_ORDINAL_NAMES.split()), frozenset(_FILLER_NAMES.split())
_DROPPED_MARKS = frozenset(".,;()/-'")
_ROMAN_NUMERALS = "i ii iii iv v vi vii viii ix x xi xii"
_ROMAN_MONTHS = {roman: month for month, roman in enumerate(_ROMAN_NUMERALS.split(), start=1)}


def worded_readings(form: str, *, is_year_literal: bool = False) -> list[Date]:
    """Dates with a month by name, in any order of day, month and year, in any language of `months`.

    `is_year_literal` says that an era stands beside the year, so that one of two digits means what it says.
    """
    tokens = _TOKEN.findall(form)
    if len(tokens) > _MOST_TOKENS or not any(token.isdigit() for token in tokens):
        return []
    sifted = _sifted(tokens)
    if sifted is None:
        return []
    month, before, after = sifted
    numbers = before + after
    if len(numbers) == 1:
        return _with_one_number(month, numbers[0], is_after=bool(after), is_year_literal=is_year_literal)
    if len(numbers) != 2:  # more or fewer numbers are no date
        return []
    day, year = _day_and_year(numbers[0], numbers[1])
    if day is None or year is None:
        return []
    years = [(int(year), "")] if is_year_literal else _years_of(year.removeprefix("'"))
    return [date for value, remark in years for date in _day(value, month, int(day), remark)]


def _sifted(tokens: list[str]) -> tuple[int, list[str], list[str]] | None:
    """The month, the numbers before it and those after it; None where a word is no part of a date.

    A number of two digits after an apostrophe keeps it, since it can only be a year.
    """
    found = _month_within(tokens)
    if found is None:
        return None
    month, place = found
    sides: tuple[list[str], list[str]] = ([], [])
    for position, token in enumerate(tokens):
        previous = tokens[position - 1] if position else ""
        if token.isdigit():
            sides[position > place].append("'" + token if previous == "'" and len(token) == 2 else token)
        elif position != place and not _is_droppable(token, previous):
            return None
    return (month, *sides)


def _month_within(tokens: list[str]) -> tuple[int, int] | None:
    """The month of a text and its place among the tokens, None where there is none or more than one.

    Of two names one may be an abbreviated weekday (`mar 14 marzo`). A Roman numeral is a month between two numbers.
    """
    named = [place for place, token in enumerate(tokens) if month_named(token) is not None]
    if len(named) > 1:
        named = [place for place in named if not is_weekday(tokens[place])] or named[1:]
    if not named:
        numbers = [place for place, token in enumerate(tokens) if token.isdigit()]
        named = [place for place in range(numbers[0], numbers[-1]) if tokens[place] in _ROMAN_MONTHS]
    if len(named) != 1:
        return None
    month = month_named(tokens[named[0]]) or _ROMAN_MONTHS[tokens[named[0]]]
    return month, named[0]


def _is_droppable(token: str, previous: str) -> bool:
    if token[0].isalpha():
        return (
            ((previous.isdigit() or previous == "-") and token in _ORDINALS) or token in _FILLERS or is_weekday(token)
        )
    return token in _DROPPED_MARKS


def _with_one_number(month: int, number: str, *, is_after: bool, is_year_literal: bool) -> list[Date]:
    """`March 1972`, `14 March`, `Mar '72`; `Mar 14` is a day of any year as well as a month of a short year."""
    short = number.removeprefix("'")
    if is_year_literal or len(short) >= _LONG_YEAR_DIGITS:
        return _found(month_of(int(short), month))
    as_day = _day(None, month, int(short)) if short == number else []
    if not is_after:
        return as_day
    return as_day + [
        replace(date, remark=remark) for year, remark in _years_of(short) for date in _found(month_of(year, month))
    ]


def _day_and_year(first: str, second: str) -> tuple[str | None, str | None]:
    """Which of two numbers is the day: the one that is not written like a year, else the first."""
    if _may_be_day(first):
        return first, second
    return (second, first) if _may_be_day(second) else (None, None)


def _may_be_day(number: str) -> bool:
    return number.isdigit() and len(number) <= 2 and int(number) <= _LAST_DAY


def _found(date: Date | None) -> list[Date]:
    return [] if date is None else [date]
