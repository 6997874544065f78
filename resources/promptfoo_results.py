"""Results of promptfoo: the results.json or results.jsonl of `promptfoo eval -o`, a result at a time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from resources.complaints import Complaints
from resources.json_stream import JsonStream
from resources.jsonl import Member, Recording
from resources.log_names import LogNames
from resources.recording_formats import FileFormat, file_format
from scoring.errors import InputError
from scoring.records import Json

NEWEST_VERSION = 4

_KEPT = frozenset(
    (
        "cost",
        "description",
        "error",
        "failureReason",
        "latencyMs",
        "metadata",
        "prompt",
        "promptIdx",
        "provider",
        "testCase",
        "testIdx",
        "tokenUsage",
        "vars",
    )
)
_NAMING = ("description", "vars", "testCase", "metadata", "provider", "prompt", "promptIdx", "testIdx")
_ANSWER = frozenset(("cached", "cost", "error", "tokenUsage"))
_STRIPPED = "[output stripped]"
_TEXT_OR_SPACE = re.compile(r'("(?:[^"\\]|\\.)*+")|\s+')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One result: what was kept of it, of the provider's response, and the output as it was written."""

    place: str
    values: Mapping[str, Json]
    response: Mapping[str, Json]
    output: Member | None


@dataclass(slots=True)
class _Reader:
    path: Path
    names: LogNames
    columns: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def recording(self, result: _Result) -> Recording:
        """The result as a recording. Raises `InputError` for one that names nothing or whose output was stripped."""
        record = {key: result.values[key] for key in _NAMING if key in result.values}
        record["provider"] = provider = _provider_of(result.values)
        scenario_id, _ = self.names.scenario(record, _scenario_names(result.values), result.place)
        model_id = self.names.model(record, self._model_names(provider), result.place)
        self._check_column(result, (scenario_id, model_id), provider)
        members = _run_members(result)
        members["scenario"] = Member(value=scenario_id, text=json.dumps(scenario_id))
        members["model"] = Member(value=model_id, text=json.dumps(model_id))
        repetition = self.names.repetition(record, result.place)
        if repetition is not None:
            members["repetition"] = repetition
        return Recording(
            place=result.place,
            members=members,
            hints=self.names.hints(record, scenario_id, model_id),
            identity=_identity(result, members),
        )

    def _model_names(self, provider: Mapping[str, Json]) -> list[str]:
        """The label where the workspace knows it, since it tells two settings of one model apart; else the id."""
        names = [name for name in (provider.get("id"), provider.get("label")) if isinstance(name, str) and name]
        if len(names) == 2 and self.names.is_model(names[1]):
            names.reverse()
        return names

    def _check_column(self, result: _Result, key: tuple[str, str], provider: Mapping[str, Json]) -> None:
        """Answers to two prompts are no repetitions of one. Raises `InputError` where they would become that."""
        prompt = _mapping(result.values.get("prompt"))
        name = prompt.get("label") or prompt.get("display") or result.values.get("promptIdx")
        column = (str(provider.get("label") or ""), str(name))
        if self.columns.setdefault(key, column) != column:
            message = f"a second prompt or provider for {key[1][:200]!r} on {key[0][:200]!r}: they are no repetitions"
            remedy = "Import the results of one prompt, or tell them apart as models: --key model=prompt.label."
            raise InputError(message, where=result.place, remedy=remedy)


def promptfoo_recordings(path: Path, names: LogNames, complaints: Complaints) -> Iterator[Recording]:
    """The results in the file as recordings, in its order; those of one scenario and model are its repetitions.

    Raises `InputError` for a file that holds no results of promptfoo or is cut off; what is wrong with one result goes
    to the complaints.
    """
    kind = file_format(path)
    if kind not in (FileFormat.PROMPTFOO, FileFormat.PROMPTFOO_LINES):
        remedy = "Write it with `promptfoo eval -o results.json` or results.jsonl."
        raise InputError("no results of promptfoo", where=str(path), remedy=remedy)
    reader = _Reader(path=path, names=names)
    with path.open("rb") as file:
        stream = JsonStream(file.read, str(path))
        turns = _results(stream, path) if kind == FileFormat.PROMPTFOO else stream.each_document()
        for number, _ in enumerate(turns, start=1):
            result = _result(stream, f"{path}:{stream.line}, result {number}")
            found = complaints.attempt(partial(reader.recording, result))
            if found is not None:
                yield found
        stream.finish()


