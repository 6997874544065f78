"""`assay run` as a person types it: plan, table, exit codes, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources import pace
from tests.cli.tower import Assay
from tests.judge_server import JudgeServer, refusal
from tests.run_workspace import KEY, KEY_VARIABLE, MODELS, right, write_callable

SCENARIO = "alpha"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(dg.RetryPolicy, "calculate_delay", lambda _policy, _attempt: 0)
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with JudgeServer(right) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, assay_home: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace, which `ASSAY_WORKSPACE` names."""
    del assay_home
    made = write_callable(tmp_path / "ws", server.base_url, repetitions=2, settings={"max_answer_tokens": 50})
    monkeypatch.setenv("ASSAY_WORKSPACE", str(made))
    return made


@pytest.mark.usefixtures("folder")
def test_the_plan_says_what_is_missing_and_what_it_costs_at_most(assay: Assay, server: JudgeServer) -> None:
    plan = assay("run", SCENARIO, "--plan", "--json").json
    assert (plan["requests"], plan["is_within_budget"], plan["models_of_unknown_cost"]) == (4, True, [])
    assert 0 < plan["cost_usd_at_most"] < 0.01
    assert [row["missing_repetitions"] for row in plan["models"]] == [[1, 2], [1, 2]]
    said = assay("run", SCENARIO, "--plan", "-m", MODELS[0])
    assert said.code == 0
    assert "2 requests, at most $" in said.out
    assert "No model was called" in said.out
    assert not server.asked


@pytest.mark.usefixtures("folder")
def test_a_run_ends_with_a_table_and_a_second_one_has_nothing_to_do(assay: Assay, server: JudgeServer) -> None:
    said = assay("run", SCENARIO)
    assert said.code == 0, said.out + said.err
    rows = [line.split() for line in said.out.splitlines() if line.strip().startswith(SCENARIO)]
    assert [row[1:6] for row in rows] == [[model, "2", "2", "0", "0"] for model in MODELS]
    assert "Recorded 4 runs in" in said.out
    assert "$0.006" in said.out
    again = assay("run", SCENARIO)
    assert (again.code, again.out.strip()) == (0, "Nothing to run: every run is recorded.")
    assert assay("run", SCENARIO, "--json").json["models"] == []
    assert len(server.asked) == 4


@pytest.mark.usefixtures("folder")
def test_what_is_missing_is_named_with_exit_1_and_made_by_the_same_command(assay: Assay, server: JudgeServer) -> None:
    server.script = lambda asked: refusal(404, "no") if asked.body["model"] == MODELS[1] else right(asked)
    said = assay("run", SCENARIO)
    assert said.code == 1
    assert f"missing: {SCENARIO}, {MODELS[1]}: 2 of 2 missing runs were not made" in said.out
    assert "asks for the rest alone" in said.out
    server.script = right
    again = assay("run", SCENARIO, "--json")
    assert again.code == 0
    assert [(row["model_id"], row["recorded"]) for row in again.json["models"]] == [(MODELS[1], 2)]
    assert assay("score", SCENARIO).code == 0


@pytest.mark.usefixtures("server")
def test_what_cannot_be_run_is_refused_before_anybody_is_called(assay: Assay, folder: Path) -> None:
    unknown = assay("run", "alhpa")
    assert (unknown.code, "Nearest known: alpha" in unknown.err) == (2, True)
    assert assay("run", SCENARIO, "-m", "nobody").code == 2
    assert assay("run").code == 2
    file = folder / "scenarios" / "s0" / "scenario.yaml"
    file.write_text(file.read_text().replace("enrichment", "artifact"))
    said = assay("run", SCENARIO, "--json")
    assert said.code == 2
    assert "scenarios of type artifact cannot be run yet" in said.json["error"]["message"]
    (folder / "models.yaml").write_text("[{id: lab/one}]")
    assert "no model can be called" in assay("run", "beta / b").err
