"""The example workspace is what its README says: complete, true to its schemas, and openly illustrative."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from resources.recordings import read_recordings
from resources.workspace import Workspace, load_workspace
from scoring.reading import read_output
from scoring.records import Json, Run, RunStatus, Unreadable
from scoring.schema import violations

EXAMPLES = Path(__file__).parents[1] / "examples"


@cache
def workspace() -> Workspace:
    return load_workspace(EXAMPLES / "workspace")


@cache
def runs() -> tuple[Run, ...]:
    return tuple(read_recordings([EXAMPLES / "workspace" / "runs"], workspace()))


def test_every_scenario_can_be_scored_and_has_what_a_judge_would_look_at() -> None:
    assert len(workspace().scenarios) >= 3
    for scenario in workspace().scenarios:
        assert scenario.is_scorable
        assert scenario.reference_is_verified
        assert scenario.prompt
        assert scenario.entity
        assert scenario.documents


def test_every_reference_and_example_obeys_its_schema() -> None:
    for scenario in workspace().scenarios:
        assert violations(scenario.schema, scenario.reference) == []
        partial = {key: value for key, value in dict_of(scenario.schema).items() if key != "required"}
        assert [violations(partial, example) for example in scenario.examples] == [[]] * len(scenario.examples)


def dict_of(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


def test_every_model_is_openly_illustrative() -> None:
    assert {model.provider for model in workspace().models} == {"illustrative"}
    assert all(model.model_id.startswith("illustrative/") for model in workspace().models)
    for place in ("README.md", "workspace/models.yaml", "workspace/assay.yaml"):
        assert "illustrative" in (EXAMPLES / place).read_text().casefold()


def test_every_model_answered_every_task_as_often_as_the_task_asks() -> None:
    expected = {
        (scenario.scenario_id, model.model_id): scenario.repetitions
        for scenario in workspace().scenarios
        for model in workspace().models
    }
    assert Counter((run.scenario_id, run.model_id) for run in runs()) == expected


def test_every_run_says_what_it_took() -> None:
    for run in runs():
        assert run.duration_seconds is not None
        assert run.cost_usd is not None
        assert run.input_tokens is not None


def test_costs_follow_from_tokens_and_prices() -> None:
    prices = {model.model_id: model for model in workspace().models}
    for run in runs():
        model = prices[run.model_id]
        paid = (run.input_tokens or 0) * (model.input_usd_per_million or 0)
        paid += (run.output_tokens or 0) * (model.output_usd_per_million or 0)
        assert run.cost_usd == pytest.approx(0 if run.status is RunStatus.FAILED else paid / 1e6, abs=1e-7)


def test_the_runs_show_the_ways_in_which_outputs_go_wrong() -> None:
    readings = [read_output(run.output) for run in runs() if run.output is not None]
    assert sum(run.status is RunStatus.FAILED for run in runs()) == 1
    assert sum(isinstance(reading, Unreadable) for reading in readings) == 1
    repairs = " ".join(
        repair for reading in readings if not isinstance(reading, Unreadable) for repair in reading.repairs
    )
    assert "fence" in repairs
    assert "around" in repairs


def test_the_readme_names_every_scenario_and_model() -> None:
    text = (EXAMPLES / "README.md").read_text()
    for scenario in workspace().scenarios:
        assert f"`{scenario.scenario_id}`" in text
    for model in workspace().models:
        assert model.name in text


def test_runs_are_lines_that_people_can_read_and_change() -> None:
    for path in sorted((EXAMPLES / "workspace/runs").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            assert "\\u" not in line
            assert json.loads(line)["model"] == f"illustrative/{path.stem}"
