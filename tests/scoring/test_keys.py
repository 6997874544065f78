import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.keys import id_of, safe_key

IDS = st.text(st.characters(codec="utf-8") | st.sampled_from("~/|:%. -_"), max_size=20)


@pytest.mark.parametrize(
    ("id_", "key"),
    [
        ("gpt-4o", "gpt-4o"),
        ("openai/gpt-4o:free", "openai~2fgpt-4o~3afree"),
        ("a b|c", "a~20b~7cc"),
        (".hidden", "~2ehidden"),
        ("..", "~2e."),
        ("-flag", "~2dflag"),
        ("~2f", "~7e2f"),
        ("é", "~c3~a9"),
    ],
)
def test_an_id_is_written_with_safe_characters(id_: str, key: str) -> None:
    assert safe_key(id_) == key
    assert id_of(key) == id_


@given(IDS)
def test_the_id_is_read_back_from_its_key(id_: str) -> None:
    assert id_of(safe_key(id_)) == id_


@given(IDS)
def test_a_key_holds_safe_characters_only(id_: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9._~-]*", safe_key(id_))
    assert not safe_key(id_).startswith((".", "-"))


@given(IDS, IDS)
def test_distinct_ids_have_distinct_keys(one: str, other: str) -> None:
    assert (one == other) == (safe_key(one) == safe_key(other))
