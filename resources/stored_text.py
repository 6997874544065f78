"""Values as text that Postgres and Parquet can hold, whatever a model wrote.

Postgres stores no NUL, and neither stores lone surrogates. Whole values are kept as ASCII JSON, where both are escapes
and come back as they were; what people read is text with those characters replaced, bounded in length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from scoring.records import Json

SHOWN_CHARACTERS = 10_000
_COMPACT = json.JSONEncoder(separators=(",", ":")).encode
_READABLE = json.JSONEncoder(ensure_ascii=False).encode
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def json_text(value: Json) -> str:
    """The value as compact ASCII JSON; `json_value` reads it back."""
    try:
        return _COMPACT(value)
    except RecursionError:
        return _deep_json(value, _COMPACT)


def json_value(text: str) -> Json:
    """The value that `json_text` wrote."""
    value: Json = json.loads(text)
    return value


def storable(text: str) -> str:
    """The text with NUL shown as `␀` and lone surrogates as `\N{REPLACEMENT CHARACTER}`."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(lambda match: "␀" if match[0] == "\x00" else "\N{REPLACEMENT CHARACTER}", text)


def shown(value: Json, limit: int = SHOWN_CHARACTERS) -> tuple[str | None, bool]:
    """The value as text for people, a string as it is and all else as JSON, and whether something was left off."""
    if value is None:
        return None, False
    text = value if isinstance(value, str) else _readable_json(value)
    return storable(text[:limit]), len(text) > limit


def shown_items(items: tuple[Json, ...], limit: int = SHOWN_CHARACTERS) -> str:
    """The items as text for people, a line each; those that do not fit are counted in a last line."""
    lines: list[str] = []
    room = limit
    for item in items:
        line = " ".join((shown(item, 500)[0] or "null").split())
        room -= len(line) + 1
        if room < 0:
            lines.append(f"... and {len(items) - len(lines)} more")
            break
        lines.append(line)
    return "\n".join(lines)


def _readable_json(value: Json) -> str:
    try:
        return _READABLE(value)
    except RecursionError:
        return _deep_json(value, _READABLE)


def _deep_json(value: Json, encode: Callable[[Json], str]) -> str:
    """JSON of a value that is nested deeper than the interpreter recurses."""
    written: list[str] = []
    waiting: list[tuple[str, Json]] = [("", value)]  # a text to write as it is, else a value to encode
    while waiting:
        text, one = waiting.pop()
        if text:
            written.append(text)
        elif isinstance(one, dict):
            members = [part for key, inner in one.items() for part in ((f",{encode(key)}:", None), ("", inner))]
            waiting += [("}", None), *reversed(_without_first_comma(members)), ("{", None)]
        elif isinstance(one, list):
            items = [part for inner in one for part in ((",", None), ("", inner))]
            waiting += [("]", None), *reversed(items[1:]), ("[", None)]
        else:
            written.append(encode(one))
    return "".join(written)


def _without_first_comma(members: list[tuple[str, Json]]) -> list[tuple[str, Json]]:
    return [(members[0][0][1:], None), *members[1:]] if members else []
