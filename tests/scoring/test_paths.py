import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.paths import extend, holds, pointer_of, position_path, resolve, stable_path, steps_of

DOCUMENT = {"a/b": [{"~": 1}, {"": [None]}], "@x": 2, "0": {"1": 3}}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("", DOCUMENT), ("/a~1b/0/~0", 1), ("/a~1b/1//0", None), ("/@x", 2), ("/0/1", 3)],
)
def test_a_pointer_finds_its_value(pointer: str, value: object) -> None:
    assert resolve(DOCUMENT, pointer) == value
    assert holds(DOCUMENT, pointer)


@pytest.mark.parametrize("pointer", ["/nothing", "/a~1b/2", "/a~1b/-", "/a~1b/00", "/a~1b/-1", "/@x/0", "/a~1b/²"])
def test_a_pointer_that_leads_nowhere_is_a_key_error(pointer: str) -> None:
    assert not holds(DOCUMENT, pointer)
    with pytest.raises(KeyError):
        resolve(DOCUMENT, pointer)


def test_a_text_without_leading_slash_is_no_pointer() -> None:
    with pytest.raises(ValueError, match="no JSON Pointer"):
        steps_of("a/b")


@given(st.lists(st.text()))
def test_steps_come_back_out_of_their_pointer(steps: list[str]) -> None:
    pointer = pointer_of(steps)
    assert list(steps_of(pointer)) == steps
    walked = ""
    for step in steps:
        walked = extend(walked, step)
    assert walked == pointer


def test_a_stable_path_survives_a_move_of_the_item() -> None:
    before = {"/people/0": "i1", "/people/1": "i2", "/people/1/tags/0": "i3"}
    after = {"/people/0": "i2", "/people/0/tags/4": "i3"}
    stable = stable_path("/people/1/tags/0/name", before)
    assert stable == "/people/@i2/tags/@i3/name"
    assert position_path(stable, after) == "/people/0/tags/4/name"
    assert position_path(stable_path("/people/0/name", before), after) is None


@given(st.lists(st.one_of(st.text(max_size=4), st.sampled_from(["@a", "@@", "0", "1"])), max_size=6), st.data())
def test_a_stable_path_leads_back_to_its_pointer(steps: list[str], data: st.DataObject) -> None:
    ids: dict[str, str] = {}
    for end in range(1, len(steps) + 1):
        if data.draw(st.booleans()):
            ids[pointer_of(steps[:end])] = data.draw(st.sampled_from(["i1", "x/y", "~"]))
    pointer = pointer_of(steps)
    assert position_path(stable_path(pointer, ids), ids) == pointer
