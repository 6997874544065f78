"""Which tool wrote a file of recorded runs: found out from its content, whatever its name is."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from resources.json_stream import JsonStream
from scoring.errors import InputError


class FileFormat(StrEnum):
    """What a file of recorded runs is."""

    JSONL = "jsonl"
    INSPECT = "inspect"
    PROMPTFOO = "promptfoo"
    PROMPTFOO_LINES = "promptfoo lines"


_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_OWN_KEYS = frozenset(("scenario", "scenario_id", "model", "model_id", "output", "repetition"))
_RESULT_KEYS = frozenset(("testCase", "testIdx", "promptIdx", "failureReason"))


def is_zip(path: Path) -> bool:
    """Whether the file begins as zip files do. Raises `InputError` for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(4) in _ZIP_MARKS
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=str(path)) from error


def file_format(path: Path) -> FileFormat:
    """The format of the file; `JSONL` where no other tool is recognised. Raises `InputError` for an unreadable file."""
    if is_zip(path):
        return FileFormat.INSPECT
    with path.open("rb") as file:
        try:
            return _format_of_json(JsonStream(file.read, str(path)))
        except InputError:  # whoever reads it as lines says what is wrong, with the line
            return FileFormat.JSONL


def _format_of_json(stream: JsonStream) -> FileFormat:
    seen: set[str] = set()
    if not stream.is_at("{"):
        return FileFormat.JSONL
    for key in stream.each_key():
        if key in _OWN_KEYS and "version" not in seen:
            return FileFormat.JSONL
        if key == "eval" and "version" in seen and stream.is_at("{"):
            return FileFormat.INSPECT
        if key in _RESULT_KEYS:
            return FileFormat.PROMPTFOO_LINES
        if key == "results" and _are_results(stream, seen):
            return FileFormat.PROMPTFOO
        seen.add(key)
    return FileFormat.PROMPTFOO_LINES if {"provider", "response", "vars"} <= seen else FileFormat.JSONL


def _are_results(stream: JsonStream, seen: set[str]) -> bool:
    if stream.is_at("["):
        return bool(seen & {"version", "timestamp", "evalId"})
    if not stream.is_at("{"):
        return False
    return any(key in ("version", "timestamp", "results") for key in stream.each_key())
