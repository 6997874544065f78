"""A foreign benchmark becomes a workspace, whole or not at all."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from resources.benchmark_folders import BenchmarkReport, workspace_from_folders
from resources.recording_folders import mapping_from_flags
from resources.recordings import read_recordings
from resources.workspace import load_workspace
from scoring.errors import InputError

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"


def write(folder: Path, files: dict[str, object]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(
        tmp_path / "source",
        {
            "reference/one.json": {"a": 1},
            "reference/t~2fwo.json": {"a": 2},
            "schema/one.json": {"type": "object"},
            "schema/t~2fwo.json": {"type": "object"},
            "outputs/big/one.json": {"a": 1},
            "outputs/big/t~2fwo.json": {"a": 3},
            "outputs/small/one.json": "a is 1",
        },
    )


def test_a_benchmark_becomes_scenarios_models_and_runs(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    report = workspace_from_folders(source, target, is_verified=True)
    assert report == BenchmarkReport(folder=target, scenarios=2, models=2, runs=3)
    workspace = load_workspace(target)
    assert [scenario.scenario_id for scenario in workspace.scenarios] == ["one", "t/wo"]
    assert [scenario.reference for scenario in workspace.scenarios] == [{"a": 1}, {"a": 2}]
    assert all(scenario.reference_is_verified for scenario in workspace.scenarios)
    assert [model.model_id for model in workspace.models] == ["big", "small"]
    runs = read_recordings([target / "runs"], workspace)
    assert Counter((run.model_id, run.scenario_id, run.output) for run in runs) == Counter(
        [("big", "one", '{"a": 1}'), ("big", "t/wo", '{"a": 3}'), ("small", "one", "a is 1")]
    )


def test_references_are_drafts_unless_said_otherwise(source: Path, tmp_path: Path) -> None:
    workspace_from_folders(source, tmp_path / "ws")
    assert not any(scenario.reference_is_verified for scenario in load_workspace(tmp_path / "ws").scenarios)


def test_a_table_beside_the_outputs_adds_time_cost_and_tokens(source: Path, tmp_path: Path) -> None:
    rows = [
        {"doc_id": "one", "system": "big", "model": "big-2", "time_s": 1.5, "cost_usd": 0.1, "input_tokens": 7, "x": 1},
        {"doc_id": "t/wo", "system": "big", "status": "ok", "cost_usd": None},
    ]
    write(source, {"runs.jsonl": "\n".join(map(json.dumps, rows))})
    workspace_from_folders(source, tmp_path / "ws")
    runs = read_recordings([tmp_path / "ws/runs/big.jsonl"], load_workspace(tmp_path / "ws"))
    assert [(run.duration_seconds, run.cost_usd, run.input_tokens) for run in runs] == [
        (1.5, 0.1, 7),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"outputs/big/three.json": {}}, "the task 'three' has no reference"),
        ({"reference/three.json": {}}, "three.json: the task three has no schema. Name one schema for all tasks"),
        ({"schema/one.json": {"type": "objet"}}, "scenarios/one/schema.json, /type"),
        ({"reference/one.json": "{"}, "one.json:1: not valid JSON"),
        ({"runs.jsonl": "[]"}, "runs.jsonl:1: must be one JSON object"),
        (
            {f"outputs/{name}.json": {"data": {"a": 1}, "t": 2} for name in ("big/one", "big/t~2fwo", "small/one")},
            "no output shares a key with its reference; they hold data, t. If the output lies under one of these",
        ),
    ],
)
def test_a_benchmark_that_does_not_fit_leaves_nothing_behind(
    source: Path, tmp_path: Path, files: dict[str, object], expected: str
) -> None:
    write(source, files)
    with pytest.raises(InputError) as caught:
        workspace_from_folders(source, tmp_path / "ws")
    assert expected in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_folder_without_references_and_a_target_in_use_are_refused(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no reference/"):
        workspace_from_folders(tmp_path, tmp_path / "ws")
    with pytest.raises(InputError, match="not empty"):
        workspace_from_folders(source, source)


@pytest.mark.skipif(not (SHARED / "docubench").is_dir(), reason="the shared data is not here")
def test_docubench_becomes_a_workspace_of_216_runs(tmp_path: Path) -> None:
    mapping = mapping_from_flags(keys=["output=data", "seconds=time_sec"])
    report = workspace_from_folders(SHARED / "docubench", tmp_path / "ws", is_verified=True, mapping=mapping)
    assert (report.scenarios, report.models, report.runs) == (36, 6, 216)
    workspace = load_workspace(tmp_path / "ws")
    runs = read_recordings([tmp_path / "ws/runs"], workspace)
    assert all(run.duration_seconds is not None for run in runs)
    assert sum(run.cost_usd is not None for run in runs) == 108
    straight = read_recordings([SHARED / "docubench/outputs"], workspace, mapping=mapping)
    assert {(run.model_id, run.scenario_id, run.output) for run in straight} == {
        (run.model_id, run.scenario_id, run.output) for run in runs
    }


@pytest.mark.skipif(not (SHARED / "extractbench_academic").is_dir(), reason="the shared data is not here")
def test_extractbench_takes_one_schema_for_all_its_papers(tmp_path: Path) -> None:
    source = SHARED / "extractbench_academic"
    report = workspace_from_folders(source, tmp_path / "ws", schema=source / "schema/research-schema.json")
    assert (report.scenarios, report.models, report.runs) == (6, 8, 46)
