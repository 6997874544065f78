"""JSON files of any size, walked value by value: only what is asked for is held in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from resources.jsonl import Member
from scoring.errors import InputError
from scoring.records import Json

MAX_VALUE_BYTES = 64_000_000

_CHUNK_BYTES = 1 << 18
_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb'[^\s,:"\[\]{}]*+')
_INSIDE_TEXT = re.compile(rb'(?:[^"\\]|\\[\s\S])*+')
_OUTSIDE_TEXT = re.compile(rb'[^"\[\]{}]*+')
_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_OPEN, _CLOSE = frozenset(b"[{"), frozenset(b"]}")


class JsonStream:
    """A cursor in JSON text that `read(size)` delivers.

    `each_key` and `each_item` walk an object or an array; in each turn the value may be taken with `value`, `member` or
    an inner walk, and is passed over otherwise. An inner walk must be ended before the outer one goes on. All raise
    `InputError` with `name:line` for text that is no JSON or is cut off, and for a taken value over `MAX_VALUE_BYTES`.
    What is passed over is only checked as far as its end must be found.
    """

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read = read
        self._name = name
        self._buffer = b""
        self._position = 0
        self._lines = 1
        self._is_due = False
        self._fill()
        if self._buffer.startswith(_BOM):
            self._position = len(_BOM)

    @property
    def line(self) -> int:
        """The line of the cursor, from 1."""
        return self._lines + self._buffer.count(b"\n", 0, self._position)

    def is_at(self, mark: str) -> bool:
        """Whether the next value begins with this character."""
        return self._peek() == mark.encode()

    def each_document(self) -> Iterator[None]:
        """A turn for each value of the whole text, be they on lines of their own or not."""
        while self._peek():
            self._is_due = True
            yield
            if self._is_due:
                self.skip()

    def each_key(self) -> Iterator[str]:
        """A turn for each key of the object at the cursor."""
        self._take(b"{", "an object")
        while self._peek() != b"}":
            if not self.is_at('"'):
                raise self._problem("expecting a key in double quotes")
            key = str(self._loaded(self._walk(is_kept=True)))
            self._take(b":", "':'")
            self._is_due = True
            yield key
            self._end_turn(b"}")
        self._take(b"}", "'}'")

    def each_item(self) -> Iterator[None]:
        """A turn for each item of the array at the cursor."""
        self._take(b"[", "an array")
        while self._peek() != b"]":
            self._is_due = True
            yield
            self._end_turn(b"]")
        self._take(b"]", "']'")

    def value(self) -> Json:
        """The value at the cursor. Raises `InputError` for one nested too deep."""
        text = self._walk(is_kept=True)
        try:
            return self._loaded(text)
        except RecursionError as error:
            raise self._problem("nested too deep") from error

    def member(self) -> Member:
        """The value at the cursor with the text it was written as; the value is None where nested too deep."""
        text = self._walk(is_kept=True)
        try:
            return Member(value=self._loaded(text), text=text.decode())
        except RecursionError:
            return Member(value=None, text=text.decode())

    def skip(self) -> None:
        """Go past the value at the cursor."""
        self._walk(is_kept=False)

    def finish(self) -> None:
        """Read to the end. Raises `InputError` where anything but white space is left."""
        if self._peek():
            raise self._problem("extra data after the end")

    def _end_turn(self, closing: bytes) -> None:
        if self._is_due:
            self.skip()
        if self._peek() == b",":
            self._position += 1
            if self._peek() == closing:
                raise self._problem("expecting a value after ','")
        elif self._peek() != closing:
            raise self._problem(f"expecting ',' or {closing.decode()!r}")

    def _walk(self, *, is_kept: bool) -> bytes:
        """Go past one value; its bytes where they are kept."""
        self._is_due = False
        pieces: list[bytes] = []
        advance = _nested if self._peek() in (b'"', b"[", b"{") else _scalar
        size, state = 0, (0, False, False)
        while not state[2]:
            end, state = advance(self._buffer, self._position, state)
            size += end - self._position
            if is_kept:
                pieces.append(self._buffer[self._position : end])
                if size > MAX_VALUE_BYTES:
                    raise self._problem(f"a value has more than {MAX_VALUE_BYTES:,} bytes")
            self._position = end
            if not state[2] and not self._fill():
                if advance is _nested or not size:
                    raise self._problem("the text ends inside a value")
                break
        if not size:
            raise self._problem("expecting a value")
        return b"".join(pieces)

    def _loaded(self, text: bytes) -> Json:
        try:
            value: Json = json.loads(text.decode())
        except ValueError as error:
            raise self._problem(str(error)) from error
        return value

    def _peek(self) -> bytes:
        while True:
            space = _SPACE.match(self._buffer, self._position)
            self._position = space.end() if space else self._position
            if self._position < len(self._buffer):
                return self._buffer[self._position : self._position + 1]
            if not self._fill():
                return b""

    def _take(self, mark: bytes, wanted: str) -> None:
        self._is_due = False
        if self._peek() != mark:
            raise self._problem(f"expecting {wanted}")
        self._position += 1

    def _fill(self) -> bool:
        try:
            chunk = self._read(_CHUNK_BYTES)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self._name) from error
        self._lines += self._buffer.count(b"\n", 0, self._position)
        self._buffer = self._buffer[self._position :] + chunk
        self._position = 0
        return bool(chunk)

    def _problem(self, message: str) -> InputError:
        rest = "" if self._buffer[self._position :] or "ends inside" in message else "; the text ends here"
        return InputError(f"not valid JSON ({message}{rest})", where=f"{self._name}:{self.line}")


_State = tuple[int, bool, bool]


def _nested(buffer: bytes, position: int, state: _State) -> tuple[int, _State]:
    """How far an object, array or text reaches in the buffer, from a state of depth, inside a text, over."""
    depth, is_text, _ = state
    while position < len(buffer):
        if is_text:
            position = _end(_INSIDE_TEXT, buffer, position)
            # A backslash is left here only where the buffer cuts an escape in two.
            if position == len(buffer) or buffer[position] == _BACKSLASH:
                break
            is_text = False
        elif buffer[position] == _QUOTE:
            is_text = True
        elif buffer[position] in _OPEN or buffer[position] in _CLOSE:
            depth += 1 if buffer[position] in _OPEN else -1
        else:
            position = _end(_OUTSIDE_TEXT, buffer, position)
            continue
        position += 1
        if not depth and not is_text:
            return position, (depth, is_text, True)
    return position, (depth, is_text, False)


def _scalar(buffer: bytes, position: int, state: _State) -> tuple[int, _State]:
    end = _end(_SCALAR, buffer, position)
    return end, (*state[:2], end < len(buffer))


def _end(pattern: re.Pattern[bytes], buffer: bytes, position: int) -> int:
    match = pattern.match(buffer, position)
    return position if match is None else match.end()
