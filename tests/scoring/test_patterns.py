import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^[a-z]+$", "abc", True),
        ("^[a-z]+$", "ABC", False),
        (r"^\d{4}-\d{2}-\d{2}$", "2020-01-01", True),
        ("^(foo|bar)[0-9]?$", "bar7", True),
        (r"^\(.+\)$", "(x)", True),
        ("[)(*+]", "*", True),
        (r"^([A-Z]{2}\d{6})$", "AB123456", True),
        ("b", "abc", True),
        (r"^(\d{3}-)?\d{4}$", "555-1234", True),
        (r"^([a-z0-9]+)(-[a-z0-9]+)?$", "a-b", True),
        ("", "", True),
    ],
)
def test_a_harmless_pattern_is_searched(pattern: str, text: str, found: bool) -> None:
    assert matches(pattern, text) is found


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a*)*b",
        "(a|aa)+$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(x+x+)+y",
        "(a?){30}a{30}",
        r"(\s*\w+\s*)*;",
        "((a+)?)+$",
        "(?:a+){2,}$",
        "(a{1,9})*$",
        "(.*a){25}",
        "(?=(a+))+b",
        "(a+|b)*c",
    ],
)
def test_a_pattern_with_repetitions_in_repetitions_is_not_tried(pattern: str) -> None:
    assert matches(pattern, "a" * 50 + "!") is None


def test_a_pattern_with_many_repetitions_is_not_tried_on_a_long_text() -> None:
    pattern = ".*.*.*=.*"
    assert matches(pattern, "a=b") is True
    assert matches(pattern, "a" * 1_000) is None


@pytest.mark.parametrize("pattern", ["(", r"\p{L}", "[", "(?<name>a)", "a{9999999999999}", "(" * 300 + ")" * 300])
def test_a_pattern_that_python_does_not_read_is_undecided(pattern: str) -> None:
    assert matches(pattern, "a") in (None, True)


def test_a_pattern_with_a_bracket_in_a_set_is_read_without_a_warning() -> None:
    assert matches("[[a]", "[") is True


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@given(st.text(alphabet="ab(|)[]*+?{}1,\\d^$.", max_size=12), st.text(alphabet="ab1", max_size=20))
def test_no_pattern_raises_and_an_answer_is_the_right_one(pattern: str, text: str) -> None:
    found = matches(pattern, text)
    if found is not None:
        assert found == (re.search(pattern, text) is not None)
