import os
import subprocess
import sys
from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.calendars import day_from_number, day_number
from scoring.dates import compare_dates, date_key, is_evident_date, parse_date
from scoring.months import is_weekday, month_named
from scoring.text import folded_form

DAY = "1972-03-14"
SAME_DAY = [
    "1972-03-14",
    "19720314",
    "1972-W11-2",
    "1972W112",
    "1972-074",
    "1972-3-14",
    "1972/03/14",
    "1972.03.14",
    "1972. 3. 14.",
    "+1972-03-14T00:00:00Z",
    "14/03/1972",
    "03/14/1972",
    "14.3.1972",
    "14. 3. 1972",
    "14-03-1972",
    "14 03 1972",
    "14 March 1972",
    "14th March 1972",
    "the 14th of March, 1972",
    "March 14, 1972",
    "March 14th 1972.",
    "Mar. 14, 1972",
    "1972 March 14",
    "14-Mar-1972",
    "14MAR1972",
    "Tuesday, 14 March 1972",
    "Tue Mar 14 1972",
    "14. März 1972",
    "Dienstag, den 14. März 1972",
    "am 14. Maerz 1972",
    "le 14 mars 1972",
    "mardi 14 mars 1972",
    "14 de marzo de 1972",
    "martes, 14 de marzo de 1972",
    "mar 14 mar 1972",
    "14 marzo 1972",
    "14 de março de 1972",
    "14 de marco de 1972",
    "14 maart 1972",
    "dinsdag 14 maart 1972",
    "14 marca 1972 r.",
    "14. března 1972",
    "14 mars 1972",
    "den 14. marts 1972",
    "14. maaliskuuta 1972",
    "14 марта 1972 года",
    "14 березня 1972 р.",
    "14 Mart 1972 Salı",
    "14 Μαρτίου 1972",
    "14 martie 1972",
    "1972. március 14.",
    "1972. március 14-én",
    "14.III.1972",
    "14 III 1972",
    "1972年3月14日",
    "1972年 3月 14日",
    "昭和47年3月14日",
    "1972년 3월 14일",
    "１９７２-０３-１４",
    "١٩٧٢-٠٣-١٤",
    "14\u00a0March\u00a01972",
    "1972–03–14",
    "1972-03-14T00:00:00",
    "1972-03-14 00:00:00.000",
    "1972-03-14T00:00:00Z",
    "1972-03-14T00:00+02:00",
    "1972-03-13T24:00:00",
    "14 March 1972 AD",
    "14/03/72",
    "14 Mar 72",
    "14 Mar '72",
]

SAME = [
    ("2023-06-01T12:00:00Z", "2023-06-01T14:00:00+02:00"),
    ("2023-06-01T12:00:00Z", "2023-06-01T12:00:00.000Z"),
    ("2023-06-01T12:00:00Z", "2023-06-01T12:00"),
    ("2023-06-01T12:00:00Z", "20230601T120000Z"),
    ("2023-06-01T12:00:00Z", "20230601T12Z"),
    ("2023-06-01T12:00:00Z", "Thu, 01 Jun 2023 12:00:00 GMT"),
    ("2023-06-01T12:00:00Z", "June 1, 2023 at 2:00 PM CEST"),
    ("2023-06-01T12:00:00Z", "2023-06-01 13:00:00 UTC+1"),
    ("2023-06-01T12:00:00Z", "2023-06-01T14:00:00+02:00[Europe/Amsterdam]"),
    ("2023-06-01T12:00:00Z", "Thu Jun 01 2023 13:00:00 GMT+0100 (British Summer Time)"),
    ("2023-06-01T12:00:00Z", "01/Jun/2023:14:00:00 +0200"),
    ("2023-06-01T12:00:00Z", "2023-05-31T22:00:00-14:00"),
    ("2023-06-01T12:00:00.5Z", "2023-06-01T12:00:00,500Z"),
    ("2023-06-01T00:30:00+02:00", "2023-05-31T22:30:00Z"),
    ("2023-06-01T14:30", "1 juin 2023 à 14h30"),
    ("2023-06-01T14:30", "1. Juni 2023 um 14:30 Uhr"),
    ("2023-06-01T00:15", "June 1, 2023 12:15 a.m."),
    ("2023-06-01T14:30", "2023年6月1日 14時30分"),
    ("14:30", "2:30 PM"),
    ("09:00:00", "9 am"),
    ("12:00Z", "14:00+02:00"),
    ("1972-03", "March 1972"),
    ("1972-03", "03/1972"),
    ("1972-03", "1972/3"),
    ("1972-03", "Mar '72"),
    ("1972-03", "Mar 72"),
    ("1972-03", "1972年3月"),
    ("1972-03", "1972-03-00"),
    ("1972", "1972-00-00"),
    ("1972", "c. 1972"),
    ("1972", "circa 1972"),
    ("1972", "~1972"),
    ("1972", "1972?"),
    ("1972", "AD 1972"),
    ("Q1 1972", "1972-Q1"),
    ("Q1 1972", "1Q 1972"),
    ("Q1 1972", "1st quarter of 1972"),
    ("1970s", "the 1970's"),
    ("19th century", "the 19th Century"),
    ("19th century", "19. Jahrhundert"),
    ("2019-W32", "2019W32"),
    ("14 March", "March 14th"),
    ("14 March", "--03-14"),
    ("333 BCE", "333 BC"),
    ("333 BCE", "333 B.C."),
    ("333 BCE", "333BC"),
    ("333 BCE", "333 v. Chr."),
    ("333 BCE", "333 av. J.-C."),
    ("333 BCE", "333 a.C."),
    ("333 BCE", "333 p.n.e."),
    ("333 BCE", "333 до н. э."),
    ("333 BCE", "紀元前333年"),
    ("333 BCE", "-0332"),
    ("333 BCE", "-333"),
    ("333 CE", "333"),
    ("333 CE", "A.D. 333"),
    ("333 CE", "333 n. Chr."),
    ("15 March 44 BC", "March 15, 44 BCE"),
    ("15 March 44 BC", "44 BC, March 15"),
    ("15 March 44 BC", "44 v. Chr., 15. März"),
    ("15 March 44 BC", "-0043-03-15"),
    ("10,000 BC", "10000 BCE"),
    ("5th century BC", "5th century BCE"),
    ("1999-2003", "1999–2003"),
    ("1999-2003", "1999 to 2003"),
    ("1999-2003", "from 1999 to 2003"),
    ("1999-2003", "between 1999 and 2003"),
    ("1999-2003", "1999/2003"),
    ("1999-2003", "1999 bis 2003"),
    ("1914-1918", "1914-18"),
    ("2003–2004", "2003–04"),
    ("333-323 BC", "333 BC - 323 BC"),
    ("27 BC - 14 AD", "27 BCE to 14 CE"),
    ("1972-03-14/1972-03-16", "14-16 March 1972"),
    ("1972-03-14/1972-03-16", "March 14–16, 1972"),
    ("1972-03-14/1972-04-16", "14 March - 16 April 1972"),
    ("1972-03/1972-05", "March–May 1972"),
    ("1999-12-28/2000-01-03", "28 December 1999 - 3 January 2000"),
    ("100-02-29", "29 February 100 CE"),
    ("2023-06-01T12:00:60Z", "2023-06-01T12:01:00Z"),
]

