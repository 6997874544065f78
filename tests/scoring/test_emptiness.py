import pytest

from scoring.emptiness import is_empty
from scoring.records import DEFAULT_EMPTY_VALUES, Json

NOTHING: list[Json] = [
    None,
    "",
    " ",
    "\u00a0\u200b",
    [],
    {},
    [None],
    [[], {}, ""],
    {"a": None},
    {"a": {"b": [None, "n/a"]}},
    "n/a",
    "N/A",
    " n/a. ",
    "N.A.",
    "na",
    "None",
    "NULL",
    "Unknown",
    "not available",
    "Not  Available.",
    "-",
    "--",
    "—",
    "–",
    "?",
]
SOMETHING: list[Json] = [
    0,
    0.0,
    -0.0,
    False,
    True,
    "0",
    "false",
    "no",
    "x",
    "nan",
    [0],
    [False],
    {"a": 0},
    "n/a yet",
    "-5",
    "???",
]


@pytest.mark.parametrize("value", NOTHING, ids=repr)
def test_a_value_that_says_nothing_is_empty(value: Json) -> None:
    assert is_empty(value)


@pytest.mark.parametrize("value", SOMETHING, ids=repr)
def test_zero_and_false_and_all_that_says_something_are_values(value: Json) -> None:
    assert not is_empty(value)


def test_a_placeholder_that_the_schema_or_the_reference_uses_is_a_value() -> None:
    assert not is_empty("NA", protected={"NA", "DE"})
    assert not is_empty("na", protected=["NA"])
    assert not is_empty(["None"], protected=["none", 3, None])
    assert is_empty("n/a", protected={"NA"})


def test_a_blank_text_is_empty_even_where_it_is_protected() -> None:
    assert is_empty("", protected={""})


def test_the_placeholders_are_configurable() -> None:
    assert is_empty("Onbekend.", empty_values=(*DEFAULT_EMPTY_VALUES, "onbekend"))
    assert not is_empty("n/a", empty_values=())


def test_depth_is_no_limit() -> None:
    nested: Json = None
    for _ in range(100_000):
        nested = [nested]
    assert is_empty(nested)
