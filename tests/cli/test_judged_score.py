"""`assay score` and `assay results` where a scenario has a judge: plan, round, failure, what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.session import open_session
from resources import pace
from tests.cli.tower import Assay
from tests.judge_server import Asked, JudgeServer, Reply, always, refusal
from tests.judged_scenario import KEY_VARIABLE, MODELS, QUESTIONS, SCENARIO, judged_runs, write_judged


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setenv(KEY_VARIABLE, "sk-score-secret")
    with JudgeServer(always("a_better", verify="correct", credit=60)) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, assay_home: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The judged workspace with its runs recorded; `ASSAY_WORKSPACE` names it."""
    del assay_home
    made = write_judged(tmp_path / "ws", server.base_url)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(made))
    with open_session() as session:
        session.warehouse.import_runs(judged_runs())
    return made


def test_the_plan_asks_nothing_and_says_what_it_may_cost(assay: Assay, folder: Path, server: JudgeServer) -> None:
    plan = assay("score", "--plan", "--json").json
    assert not server.asked
    assert (plan["questions"], plan["requests"], plan["questions_answered_before"]) == (QUESTIONS, QUESTIONS, 0)
    assert [(judge["judge"], judge["requests"]) for judge in plan["judges"]] == [("judge-1", QUESTIONS)]
    assert 0 < plan["cost_usd_at_most"] < 1
    assert plan["is_within_budget"]
    said = assay("score", "--plan")
    assert said.code == 0
    assert "5 questions to ask, 0 answered before. No judge was asked." in said.out
    write_judged(folder, server.base_url, prices=None, budget_usd=0.5)
    said = assay("score", "--plan")
    assert "Unknown price: judge-1" in said.out
    assert "may not be enough" in said.out
    assert assay("score", "--plan", "--json").json["cost_usd_at_most"] is None


def test_a_model_whose_judge_fails_is_named_and_the_others_are_scored(
    assay: Assay, folder: Path, server: JudgeServer
) -> None:
    del folder
    healthy = server.script

    def script(asked: Asked) -> Reply:
        return refusal(400, "no") if asked.question["field"]["path"] == "/year" else healthy(asked)

    server.script = script
    said = assay("score")
    assert said.code == 1
    assert "failed: alpha, lab/two: 1 of 3 questions have no answer; the one at /year" in said.out
    assert "Judge: 7 questions, 2 of them free; 5 requests (1 failed), $" in said.out
    server.script = healthy
    again = assay("score", "--json")
    assert again.code == 0
    (row,) = again.json["scored"]
    assert (row["model_id"], row["judge_calls"]) == ("lab/two", 1)  # what the merge turned round is the same question
    results = assay("results", SCENARIO)
    assert "Judging lab/one: 2 requests, $" in results.out
    assert f"assay history {SCENARIO}" in results.out
    rows = {row["model_id"]: row for row in assay("results", SCENARIO, "--json").json["models"]}
    assert set(rows) == set(MODELS)
    assert all(row["judge_cost_usd"] > 0 and row["scoring_duration_seconds"] > 0 for row in rows.values())