DIFFERENT = [
    ("1972-03-14", "1972-03-24"),
    ("2019-08-05", "2019-05-08"),
    ("2023-06-01T12:00:00Z", "2023-06-01T12:00:00+02:00"),
    ("2023-06-01T12:00:00.5Z", "2023-06-01T12:00:00.05Z"),
    ("2025-10-03", "2025-10-02"),
    ("2025-10-03", "2025-10-03T14:30:00Z"),
    ("2025-10-03T00:00:00Z", "2025-10-03T00:00:00+02:00"),
    ("1965-03-09", "2065-03-09"),
    ("2017-04-05", "05/06/2017"),
    ("05/04/2017", "04/05/2017"),
    ("2017-05-04", "05.04.2017"),
    ("1972", "1972-03-14"),
    ("1972", "1972-01-01"),
    ("1972-03", "1972-03-01"),
    ("Q1 1972", "1972-01"),
    ("Q1 1972", "1972"),
    ("1970s", "1970"),
    ("19th century", "1800s"),
    ("19th century", "20th century"),
    ("2019-W32", "2019-08-05"),
    ("333 BCE", "333 CE"),
    ("333 BCE", "333"),
    ("333 BCE", "332 BCE"),
    ("-0332", "-0333"),
    ("5th century BC", "5th century"),
    ("1999-2003", "1999-2004"),
    ("1999-2003", "1998-2003"),
    ("1999-2003", "1999"),
    ("14:30", "2:30"),
    ("14 March", "14 March 1972"),
    ("2:30 PM", "2:30 AM"),
]

NO_DATES = [
    "",
    "today",
    "yesterday",
    "March",
    "may",
    "2023-02-30",
    "2023-02-29",
    "2023-13-02",
    "2023-00-02",
    "31 April 2023",
    "32 March 1972",
    "20231305",
    "2023-366",
    "2021-W53",
    "2023-W10-8",
    "00/00/2023",
    "2023-06-01T25:00:00Z",
    "2023-06-01T12:61:00Z",
    "2023-06-01T12:00:00+25:00",
    "13:00 pm",
    "P3D",
    "PT15M",
    "3 days",
    "two weeks",
    "0 BC",
    "1.5",
    "12",
    "1234567",
    "123456789",
    "14 March 1972 or so",
    "14 15 March 1972 16",
    "2003-1999",
    "Boeing 747",
    "²⁰²³",
    "2023-06-01 " * 20,
]

LANGUAGES = "bg ca cs da de el en es et fi fr hu id it lt lv nb nl pl pt ro ru sk sl sv tr uk"
ALPHABET = st.sampled_from(
    [*"0123456789-/.:, 'TZ+–年月日", "march", "mar", " to ", "bc", "ad", "q1", "c. ", "1972", "am", "the "]
)

OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize("text", SAME_DAY)
def test_one_day_in_any_common_notation_is_the_same(text: str) -> None:
    assert compare_dates(DAY, text).is_same
    assert compare_dates(text, DAY) == compare_dates(DAY, text)


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_one_date_in_two_notations_is_the_same(reference: str, candidate: str) -> None:
    assert compare_dates(reference, candidate).is_same
    assert compare_dates(reference, candidate) == compare_dates(candidate, reference)


@pytest.mark.parametrize(("reference", "candidate"), DIFFERENT)
def test_different_dates_are_a_clean_mismatch(reference: str, candidate: str) -> None:
    assert parse_date(reference)
    assert parse_date(candidate)
    assert not compare_dates(reference, candidate).is_same
    assert not compare_dates(candidate, reference).is_same


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date_has_no_reading(text: str) -> None:
    assert parse_date(text) == ()
    assert not compare_dates(text, text).is_same


@pytest.mark.parametrize(
    ("reference", "candidate", "note"),
    [
        ("1972-03-14", "14 March 1972", ""),
        ("2017-04-05", "05/04/2017", "ambiguous order of day and month, read day first"),
        ("2017-05-04", "05/04/2017", "ambiguous order of day and month, read month first"),
        ("2017-05-05", "05/05/2017", ""),
        ("1965-03-19", "19/03/65", "two-digit year"),
        ("1965-03-09", "09/03/65", "ambiguous order of day and month, read day first; two-digit year"),
        ("333 BC", "-0332", "negative year, read as an astronomical one"),
        ("333 BC", "-0333", "negative year, read as a year BCE"),
        ("1972", "c. 1972", "approximate date"),
        ("2023-06-01T12:00:00Z", "2023-06-01T12:00:00", "time zone on one side only"),
    ],
)
def test_a_match_says_what_was_assumed(reference: str, candidate: str, note: str) -> None:
    assert compare_dates(reference, candidate).note == note


@pytest.mark.parametrize(
    ("text", "is_evident"),
    [
        ("1972-03-14", True),
        ("14 March 1972", True),
        ("March 1972", True),
        ("333 BC", True),
        ("05/04/2017", True),
        ("1972", False),
        ("19720314", False),
        ("1972-03", False),
        ("1972-074", False),
        ("14:30", False),
        ("2:30 PM", False),
        ("MAR-12", False),
        ("CA-1661", False),
        ("ca 1661", False),
        ("Route 66", False),
        ("1.5.2", False),
        ("hello", False),
    ],
)
def test_only_what_can_hardly_be_anything_else_is_an_evident_date(text: str, is_evident: bool) -> None:
    assert is_evident_date(text) is is_evident


def test_the_month_names_are_those_of_the_cldr() -> None:
    babel = pytest.importorskip("babel")
    for language in LANGUAGES.split():
        locale = babel.Locale.parse(language)
        for names in (
            names for context in locale.months.values() for names in (context["wide"], context["abbreviated"])
        ):
            for month, name in names.items():
                word = folded_form(name).rstrip(".").removeprefix("de ").removeprefix("d'")
                assert month_named(word) == month, (language, name)


def test_weekdays_are_known() -> None:
    assert all(map(is_weekday, ["tuesday", "dienstag", "mardi", "вторник", "wtorek"]))


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_the_machine_has_no_influence(zone: str) -> None:
    code = "from scoring.dates import parse_date; print(parse_date('2025-10-03T00:00:00Z'), parse_date('Mar 72'))"
    environment = {**os.environ, "TZ": zone, "LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "1"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == f"{parse_date('2025-10-03T00:00:00Z')} {parse_date('Mar 72')}"


@given(st.integers(min_value=-4_000_000, max_value=4_000_000))
def test_days_are_counted_both_ways(number: int) -> None:
    date = day_from_number(number)
    assert date.year is not None
    assert date.month is not None
    assert date.day is not None
    assert day_number(date.year, date.month, date.day) == number


@given(st.dates(min_value=date(1000, 1, 1)))
def test_a_day_matches_itself_in_every_notation(day: date) -> None:
    for notation in ("%d %B %Y", "%Y/%m/%d", "%d.%m.%Y", "%B %d, %Y", "%G-W%V-%u", "%Y-%j", "%A %d %b %Y", "%m/%d/%Y"):
        assert compare_dates(day.isoformat(), day.strftime(notation)).is_same


@given(st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9999, 12, 30)), OFFSETS, OFFSETS)
def test_an_instant_matches_itself_in_every_zone(moment: datetime, one: timezone, other: timezone) -> None:
    instant = moment.replace(tzinfo=one)
    assert compare_dates(instant.isoformat(), instant.astimezone(other).isoformat()).is_same


@given(st.lists(ALPHABET, max_size=30).map("".join), st.lists(ALPHABET, max_size=30).map("".join))
def test_any_text_is_read_without_a_crash_and_compared_symmetrically(one: str, other: str) -> None:
    assert compare_dates(one, other) == compare_dates(other, one)
    assert compare_dates(one, one).is_same == bool(parse_date(one))
    if date_key(one) is not None and date_key(one) == date_key(other):
        assert compare_dates(one, other).is_same
