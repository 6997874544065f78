"""JSON of any size is walked whole, in little memory, and what is broken is named with its line."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources import json_stream
from resources.json_stream import JsonStream
from scoring.errors import InputError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def stream_of(text: str | bytes, size: int | None = None) -> JsonStream:
    """A stream that delivers `size` bytes at a time."""
    content = io.BytesIO(text.encode() if isinstance(text, str) else text)
    return JsonStream(lambda wanted: content.read(size or wanted), "log.json")


def rebuilt(stream: JsonStream) -> Any:
    """The value at the cursor, by walks alone down to the leaves."""
    if stream.is_at("{"):
        return {key: rebuilt(stream) for key in stream.each_key()}
    if stream.is_at("["):
        return [rebuilt(stream) for _ in stream.each_item()]
    return stream.value()


@given(VALUES, st.integers(1, 7), st.sampled_from([None, 1]))
def test_a_walk_finds_what_a_parser_finds_however_the_text_is_cut(value: Any, size: int, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=size % 2 == 0)
    assert rebuilt(stream_of(text, size)) == value
    stream = stream_of(text, size)
    assert stream.value() == value
    stream.finish()


@given(VALUES, VALUES, st.integers(1, 7))
def test_what_is_not_taken_is_passed_over(passed: Any, taken: Any, size: int) -> None:
    stream = stream_of(json.dumps({"passed": [passed], "taken": taken, "end": passed}), size)
    assert [stream.value() for key in stream.each_key() if key == "taken"] == [taken]


def test_a_member_keeps_the_text_it_was_written_as() -> None:
    stream = stream_of('[ {"a": 1.10,\n "b":[]} ]')
    assert [stream.member().text for _ in stream.each_item()] == ['{"a": 1.10,\n "b":[]}']


def test_values_one_after_another_need_no_lines() -> None:
    stream = stream_of('{"a": 1}{"a": 2}\n\n{"a": 3}')
    assert [stream.value() for _ in stream.each_document()] == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_a_byte_order_mark_is_no_value() -> None:
    assert stream_of(b"\xef\xbb\xbf[1]").value() == [1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1,\n"b": [1, 2', "log.json:2: not valid JSON (the text ends inside a value"),
        ('{"a": "x\\', "the text ends inside a value"),
        ('{"a": 1', "expecting ',' or '}'; the text ends here"),
        ('{"a" 1}', "expecting ':'"),
        ('{"a": 1 "b": 2}', "expecting ',' or '}'"),
        ('{"a": 1,}', "expecting a value after ','"),
        ("{a: 1}", "expecting a key in double quotes"),
        ('{"a": tru}', "Expecting value"),
        ('{"a": }', "expecting a value"),
        ('{"a": [1}}', "not valid JSON"),
        ('{"a": 1} x', "extra data after the end"),
        ("", "expecting an object"),
        (b'{"a": "\xff"}', "can't decode byte 0xff"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deep"),
    ],
)
def test_what_is_broken_is_named_with_its_line(text: str | bytes, expected: str) -> None:
    def walk() -> None:
        stream = stream_of(text)
        for _ in stream.each_key():
            stream.value()
        stream.finish()

    assert expected in message_of(walk)


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


def test_a_value_that_is_taken_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_VALUE_BYTES", 1000)
    assert stream_of(json.dumps("x" * 900)).value() == "x" * 900
    assert "a value has more than 1,000 bytes" in message_of(stream_of(json.dumps("x" * 1000)).value)
    stream_of(json.dumps("x" * 10_000)).skip()


def test_a_long_text_is_walked_in_little_memory() -> None:
    item = json.dumps({"events": ["x" * 1000] * 1000, "id": 1}).encode()
    pieces = iter([b"[", *([item, b","] * 30), item, b"]"])
    rest = b""

    def read(size: int) -> bytes:
        nonlocal rest
        rest = rest or next(pieces, b"")
        chunk, rest = rest[:size], rest[size:]
        return chunk

    tracemalloc.start()
    try:
        stream = JsonStream(read, "log.json")
        ids = [stream.value() for _ in stream.each_item() for key in stream.each_key() if key == "id"]
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert ids == [1] * 31
