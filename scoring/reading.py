"""Reading what a model wrote as JSON: strictly where it is JSON, mended where that is certain, else refused.

An output that cannot be read is a value with its reason (`Unreadable`), never an exception. Its kinds are `too_large`,
`too_deep`, `truncated` (the text ends inside a structure or a string), `ambiguous` (several different values) and
`invalid`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from scoring.records import Json, Reading, Unreadable
from scoring.tokens import Problems, clean_text, is_clean, read_constant, read_float, read_int
from scoring.tolerant import MAX_DEPTH, Fault, Piece, read_piece

__all__ = ["MAX_DEPTH", "MAX_OUTPUT_BYTES", "dumps", "read_output"]

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""Longer outputs (as UTF-8) are `too_large`."""

_MAX_PIECES = 200
_MAX_STARTS = 50_000
_NEEDS_CARE = re.compile(r"[0-9]{200}|[eE]\+?[0-9]{3}")
_MAY_BE_HARMFUL = re.compile(r"[\x00\ud800-\udfff]|\\u(?:0000|[dD][89a-fA-F])")
_OUTSIDE_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^\[\]{}"]++', re.DOTALL)
_START = re.compile(r"[{\[]")
_LOOKS_LIKE_JSON = re.compile(r"""\{\s*+(?:["'“‘}]|[A-Za-z_$][\w$]*+\s*+:)|\[\s*+["'“‘\]{\[]""")
_KEY_BEFORE = re.compile(r"""["']\s*:\s*\Z""")
_MORE_AFTER = re.compile(r"""\s*(?:,\s*["'{\[]|:)""")
_SURPLUS_AFTER = re.compile(r"\s*[\]}]")
_ONLY_SURPLUS = re.compile(r"[\s\]}`]*\Z")


def read_output(text: str, *, is_text_root: bool = False) -> Reading | Unreadable:
    """The JSON value of a recorded output, with what was mended and what was odd; never raises.

    Of duplicate keys the last one counts. NaN, the infinities, numbers that overflow and integers of more than 4,000
    digits become their own text, which equals no number. NUL and lone surrogates become the six visible characters of
    their escape, so that the value can be encoded and stored anywhere. With `is_text_root` (the schema wants one text)
    anything but a JSON string or null is taken as the text itself.
    """
    if len(text) * 4 > MAX_OUTPUT_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_OUTPUT_BYTES:
        return Unreadable(kind="too_large", reason=f"the output is larger than {MAX_OUTPUT_BYTES // 2**20} MiB")
    if is_text_root:
        return _text_root(text)
    read = _unwrapped(_strict(text))
    if read is None:
        read = _mended(text)
    return read if isinstance(read, Unreadable) else _harmless(read, text)


def dumps(value: Json) -> str:
    """Strict JSON of ASCII characters alone; NaN, infinities, NUL and lone surrogates as `read_output` keeps them."""
    text = _dumped(value)
    if text is None or _MAY_BE_HARMFUL.search(text):
        return json.dumps(_cleaned(value), allow_nan=False)
    return text


def _dumped(value: Json) -> str | None:
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return None


def _text_root(text: str) -> Reading | Unreadable:
    read = _strict(text)
    if isinstance(read, Reading) and (read.value is None or isinstance(read.value, str)):
        return _harmless(read, text)
    return _harmless(Reading(value=text.strip("\ufeff \t\r\n")), text)


def _strict(text: str) -> Reading | Unreadable | None:
    """The reading of strict JSON (as Python reads it), None where it is not that."""
    if _is_too_deep(text):
        return _too_deep()
    problems = Problems()
    try:
        value: Json = _decoder(problems, is_careful=_needs_care(text)).decode(text)
    except RecursionError:
        return _too_deep()
    except ValueError:
        return None
    return Reading(value=value, problems=problems.notes())


def _unwrapped(read: Reading | Unreadable | None) -> Reading | Unreadable | None:
    """A JSON string that holds a strict JSON object or array is that value, written twice; others stay as they are."""
    if not isinstance(read, Reading) or not isinstance(read.value, str) or read.value.lstrip()[:1] not in ("{", "["):
        return read
    inner = _strict(read.value)
    if inner is None or isinstance(inner, Unreadable):
        return inner or read
    return replace(inner, repairs=("JSON inside a JSON string read",))


def _decoder(problems: Problems, *, is_careful: bool) -> json.JSONDecoder:
    parse_float: Callable[[str], Json] | None = partial(read_float, problems) if is_careful else None
    parse_int: Callable[[str], Json] | None = partial(read_int, problems) if is_careful else None
    return json.JSONDecoder(
        object_pairs_hook=problems.object_of,
        parse_constant=partial(read_constant, problems),
        parse_float=parse_float,
        parse_int=parse_int,
    )


def _needs_care(text: str) -> bool:
    return _NEEDS_CARE.search(text) is not None


