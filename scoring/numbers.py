"""Exact comparison of numbers, and the numbers that a text in a number field can mean (SPEC 3.2).

The rules:

- Integers are compared exactly, whatever their size. Where a fraction is involved a relative difference of 1e-9 is
  float noise. Against an exact zero, where nothing is relative, 1e-7 is noise. A sign never is. NaN and infinities
  equal nothing.
- `1234.5`, `1.234` and `5e-3` in a text are read as JSON reads them. Marks of other notations are read where they can
  only mean one thing: `1,234.5`, `1.234,5`, `1 234,5`, `1'234.5`, `12,34,567`, `0,035`, `,65`.
- One comma before exactly three digits (`1,234`) may group or divide: it matches either number and says so. With a
  currency the comma groups, and one point before three digits (`€1.234`) may group too.
- `45%` is 45 in a field that counts percent and 0.45 in one that holds a share: it matches either and says so. Against
  another percentage only the written numbers count. `‰` likewise.
- A currency sign or code is dropped. Two texts with different currencies are not the same.
- `(1,234)` is negative, as in accounts; `1.5×10^3` is scientific; digits of any script are digits.
- Booleans are never numbers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import cast

from scoring.records import Json
from scoring.text import folded_form

Number = int | float | Decimal

_PLAIN_TYPES = (int, float)  # by type, since a boolean is an instance of int
_RELATIVE_NOISE = 1e-9
_NOISE_AROUND_ZERO = 1e-7 * (1 + 1e-9)
_EXACT_FLOATS = 1 << 53
_LONGEST_TEXT = 400
_MOST_DIGITS = 400
_FINITE_EXPONENT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberReading:
    """What a value in a number field can mean: one number, or several where the notation leaves it open.

    `percent_divisor` is 100 for `%`, 1000 for `‰`, else 1. `currencies` are the ISO codes the sign can stand for, empty
    without one.
    """

    numbers: tuple[Number, ...]
    percent_divisor: int = 1
    currencies: frozenset[str] = frozenset()


def number_of(value: Json) -> Number | None:
    """The one number a value means in a number field, exact; None where it means none or several, and for NaN."""
    reading = number_reading(value)
    return reading.numbers[0] if reading is not None and len(reading.numbers) == 1 else None


def number_reading(value: Json) -> NumberReading | None:
    """All that a JSON value can mean as a number, None where it is no finite number. A boolean is none."""
    if isinstance(value, str):
        return _read_text(value) if len(value) <= _LONGEST_TEXT else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return NumberReading(numbers=(value,)) if _is_finite(value) else None


def is_same_number(reference: Json, candidate: Json) -> bool:
    """Whether two values of a number field can mean the same number. Symmetric."""
    return number_match(reference, candidate) is not None


def number_match(reference: Json, candidate: Json) -> str | None:
    """A note on how two values of a number field are the same number (empty where nothing is to be said), else None."""
    if type(reference) in _PLAIN_TYPES and type(candidate) in _PLAIN_TYPES:
        return _plain_match(reference, candidate)
    left, right = number_reading(reference), number_reading(candidate)
    if left is None or right is None:
        return None
    if left.currencies and right.currencies and not left.currencies & right.currencies:
        return None
    if left.percent_divisor == right.percent_divisor:
        return _note_of(left, right) if _meet(left.numbers, right.numbers) else None
    return _percent_match(left, right)


def _plain_match(reference: Json, candidate: Json) -> str | None:
    """As `number_match` for two JSON numbers, without the readings of texts, since lists ask it often."""
    left, right = cast("int | float", reference), cast("int | float", candidate)
    if not (_is_finite(left) and _is_finite(right)):
        return None
    return "" if equal_numbers(left, right) else None


def _is_finite(number: int | float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def number_key(value: Json) -> Hashable | None:
    """A key such that values with equal keys are the same number, None where a value is no finite number."""
    if type(value) is int or (type(value) is float and -_EXACT_FLOATS < value < _EXACT_FLOATS):
        return value
    reading = number_reading(value)
    if reading is None:
        return None
    first = _plain_key(reading.numbers[0])
    if len(reading.numbers) == 1 and reading.percent_divisor == 1 and not reading.currencies:
        return first
    return (first, len(reading.numbers), reading.percent_divisor, reading.currencies)


def equal_numbers(left: Number, right: Number) -> bool:
    """Whether two finite numbers are equal but for float noise. Symmetric, exact for integers of any size."""
    if left == right:
        return True
    if type(left) is int and type(right) is int:
        return False
    if not left or not right:
        return _is_noise_around_zero(left) and _is_noise_around_zero(right)
    if isinstance(left, float) and isinstance(right, int) and left.is_integer():
        return right == _as_written(left)
    if isinstance(right, float) and isinstance(left, int) and right.is_integer():
        return left == _as_written(right)
    if _is_exact(left) and _is_exact(right):
        return False
    if not (_fits_float(left) and _fits_float(right)):
        return _as_written(left) == _as_written(right)
    return math.isclose(left, right, rel_tol=_RELATIVE_NOISE)


def _is_noise_around_zero(number: Number) -> bool:
    return -_NOISE_AROUND_ZERO <= number <= _NOISE_AROUND_ZERO


def _is_exact(number: Number) -> bool:
    """Whether a number is an integer that was surely written as it stands: every int, floats below 2^53."""
    return _is_integral(number) and (isinstance(number, int) or -_EXACT_FLOATS < number < _EXACT_FLOATS)


def _is_integral(number: Number) -> bool:
    return number.is_integer() if isinstance(number, float) else isinstance(number, int)


def _as_written(number: Number) -> Number:
    """The decimal that a number was written as: `1e23` is 10^23, though the float nearest to it is not."""
    return _simplest(Decimal(repr(number))) if isinstance(number, float) else number


def _fits_float(number: Number) -> bool:
    if isinstance(number, int):
        return number.bit_length() < 1000
    return isinstance(number, float) or abs(number.adjusted()) < _FINITE_EXPONENT


def _plain_key(number: Number) -> Number:
    """Integers as int, fractions as float where that loses nothing that matters, so that equal numbers hash alike."""
    if isinstance(number, Decimal):
        return float(number) if _fits_float(number) else number
    return _as_written(number) if isinstance(number, float) and abs(number) >= _EXACT_FLOATS else number


def _meet(left: tuple[Number, ...], right: tuple[Number, ...]) -> bool:
    return any(equal_numbers(one, other) for one in left for other in right)


def _note_of(left: NumberReading, right: NumberReading) -> str:
    return "ambiguous thousands or decimal mark" if len(left.numbers) != len(right.numbers) else ""


def _percent_match(left: NumberReading, right: NumberReading) -> str | None:
    if left.percent_divisor != 1 and right.percent_divisor != 1:
        return "percent and per mille" if _meet(_shares(left), _shares(right)) else None
    share, plain = (left, right) if left.percent_divisor != 1 else (right, left)
    if _meet(share.numbers, plain.numbers):
        return "percent sign dropped"
    return "percent read as a share of one" if _meet(_shares(share), plain.numbers) else None


def _shares(reading: NumberReading) -> tuple[Number, ...]:
    power = -2 if reading.percent_divisor == _PERCENT["%"] else -3
    return tuple(_scaled(Decimal(number), power, is_negative=False) for number in reading.numbers)


# --- reading text ---

_CURRENCY_CODES = {
    "$": "USD AUD CAD NZD SGD HKD MXN BRL ARS CLP COP TWD",
    "us$": "USD",
    "a$": "AUD",
    "au$": "AUD",
    "c$": "CAD",
    "ca$": "CAD",
    "nz$": "NZD",
    "hk$": "HKD",
    "s$": "SGD",
    "r$": "BRL",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY CNY",
    "元": "CNY",
    "円": "JPY",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₴": "UAH",
    "₪": "ILS",
    "₫": "VND",
    "₱": "PHP",
    "฿": "THB",
    "₦": "NGN",
    "₿": "BTC",
    "zł": "PLN",
    "kč": "CZK",
    "ft": "HUF",
    "kr": "SEK NOK DKK ISK",
    "lei": "RON",
    "rs": "INR PKR LKR",
    "euro": "EUR",
    "euros": "EUR",
    "dollars": "USD AUD CAD NZD SGD HKD",
}
_ISO_CODES = (
    "usd eur gbp jpy cny chf aud cad nzd sek nok dkk isk pln czk huf ron bgn rub uah try ils inr idr krw hkd sgd twd "
    "thb vnd php myr brl mxn ars clp cop pen zar egp ngn kes aed sar btc"
)
_CURRENCIES = {sign: frozenset(codes.split()) for sign, codes in _CURRENCY_CODES.items()} | {
    code: frozenset({code.upper()}) for code in _ISO_CODES.split()
}
_CURRENCY = "|".join(re.escape(sign) for sign in sorted(_CURRENCIES, key=len, reverse=True))
_PERCENT = {"%": 100, "٪": 100, "percent": 100, "per cent": 100, "pct": 100, "‰": 1000, "؉": 1000, "": 1}

# One sign may stand before, between or after currency and number; the body is read by the notations below.
_SHAPE = re.compile(
    rf"(?P<open>\()?\s?(?P<sign>[+-])?\s?(?:(?P<before>{_CURRENCY}|%)(?:(?<=[^\W\d_])\.)?)?\s?(?P<inner>[+-])?\s?"
    r"(?P<body>[0-9.,][0-9.,' _]*(?:e[+-]?[0-9]{1,6})?)"
    rf"(?P<power>\s?[x×*·]\s?10\^(?P<exponent>[+-]?[0-9]{{1,6}}))?\s?(?P<after>%|٪|‰|؉|per ?cent|pct|{_CURRENCY})?\.?"
    r"(?P<trailing>-)?\s?(?P<close>\))?"
)
_JSON_LIKE = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?")
_GROUPED = re.compile(r"([1-9][0-9]{0,2})(?:([,.' _])[0-9]{3})(?:\2[0-9]{3})*(?:([.,])[0-9]+)?(?:e[+-]?[0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_DECIMAL_COMMA = re.compile(r"[0-9]*,[0-9]+(?:e[+-]?[0-9]+)?")
_ONE_MARK = re.compile(r"[0-9]+[.,][0-9]{3}")
_RAISED_POWER = re.compile("10([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_ARABIC_MARKS = str.maketrans({"٫": ".", "٬": "'"})


@lru_cache(1 << 14)
def _read_text(text: str) -> NumberReading | None:
    shape = _SHAPE.fullmatch(_plain_digits(folded_form(text)))
    if shape is None or (shape["open"] is None) != (shape["close"] is None):
        return None
    signs = [mark for mark in (shape["open"], shape["sign"], shape["inner"], shape["trailing"]) if mark]
    if len(signs) > 1 or (shape["before"] and shape["after"]):
        return None
    mark = shape["before"] or shape["after"] or ""
    divisor, currencies = _PERCENT.get(mark.replace("percent", "%"), 1), _CURRENCIES.get(mark, frozenset())
    numbers = _numbers_in(shape["body"].rstrip(" _'"), bool(currencies))
    power, is_negative = int(shape["exponent"] or 0), bool(signs) and signs[0] != "+"
    found = tuple(_scaled(number, power, is_negative) for number in numbers)
    return NumberReading(numbers=found, percent_divisor=divisor, currencies=currencies) if found else None


def _plain_digits(text: str) -> str:
    if text.isascii():
        return text
    text = _RAISED_POWER.sub(lambda match: f"10^{match[1].translate(_SUPERSCRIPTS)}", text).translate(_ARABIC_MARKS)
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _numbers_in(body: str, has_currency: bool) -> tuple[Decimal, ...]:
    """The numbers a body of digits and marks can mean; none where the notation is not a known one."""
    if _JSON_LIKE.fullmatch(body):
        plain = (Decimal(body),)
        return (*plain, Decimal(body.replace(".", ""))) if has_currency and _ONE_MARK.fullmatch(body) else plain
    if body.endswith((".", ",")) and body[:-1]:
        body = body[:-1]
    grouped = _GROUPED.fullmatch(body)
    if grouped is not None and grouped[2] != grouped[3]:
        return _grouped_numbers(body, grouped[2], grouped[3], has_currency)
    if _INDIAN.fullmatch(body):
        return (Decimal(body.replace(",", "")),)
    return (Decimal(body.replace(",", ".")),) if _DECIMAL_COMMA.fullmatch(body) else ()


def _grouped_numbers(body: str, group: str, point: str | None, has_currency: bool) -> tuple[Decimal, ...]:
    whole = body.replace(group, "")
    number = Decimal(whole.replace(point, ".") if point else whole)
    is_open = group == "," and body.count(",") == 1 and point is None and not has_currency
    return (number, Decimal(body.replace(",", "."))) if is_open else (number,)


def _scaled(number: Decimal, power: int, is_negative: bool) -> Number:
    sign, digits, exponent = number.as_tuple()
    scaled = Decimal((sign, digits, int(exponent) + power)) if power else number
    return _simplest(scaled.copy_negate() if is_negative else scaled)


def _simplest(number: Decimal) -> Number:
    """An integral decimal as int, so that it compares exactly; others as they are."""
    if not number:
        return 0
    if abs(number.adjusted()) <= _MOST_DIGITS and number == number.to_integral_value():
        return int(number)
    return number
