"""Recorded runs from files, checked against the workspace: Assay's own JSON Lines, plain folders, other tools' logs."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from resources.complaints import MAX_SHOWN, Complaints
from resources.jsonl import Member, Recording
from resources.log_names import LogNames
from resources.recording_folders import FolderMapping
from resources.recording_sources import Sources
from resources.workspace import Workspace, unknown_id
from scoring.errors import InputError
from scoring.keys import safe_key
from scoring.records import Json, Run, RunStatus

KEYS = ("scenario", "model", "repetition", "output", "seconds", "tokens", "cost", "status", "error")
MAX_ERROR_LENGTH = 10_000
MAX_TOKENS = 10**12
MAX_REPETITION = 100_000

_ALIASES = {"scenario_id": "scenario", "model_id": "model", "duration_seconds": "seconds", "cost_usd": "cost"}
_EXTRA_KEYS = ("input_tokens", "output_tokens", "metadata")
_OK = frozenset({"ok", "success", "succeeded", "completed", "complete", "done", "passed"})
_FAILED = frozenset({"failed", "failure", "fail", "error", "errored", "timeout", "timed_out", "cancelled", "canceled"})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def read_recordings(
    paths: Sequence[Path | str],
    workspace: Workspace,
    format: str | None = None,  # noqa: A002 - the word people use for it
    mapping: FolderMapping | None = None,
    notes: list[str] | None = None,
) -> list[Run]:
    """All runs in the files, folders and glob patterns.

    What is to be known about them (a log that was never finished) is added to `notes`. Raises one `InputError` that
    lists what is wrong, each with `file:line`; nothing is half-imported.
    """
    return list(recorded_runs(paths, workspace, format, mapping, notes))


def recorded_runs(
    paths: Sequence[Path | str],
    workspace: Workspace,
    format: str | None = None,  # noqa: A002 - the word people use for it
    mapping: FolderMapping | None = None,
    notes: list[str] | None = None,
) -> Iterator[Run]:
    """The runs one by one, in bounded memory.

    After the first thing wrong no more runs come, the rest is only checked, and one `InputError` ends the iteration:
    who stores runs as they come must do so in one transaction. `format` is one of
    `resources.recording_sources.FORMATS`, found out from the content where None.
    """
    complaints = Complaints()
    ledger = _Ledger(workspace=workspace)
    names = LogNames(scenario_ids=ledger.scenario_ids, model_ids=ledger.model_ids, mapping=mapping or FolderMapping())
    sources = Sources(
        names=names, mapping=mapping, complaints=complaints, format=format, notes=[] if notes is None else notes
    )
    for recording in sources.recordings(paths):
        run = complaints.attempt(partial(ledger.run_of, recording))
        if run is not None and not complaints.found:
            yield run
        if len(complaints.found) > MAX_SHOWN:
            break
    complaints.raise_any("recorded runs")


@dataclass(slots=True)
class _Ledger:
    """What was seen so far: the digest and place of each run, the ids complained about, how many runs had no number."""

    workspace: Workspace
    seen: dict[tuple[str, str, int], tuple[bytes, str]] = field(default_factory=dict)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    identities: set[str] = field(default_factory=set)
    unnumbered: Counter[tuple[str, str]] = field(default_factory=Counter)
    scenario_ids: frozenset[str] = frozenset()
    model_ids: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.scenario_ids = frozenset(scenario.scenario_id for scenario in self.workspace.scenarios)
        self.model_ids = frozenset(model.model_id for model in self.workspace.models)

    def run_of(self, recording: Recording) -> Run | None:
        """The run; None where it stood here before in the same words, or for an id complained about already."""
        if recording.identity in self.identities:
            return None
        self.identities.update(filter(None, [recording.identity]))
        row = _Row(place=recording.place, members=_named(recording), hints=recording.hints)
        scenario_id, model_id = row.text("scenario"), row.text("model")
        if not self.is_known("scenario", scenario_id, row) or not self.is_known("model", model_id, row):
            return None
        self.unnumbered[(scenario_id, model_id)] += 1
        default = self.unnumbered[(scenario_id, model_id)]
        repetition = row.count("repetition", minimum=1, maximum=MAX_REPETITION) or default
        run = _run_of(row, scenario_id, model_id, repetition)
        return run if self.is_new(run, row.place) else None

    def is_known(self, kind: str, found: str, row: _Row) -> bool:
        known = self.scenario_ids if kind == "scenario" else self.model_ids
        if found in known:
            return True
        if (kind, found) in self.unknown:
            return False
        self.unknown.add((kind, found))
        remedy = f"{_missing_file(kind, found)} {row.hints.get(kind, '')}".rstrip()
        raise unknown_id(kind, found, known, where=row.place, remedy=remedy)

    def is_new(self, run: Run, place: str) -> bool:
        key = (run.scenario_id, run.model_id, run.repetition)
        digest = hashlib.blake2b(repr(run).encode("utf-8", "replace"), digest_size=16).digest()
        before = self.seen.setdefault(key, (digest, place))
        if before == (digest, place):
            return True
        if before[0] == digest:
            return False
        message = f"repetition {run.repetition} of {run.model_id!r} on {run.scenario_id!r} stands at {before[1]} too"
        raise InputError(f"{message}, with other content", where=place, remedy="Give each run its own repetition.")


def _missing_file(kind: str, found: str) -> str:
    if kind == "model":
        return f"Add `- id: {found[:200]}` to models.yaml."
    return f"Write scenarios/{safe_key(found)[:200]}/scenario.yaml for it."


def _named(recording: Recording) -> dict[str, Member]:
    members = {_ALIASES.get(key, key): member for key, member in recording.members.items()}
    allowed = (*KEYS, *_EXTRA_KEYS)
    for key in members:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            remedy = f"{hint}Allowed: {', '.join(allowed)}."
            raise InputError(f"unknown key {key[:80]!r}", where=recording.place, remedy=remedy)
    return members


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The members of one recording, read as what they must be."""

    place: str
    members: Mapping[str, Member]
    hints: Mapping[str, str] = field(default_factory=dict)

    def value(self, key: str) -> Json:
        member = self.members.get(key)
        return None if member is None else member.value

    def refusal(self, key: str, expected: str) -> InputError:
        return InputError(f"{key} must be {expected}, found {self.members[key].text[:60]}", where=self.place)

    def text(self, key: str) -> str:
        value = self.value(key)
        if key not in self.members:
            raise InputError(f"the key {key!r} is missing", where=self.place)
        if not isinstance(value, str) or not value:
            raise self.refusal(key, "a text")
        return value

    def number(self, key: str) -> float | None:
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TOKENS:
            raise self.refusal(key, "a number, 0 or more")
        return float(value)

    def count(self, key: str, *, minimum: int = 0, maximum: int = MAX_TOKENS) -> int | None:
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
            raise self.refusal(key, f"a whole number from {minimum} to {maximum}")
        return value


