"""Logs of UK AISI's Inspect: `.eval` archives and `.json` logs, a sample and epoch at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from resources.complaints import Complaints
from resources.inspect_samples import Parts, is_cached_in, parts_of, run_members
from resources.json_stream import JsonStream
from resources.jsonl import Member, Recording
from resources.log_archives import Archive
from resources.log_names import LogNames
from resources.recording_formats import is_zip
from scoring.errors import InputError
from scoring.records import Json

NEWEST_VERSION = 2
CONVERT = "Let Inspect write it anew: inspect log convert --to json --output-dir DIR FILE."

_HEADERS = ("header.json", "_journal/start.json", "start.json")
_WHOLE_SAMPLE = re.compile(r"samples/.*_epoch_[0-9]+\.json", re.DOTALL)
_SHELL = re.compile(r"(samples/.*_epoch_[0-9]+)/sample\.json", re.DOTALL)
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32}|[0-9]{1,9})")


@dataclass(slots=True)
class _Log:
    """What holds for all samples of a log, and how many were found."""

    path: Path
    names: LogNames
    complaints: Complaints
    eval: Mapping[str, Json]
    status: str = "started"
    found: int = 0
    invalidated: int = 0

    @property
    def model(self) -> str:
        return str(self.eval.get("model") or "")


def inspect_recordings(path: Path, names: LogNames, complaints: Complaints, notes: list[str]) -> Iterator[Recording]:
    """The finished samples of a log as recordings, in the order they were written; notes say what else is to be known.

    Raises `InputError` for a file that is no Inspect log, is cut off or holds no samples; what is wrong with a sample
    of an archive goes to the complaints.
    """
    if is_zip(path):
        with Archive(path, CONVERT) as archive:
            log = _Log(path=path, names=names, complaints=complaints, eval={})
            yield from _of_archive(archive, log)
    else:
        log = _Log(path=path, names=names, complaints=complaints, eval={})
        with path.open("rb") as file:
            yield from _of_document(JsonStream(file.read, str(path)), log)
    notes.extend(_notes(log))


def _notes(log: _Log) -> Iterator[str]:
    if not log.found and log.status == "success":
        remedy = "Was it written without samples (--no-log-samples)?"
        raise InputError("the log holds no samples", where=str(log.path), remedy=remedy)
    if log.status != "success":
        word = {"started": "unfinished", "error": "ended by an error"}.get(log.status, log.status)
        yield f"{log.path}: the log is {word}; its finished samples count ({log.found})."
    if log.invalidated:
        yield f"{log.path}: samples that were invalidated in Inspect are left out ({log.invalidated})."


def _of_archive(archive: Archive, log: _Log) -> Iterator[Recording]:
    name = next((name for name in _HEADERS if name in archive.members), None)
    if name is None:
        remedy = f"An archive of Inspect holds {' or '.join(_HEADERS[:2])}."
        raise InputError("no Inspect log", where=str(log.path), remedy=remedy)
    with archive.open(name) as member:
        _read_header(JsonStream(member.read, archive.place(name)), log)
    if "results.json" in archive.members and name == "start.json":
        with archive.open("results.json") as member:
            _read_header(JsonStream(member.read, archive.place("results.json")), log)
    _check_header(log)
    for name in archive.members:
        shell = _SHELL.fullmatch(name)
        if shell or (_WHOLE_SAMPLE.fullmatch(name) and not _is_chunk(name, archive)):
            found = log.complaints.attempt(partial(_sample_of_archive, archive, name, shell and shell[1], log))
            if found is not None:
                yield found


def _is_chunk(name: str, archive: Archive) -> bool:
    """Whether the member belongs to a sample in chunks whose id looks like a file of its own."""
    parts = name.split("/")
    return any("/".join([*parts[:end], "sample.json"]) in archive.members for end in range(2, len(parts)))


def _read_header(stream: JsonStream, log: _Log) -> None:
    """Take version, status and eval from an object that has them on top."""
    for key in stream.each_key():
        _take_header(key, stream, log)
    stream.finish()


def _take_header(key: str, stream: JsonStream, log: _Log) -> None:
    if key == "version":
        version = stream.value()
        if not isinstance(version, int) or version > NEWEST_VERSION:
            message = f"log version {str(version)[:20]}; versions up to {NEWEST_VERSION} are read"
            raise InputError(message, where=str(log.path), remedy="Write its runs as JSON Lines.")
    elif key == "status":
        log.status = str(stream.value())
    elif key == "eval":
        found = stream.value()
        log.eval = found if isinstance(found, dict) else {}


def _check_header(log: _Log) -> None:
    if not log.model:
        remedy = "A log of Inspect has `eval` with `model` before its samples."
        raise InputError("no Inspect log: nothing names the model", where=str(log.path), remedy=remedy)


def _of_document(stream: JsonStream, log: _Log) -> Iterator[Recording]:
    for key in stream.each_key():
        if key == "samples" and stream.is_at("["):
            _check_header(log)
            for _ in stream.each_item():
                place = f"{log.path}:{stream.line}"
                found = log.complaints.attempt(partial(_recording, parts_of(stream), place, log))
                if found is not None:
                    yield found
        else:
            _take_header(key, stream, log)
    stream.finish()
    _check_header(log)


def _sample_of_archive(archive: Archive, name: str, chunks: str | None, log: _Log) -> Recording | None:
    place = archive.place(name)
    with archive.open(name) as member:
        stream = JsonStream(member.read, place)
        parts = parts_of(stream)
        stream.finish()
    if chunks is not None:
        _add_chunks(archive, chunks, parts)
    return _recording(parts, place, log)


def _add_chunks(archive: Archive, prefix: str, parts: Parts) -> None:
    """What a sample in chunks keeps outside its shell: metadata, events, and the attachment its completion names."""
    if f"{prefix}/metadata.json" in archive.members:
        parts.values["metadata"] = _whole(archive, f"{prefix}/metadata.json")
    for start in _starts(archive, f"{prefix}/events/"):
        with archive.open(f"{prefix}/events/{start}.json") as member:
            parts.cached_models |= is_cached_in(JsonStream(member.read, archive.place(prefix)))
    reference = _ATTACHMENT.fullmatch(parts.completion or "")
    if reference and len(reference[1]) < 32:
        index = int(reference[1])
        before = [start for start in _starts(archive, f"{prefix}/attachments/") if start <= index]
        texts = _whole(archive, f"{prefix}/attachments/{before[-1]}.json") if before else []
        if isinstance(texts, list) and before and index - before[-1] < len(texts):
            parts.attachments = {reference[1]: texts[index - before[-1]]}


def _starts(archive: Archive, folder: str) -> list[int]:
    names = (name[len(folder) : -len(".json")] for name in archive.members if name.startswith(folder))
    return sorted(int(name) for name in names if re.fullmatch("[0-9]{1,9}", name))


def _whole(archive: Archive, name: str) -> Json:
    with archive.open(name) as member:
        stream = JsonStream(member.read, archive.place(name))
        value = stream.value()
        stream.finish()
    return value


def _recording(parts: Parts, place: str, log: _Log) -> Recording | None:
    """The sample as a recording; None for one that was invalidated."""
    if parts.values.get("invalidation"):
        log.invalidated += 1
        return None
    log.found += 1
    sample_id, task = parts.values.get("id"), str(log.eval.get("task") or "")
    record: dict[str, Json] = {
        "id": sample_id,
        "epoch": parts.values.get("epoch"),
        "metadata": parts.values.get("metadata"),
        "eval": dict(log.eval),
    }
    names = ("" if sample_id is None else str(sample_id), task, task.rpartition("/")[2])
    usual = [name for name in names if name]
    scenario_id, rank = log.names.scenario(record, usual, place)
    members = run_members(_resolved(parts, place), log.model)
    model_id = log.names.model(record, [log.model], place)
    members["scenario"], members["model"] = _text(scenario_id), _text(model_id)
    repetition = log.names.repetition(record, place)
    if repetition is None and rank == 0 and sample_id is not None:
        repetition = Member(value=parts.values.get("epoch"), text=json.dumps(parts.values.get("epoch")))
    if repetition is not None:
        members["repetition"] = repetition
    uuid = parts.values.get("uuid")
    return Recording(
        place=place,
        members=members,
        hints=log.names.hints(record, scenario_id, model_id),
        # An epoch's number tells a sample already, and two different samples of one number must be refused.
        identity=str(uuid) if uuid and "repetition" not in members else "",
    )


def _resolved(parts: Parts, place: str) -> Parts:
    """The parts with a completion that is no reference. Raises `InputError` for one that leads nowhere."""
    reference = _ATTACHMENT.fullmatch(parts.completion or "")
    if reference:
        text: Any = parts.attachments.get(reference[1])
        if not isinstance(text, str):
            raise InputError("its completion is an attachment that the log does not hold", where=place)
        parts.completion = text
    return parts


def _text(text: str) -> Member:
    return Member(value=text, text=json.dumps(text))