def _is_too_deep(text: str) -> bool:
    """Whether brackets outside strings open more than MAX_DEPTH levels; one pass without recursion."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _OUTSIDE_BRACKETS.sub("", text):
        depth += 1 if bracket in "{[" else -1
        if depth > MAX_DEPTH:
            return True
    return False


def _too_deep() -> Unreadable:
    return Unreadable(kind="too_deep", reason=f"the output is nested more than {MAX_DEPTH} levels deep")


def _mended(text: str) -> Reading | Unreadable:
    repairs = ["byte order mark removed"] if text.startswith("\ufeff") else []
    body = text.strip("\ufeff").strip()
    if not body:
        return Unreadable(kind="invalid", reason="the output is empty")
    if body.startswith("<think>") and "</think>" in body:
        body = body.rpartition("</think>")[2].strip()
        repairs.append("reasoning before the answer left out")
    pieces = _pieces(body)
    if isinstance(pieces, Unreadable):
        return pieces
    piece = _only_one(pieces)
    if isinstance(piece, Unreadable):
        return piece
    outside = _outside(body, piece)
    if isinstance(outside, Unreadable):
        return outside
    return Reading(value=piece.value, repairs=(*repairs, *outside, *piece.repairs), problems=piece.problems)


def _pieces(text: str) -> list[Piece] | Unreadable:
    """The JSON values that stand in the text one after the other, braces of plain prose passed over."""
    pieces: list[Piece] = []
    position = 0
    is_careful = _needs_care(text)
    for _ in range(_MAX_STARTS):
        opening = _START.search(text, position)
        if opening is None:
            return pieces
        found = _piece_at(text, opening.start(), is_careful=is_careful)
        if isinstance(found, Unreadable):
            return found
        position = found.end
        if isinstance(found, Piece):
            pieces.append(found)
        if len(pieces) > _MAX_PIECES:
            return Unreadable(kind="ambiguous", reason=f"the output holds more than {_MAX_PIECES} JSON values")
    return Unreadable(kind="invalid", reason=f"the output holds more than {_MAX_STARTS:,} brackets that begin no JSON")


def _piece_at(text: str, start: int, *, is_careful: bool) -> Piece | Fault | Unreadable:
    """The value that begins here, a fault that is no more than a bracket in prose, or why the output is unreadable."""
    is_json = _LOOKS_LIKE_JSON.match(text, start) is not None
    found = (_strict_piece(text, start, is_careful=is_careful) if is_json else None) or read_piece(text, start)
    if isinstance(found, Fault) and (is_json or found.kind != "invalid"):
        line = text.count("\n", 0, found.end) + 1
        return Unreadable(kind=found.kind, reason=f"{found.reason} (line {line} of the output)")
    return found


def _strict_piece(text: str, start: int, *, is_careful: bool) -> Piece | None:
    problems = Problems()
    try:
        value, end = _decoder(problems, is_careful=is_careful).raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if _is_too_deep(text[start:end]):
        return None
    return Piece(value=value, start=start, end=end, repairs=(), problems=problems.notes())


def _only_one(pieces: list[Piece]) -> Piece | Unreadable:
    if not pieces:
        return Unreadable(kind="invalid", reason="the output holds no JSON object or array")
    weighty = [piece for piece in pieces if not _is_mark(piece.value)] or pieces
    if len(weighty) > 1 and len({_canonical(piece.value) for piece in weighty}) > 1:
        return Unreadable(kind="ambiguous", reason=f"the output holds {len(weighty)} different JSON values")
    return weighty[-1]


def _canonical(value: Json) -> str:
    return json.dumps(_cleaned(value), sort_keys=True)


def _is_mark(value: Json) -> bool:
    """Whether brackets in prose may mean something else: a citation such as [1], an empty {} or []."""
    if isinstance(value, list):
        return all(isinstance(item, int) for item in value)
    return not value


def _outside(text: str, piece: Piece) -> list[str] | Unreadable:
    """What was left out around the one value; refused where what is left out belongs to it."""
    before, after = text[: piece.start], text[piece.end :]
    if _KEY_BEFORE.search(before[-200:]) or _MORE_AFTER.match(after):
        return Unreadable(kind="invalid", reason="the JSON value goes on before or after its own brackets")
    if _SURPLUS_AFTER.match(after):
        if not _ONLY_SURPLUS.match(after):
            return Unreadable(kind="invalid", reason="the JSON value closes more brackets than it opens")
        return ["surplus closing bracket removed"]
    return list(_left_out(before + after))


def _left_out(outside: str) -> Iterator[str]:
    if "```" in outside:
        yield "code fence removed"
    if re.sub(r"```\w*", "", outside).strip():
        yield "text around the JSON left out"


def _harmless(read: Reading, text: str) -> Reading:
    if not _MAY_BE_HARMFUL.search(text) or is_clean(read.value):
        return read
    note = "NUL or lone surrogate characters kept as their visible escapes"
    return Reading(value=_cleaned(read.value), repairs=read.repairs, problems=(*read.problems, note))


def _cleaned(value: Json) -> Json:
    match value:
        case str():
            return clean_text(value)
        case list():
            return [_cleaned(item) for item in value]
        case dict():
            return {clean_text(name): _cleaned(item) for name, item in value.items()}
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case _:
            return value