def _run_of(row: _Row, scenario_id: str, model_id: str, repetition: int) -> Run:
    status = _status_of(row)
    input_tokens, output_tokens = _tokens_of(row)
    return Run(
        scenario_id=scenario_id,
        model_id=model_id,
        repetition=repetition,
        status=status,
        output=_output_of(row) if status is RunStatus.OK else None,
        duration_seconds=row.number("seconds"),
        cost_usd=row.number("cost"),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        error=_error_of(row),
    )


def _status_of(row: _Row) -> RunStatus:
    value = row.value("status")
    if value is None:
        has_output = "output" in row.members and row.members["output"].text != "null"
        if not has_output and row.value("error") in (None, ""):
            remedy = "Record the output, or an error for a failed run."
            raise InputError("neither an output nor an error", where=row.place, remedy=remedy)
        return RunStatus.OK if has_output and row.value("error") in (None, "") else RunStatus.FAILED
    word = value.strip().casefold() if isinstance(value, str) else ""
    if word in _FAILED:
        return RunStatus.FAILED
    if word not in _OK:
        raise row.refusal("status", "ok or failed")
    if "output" not in row.members:
        raise InputError("the run is ok and has no output", where=row.place, remedy="Record its output.")
    return RunStatus.OK


def _output_of(row: _Row) -> str:
    """The output's text: a text as it is, any other JSON value as it was written.

    Characters that no store can hold (NUL, lone surrogates) become U+FFFD.
    """
    member = row.members["output"]
    text = member.value if isinstance(member.value, str) else member.text
    return _UNSTORABLE.sub("\ufffd", text)


def _tokens_of(row: _Row) -> tuple[int | None, int | None]:
    """Input and output tokens; a single number is the output's."""
    value = row.value("tokens")
    if value is None:
        return row.count("input_tokens"), row.count("output_tokens")
    if not isinstance(value, dict):
        return row.count("input_tokens"), row.count("tokens")
    if unknown := [key for key in value if key not in ("input", "output")]:
        raise InputError(f"unknown key tokens.{unknown[0]}", where=row.place, remedy="Allowed: input, output.")
    inner = {key: Member(value=number, text=repr(number)) for key, number in value.items()}
    tokens = _Row(place=row.place, members=inner)
    return tokens.count("input"), tokens.count("output")


def _error_of(row: _Row) -> str | None:
    value = row.value("error")
    if value is None or value == "":
        return None
    text = value if isinstance(value, str) else row.members["error"].text
    return _UNSTORABLE.sub("\ufffd", text)[:MAX_ERROR_LENGTH]
