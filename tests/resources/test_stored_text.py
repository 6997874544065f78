from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resources.stored_text import _COMPACT, _deep_json, json_text, json_value, shown, shown_items, storable
from scoring.records import Json

any_text = st.text(st.characters(codec=None))
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)


@given(any_json)
def test_any_value_is_plain_ascii_and_comes_back(value: Json) -> None:
    text = json_text(value)
    assert text.isascii()
    assert "\x00" not in text
    assert json_value(text) == value


@given(any_text)
def test_any_text_can_be_stored_and_keeps_its_length(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert "\x00" not in stored
    assert len(stored) == len(text)
    assert storable(stored) == stored


def test_sound_text_is_stored_as_it_is() -> None:
    assert storable("Zürich 🎬 \t\n\u202e") == "Zürich 🎬 \t\n\u202e"


def test_a_string_is_shown_as_it_is_and_all_else_as_json() -> None:
    cases: list[tuple[Json, str | None]] = [
        ("a", "a"),
        ("", ""),
        (None, None),
        (True, "true"),
        (1.5, "1.5"),
        (["é", None], '["é", null]'),
    ]
    assert [shown(value) for value, _ in cases] == [(text, False) for _, text in cases]


def test_what_is_shown_is_bounded() -> None:
    assert shown("abc", 3) == ("abc", False)
    assert shown("abcd", 3) == ("abc", True)
    assert shown(["x" * 100], 5) == ('["xxx', True)


def test_items_are_lines_and_those_that_do_not_fit_are_counted() -> None:
    assert shown_items(("a\nb", {"k": 1}, None)) == 'a b\n{"k": 1}\nnull'
    assert shown_items(("aaaa", "bbbb", "cccc"), 10) == "aaaa\nbbbb\n... and 1 more"
    assert shown_items(()) == ""


def test_a_value_deeper_than_the_interpreter_recurses_is_text_all_the_same() -> None:
    deep: Json = {}
    for _ in range(2_500):
        deep = [{"é": deep, "n": [1, None]}, "x"]
    text = json_text(deep)
    assert text.count("{") == text.count("}") == 2_501
    assert text.startswith(r'[{"\u00e9":[{"\u00e9":')
    assert text.endswith('"n":[1,null]},"x"],"n":[1,null]},"x"]')
    assert shown(deep)[0] == ('[{"é":' * 2_500)[:10_000]


def test_deep_and_shallow_values_are_written_alike() -> None:
    value: Json = {"a": [1, {"b": None, "c": []}, [[], {}]], "": {"é\x00": [True]}}
    assert _deep_json(value, _COMPACT) == json_text(value)