def _results(stream: JsonStream, path: Path) -> Iterator[None]:
    """A turn for each result of a results file, or of a summary that was saved by itself."""
    for key in stream.each_key():
        if key == "version":
            _check_version(stream.value(), path)
        elif key == "results" and stream.is_at("["):
            yield from stream.each_item()
        elif key == "results" and stream.is_at("{"):
            yield from _results(stream, path)


def _check_version(version: Json, path: Path) -> None:
    if not isinstance(version, int) or version > NEWEST_VERSION:
        message = f"results of version {str(version)[:20]}; versions up to {NEWEST_VERSION} are read"
        raise InputError(message, where=str(path), remedy="Write its runs as JSON Lines.")


def _result(stream: JsonStream, place: str) -> _Result:
    values: dict[str, Json] = {}
    response: dict[str, Json] = {}
    output = None
    for key in stream.each_key():
        if key in _KEPT:
            values[key] = stream.value()
        elif key == "response" and stream.is_at("{"):
            for inner in stream.each_key():
                if inner == "output":
                    output = stream.member()
                elif inner in _ANSWER:
                    response[inner] = stream.value()
    return _Result(place=place, values=values, response=response, output=output)


def _identity(result: _Result, members: Mapping[str, Member]) -> str:
    """What results.json and results.jsonl have in common of one result, and no other result has."""
    if "testIdx" not in result.values:
        return ""
    parts = [str(result.values.get(key)) for key in ("testIdx", "promptIdx", "latencyMs")]
    parts += [f"{key} {members[key].text}" for key in sorted(members)]
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _provider_of(values: Mapping[str, Json]) -> dict[str, Json]:
    provider = values.get("provider")
    return {"id": provider} if isinstance(provider, str) else _mapping(provider)


def _scenario_names(values: Mapping[str, Json]) -> list[str]:
    """Where people name what a test is about: `scenario` in its metadata or vars, else its description."""
    test = _mapping(values.get("testCase"))
    found = (
        _mapping(test.get("metadata")).get("scenario"),
        _mapping(values.get("vars")).get("scenario"),
        _mapping(test.get("vars")).get("scenario"),
        test.get("description"),
        values.get("description"),
    )
    return [name for name in found if isinstance(name, str) and name]


def _run_members(result: _Result) -> dict[str, Member]:
    """Output or error, seconds, cost and tokens. An assertion that failed is no failed run: the model answered."""
    error = _error_of(result)
    usage = _mapping(result.response.get("tokenUsage")) or _mapping(result.values.get("tokenUsage"))
    values: dict[str, Json] = {
        "status": "failed" if error else "ok",
        "error": error,
        "seconds": _seconds_of(result),
        "cost": _cost_of(result),
    }
    if usage.get("prompt") or usage.get("completion"):
        values |= {"input_tokens": usage.get("prompt"), "output_tokens": usage.get("completion")}
    members = {key: Member(value=value, text=json.dumps(value)) for key, value in values.items() if value is not None}
    if not error and result.output is not None:
        # The same output is indented in results.json and compact in results.jsonl: no model wrote that white space.
        text = result.output.text
        compact = text if text.startswith('"') else _TEXT_OR_SPACE.sub(r"\1", text)
        members["output"] = Member(value=result.output.value, text=compact)
    return members


def _error_of(result: _Result) -> str | None:
    output = result.output
    words = result.response.get("error")
    if not words and output is not None and output.text != "null":
        if output.value == _STRIPPED:
            remedy = "Evaluate without PROMPTFOO_STRIP_RESPONSE_OUTPUT."
            raise InputError("its output was stripped", where=result.place, remedy=remedy)
        return None
    words = words or result.values.get("error") or "promptfoo recorded neither output nor error"
    return words if isinstance(words, str) else json.dumps(words)


def _seconds_of(result: _Result) -> float | None:
    """The latency; unknown for an answer from the cache, and for the 0 that stands where none was measured."""
    latency = result.values.get("latencyMs")
    if result.response.get("cached") or not isinstance(latency, int | float) or latency <= 0:
        return None
    return latency / 1000


def _cost_of(result: _Result) -> Json:
    """The cost; unknown for the 0 that stands where none was computed, and where the cache made it one."""
    cost = result.response.get("cost")
    if cost is None or (cost == 0 and result.response.get("cached")):
        return result.values.get("cost") or None
    return cost


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
