"""Results of promptfoo become runs: what a provider answered, whatever an assertion thought of it."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources.recording_folders import mapping_from_flags
from resources.recordings import read_recordings, recorded_runs
from resources.workspace import Workspace, load_workspace
from scoring.errors import InputError
from scoring.records import Run, RunStatus
from tests.foreign_logs import MODEL, promptfoo_json, promptfoo_result


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    files = {"assay.yaml": "", "models.yaml": f"- id: {MODEL}\n- id: small\n- id: cold\n"}
    for name in ("film", "song"):
        files |= {f"scenarios/{name}/scenario.yaml": "", f"scenarios/{name}/schema.json": "{}"}
    for name, text in files.items():
        path = tmp_path / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_workspace(tmp_path / "ws")


def written(folder: Path, text: str, name: str = "results.json") -> Path:
    (folder / name).write_text(text)
    return folder / name


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


def run_of(workspace: Workspace, folder: Path, **more: Any) -> Run:
    (run,) = read_recordings([written(folder, promptfoo_json(promptfoo_result(**more)))], workspace)
    return run


def texts() -> dict[str, str]:
    """Two repetitions in each shape that promptfoo has written them in."""
    results = [promptfoo_result(), promptfoo_result(output={"a": 2}, testIdx=1)]
    lines = [json.dumps({"evalId": "eval-abc", **result}) for result in results]
    summary = json.loads(promptfoo_json(*results))["results"]
    return {
        "version 2": promptfoo_json(*[{**r, "description": "film", "testCase": None} for r in results], version=2),
        "version 3": promptfoo_json(*results),
        "version 4": promptfoo_json(*results, version=4),
        "summary": json.dumps(summary),
        "lines": "\n".join(lines) + "\n",
        "lines without a break": "".join(lines),
    }


@pytest.mark.parametrize("shape", texts())
def test_a_result_becomes_a_run_in_every_shape(workspace: Workspace, tmp_path: Path, shape: str) -> None:
    first, second = read_recordings([written(tmp_path, texts()[shape], "any.name")], workspace)
    assert first == Run(
        scenario_id="film",
        model_id=MODEL,
        repetition=1,
        status=RunStatus.OK,
        output='{"a": 1}',
        duration_seconds=1.5,
        cost_usd=0.25,
        input_tokens=10,
        output_tokens=20,
    )
    assert (second.repetition, json.loads(str(second.output))) == (2, {"a": 2})


def test_an_object_keeps_its_letters_and_loses_the_indentation_of_the_file(
    workspace: Workspace, tmp_path: Path
) -> None:
    written_as = '{\n  "a b": 1.10, "c": [12345678901234567890,\n "\\" x "]}'
    text = promptfoo_json(promptfoo_result(output="HERE")).replace('"HERE"', written_as)
    run = read_recordings([written(tmp_path, text)], workspace)[0]
    assert run.output == '{"a b":1.10,"c":[12345678901234567890,"\\" x "]}'


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"response": {"error": "API error: 429"}, "failureReason": 2}, "API error: 429"),
        ({"response": None, "error": "Error: timed out", "failureReason": 2}, "Error: timed out"),
        ({"response": {"output": None}, "error": None}, "neither output nor error"),
        ({"response": {"error": {"code": 5}}}, '{"code": 5}'),
    ],
)
def test_only_what_did_not_answer_has_failed(
    workspace: Workspace, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    run = run_of(workspace, tmp_path, **more)
    assert (run.status, run.output) == (RunStatus.FAILED, None)
    assert words in str(run.error)


@pytest.mark.parametrize("reason", [0, 1, 2])
def test_an_answer_counts_whatever_became_of_its_assertions(workspace: Workspace, tmp_path: Path, reason: int) -> None:
    run = run_of(workspace, tmp_path, failureReason=reason)
    assert (run.status, run.error) == (RunStatus.OK, None)


def test_what_promptfoo_fills_with_0_is_unknown(workspace: Workspace, tmp_path: Path) -> None:
    run = run_of(
        workspace, tmp_path, response={"output": "x"}, cost=0, latencyMs=0, tokenUsage={"prompt": 0, "completion": 0}
    )
    assert (run.duration_seconds, run.cost_usd, run.input_tokens, run.output_tokens) == (None,) * 4
    assert run_of(workspace, tmp_path, response={"output": "x", "cost": 0}).cost_usd == 0


def test_an_answer_from_the_cache_has_no_duration(workspace: Workspace, tmp_path: Path) -> None:
    cached = {"output": "x", "cached": True, "cost": 0, "tokenUsage": {"cached": 30, "total": 30}}
    run = run_of(workspace, tmp_path, response=cached, cost=0, latencyMs=3)
    assert (run.duration_seconds, run.cost_usd, run.output_tokens) == (None, None, None)


@pytest.mark.parametrize(
    "more",
    [
        {"testCase": {"metadata": {"scenario": "song"}, "description": "film"}},
        {"testCase": {}, "vars": {"scenario": "song"}},
        {"testCase": {"vars": {"scenario": "song"}}, "vars": {}},
        {"testCase": {"description": "song"}},
        {"testCase": {}, "description": "song"},
        {"testCase": {"description": "song"}, "vars": {"scenario": "opening"}},
    ],
)
def test_the_scenario_stands_in_metadata_vars_or_description(
    workspace: Workspace, tmp_path: Path, more: dict[str, Any]
) -> None:
    assert run_of(workspace, tmp_path, **more).scenario_id == "song"


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("small", "small"),
        ({"id": "small"}, "small"),
        ({"id": "openai:gpt", "label": "small"}, "small"),
        ({"id": "small", "label": "The small one"}, "small"),
        ({"id": "small", "label": "cold"}, "cold"),
    ],
)
def test_the_model_is_the_provider_or_its_label(
    workspace: Workspace, tmp_path: Path, provider: object, model: str
) -> None:
    assert run_of(workspace, tmp_path, provider=provider).model_id == model


def test_several_providers_are_several_models(workspace: Workspace, tmp_path: Path) -> None:
    results = [promptfoo_result(provider={"id": name}, promptIdx=n) for n, name in enumerate(("small", "cold"))]
    results += [{**result, "testIdx": 1} for result in results]
    runs = read_recordings([written(tmp_path, promptfoo_json(*results))], workspace)
    assert [(run.model_id, run.repetition) for run in runs] == [("small", 1), ("cold", 1), ("small", 2), ("cold", 2)]


def test_a_result_in_two_files_is_one_run_and_other_evaluations_are_more(workspace: Workspace, tmp_path: Path) -> None:
    results = [promptfoo_result(output={"a": 1}, testIdx=number) for number in (0, 1)]
    other = promptfoo_result(output={"a": 1}, latencyMs=1600)
    paths = [
        written(tmp_path, promptfoo_json(*results), "results.json"),
        written(tmp_path, "\n".join(map(json.dumps, results)), "results.jsonl"),
        written(tmp_path, promptfoo_json(other), "other.json"),
    ]
    assert [run.repetition for run in read_recordings(paths, workspace)] == [1, 2, 3]


def test_answers_to_two_prompts_are_no_repetitions(workspace: Workspace, tmp_path: Path) -> None:
    results = [promptfoo_result(prompt={"raw": "?", "label": label}) for label in ("small", "cold")]
    path = written(tmp_path, promptfoo_json(*results))
    message = message_of(lambda: read_recordings([path], workspace))
    assert f"result 2: a second prompt or provider for '{MODEL}' on 'film'" in message
    runs = read_recordings([path], workspace, mapping=mapping_from_flags(keys=["model=prompt.label"]))
    assert [run.model_id for run in runs] == ["small", "cold"]


def test_a_mapping_beside_the_results_says_where_ids_stand_and_what_they_are_called(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "assay-import.yaml").write_text(
        f"keys: {{scenario: vars.it}}\nscenarios: {{A film: film}}\nmodels: {{'{MODEL}': small}}\n"
    )
    run = run_of(workspace, tmp_path, vars={"it": "A film"})
    assert (run.scenario_id, run.model_id) == ("film", "small")
    mapping = mapping_from_flags(keys=["scenario=vars.other"])
    path = written(tmp_path, promptfoo_json(promptfoo_result(vars={"other": "song"})))
    assert read_recordings([path], workspace, mapping=mapping)[0].scenario_id == "song"


def test_what_is_wrong_is_told_with_its_result(workspace: Workspace, tmp_path: Path) -> None:
    results = [
        promptfoo_result(testCase={}),
        promptfoo_result("films"),
        promptfoo_result(provider={"id": "vendor/large"}),
        promptfoo_result(output="[output stripped]"),
    ]
    message = message_of(lambda: read_recordings([written(tmp_path, promptfoo_json(*results))], workspace))
    for expected in (
        "result 1: nothing names the scenario",
        "--key scenario=PATH with PATH one of promptIdx, testIdx, vars.it",
        "result 2: unknown scenario 'films'. Nearest known: film.",
        f"result 3: unknown model 'vendor/large'. Nearest known: {MODEL}.",
        "write `models: {its word: id}` into assay-import.yaml",
        "result 4: its output was stripped",
    ):
        assert expected in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (promptfoo_json(promptfoo_result())[:-400], "the text ends inside a value"),
        (promptfoo_json(promptfoo_result()) + "]", "extra data"),
        (promptfoo_json(promptfoo_result(), version=9), "results of version 9; versions up to 4 are read"),
        ('{"results": []}', "no results of promptfoo"),
    ],
)
def test_a_file_that_cannot_be_read_whole_is_refused(
    workspace: Workspace, tmp_path: Path, text: str, expected: str
) -> None:
    path = written(tmp_path, text)
    assert expected in message_of(lambda: read_recordings([path], workspace, "promptfoo"))


def test_a_long_file_is_read_in_little_memory(workspace: Workspace, tmp_path: Path) -> None:
    result = promptfoo_result(output="x" * 50_000, gradingResult={"reason": "y" * 50_000})
    path = written(tmp_path, promptfoo_json(*[{**result, "testIdx": number} for number in range(400)]))
    tracemalloc.start()
    try:
        assert sum(1 for _ in recorded_runs([path], workspace)) == 400
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
