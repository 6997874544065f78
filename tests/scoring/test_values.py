import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.emptiness import is_empty
from scoring.records import Json, Kind, Rung
from scoring.values import free_match, identifier_form, key_of, text_of

CASES = Path(__file__).parents[2] / ".." / "shared" / "cases" / "cases.jsonl"

MATCHES: list[tuple[Kind, Json, Json, Rung]] = [
    (Kind.TEXT, "Acme", "Acme", Rung.EXACT),
    (Kind.TEXT, "Acme  Corp", " ACME Corp ", Rung.NORMALIZED),
    (Kind.TEXT, "4", 4, Rung.NORMALIZED),
    (Kind.TEXT, "4", 4.0, Rung.NORMALIZED),
    (Kind.TEXT, "0.0000001", 1e-7, Rung.NORMALIZED),
    (Kind.TEXT, "120000", 120000, Rung.NORMALIZED),
    (Kind.TEXT, "true", True, Rung.NORMALIZED),
    (Kind.TEXT, "12e4", "12E4", Rung.NORMALIZED),
    (Kind.TEXT, 1.5, 1.5000000000001, Rung.NORMALIZED),
    (Kind.TEXT, "333 BCE", "333 BC", Rung.CALENDAR),
    (Kind.TEXT, "14 March 1972", "1972-03-14", Rung.CALENDAR),
    (Kind.PROSE, "It is so.", "it is  so", Rung.NORMALIZED),
    (Kind.ENUM, "approved", "Approved", Rung.NORMALIZED),
    (Kind.ENUM, 3, 3.0, Rung.NORMALIZED),
    (Kind.ENUM, None, None, Rung.EXACT),
    (Kind.NUMBER, 4, 4, Rung.EXACT),
    (Kind.NUMBER, 4, 4.0, Rung.NORMALIZED),
    (Kind.NUMBER, 4, "4", Rung.NORMALIZED),
    (Kind.NUMBER, 0.0, -0.0, Rung.EXACT),
    (Kind.NUMBER, "about five", "About five", Rung.NORMALIZED),
    (Kind.DATE, "1972-03-14", "1972-03-14", Rung.EXACT),
    (Kind.DATE, "1972-03-14", " 1972-03-14 ", Rung.NORMALIZED),
    (Kind.DATE, "1972-03-14", "March 14, 1972", Rung.CALENDAR),
    (Kind.DATE, "1972-03-14", 19720314, Rung.CALENDAR),
    (Kind.DATE, "1972", 1972, Rung.NORMALIZED),
    (Kind.DATE, "2023-02-30", "2023-02-30", Rung.EXACT),
    (Kind.DATE, "last spring", "Last Spring", Rung.NORMALIZED),
    (Kind.BOOLEAN, True, True, Rung.EXACT),
    (Kind.BOOLEAN, True, "true", Rung.NORMALIZED),
    (Kind.BOOLEAN, False, " FALSE ", Rung.NORMALIZED),
    (Kind.BOOLEAN, "yes", "Yes", Rung.NORMALIZED),
    (Kind.IDENTIFIER, "AB-12", "ab-12", Rung.NORMALIZED),
    (Kind.IDENTIFIER, "7", 7, Rung.NORMALIZED),
    (Kind.IDENTIFIER, "User@Example.org", "user@example.org", Rung.NORMALIZED),
    (Kind.IDENTIFIER, "https://example.org", "https://Example.org/", Rung.NORMALIZED),
    (Kind.IDENTIFIER, "doi:10.1000/XYZ", "https://doi.org/10.1000/xyz", Rung.NORMALIZED),
    (
        Kind.IDENTIFIER,
        "{123E4567-E89B-12D3-A456-426614174000}",
        "urn:uuid:123e4567e89b12d3a456426614174000",
        Rung.NORMALIZED,
    ),
    (Kind.TEXT, [1, {"a": None}], [1, {"a": None}], Rung.EXACT),
]

