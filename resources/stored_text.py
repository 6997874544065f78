"""Values as text that Postgres and Parquet can hold, whatever a model wrote.

Postgres stores no NUL, and neither stores lone surrogates. Whole values are kept as ASCII JSON, where both are escapes
and come back as they were; what people read is text with those characters replaced, bounded in length.
"""

from __future__ import annotations

import json
import re

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
        return _deep_json(value)


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
        return _deep_json(value)


def _deep_json(value: Json) -> str:
    from scoring.reading import dumps

    return dumps(value)
