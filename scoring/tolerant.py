"""JSON with the slips that models make and that have one reading: trailing commas, Python literals, comments.

Nothing is evaluated and nothing is guessed: a string without end, a missing comma or a missing bracket is a fault. One
pass over the text with a stack of its own, so that neither depth nor length can exhaust anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from json import JSONDecoder

from scoring.records import Json
from scoring.tokens import Problems, read_constant, read_float, read_int

MAX_DEPTH = 200
"""Deeper outputs are `too_deep`; the comparison behind may take several Python frames a level."""

_INK = frozenset("{}[]\"':,-0123456789")
# A comment without end takes the rest of the text, so that nothing after it is ever looked at twice.
_GAP = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)*+")
_DOUBLE = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_SINGLE = re.compile(r"'((?:[^'\\]++|\\.)*+)'", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?(?![\w.])")
_CUT_SHORT = re.compile(r"[-+.\w]*\Z")
_WORD = re.compile(r"-?[A-Za-z_$][\w$]*+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_STRINGS = JSONDecoder(strict=False)
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PLAIN = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "\n": ""}
_JSON_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, Json] = {"True": True, "False": False, "None": None}
_NO_NUMBERS = {"NaN": "NaN", "nan": "NaN", "Infinity": "Infinity", "inf": "Infinity", "-Infinity": "-Infinity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One value read from `start` to `end` of a text."""

    value: Json
    start: int
    end: int
    repairs: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why there is no value: `kind` is `invalid`, `truncated` or `too_deep`; `end` is where reading stopped."""

    kind: str
    reason: str
    end: int


class _FaultError(Exception):
    def __init__(self, kind: str, reason: str, position: int) -> None:
        super().__init__(reason)
        self.fault = Fault(kind=kind, reason=reason, end=position)


@dataclass(slots=True)
class _Cursor:
    text: str
    position: int
    problems: Problems = field(default_factory=Problems)
    repairs: dict[str, None] = field(default_factory=dict)

    def peek(self) -> str:
        """The next character after white space and comments; stops where the text ends."""
        if self.position < len(self.text) and self.text[self.position] in _INK:
            return self.text[self.position]
        end = _GAP.match(self.text, self.position).end()  # type: ignore[union-attr]  # it matches the empty text too
        gap = self.text[self.position : end].strip(" \t\r\n")
        if gap:
            self.repairs["comments removed" if "/" in gap else "unusual white space removed"] = None
        self.position = end
        if end >= len(self.text):
            raise _FaultError("truncated", "the text ends inside a JSON value", end)
        return self.text[end]

    def stop(self, reason: str) -> _FaultError:
        """The fault at this place."""
        return _FaultError("invalid", reason, self.position)


@dataclass(slots=True)
class _Frame:
    closing: str
    items: list[Json] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def read_piece(text: str, start: int) -> Piece | Fault:
    """The object or array that begins at `start`, or why it cannot be read with certainty."""
    cursor = _Cursor(text=text, position=start)
    try:
        value = _container(cursor)
    except _FaultError as stop:
        end = max(stop.fault.end, start + 1)
        return Fault(kind=stop.fault.kind, reason=stop.fault.reason, end=end)
    repairs = tuple(cursor.repairs)
    return Piece(value=value, start=start, end=cursor.position, repairs=repairs, problems=cursor.problems.notes())


def _container(cursor: _Cursor) -> Json:
    stack: list[_Frame] = []
    _open(cursor, stack)
    while True:
        closed = _next(cursor, stack)
        if closed is None:
            continue
        if not stack:
            return closed[0]
        stack[-1].items.append(closed[0])
        _separate(cursor, stack[-1])


def _next(cursor: _Cursor, stack: list[_Frame]) -> tuple[Json] | None:
    """One step: a container closed or a scalar read (as a tuple of one), or None where a container was opened."""
    frame = stack[-1]
    char = cursor.peek()
    if char == frame.closing:
        cursor.position += 1
        return (_closed(cursor, stack.pop()),)
    if frame.closing == "}":
        frame.names.append(_name(cursor))
        char = cursor.peek()
    if char in "{[":
        _open(cursor, stack)
        return None
    return (_scalar(cursor, char),)


def _open(cursor: _Cursor, stack: list[_Frame]) -> None:
    if len(stack) >= MAX_DEPTH:
        raise _FaultError("too_deep", f"the output is nested more than {MAX_DEPTH} levels deep", cursor.position)
    stack.append(_Frame(closing="}" if cursor.text[cursor.position] == "{" else "]"))
    cursor.position += 1


def _closed(cursor: _Cursor, frame: _Frame) -> Json:
    if frame.closing == "]":
        return frame.items
    return cursor.problems.object_of(list(zip(frame.names, frame.items, strict=True)))


def _separate(cursor: _Cursor, frame: _Frame) -> None:
    char = cursor.peek()
    if char == frame.closing:
        return
    if char != ",":
        raise cursor.stop(f"a comma or {frame.closing!r} is missing")
    cursor.position += 1
    if cursor.peek() == frame.closing:
        cursor.repairs["trailing comma removed"] = None
    elif cursor.text[cursor.position] == ",":
        raise cursor.stop("there is a value missing between two commas")


def _name(cursor: _Cursor) -> str:
    char = cursor.peek()
    if char in "\"'":
        name = _string(cursor, char)
    else:
        word = _WORD.match(cursor.text, cursor.position)
        if word is None or word[0].startswith("-"):
            raise cursor.stop("a key in quotes is missing")
        cursor.position = word.end()
        cursor.repairs["quotes around keys added"] = None
        name = word[0]
    if cursor.peek() != ":":
        raise cursor.stop("a colon after a key is missing")
    cursor.position += 1
    return name


def _scalar(cursor: _Cursor, char: str) -> Json:
    if char in "\"'":
        return _string(cursor, char)
    number = _NUMBER.match(cursor.text, cursor.position)
    if number is not None:
        cursor.position = number.end()
        read: Callable[[Problems, str], Json] = read_float if number[1] or number[2] else read_int
        return read(cursor.problems, number[0])
    return _word(cursor)


def _word(cursor: _Cursor) -> Json:
    word = _WORD.match(cursor.text, cursor.position)
    name = word[0] if word else ""
    if name in _JSON_WORDS:
        value = _JSON_WORDS[name]
    elif name in _PYTHON_WORDS:
        cursor.repairs["Python literals read as JSON"] = None
        value = _PYTHON_WORDS[name]
    elif name in _NO_NUMBERS:
        value = read_constant(cursor.problems, _NO_NUMBERS[name])
    elif _CUT_SHORT.match(cursor.text, cursor.position):
        raise _FaultError("truncated", "the text ends inside a JSON value", len(cursor.text))
    else:
        raise cursor.stop("a value is missing or not in quotes")
    cursor.position += len(name)
    return value


def _string(cursor: _Cursor, quote: str) -> str:
    found = (_DOUBLE if quote == '"' else _SINGLE).match(cursor.text, cursor.position)
    if found is None:
        raise _FaultError("truncated", "the text ends inside a string", len(cursor.text))
    if quote == "'":
        cursor.repairs["single quotes read as double quotes"] = None
    value = _plain_string(cursor.text, cursor.position) if quote == '"' else None
    if value is None:
        value = _unescaped(cursor, found[1], quote)
    if any(char < " " for char in found[1]):
        cursor.repairs["line breaks or control characters inside strings kept"] = None
    cursor.position = found.end()
    return value


def _plain_string(text: str, start: int) -> str | None:
    try:
        return str(_STRINGS.raw_decode(text, start)[0])
    except ValueError:
        return None


def _unescaped(cursor: _Cursor, body: str, quote: str) -> str:
    if "\\" not in body:
        return body
    if quote == '"':
        cursor.repairs["escapes read as Python writes them"] = None

    def meaning(escape: re.Match[str]) -> str:
        code = escape[1]
        if len(code) > 1:
            return _character(cursor, int(code[1:], 16))
        if code not in _PLAIN:
            raise cursor.stop(f"the escape {escape[0]!a} means nothing in JSON")
        return _PLAIN[code]

    text = _ESCAPE.sub(meaning, body)
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _character(cursor: _Cursor, code: int) -> str:
    if code > 0x10FFFF:
        raise cursor.stop("an escape names no character")
    return chr(code)
