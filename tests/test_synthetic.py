from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.synthetic import Size, model_ids, scenario_ids, texts, truth_of, write_workspace
from resources.recordings import read_recordings
from resources.workspace import Workspace, load_workspace
from scoring.records import Json, RunStatus
from scoring.schema import violations

SIZE = Size(scenarios=6, models=4, repetitions=3)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("synthetic") / "workspace"
    write_workspace(folder, SIZE)
    return load_workspace(folder)


def leaves(value: Json) -> Iterator[Json]:
    match value:
        case dict():
            for inner in value.values():
                yield from leaves(inner)
        case list():
            for inner in value:
                yield from leaves(inner)
        case _:
            yield value


def test_the_importer_reads_every_run_of_every_model_and_scenario(workspace: Workspace) -> None:
    runs = read_recordings([workspace.root / "runs"], workspace)
    assert {(one.scenario_id, one.model_id, one.repetition) for one in runs} == {
        (scenario_id, model_id, repetition)
        for scenario_id in scenario_ids(SIZE.scenarios)
        for model_id in model_ids(SIZE.models)
        for repetition in range(1, SIZE.repetitions + 1)
    }
    assert all(scenario.is_scorable and scenario.reference_is_verified for scenario in workspace.scenarios)


def test_references_keep_to_their_schema_and_draw_their_texts_from_the_pools(workspace: Workspace) -> None:
    known = set(texts())
    for scenario in workspace.scenarios:
        assert not violations(scenario.schema, scenario.reference)
        assert {value for value in leaves(scenario.reference) if isinstance(value, str) and " " in value} <= known


def test_a_larger_workspace_begins_with_the_smaller_one(workspace: Workspace, tmp_path: Path) -> None:
    write_workspace(tmp_path / "larger", Size(scenarios=SIZE.scenarios + 1, models=4, repetitions=3))
    for path in (workspace.root / "runs").iterdir():
        assert path.read_bytes() == (tmp_path / "larger" / "runs" / path.name).read_bytes()


def test_the_most_able_model_says_more_of_the_truth_than_the_least_able(workspace: Workspace) -> None:
    right = dict.fromkeys(model_ids(SIZE.models), 0)
    for run in read_recordings([workspace.root / "runs"], workspace):
        if run.status is RunStatus.OK and run.output and run.output.startswith("{"):
            try:
                said = list(leaves(json.loads(run.output)))
            except json.JSONDecodeError:
                continue
            right[run.model_id] += sum(value in said for value in leaves(truth_of(run.scenario_id)))
    assert right[model_ids(SIZE.models)[0]] > 1.3 * right[model_ids(SIZE.models)[-1]]
