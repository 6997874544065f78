"""JSON Lines files of any size: a line at a time, each top-level member with its own text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from resources.sources import decoded
from scoring.errors import InputError
from scoring.records import Json

MAX_LINE_BYTES = 64_000_000

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a line's object: its value and the very text that it was written as.

    `value` is None for a value nested too deep to be built; its `text` is still whole.
    """

    value: Json
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One recorded run as it was found: the place for messages, and its members by key.

    `hints` say for `scenario` and `model` what can be done where the one found is unknown. Two recordings of one
    `identity` are the same run, which another tool wrote into two files.
    """

    place: str
    members: Mapping[str, Member]
    hints: Mapping[str, str] = field(default_factory=dict)
    identity: str = ""


def lines_of(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Each line that is not blank as (`file:line`, text). Raises `InputError` for lines too long or not UTF-8."""
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                place = f"{name}:{number}"
                if len(line) > MAX_LINE_BYTES:
                    raise InputError(f"the line is longer than {MAX_LINE_BYTES:,} bytes", where=place)
                if line.strip():
                    yield place, decoded(line, name, first_line=number).strip()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=name) from error


def members_of(line: str, place: str) -> Mapping[str, Member]:
    """The members of the line's object. Raises `InputError` for a line that is no JSON object or names a key twice."""
    if not line.startswith("{"):
        raise InputError(f"must be one JSON object, found {line[:40]!r}", where=place)
    try:
        return dict(_members(line, place))
    except json.JSONDecodeError as error:
        raise InputError(f"not valid JSON ({error.msg}, column {error.colno})", where=place) from error
    except ValueError as error:
        raise InputError(f"not valid JSON ({error})", where=place) from error


def _members(line: str, place: str) -> Iterator[tuple[str, Member]]:
    seen: set[str] = set()
    position = _after_space(line, 1)
    while line[position : position + 1] != "}":
        if seen:
            position = _after(",", line, position)
        key, position = _key_at(line, position)
        if key in seen:
            raise InputError(f"the key {key!r} stands twice", where=place, remedy="Keep one of them.")
        seen.add(key)
        start = _after(":", line, position)
        value, end = _value_at(line, start)
        yield key, Member(value=value, text=line[start:end])
        position = _after_space(line, end)
    if _after_space(line, position + 1) != len(line):
        raise json.JSONDecodeError("Extra data", line, position + 1)


def _key_at(line: str, position: int) -> tuple[str, int]:
    if line[position : position + 1] != '"':
        raise json.JSONDecodeError("Expecting a key in double quotes", line, position)
    key, end = _DECODER.raw_decode(line, position)
    return str(key), _after_space(line, end)


def _value_at(line: str, start: int) -> tuple[Json, int]:
    try:
        value, end = _DECODER.raw_decode(line, start)
    except RecursionError:
        return None, _end_of_nested(line, start)
    return value, end


def _end_of_nested(line: str, start: int) -> int:
    depth = 0
    for token in _TOKEN.finditer(line, start):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        if depth == 0:
            return token.end()
    raise json.JSONDecodeError("Unbalanced brackets", line, start)


def _after(mark: str, line: str, position: int) -> int:
    if line[position : position + 1] != mark:
        raise json.JSONDecodeError(f"Expecting {mark!r}", line, position)
    return _after_space(line, position + 1)


def _after_space(line: str, position: int) -> int:
    match = _SPACE.match(line, position)
    return position if match is None else match.end()
