"""Recorded runs are read whole, to the letter, or not at all."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.jsonl import members_of
from resources.recording_folders import FolderMapping, mapping_from_flags, read_mapping
from resources.recordings import read_recordings, recorded_runs
from resources.workspace import Workspace, load_workspace
from scoring.errors import InputError
from scoring.records import Run, RunStatus

Import = Callable[..., list[Run]]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    files = {
        "assay.yaml": "",
        "models.yaml": "- id: vendor/large:free\n- id: small\n",
        "scenarios/film/scenario.yaml": "repetitions: 2\n",
        "scenarios/film/schema.json": "{}",
        "scenarios/a~2fb/scenario.yaml": "",
        "scenarios/a~2fb/schema.json": "{}",
    }
    for name, text in files.items():
        path = tmp_path / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_workspace(tmp_path / "ws")


@pytest.fixture
def import_(workspace: Workspace, tmp_path: Path) -> Import:
    """Reads lines (rows or raw text) as one JSON Lines file."""

    def read(*lines: dict[str, Any] | str | bytes) -> list[Run]:
        texts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
        content = b"\n".join(text.encode() if isinstance(text, str) else text for text in texts)
        (tmp_path / "runs.jsonl").write_bytes(content)
        return read_recordings([tmp_path / "runs.jsonl"], workspace)

    return read


def row(**members: Any) -> dict[str, Any]:
    return {"scenario": "film", "model": "small", "repetition": 1, "output": {"a": 1}, **members}


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


def test_a_row_becomes_a_run(import_: Import) -> None:
    line = row(seconds=2.5, cost=0.01, tokens={"input": 10, "output": 20}, status="ok")
    assert import_(line) == [
        Run(
            scenario_id="film",
            model_id="small",
            repetition=1,
            status=RunStatus.OK,
            output='{"a": 1}',
            duration_seconds=2.5,
            cost_usd=0.01,
            input_tokens=10,
            output_tokens=20,
        )
    ]


def test_what_nobody_recorded_is_unknown_and_not_zero(import_: Import) -> None:
    run = import_(row())[0]
    assert (run.duration_seconds, run.cost_usd, run.input_tokens, run.output_tokens, run.error) == (None,) * 5


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('{"a": 1.10, "b": 1e999, "a": NaN}', '{"a": 1.10, "b": 1e999, "a": NaN}'),
        ('{"big": 12345678901234567890123}', '{"big": 12345678901234567890123}'),
        ('"```json\\n{}\\n```"', "```json\n{}\n```"),
        ('""', ""),
        ("[]", "[]"),
        ("false", "false"),
        ('{"lone": "\\ud800"}', '{"lone": "\\ud800"}'),
        ('"a\\u0000b\\ud800c"', "a\ufffdb\ufffdc"),
        ("[" * 5000 + "]" * 5000, "[" * 5000 + "]" * 5000),
        ('[["]", "\\"["' + ",[1" * 3000 + "]" * 3000 + "]]", None),
    ],
)
def test_an_output_is_kept_to_the_letter(import_: Import, written: str, kept: str | None) -> None:
    run = import_(f'{{"scenario": "film", "model": "small", "output": {written} , "seconds": 1}}')[0]
    assert run.output == (written if kept is None else kept)
    assert run.duration_seconds == 1


@pytest.mark.parametrize(
    ("members", "status", "error"),
    [
        ({"status": "SUCCESS"}, RunStatus.OK, None),
        ({"status": "timeout"}, RunStatus.FAILED, None),
        ({"status": "failed", "error": "503"}, RunStatus.FAILED, "503"),
        ({"error": {"code": 5}}, RunStatus.FAILED, '{"code": 5}'),
        ({"error": ""}, RunStatus.OK, None),
        ({"error": None}, RunStatus.OK, None),
        ({"output": None, "status": "ok"}, RunStatus.OK, None),
        ({"output": None, "error": "refused"}, RunStatus.FAILED, "refused"),
    ],
)
def test_a_run_is_ok_or_failed(import_: Import, members: dict[str, Any], status: RunStatus, error: str | None) -> None:
    run = import_(row(**members))[0]
    assert (run.status, run.error) == (status, error)
    assert (run.output is None) == (status is RunStatus.FAILED)


def test_tokens_come_as_one_number_or_two(import_: Import) -> None:
    runs = import_(row(tokens=20), row(repetition=2, input_tokens=5, output_tokens=6.0))
    assert [(run.input_tokens, run.output_tokens) for run in runs] == [(None, 20), (5, 6)]


def test_runs_without_a_number_count_up(import_: Import) -> None:
    line = {"scenario": "film", "model": "small"}
    runs = import_({**line, "output": 1}, {**line, "output": 2}, {**line, "model": "vendor/large:free", "output": 3})
    assert [(run.model_id, run.repetition) for run in runs] == [("small", 1), ("small", 2), ("vendor/large:free", 1)]


def test_the_names_of_our_own_records_are_read_too(import_: Import) -> None:
    line = {"scenario_id": "film", "model_id": "small", "output": 1, "duration_seconds": 3, "cost_usd": 0}
    run = import_({**line, "metadata": {"any": "thing"}})[0]
    assert (run.duration_seconds, run.cost_usd) == (3, 0)


def test_the_same_run_twice_is_one_run(import_: Import) -> None:
    assert len(import_(row(), row())) == 1


def test_two_different_runs_under_one_number_are_refused(import_: Import) -> None:
    message = message_of(lambda: import_(row(), row(output=2)))
    assert "runs.jsonl:2: repetition 1 of 'small' on 'film' stands at" in message
    assert "runs.jsonl:1 too, with other content" in message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (row(scenario="films"), "unknown scenario 'films'. Nearest known: film. Write scenarios/films/scenario.yaml"),
        (row(scenario="x/../y"), "Write scenarios/x~2f..~2fy/scenario.yaml"),
        (row(model="vendor/large"), "unknown model 'vendor/large'. Nearest known: vendor/large:free. Add `- id:"),
        (row(scenario=5), "scenario must be a text, found 5"),
        ({"model": "small", "output": 1}, "the key 'scenario' is missing"),
        ({"scenario": "film", "model": "small"}, "neither an output nor an error"),
        ({"scenario": "film", "model": "small", "status": "ok"}, "the run is ok and has no output"),
        (row(second=1), "unknown key 'second'. Did you mean 'seconds'?"),
        (row(seconds=-1), "seconds must be a number, 0 or more, found -1"),
        (row(seconds="2 s"), "seconds must be a number, 0 or more"),
        (row(cost=float("nan")), "cost must be a number, 0 or more, found NaN"),
        (row(cost=float("inf")), "cost must be a number, 0 or more, found Infinity"),
        (row(repetition=0), "repetition must be a whole number from 1 to 100000, found 0"),
        (row(repetition=True), "repetition must be a whole number"),
        (row(repetition=10**30), "repetition must be a whole number"),
        (row(tokens={"in": 5}), "unknown key tokens.in. Allowed: input, output"),
        (row(tokens=1.5), "tokens must be a whole number"),
        (row(status="maybe"), "status must be ok or failed, found"),
        ('{"scenario": "film", "scenario": "film"}', "the key 'scenario' stands twice"),
        ("[1]", "must be one JSON object, found '[1]'"),
        ('{"scenario": "film"', "not valid JSON"),
        ('{"scenario": "film"} x', "not valid JSON (Extra data"),
        ('{"scenario" "film"}', "not valid JSON (Expecting ':'"),
        ('{"scenario": "film" "model": 1}', "not valid JSON (Expecting ','"),
        ("{5: 1}", "not valid JSON (Expecting a key in double quotes"),
        ('{"output": ' + "[" * 5000, "not valid JSON"),
        ('{"output": ' + "9" * 5000 + "}", "not valid JSON"),
        (b'{"scenario": "\xff"}', "byte 0xff is not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_line_is_named_with_its_place(
    import_: Import, line: dict[str, Any] | str | bytes, expected: str
) -> None:
    message = message_of(lambda: import_("", row(repetition=9), line))
    assert expected in message
    assert "runs.jsonl:3: " in message


def test_everything_wrong_is_told_within_bounds_and_unknown_ids_once(import_: Import) -> None:
    message = message_of(lambda: import_(*[row(model="huge", repetition=number) for number in range(1, 50)], row(x=1)))
    assert message.count("unknown model") == 1
    assert "runs.jsonl:50: unknown key 'x'" in message
    assert "... and" in message_of(lambda: import_(*["[]"] * 50))


def test_after_the_first_error_no_run_comes_out(workspace: Workspace, tmp_path: Path) -> None:
    lines = [row(), row(repetition=2, seconds=-1), row(repetition=3)]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    came: list[Run] = []
    with pytest.raises(InputError):
        came.extend(recorded_runs([tmp_path / "runs.jsonl"], workspace))
    assert [run.repetition for run in came] == [1]


def test_files_folders_and_patterns_are_read_once_each(workspace: Workspace, tmp_path: Path) -> None:
    for number, name in enumerate(("one.jsonl", "deep/two.jsonl"), start=1):
        path = tmp_path / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(row(repetition=number)) + "\n\n")
    folder = tmp_path / "runs"
    assert len(read_recordings([folder], workspace)) == 2
    assert len(read_recordings([f"{folder}/**/*.jsonl", folder / "one.jsonl"], workspace)) == 2
    assert "no such file or folder" in message_of(lambda: read_recordings([tmp_path / "gone*.jsonl"], workspace))
    assert "unknown format 'csv'" in message_of(lambda: read_recordings([folder], workspace, "csv"))


def test_a_long_file_is_read_in_little_memory(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        for number in range(1, 401):
            file.write(json.dumps(row(repetition=number, output="x" * 50_000)) + "\n")
    tracemalloc.start()
    try:
        assert sum(1 for _ in recorded_runs([path], workspace)) == 400
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()
    assert len(list(islice(recorded_runs([path], workspace), 3))) == 3


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=10))
def test_members_keep_the_text_of_every_value(value: Any) -> None:
    text = json.dumps(value)
    members = members_of(f'{{ "first" : {text} , "second":{text}}}', "here")
    assert (members["first"].text, members["second"].text) == (text, text)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_folder_per_system_and_a_file_per_task_is_read(workspace: Workspace, tmp_path: Path) -> None:
    folder = write(tmp_path / "out", {"small/film.json": '{"a":\n 1.0}', "vendor~2flarge~3afree/a~2fb.json": "no JSON"})
    runs = read_recordings([folder], workspace)
    assert [(run.model_id, run.scenario_id, run.output) for run in runs] == [
        ("small", "film", '{"a":\n 1.0}'),
        ("vendor/large:free", "a/b", "no JSON"),
    ]


def test_an_envelope_is_opened_as_the_mapping_beside_it_says(workspace: Workspace, tmp_path: Path) -> None:
    mapping = (
        "layout: '{scenario}/{model}-{repetition}.json'\n"
        "keys:\n  output: data\n  seconds: time_sec\n  status: status\n  input_tokens: [meta.usage.in, meta.prompt]\n"
        "models: {big: 'vendor/large:free'}\nscenarios: {movie: film}\n"
    )
    envelope = {"data": {"a": 1}, "time_sec": 1.5, "status": "ok", "meta": {"prompt": 7}}
    folder = write(
        tmp_path / "out",
        {
            "assay-import.yaml": mapping,
            "movie/big-2.json": json.dumps(envelope),
            "movie/small-1.json": '{"status": "error"}',
        },
    )
    first, second = read_recordings([folder], workspace)
    assert (first.model_id, first.scenario_id, first.repetition) == ("vendor/large:free", "film", 2)
    assert (first.output, first.duration_seconds, first.input_tokens) == ('{"a": 1}', 1.5, 7)
    assert (second.model_id, second.status) == ("small", RunStatus.FAILED)


def test_flags_say_the_same_as_the_mapping_file(tmp_path: Path) -> None:
    text = "layout: task/system\nkeys: {output: data, input_tokens: [a.b, c]}\n"
    written = read_mapping(write(tmp_path, {"assay-import.yaml": text}) / "assay-import.yaml")
    flags = ["output=data", "input_tokens=a.b", "input_tokens=c"]
    assert mapping_from_flags("task/system", flags) == written
    assert mapping_from_flags() == FolderMapping()


@pytest.mark.parametrize(
    ("mapping", "files", "expected"),
    [
        ({}, {"a.json": "1"}, "does not fit the layout {model}/{scenario}.json"),
        ({}, {"README": "1"}, "no file fits the layout"),
        ({}, {"small/films.json": "1"}, "unknown scenario 'films'"),
        ({"keys": ["output=data"]}, {"small/film.json": '{"date": 1}'}, "no output under data, the file has date"),
        ({"keys": ["output=data"]}, {"small/film.json": "[1]"}, "must be one JSON object"),
        ({"keys": ["output=data", "cost=c"]}, {"small/film.json": '{"data": 1, "c": "x"}'}, "cost must be a number"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(
    workspace: Workspace, tmp_path: Path, mapping: dict[str, Any], files: dict[str, str], expected: str
) -> None:
    folder = write(tmp_path / "out", files)
    message = message_of(lambda: read_recordings([folder], workspace, mapping=mapping_from_flags(**mapping)))
    assert expected in message


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"keys": ["data"]}, "cannot read the key 'data'"),
        ({"keys": ["outputs=data"]}, "cannot read the key"),
        ({"layout": "{model}.json"}, "a layout is one of system/task, task/system or a path with"),
        ({"layout": "{system}/{scenario}.json"}, "unknown placeholder {system}"),
    ],
)
def test_a_mapping_that_cannot_be_read_says_what_may_stand_there(flags: dict[str, Any], expected: str) -> None:
    assert expected in message_of(lambda: mapping_from_flags(**flags))


def test_a_mapping_file_is_checked_like_every_other_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"assay-import.yaml": "layout: nowhere\n"}) / "assay-import.yaml"
    assert "assay-import.yaml:1: " in message_of(lambda: read_mapping(path))
    path.write_text("keys: {outputs: data}\n")
    assert "unknown key keys.outputs. Did you mean 'output'?" in message_of(lambda: read_mapping(path))
