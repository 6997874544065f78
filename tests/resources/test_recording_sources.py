"""A file is read as what it is, whatever its name, and a folder as what lies in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.recording_formats import FileFormat, file_format
from resources.recordings import read_recordings
from resources.workspace import Workspace, load_workspace
from scoring.errors import InputError
from scoring.records import Run
from tests.foreign_logs import (
    MODEL,
    inspect_json,
    inspect_members,
    inspect_sample,
    promptfoo_json,
    promptfoo_result,
    write_zip,
)

OWN = json.dumps({"scenario": "film", "model": "small", "output": 1})


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    files = {
        "assay.yaml": "",
        "models.yaml": f"- id: {MODEL}\n- id: small\n",
        "scenarios/film/scenario.yaml": "",
        "scenarios/film/schema.json": "{}",
    }
    return load_workspace(write(tmp_path / "ws", files))


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def keys_of(runs: list[Run]) -> list[tuple[str, int]]:
    return [(run.model_id, run.repetition) for run in runs]


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OWN, FileFormat.JSONL),
        ('{"status": "ok", "metadata": {"eval": 1}, "output": {"results": []}, "scenario": "x"}', FileFormat.JSONL),
        ('{"a": 1, "results": [1]}', FileFormat.JSONL),
        ('{"version": 1, "eval": "text"}', FileFormat.JSONL),
        ("[1]", FileFormat.JSONL),
        ("", FileFormat.JSONL),
        ('{"version": 2', FileFormat.JSONL),
        (inspect_json(inspect_sample()), FileFormat.INSPECT),
        (inspect_json(inspect_sample())[:-500], FileFormat.INSPECT),
        (promptfoo_json(promptfoo_result()), FileFormat.PROMPTFOO),
        (promptfoo_json(promptfoo_result(), version=2), FileFormat.PROMPTFOO),
        (json.dumps(promptfoo_result()), FileFormat.PROMPTFOO_LINES),
        (json.dumps({"provider": {"id": "x"}, "response": {}, "vars": {}}), FileFormat.PROMPTFOO_LINES),
    ],
)
def test_the_content_tells_the_format(tmp_path: Path, text: str, expected: FileFormat) -> None:
    path = tmp_path / "log.eval"
    path.write_text(text)
    assert file_format(path) is expected


def test_files_of_all_tools_are_read_together(workspace: Workspace, tmp_path: Path) -> None:
    folder = write(tmp_path / "logs", {"deep/own.jsonl": OWN, "notes.json": '{"any": "thing"}'})
    write_zip(folder / "a.eval", inspect_members(inspect_sample(epoch=3)), is_zstandard=True)
    results = promptfoo_json(promptfoo_result(provider={"id": "small"}))
    write(folder, {"b.json": inspect_json(inspect_sample(epoch=4)), "c.json": results})
    runs = read_recordings([folder], workspace)
    assert keys_of(runs) == [(MODEL, 3), (MODEL, 4), ("small", 1), ("small", 2)]
    assert keys_of(read_recordings([f"{folder}/**/[ac].*"], workspace)) == [(MODEL, 3), ("small", 1)]


def test_a_format_takes_its_own_files_of_a_folder_only(workspace: Workspace, tmp_path: Path) -> None:
    folder = write(tmp_path / "logs", {"own.jsonl": OWN, "b.json": inspect_json(inspect_sample(epoch=4))})
    assert keys_of(read_recordings([folder], workspace, "jsonl")) == [("small", 1)]
    assert keys_of(read_recordings([folder], workspace, "inspect")) == [(MODEL, 4)]
    assert "own.jsonl: no results of promptfoo" in message_of(
        lambda: read_recordings([folder / "own.jsonl"], workspace, "promptfoo")
    )
    assert "Use one of jsonl, folders, inspect, promptfoo." in message_of(
        lambda: read_recordings([folder], workspace, "csv")
    )


def test_a_mapping_with_a_layout_makes_outputs_of_all_files(workspace: Workspace, tmp_path: Path) -> None:
    answer = inspect_json(inspect_sample())
    folder = write(tmp_path / "out", {"film/small.json": answer, "assay-import.yaml": "layout: task/system\n"})
    assert [run.output for run in read_recordings([folder], workspace)] == [answer]


def test_names_alone_do_not_make_outputs_of_logs(workspace: Workspace, tmp_path: Path) -> None:
    files = {"assay-import.yaml": f"models: {{'{MODEL}': small, big: small}}\n"}
    logs = write(tmp_path / "logs", {**files, "x.json": inspect_json(inspect_sample())})
    outputs = write(tmp_path / "out", {**files, "big/film.json": "1"})
    assert keys_of(read_recordings([logs], workspace)) == [("small", 1)]
    assert keys_of(read_recordings([outputs], workspace)) == [("small", 1)]


def test_an_envelope_may_name_the_run_itself(workspace: Workspace, tmp_path: Path) -> None:
    mapping = "keys: {output: data, scenario: about.id, repetition: n}\nscenarios: {movie: film}\n"
    envelope = json.dumps({"data": 1, "about": {"id": "movie"}, "n": 4})
    folder = write(tmp_path / "out", {"small/x17.json": envelope, "assay-import.yaml": mapping})
    (run,) = read_recordings([folder], workspace)
    assert (run.scenario_id, run.model_id, run.repetition) == ("film", "small", 4)


def test_what_is_wrong_in_several_files_is_told_at_once(workspace: Workspace, tmp_path: Path) -> None:
    folder = write(tmp_path / "logs", {"a.eval": "PK\x03\x04 cut", "b.jsonl": "[1]", "c.json": "{}"})
    write(folder, {"d.json": inspect_json(inspect_sample("nowhere"), task="t")})
    message = message_of(lambda: read_recordings([folder], workspace))
    for expected in ("3 problems", "a.eval: not a whole zip file", "b.jsonl:1: must be one JSON", "d.json:"):
        assert expected in message
