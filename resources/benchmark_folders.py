"""A foreign benchmark in plain folders, made into a workspace.

Such a benchmark has `reference/<task>.json`, `schema/<task>.json` (or one schema for all tasks), outputs in
`outputs/<system>/<task>.json`, and perhaps `runs.jsonl` with a row a run of time, cost and tokens.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.jsonl import Recording, lines_of, members_of
from resources.recording_folders import FolderMapping, folder_recordings, mapping_in
from resources.sources import read_json
from resources.starter import ASSAY_YAML, whole_folder, write_text
from resources.workspace import load_workspace
from resources.workspace_files import id_of_name
from scoring.errors import InputError
from scoring.keys import safe_key
from scoring.records import Json

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "scenario": ("scenario", "task", "task_id", "doc_id", "document"),
    "model": ("system", "model"),
    "repetition": ("repetition", "repeat", "attempt"),
    "seconds": ("seconds", "time_s", "time_sec", "duration_seconds", "duration_s"),
    "cost": ("cost", "cost_usd"),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "status": ("status",),
    "error": ("error",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The files of one task."""

    reference: Path
    schema: Path


Rows = Mapping[tuple[str, str, int], Mapping[str, Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkReport:
    """What was written: how many scenarios, models and runs, into which folder."""

    folder: Path
    scenarios: int
    models: int
    runs: int


def workspace_from_folders(
    source: Path,
    target: Path,
    *,
    is_verified: bool = False,
    schema: Path | None = None,
    mapping: FolderMapping | None = None,
) -> BenchmarkReport:
    """Make a workspace of the benchmark: a scenario per task, a model per system, the outputs as recorded runs.

    `is_verified` takes the references as verified, `schema` is one schema for all tasks, `mapping` says how outputs are
    laid out and wrapped (else an assay-import.yaml in the source, else bare outputs). Raises `InputError` for a source
    without references, a task without schema, an output of an unknown task, and all that `load_workspace` refuses; the
    target then stays as it was.
    """
    tasks = _tasks(source, schema)
    chosen = mapping or mapping_in(source / "outputs") or FolderMapping()
    with whole_folder(target) as folder:
        runs = _write_runs(source, folder, tasks, chosen)
        repetitions = max((repetition for _, _, repetition in runs), default=1)
        for name, task in tasks.items():
            _write_scenario(folder, name, task, repetitions=repetitions, is_verified=is_verified)
        systems = sorted({model for _, model, _ in runs})
        write_text(folder / "models.yaml", "".join(f"- id: {_yaml(system)}\n" for system in systems) or "[]\n")
        write_text(folder / "assay.yaml", ASSAY_YAML)
        load_workspace(folder)
    return BenchmarkReport(folder=target, scenarios=len(tasks), models=len(systems), runs=len(runs))


def _tasks(source: Path, schema: Path | None) -> dict[str, _Task]:
    """The files of every task that has a reference, by the task's id."""
    references = sorted((source / "reference").glob("*.json"))
    if not references:
        remedy = "The folder needs reference/<task>.json, schema/<task>.json and outputs/<system>/<task>.json."
        raise InputError("no reference/*.json in it", where=str(source), remedy=remedy)
    tasks = {
        id_of_name(path.stem): _Task(reference=path, schema=schema or source / "schema" / path.name)
        for path in references
    }
    for name, task in tasks.items():
        if not task.schema.is_file():
            remedy = "Name one schema for all tasks with --schema."
            raise InputError(f"the task {name} has no schema", where=str(task.schema), remedy=remedy)
    return tasks


def _write_scenario(folder: Path, name: str, task: _Task, *, repetitions: int, is_verified: bool) -> None:
    home = folder / "scenarios" / safe_key(name)
    lines = [f"title: {_yaml(name)}", f"entity: {_yaml(name)}", f"repetitions: {repetitions}"]
    lines += ["reference:", f"  verified: {json.dumps(is_verified)}"]
    write_text(home / "scenario.yaml", "\n".join(lines) + "\n")
    for path, file_name in ((task.schema, "schema.json"), (task.reference, "reference.json")):
        read_json(path, str(path))
        (home / file_name).write_bytes(path.read_bytes())


def _write_runs(
    source: Path, folder: Path, tasks: Mapping[str, _Task], mapping: FolderMapping
) -> list[tuple[str, str, int]]:
    if not (source / "outputs").is_dir():
        return []
    table = _side_table(source / "runs.jsonl")
    written: dict[tuple[str, str, int], str] = {}
    lines: dict[str, list[str]] = defaultdict(list)
    check = _EnvelopeCheck(source=source, is_needed=not mapping.keys)
    for recording in folder_recordings(source / "outputs", mapping):
        key = _key_of(recording, tasks)
        row = {**_row_of(recording), **table.get(key, {})}
        written[key] = recording.place
        check.see(tasks[key[0]].reference, row)
        lines[key[1]].append(json.dumps({"scenario": key[0], "model": key[1], "repetition": key[2], **row}))
    check.raise_if_wrapped()
    for system, rows in lines.items():
        write_text(folder / "runs" / f"{safe_key(system)}.jsonl", "\n".join(rows) + "\n")
    return list(written)


def _key_of(recording: Recording, tasks: Mapping[str, _Task]) -> tuple[str, str, int]:
    scenario, model = str(recording.members["scenario"].value), str(recording.members["model"].value)
    if scenario not in tasks:
        raise InputError(f"the task {scenario!r} has no reference", where=recording.place)
    repetition = recording.members.get("repetition")
    return scenario, model, int(repetition.text) if repetition else 1


def _row_of(recording: Recording) -> dict[str, Json]:
    """What the file itself says; the output always as text, so that it stays to the letter."""
    row: dict[str, Json] = {}
    for key, member in recording.members.items():
        if key == "output":
            row[key] = member.value if isinstance(member.value, str) else member.text
        elif key not in ("scenario", "model", "repetition") and member.value is not None:
            row[key] = member.value
    return row


def _side_table(path: Path) -> Rows:
    """Time, cost, tokens and status by task, system and repetition; empty without the file."""
    rows: dict[tuple[str, str, int], Mapping[str, Json]] = {}
    for place, line in lines_of(path, str(path)) if path.is_file() else ():
        members = members_of(line, place)
        row = {column: members[name].value for column, name in _columns_in(members)}
        key = (str(row.pop("scenario", "")), str(row.pop("model", "")), int(str(row.pop("repetition", 1))))
        rows[key] = {column: value for column, value in row.items() if value is not None}
    return rows


def _columns_in(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for column, names in _COLUMNS.items():
        name = next((name for name in names if name in members), None)
        if name is not None:
            yield column, name


@dataclass(slots=True)
class _EnvelopeCheck:
    """Notices outputs that lie in an envelope nobody named: none of them then shares a key with its reference."""

    source: Path
    is_needed: bool
    seen: int = 0
    alike: int = 0
    keys: tuple[str, ...] = ()

    def see(self, path: Path, row: Mapping[str, Json]) -> None:
        if not self.is_needed or self.alike:
            return
        reference = read_json(path, str(path))
        output = _loaded(row.get("output"))
        if isinstance(reference, dict) and isinstance(output, dict):
            self.seen += 1
            self.alike += bool(set(reference) & set(output))
            self.keys = tuple(output)[:8]

    def raise_if_wrapped(self) -> None:
        if self.seen and not self.alike:
            message = f"no output shares a key with its reference; they hold {', '.join(self.keys)}"
            remedy = "If the output lies under one of these, name it: --key output=KEY."
            raise InputError(message, where=str(self.source / "outputs"), remedy=remedy)


def _loaded(output: Json) -> Any:
    try:
        return json.loads(output) if isinstance(output, str) else output
    except (ValueError, RecursionError):
        return None


def _yaml(text: str) -> str:
    """The text as a double-quoted YAML scalar, which JSON is."""
    return json.dumps(text, ensure_ascii=False)