MISMATCHES: list[tuple[Kind, Json, Json]] = [
    (Kind.TEXT, "12e4", "120000"),
    (Kind.TEXT, "12e4", 120000),
    (Kind.TEXT, "007", "7"),
    (Kind.TEXT, "1.0", "1"),
    (Kind.TEXT, "1,234", "1234"),
    (Kind.TEXT, "1", True),
    (Kind.TEXT, 1, True),
    (Kind.TEXT, "Iran", "Iraq"),
    (Kind.TEXT, "C++", "C"),
    (Kind.TEXT, "333 BCE", "333 CE"),
    (Kind.TEXT, "333 BCE", "333"),
    (Kind.TEXT, "14 March 1972", "1972-03-24"),
    (Kind.TEXT, "19720314", "1972-03-14"),
    (Kind.TEXT, "a", ["a"]),
    (Kind.TEXT, "", None),
    (Kind.PROSE, "14 March 1972", "1972-03-14"),
    (Kind.ENUM, "in_progress", "in progress"),
    (Kind.ENUM, 1, True),
    (Kind.NUMBER, 1, True),
    (Kind.NUMBER, True, 1),
    (Kind.NUMBER, 2020, 2023),
    (Kind.NUMBER, "five", 5),
    (Kind.NUMBER, math.nan, math.nan),
    (Kind.NUMBER, math.inf, math.inf),
    (Kind.NUMBER, 5, [5]),
    (Kind.DATE, "1972-03-14", "1972-03-24"),
    (Kind.DATE, "2023-03-02", "2023-02-30"),
    (Kind.DATE, "2023-02-30", "30 February 2023"),
    (Kind.DATE, "1972", "1972-03-14"),
    (Kind.DATE, "1", True),
    (Kind.BOOLEAN, True, False),
    (Kind.BOOLEAN, True, 1),
    (Kind.BOOLEAN, False, 0),
    (Kind.BOOLEAN, True, "1"),
    (Kind.BOOLEAN, True, "yes"),
    (Kind.BOOLEAN, False, "no"),
    (Kind.BOOLEAN, False, None),
    (Kind.IDENTIFIER, "007", "7"),
    (Kind.IDENTIFIER, "007", 7),
    (Kind.IDENTIFIER, "12e4", "120000"),
    (Kind.IDENTIFIER, "AB-12", "AB12"),
    (Kind.IDENTIFIER, "AB 12", "AB12"),
    (Kind.IDENTIFIER, "AB.", "AB"),
    (Kind.IDENTIFIER, "https://example.org/a", "https://example.org/a/"),
    (Kind.IDENTIFIER, "https://example.org", "http://example.org"),
    (Kind.TEXT, [1], [True]),
    (Kind.TEXT, [math.nan], [math.nan, 1]),
    (Kind.TEXT, {"a": 1}, {"b": 1}),
]

TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "a",
            "A ",
            "ß",
            "SS",
            "true",
            "True",
            "yes",
            "0",
            "-0",
            "007",
            "1",
            "1.0",
            "1,0",
            "1,234",
            "1.234",
            "1e3",
        ),
        *(
            "45%",
            "$5",
            "€5",
            "(1)",
            "1972",
            "1972-03-14",
            "14/03/1972",
            "03/04/1972",
            "04/03/1972",
            "14 March 1972",
            "Mar 72",
        ),
        *(
            "333 BC",
            "-0332",
            "-0333",
            "2023-02-30",
            "12:00",
            "12:00Z",
            "14:00+02:00",
            "1999-2003",
            "1999 to 2003",
            "c. 1972",
        ),
        *("https://a.org/", "https://a.org", "10.1000/x", "doi:10.1000/x", "nan", "ʼn", "ŉ", "İ", "ı"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.integers(-3, 3) | st.text(max_size=6) | TEXTS
VALUES = SCALARS | st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)
KINDS = st.sampled_from(list(Kind))


@pytest.mark.parametrize(("kind", "reference", "candidate", "rung"), MATCHES, ids=repr)
def test_equal_values_match_and_name_their_rung(kind: Kind, reference: Json, candidate: Json, rung: Rung) -> None:
    match = free_match(kind, reference, candidate)
    assert match is not None
    assert match.rung is rung
    assert free_match(kind, candidate, reference) == match


@pytest.mark.parametrize(("kind", "reference", "candidate"), MISMATCHES, ids=repr)
def test_different_values_have_no_free_match(kind: Kind, reference: Json, candidate: Json) -> None:
    assert free_match(kind, reference, candidate) is None
    assert free_match(kind, candidate, reference) is None


