"""Answers in Postgres: each call recorded once however often it is tried, claims that outlive a restart of Postgres."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from resources import judge_answers
from resources.judge_answers import StoredAnswers
from resources.judge_calls import JudgeCall, Raised
from resources.warehouse import Warehouse
from resources.workspace import load_workspace
from scoring.panel import Ballot
from scoring.records import Answer, Question, QuestionKind, Verdict
from tests.small_workspace import SCENARIOS, write_workspace

SCENARIO = SCENARIOS[0]


@pytest.fixture
def store(warehouse: Warehouse, tmp_path: Path) -> StoredAnswers:
    """The answers of a warehouse that knows the scenario."""
    workspace = load_workspace(write_workspace(tmp_path / "ws"))
    warehouse.sync_scenarios([workspace.scenario(SCENARIO)])
    return warehouse.answers


def call(number: int) -> JudgeCall:
    message = json.dumps({"question": "verify", "value": number})
    question = Question(question_id=f"q{number}", kind=QuestionKind.VERIFY, path="/p", message=message)
    return JudgeCall(
        raised=Raised(scenario_id=SCENARIO, question=question),
        ballot=Ballot(judge_model="judge", is_swapped=False),
        judge_family="",
        attempt=1,
        is_repair=False,
        sent_text=None,
        answer_text="{}",
        finish_reason="stop",
        input_tokens=1,
        output_tokens=1,
        cost_usd=None,
        duration_seconds=0.1,
        called_at=datetime.now(UTC),
        answer=Answer(verdict=Verdict.CORRECT, credit=1.0, basis="knowledge", reason="So it is."),
    )


def count(engine: Engine, table: str) -> int:
    with engine.connect() as connection:
        count = text(f"select count(*) from assay.{table}")  # noqa: S608 - a name of our own
        return int(connection.execute(count).scalar_one())


def test_calls_whose_commit_was_not_heard_of_are_recorded_once(engine: Engine, store: StoredAnswers) -> None:
    first, second = call(1), call(2)
    store.keep([first])
    store.keep([first, second])
    assert count(engine, "judge_calls") == 2
    assert count(engine, "judge_answers") == 2


@pytest.mark.parametrize(("seconds_since_start", "is_free"), [(0, True), (1_000_000_000, False)])
def test_a_claim_runs_out_but_not_while_postgres_itself_has_just_started(
    engine: Engine,
    store: StoredAnswers,
    monkeypatch: pytest.MonkeyPatch,
    seconds_since_start: int,
    is_free: bool,
) -> None:
    assert store.claim(SCENARIO, ["q"], "dead") == {"q"}
    assert store.claim(SCENARIO, ["q"], "other") == set()
    with engine.begin() as connection:
        connection.execute(text("update assay.judge_claims set expires_at = now() - interval '1 minute'"))
    monkeypatch.setitem(judge_answers._LEASE, "seconds", seconds_since_start)
    assert store.claim(SCENARIO, ["q"], "other") == ({"q"} if is_free else set())


def test_claims_of_the_dead_are_swept_by_whoever_lets_go(
    engine: Engine, store: StoredAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.claim(SCENARIO, ["left"], "dead")
    store.claim(SCENARIO, ["held"], "alive")
    with engine.begin() as connection:
        connection.execute(text("update assay.judge_claims set expires_at = now() - interval '1 day'"
                                " where worker_id = 'dead'"))  # fmt: skip
    monkeypatch.setitem(judge_answers._LEASE, "seconds", 0)
    store.release("somebody")
    assert count(engine, "judge_claims") == 1
    store.release("alive")
    assert count(engine, "judge_claims") == 0
