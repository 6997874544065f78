import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.numbers import is_same_number, number_key, number_match, number_of
from scoring.records import Json

SAME: list[tuple[Json, Json]] = [
    (4, 4.0),
    (4, "4"),
    (0, -0.0),
    (0, 0.0000001),
    (-0.0, "0"),
    (0.3, 0.1 + 0.2),
    (273.35, 273.35000000000002),
    (1e22, 1.0000000000000002e22),
    (2**53 + 1, str(2**53 + 1)),
    (10**23, 1e23),
    (602214076000000000000000, "6.02214076e23"),
    (10**300, str(10**299) + "0"),
    (31, "31.00"),
    (630, "630."),
    (7, "007"),
    (0.5, ".5"),
    (5, "+5"),
    (0.5, "$.50"),
    (500, "Rs. 500"),
    (1234.5, "1,234.5"),
    (1234.5, "1.234,5"),
    (1234.5, "1 234,5"),
    (1234.5, "1\u202f234,5"),
    (1234.5, "1'234.5"),
    (1234.5, "1’234.50"),
    (1234.5, "1_234.5"),
    (1234567, "1,234,567"),
    (1234567, "1.234.567"),
    (1234567.89, "12,34,567.89"),
    (1234567, "12,34,567"),
    (1234567.891, "1.234.567,891"),
    (0.65, ",65"),
    (0.035, "0,035"),
    (1.5, "1,5"),
    (12345.678, "12345,678"),
    (0.005, "5e-3"),
    (123000, "1.23E5"),
    (1500, "1.5×10³"),
    (0.0015, "1.5 x 10^-3"),
    (-5, "−5"),
    (-1234.5, "(1,234.50)"),
    (-5, "5-"),
    (-5, "-$5.00"),
    (-5, "$-5"),
    (1234.5, "$1,234.50"),
    (1234, "$1,234"),
    (1234, "€1.234"),
    (1234.5, "1.234,50 €"),
    (5, "EUR 5"),
    (5, "5 usd"),
    (5, "US$5"),
    (5, "kr. 5"),
    (5, "£ 5"),
    (45, "45%"),
    (45, "45 percent"),
    (0.45, "45 %"),
    (0.005, "5‰"),
    (1234, "１２３４"),
    (1234, "١٢٣٤"),
    (1234.5, "١٬٢٣٤٫٥"),
    ("5%", "5 percent"),
    ("$5", "5 USD"),
    ("1.234,5", "1,234.5"),
]

DIFFERENT: list[tuple[Json, Json]] = [
    (100, -100),
    (1, 2),
    (2020, 2023),
    (273.35, 273.37),
    (12, 15),
    (2**53 + 1, 2**53),
    (2**53 + 1, float(2**53)),
    (10**30 + 1, 10**30),
    (123456789012, 123456789013),
    (123456789012.0, 123456789013.0),
    (5e-9, 2e-9),
    (0, 0.000001),
    (-0.5, 0.5),
    (1234, "1.234"),
    (1234.5, "1,243.5"),
    (65, ",65"),
    (35, "0,035"),
    (0.005, "5e3"),
    (123000, "1.23e-5"),
    (1.5, "15"),
    (105, "10⁵"),
    (1234, "-1,234"),
    (1234, "(1,234)"),
    ("45%", "0.45%"),
    ("€5", "$5"),
    ("1,234.5", "1,234.6"),
    (1, True),
    (0, False),
    ("1", True),
    (1, "true"),
    (1.5, math.nan),
    (math.nan, math.nan),
    (math.inf, math.inf),
    (math.inf, "Infinity"),
    (5, None),
    (5, [5]),
]

UNREADABLE = [
    "",
    " ",
    ".",
    ",",
    "-",
    "--5",
    "$",
    "%",
    "nan",
    "inf",
    "-Infinity",
    "abc",
    "5 apples",
    "1-2",
    "12 34",
    "1,23,4",
    "1.2.3",
    "1,234.567,8",
    "(5",
    "(-5)",
    "$5€",
    "0x10",
    "2x103",
    "½",
    "1/2",
    "three",
    "5" * 401,
    "1e9999999999",
    "²",
]

FINITE = (
    st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(allow_nan=False, allow_infinity=False).map(str)
)


@pytest.mark.parametrize(("reference", "candidate"), SAME, ids=repr)
def test_one_number_in_two_notations_is_the_same(reference: Json, candidate: Json) -> None:
    assert is_same_number(reference, candidate)
    assert is_same_number(candidate, reference)


@pytest.mark.parametrize(("reference", "candidate"), DIFFERENT, ids=repr)
def test_unequal_numbers_differ(reference: Json, candidate: Json) -> None:
    assert not is_same_number(reference, candidate)
    assert not is_same_number(candidate, reference)


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_text_that_is_no_number_is_not_read_as_one(text: str) -> None:
    assert number_of(text) is None
    assert not is_same_number(text, text)


@pytest.mark.parametrize(
    ("reference", "candidate", "note"),
    [
        (1234, "1,234", "ambiguous thousands or decimal mark"),
        (1.234, "1,234", "ambiguous thousands or decimal mark"),
        (1.234, "€1.234", "ambiguous thousands or decimal mark"),
        (45, "45%", "percent sign dropped"),
        (0.45, "45%", "percent read as a share of one"),
        ("0.5%", "5‰", "percent and per mille"),
        (1234.5, "1,234.5", ""),
        ("1,234", "1,234", ""),
    ],
)
def test_a_match_says_what_was_assumed(reference: Json, candidate: Json, note: str) -> None:
    assert number_match(reference, candidate) == note
    assert number_match(candidate, reference) == note


def test_only_an_unambiguous_text_means_one_number() -> None:
    assert number_of("1.234,50") == 1234.5
    assert number_of("1,234") is None
    assert number_of(value=True) is None


def test_numbers_far_beyond_floats_are_compared_without_a_crash() -> None:
    assert not is_same_number(10**500, 1.5)
    assert not is_same_number("1e99999", 1.5)
    assert is_same_number("1e99999", "10e99998")
    assert not is_same_number("1e-99999", "1.5")


@given(FINITE)
def test_a_number_is_itself(value: Json) -> None:
    assert is_same_number(value, value)


@given(FINITE, FINITE)
def test_sameness_is_symmetric(one: Json, other: Json) -> None:
    assert number_match(one, other) == number_match(other, one)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_the_same_as_its_text(value: float) -> None:
    assert is_same_number(value, repr(value))
    assert number_key(value) == number_key(repr(value)) or isinstance(value, float)


@given(st.integers(), st.integers())
def test_integers_are_the_same_only_where_they_are_equal(one: int, other: int) -> None:
    assert is_same_number(one, other) == (one == other)


@given(st.floats(min_value=1e-6, allow_infinity=False))
def test_a_sign_is_never_noise(value: float) -> None:
    assert not is_same_number(value, -value)


@given(FINITE, FINITE)
def test_equal_keys_mean_the_same_number(one: Json, other: Json) -> None:
    if number_key(one) == number_key(other):
        assert is_same_number(one, other)