def test_a_match_carries_the_note_of_its_rung() -> None:
    dates = free_match(Kind.DATE, "2017-04-05", "05/04/2017")
    numbers = free_match(Kind.NUMBER, 1234, "1,234")
    assert dates is not None
    assert "ambiguous" in dates.note
    assert numbers is not None
    assert "ambiguous" in numbers.note


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        (4.0, "4"),
        (-0.0, "0"),
        (1e-7, "0.0000001"),
        (1e22, "1" + "0" * 22),
        (True, "true"),
        ("a", "a"),
        (None, None),
    ],
)
def test_a_json_scalar_is_its_plain_text_in_a_text_field(value: Json, text: str | None) -> None:
    assert text_of(value) == text


def test_integers_too_long_to_print_are_compared_all_the_same() -> None:
    assert free_match(Kind.TEXT, 10**5000, 10**5000) is not None
    assert free_match(Kind.TEXT, 10**5000, 10**5000 + 1) is None
    assert key_of(Kind.IDENTIFIER, 10**5000) is not None


def test_values_of_any_depth_are_compared() -> None:
    one: Json = 1
    other: Json = 1
    for _ in range(100_000):
        one, other = [one], [other]
    assert free_match(Kind.TEXT, one, other) is not None


@pytest.mark.parametrize("kind", list(Kind))
def test_what_equals_nothing_has_no_key(kind: Kind) -> None:
    assert key_of(kind, math.nan) is None
    assert key_of(kind, math.inf) is None
    assert free_match(kind, math.nan, math.nan) is None


@pytest.mark.parametrize("text", ["a", "12345678", "https://a.org/b/", "10.1000/", "abcdef0123456789"])
def test_an_identifier_of_no_known_notation_stays_as_it_is(text: str) -> None:
    assert identifier_form(text) == text


@given(KINDS, VALUES)
def test_a_value_matches_itself(kind: Kind, value: Json) -> None:
    if not isinstance(value, float) or math.isfinite(value):
        assert free_match(kind, value, json.loads(json.dumps(value))) is not None or "NaN" in json.dumps(value)


@given(KINDS, VALUES, VALUES)
def test_a_free_match_is_symmetric(kind: Kind, one: Json, other: Json) -> None:
    assert free_match(kind, one, other) == free_match(kind, other, one)


@given(KINDS, VALUES, VALUES)
def test_equal_keys_mean_a_free_match(kind: Kind, one: Json, other: Json) -> None:
    key = key_of(kind, one)
    if key is not None and key == key_of(kind, other):
        assert hash(key) == hash(key_of(kind, other))
        assert free_match(kind, one, other) is not None


# A Greek iota subscript under further marks is left out: Unicode itself orders the two differently in each case.
CASED = st.text(max_size=8).filter(lambda text: "\u0345" not in unicodedata.normalize("NFD", text)) | TEXTS


@given(st.sampled_from([Kind.TEXT, Kind.PROSE, Kind.ENUM, Kind.IDENTIFIER, Kind.DATE]), CASED)
def test_case_and_outer_white_space_never_matter(kind: Kind, text: str) -> None:
    assert free_match(kind, text, f" {text.swapcase()}\u00a0") is not None


def _kind_of(schema: dict[str, Any]) -> Kind:
    by_type = {"number": Kind.NUMBER, "integer": Kind.NUMBER, "boolean": Kind.BOOLEAN}
    return Kind.DATE if str(schema.get("format")).startswith("date") else by_type.get(schema["type"], Kind.TEXT)


def _verdict(kind: Kind, reference: Json, candidate: Json) -> str:
    match is_empty(reference), is_empty(candidate):
        case True, True:
            return "skip"
        case True, False:
            return "extra"
        case False, True:
            return "missing"
        case _:
            return "match" if free_match(kind, reference, candidate) is not None else "mismatch"


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases stand beside the project only in development")
@pytest.mark.parametrize("kind", ["number", "boolean", "text", "date", "null"])
def test_the_shared_cases_come_out_as_expected(kind: str) -> None:
    for case in filter(lambda case: case["kind"] == kind, map(json.loads, CASES.read_text("utf-8").splitlines())):
        for candidate in case["candidates"]:
            value = candidate["value"] if "value" in candidate else json.loads(candidate["raw"])
            for path, wanted in case["expected"][candidate["name"]].get("paths", {}).items():
                leaf, found = case["schema"]["properties"][path[1:]], value.get(path[1:])
                seen = _verdict(_kind_of(leaf), case["reference"].get(path[1:]), found)
                assert seen == wanted, (case["id"], candidate["name"], path)
