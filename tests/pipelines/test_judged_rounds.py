"""Rounds with a judge, through the real client and a real server: asked once, whole or not, all accounted for."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import Engine, text

from pipelines.dagster_round import run_round_through_dagster
from pipelines.instance import open_instance
from pipelines.plan import plan_round
from pipelines.round import RoundReport, score_round
from pipelines.session import Session, open_session
from resources import judge as judge_module
from resources import judge_answers, pace
from scoring.records import Json
from tests.judge_server import Asked, JudgeServer, Reply, always, answer, completion, only, refusal
from tests.judged_scenario import (
    KEY_VARIABLE,
    MODELS,
    OUTPUTS,
    QUESTIONS,
    REFERENCE,
    SCENARIO,
    judged_runs,
    write_judged,
)
from tests.stored_words import tables_with

CELLS = [(SCENARIO, model_id) for model_id in MODELS]
KEY = "sk-round-secret-0815"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of a thousandth, and a key that must never be seen again."""
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(judge_module, "LOOK_AGAIN_SECONDS", 0.02)
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(always("a_better", verify="correct", credit=60)) as running:
        yield running


Open = Callable[..., Session]


@pytest.fixture
def open_judged(assay_home: Path, tmp_path: Path, server: JudgeServer) -> Iterator[Open]:
    """Opens a session on the judged workspace as its files say now."""
    del assay_home
    managers: list[Any] = []

    def open_(outputs: Mapping[str, Any] = OUTPUTS, **options: Any) -> Session:
        managers.append(open_session(write_judged(tmp_path / "ws", server.base_url, **options)))
        session: Session = managers[-1].__enter__()
        session.warehouse.import_runs(judged_runs(outputs))
        return session

    yield open_
    for manager in managers:
        manager.__exit__(None, None, None)


def errors(report: RoundReport) -> dict[str, str]:
    return {model.model_id: str(model.error) for model in report.failed}


def qualities(report: RoundReport) -> dict[str, float | None]:
    return {model.model_id: model.quality for model in report.models}


def one(engine: Engine, query: str) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(query)).scalar_one()


def edited(**values: Json) -> Json:
    return {**REFERENCE, **values}


def test_questions_of_all_models_are_asked_once_and_never_again(open_judged: Open, server: JudgeServer) -> None:
    session = open_judged()
    report = score_round(session, CELLS)
    assert not report.failed
    assert len(server.asked) == QUESTIONS
    assert sum(model.questions for model in report.models) == 7
    assert sum(model.cached for model in report.models) == 2
    again = score_round(session, CELLS)
    assert len(server.asked) == QUESTIONS
    assert sum(model.cached for model in again.models) == 7
    assert qualities(again) == qualities(report)


def test_one_edited_field_asks_only_about_itself(open_judged: Open, server: JudgeServer) -> None:
    score_round(open_judged(), CELLS)
    session = open_judged(reference=edited(summary="She programmed a machine that was never built."))
    before = len(server.asked)
    score_round(session, CELLS)
    fresh = server.asked[before:]
    assert {asked.question["field"]["path"] for asked in fresh} == {"/summary"}
    assert len(fresh) == 2  # what the first two models say, and the reference's old text, which the third one gave


def test_swapped_roles_ask_nothing(open_judged: Open, server: JudgeServer) -> None:
    said = {"lab/one": edited(summary="The first program was hers.", mass=273.37)}
    score_round(open_judged(said), CELLS[:1])
    before = len(server.asked)
    session = open_judged({"lab/two": REFERENCE}, reference=said["lab/one"])
    assert not score_round(session, CELLS[1:2]).failed
    assert len(server.asked) == before == 2


def test_another_judge_model_or_other_instructions_ask_again(
    open_judged: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    score_round(open_judged(), CELLS)
    score_round(open_judged(judge={"model": "judge-2"}), CELLS)
    assert len(server.asked) == 2 * QUESTIONS
    monkeypatch.setattr("scoring.questions.PROMPT_VERSION", "a later one")
    score_round(open_judged(), CELLS)
    assert len(server.asked) == 3 * QUESTIONS


def test_a_question_that_fails_costs_only_the_models_that_need_it(open_judged: Open, server: JudgeServer) -> None:
    healthy = always("both_correct")

    def script(asked: Asked) -> Reply:
        return refusal(400, "no thanks") if asked.question["field"]["path"] == "/year" else healthy(asked)

    server.script = script
    session = open_judged()
    report = score_round(session, CELLS)
    (failed,) = report.failed
    assert failed.model_id == "lab/two"
    assert "1 of 3 questions have no answer; the one at /year" in str(failed.error)
    assert "HTTP 400: no thanks" in str(failed.error)
    assert one(session.warehouse.engine, "select count(*) from bi.model_scores where model_id = 'lab/two'") == 0
    records = session.warehouse.scoring_records(SCENARIO, model_id="lab/two")
    assert [(row["is_scored"], row["error"]) for row in records] == [(False, failed.error)]


VIEWS = ("model_scores", "run_scores", "field_scores", "list_scores", "findings", "leaderboard", "judge_calls")
CHANGING = {"attempt", "model_id", "provider", "family", "is_latest"}
"""Of a call: a later round counts its attempts anew, and its cost falls to whoever raised the question first then."""


def content_of(engine: Engine) -> dict[str, list[str]]:
    """What the views say, without identities, times and rounds."""
    found = {}
    with engine.connect() as connection:
        for view in VIEWS:
            where = " where error_kind is null" if view == "judge_calls" else ""
            rows = connection.execute(text(f"select * from bi.{view}{where}")).mappings()  # noqa: S608 - our own names
            kept = [{key: value for key, value in row.items() if not is_volatile(key, view)} for row in rows]
            found[view] = sorted(json.dumps(row, default=str, sort_keys=True) for row in kept)
    return found


def is_volatile(column: str, view: str) -> bool:
    is_of_a_call = view == "judge_calls" and column in CHANGING
    is_judge_cost = column in ("judge_calls", "judge_cost_usd")
    is_measured = column.endswith("duration_seconds") and (view == "judge_calls" or column.startswith("scoring"))
    named = column.endswith(("_at", "_id")) and column not in ("model_id", "scenario_id", "question_id")
    return named or is_of_a_call or is_judge_cost or is_measured


@pytest.mark.parametrize("kth", range(1, QUESTIONS + 1))
def test_whichever_call_fails_nothing_is_half_and_the_rest_completes_it(
    make_database: Callable[..., Any],
    tmp_path: Path,
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
    kth: int,
) -> None:
    healthy = server.script
    contents = []
    for name in ("undisturbed", "disturbed"):
        monkeypatch.setenv("ASSAY_HOME", str(tmp_path / name))
        monkeypatch.setenv("ASSAY_DATABASE_URL", make_database().render_as_string(hide_password=False))
        with open_session(write_judged(tmp_path / "ws", server.base_url, judge={"at_once": 1})) as session:
            engine = session.warehouse.engine
            session.warehouse.import_runs(judged_runs())
            server.asked.clear()
            if name == "disturbed":
                server.script = lambda asked: refusal(400) if asked.number == kth else healthy(asked)
                report = score_round(session, CELLS)
                assert len(report.failed) in (1, 2)
                assert one(engine, "select count(*) from bi.model_scores") == len(CELLS) - len(report.failed)
                assert one(engine, "select count(*) from assay.judge_answers") == QUESTIONS - 1
                assert one(engine, "select count(*) from assay.judge_claims") == 0
                server.script = healthy
                server.asked.clear()
                score_round(session, [(model.scenario_id, model.model_id) for model in report.failed])
                assert len(server.asked) == 1
            else:
                score_round(session, CELLS)
                assert len(server.asked) == QUESTIONS
            contents.append(content_of(engine))
    assert contents[0] == contents[1]


def test_the_ledger_adds_up_failures_included(open_judged: Open, server: JudgeServer) -> None:
    healthy = always("b_better", credit=70)

    def script(asked: Asked) -> Reply:
        path, count = asked.question["field"]["path"], sum(1 for one_ in server.asked if not one_.is_repair)
        if path == "/mass" and not asked.is_repair:
            return completion("Both look fine to me.", usage={"prompt_tokens": 777, "completion_tokens": 13})
        if path == "/notes":
            return completion(
                '{"reason": "', finish_reason="length", usage={"prompt_tokens": 901, "completion_tokens": 2000}
            )
        return refusal(500) if count == 1 else healthy(asked)

    server.script = script
    session = open_judged()
    report = score_round(session, CELLS)
    assert set(errors(report)) == {"lab/three"}
    engine = session.warehouse.engine
    spent = one(engine, "select sum(cost_usd) from bi.judge_calls")
    records = session.warehouse.scoring_records(SCENARIO)
    assert len(server.asked) == one(engine, "select count(*) from bi.judge_calls")
    assert math.isclose(spent, math.fsum(row["cost_usd"] for row in records), abs_tol=1e-9)
    assert math.isclose(spent, math.fsum(m.judge.cost_usd or 0 for m in report.models if m.judge), abs_tol=1e-9)
    tokens = one(engine, "select sum(input_tokens) * 0.37e-6 + sum(output_tokens) * 1.93e-6 from bi.judge_calls")
    assert math.isclose(spent, tokens, abs_tol=1e-9)
    scores = session.warehouse.results(SCENARIO)
    by_model = {row["model_id"]: row for row in records}
    assert {row["model_id"]: row["judge_cost_usd"] for row in scores} == {
        row["model_id"]: by_model[row["model_id"]]["cost_usd"] for row in scores
    }
    assert by_model["lab/three"]["failed_call_count"] == 2
    assert one(engine, "select count(distinct judge_family) from bi.judge_calls where judge_family = 'court'") == 1


def test_an_unknown_price_is_said_and_never_nothing(open_judged: Open) -> None:
    session = open_judged(prices=None)
    report = score_round(session, CELLS)
    costs = {model.model_id: model.judge.cost_usd for model in report.models if model.judge}
    assert costs == dict.fromkeys(MODELS)
    (row, *_) = session.warehouse.scoring_records(SCENARIO, model_id="lab/one")
    assert (row["cost_usd"], row["unpriced_call_count"], row["known_cost_usd"]) == (None, 2, 0)


def test_a_budget_stops_the_round_and_keeps_what_was_paid(open_judged: Open, server: JudgeServer) -> None:
    judge = {"at_once": 1, "max_answer_tokens": 100}
    session = open_judged(budget_usd=0.0013, judge=judge)
    report = score_round(session, CELLS)
    assert 0 < len(report.failed) < len(CELLS)
    assert all("budget" in said and "only the rest is asked" in said for said in errors(report).values())
    asked = len(server.asked)
    session = open_judged(judge=judge)
    assert not score_round(session, [(SCENARIO, model_id) for model_id in errors(report)]).failed
    assert len(server.asked) == QUESTIONS > asked


def test_a_plan_says_what_a_round_then_asks(open_judged: Open, server: JudgeServer) -> None:
    session = open_judged()
    plan = plan_round(session, CELLS)
    assert not server.asked
    assert (plan.open_questions, plan.cached, len(plan.models)) == (QUESTIONS, 0, 3)
    score_round(session, CELLS[:1])
    assert plan_round(session, CELLS).open_questions == QUESTIONS - len(server.asked)
    score_round(session, CELLS)
    spent = one(session.warehouse.engine, "select sum(cost_usd) from bi.judge_calls")
    assert plan.cost_usd is not None
    assert len(server.asked) == plan.open_questions
    assert spent < plan.cost_usd + QUESTIONS * 1_000 * 0.37e-6  # the server counts more tokens than there are
    done = plan_round(session, CELLS)
    assert (done.open_questions, done.cached, done.cost_usd) == (0, QUESTIONS, 0)


def test_a_plan_without_a_price_says_so(open_judged: Open) -> None:
    plan = plan_round(open_judged(prices=None), CELLS)
    assert (plan.cost_usd, plan.unpriced) == (None, ("judge-1",))


def test_two_rounds_at_once_pay_for_no_question_twice(open_judged: Open, server: JudgeServer) -> None:
    server.script = always("both_correct", latency_seconds=0.05)
    sessions = [open_judged(), open_judged()]
    reports: list[RoundReport] = []
    threads = [threading.Thread(target=lambda s=s: reports.append(score_round(s, CELLS))) for s in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(report.failed) for report in reports] == [0, 0]
    assert len(server.asked) == QUESTIONS


def claim_all(session: Session, *, seconds: float) -> None:
    """Another process claims every question of the scenario for so long."""
    plan: set[str] = set()
    judge = session.judge(session.workspace.scenario(SCENARIO).scoring.judge.value)  # type: ignore[arg-type]  # it has one
    original = judge._store.votes

    def spy(scenario_id: str, ids: Any) -> Any:
        plan.update(ids)
        return original(scenario_id, plan)

    judge.known = lambda scenario_id, questions: spy(scenario_id, [q.question_id for q in questions])  # type: ignore[method-assign]  # to learn the ids
    plan_round(session, CELLS)
    del judge.known
    with session.warehouse.engine.begin() as connection:
        for id_ in plan:
            connection.execute(
                text("insert into assay.judge_claims values (:s, :q, 'other', now() + make_interval(secs => :n))"),
                {"s": SCENARIO, "q": id_, "n": seconds},
            )


def test_a_dead_workers_claim_is_taken_over(open_judged: Open, server: JudgeServer) -> None:
    session = open_judged()
    claim_all(session, seconds=0.4)
    assert not score_round(session, CELLS).failed
    assert len(server.asked) == QUESTIONS
    assert one(session.warehouse.engine, "select count(*) from assay.judge_claims") == 0


def test_a_claim_is_renewed_while_its_worker_asks(
    open_judged: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge_module, "RENEW_SECONDS", 0.1)
    monkeypatch.setitem(judge_answers._LEASE, "seconds", 0.5)
    server.script = always("both_correct", latency_seconds=1.5)
    first, second = open_judged(), open_judged()
    thread = threading.Thread(target=score_round, args=(first, CELLS))
    thread.start()
    while not server.asked:
        threading.Event().wait(0.01)
    assert not score_round(second, CELLS).failed
    thread.join()
    assert len(server.asked) == QUESTIONS


def test_what_most_other_models_say_is_contested_whoever_is_scored(open_judged: Open, server: JudgeServer) -> None:
    outputs = {model_id: edited(field="poetry") for model_id in MODELS}
    session = open_judged(outputs)
    report = score_round(session, CELLS[:1])
    assert [asked.question["field"]["path"] for asked in server.asked] == ["/field"]
    (row,) = [row for row in session.warehouse.field_scores(SCENARIO, MODELS[0], 1) if row["path"] == "/field"]
    assert (row["rung"], row["is_contested"]) == ("judge", True)
    score_round(session, CELLS)
    assert len(server.asked) == 1
    assert not report.failed


def test_a_value_that_one_other_model_says_is_not_contested(open_judged: Open, server: JudgeServer) -> None:
    session = open_judged({MODELS[0]: edited(field="poetry"), MODELS[1]: edited(field="poetry"), MODELS[2]: REFERENCE})
    score_round(session, CELLS)
    assert not server.asked


def test_position_conflicts_are_counted(open_judged: Open, server: JudgeServer) -> None:
    server.script = always("a_better", credit=40)
    session = open_judged(judge={"swap": True})
    score_round(session, CELLS[:1])
    (row,) = session.warehouse.scoring_records(SCENARIO)
    assert (row["question_count"], row["call_count"], row["position_conflict_count"]) == (2, 4, 2)


def test_the_key_is_nowhere(
    open_judged: Open,
    server: JudgeServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level("DEBUG")

    def script(asked: Asked) -> Reply:
        if asked.number % 2:
            return refusal(500, f"upstream said: invalid key {KEY}")
        return completion(
            answer("a_better", reason=f"You sent {KEY}.") if asked.question["question"] == "compare" else KEY
        )

    server.script = script
    session = open_judged()
    first = run_round_through_dagster(session, CELLS)
    server.script = only(refusal(401, f"Incorrect API key provided: {KEY}"))
    second = run_round_through_dagster(open_judged(judge={"model": "judge-2"}), CELLS)
    assert [len(first.failed), len(second.failed)] == [1, 3]
    assert KEY in server.asked[0].headers["authorization"]
    printed = capfd.readouterr()
    assert KEY not in f"{first} {second} {caplog.text} {printed.out} {printed.err}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert tables_with(session.warehouse.engine, KEY) == []
    assert "public.event_logs" in tables_with(session.warehouse.engine, "gave no answer")  # it was looked into


def test_dagster_shows_the_history_of_judging(open_judged: Open) -> None:
    session = open_judged()
    run_round_through_dagster(session, CELLS)
    with open_instance(session.home) as instance:
        (record,) = instance.fetch_materializations(dg.AssetKey("judge_history"), limit=1).records
    metadata = record.asset_materialization.metadata if record.asset_materialization else {}
    assert metadata["judge_calls"].value == QUESTIONS
    spent = one(session.warehouse.engine, "select sum(cost_usd) from bi.judge_calls")
    assert metadata["judge_cost_usd"].value == pytest.approx(spent)
    assert {"by_model", "cost", "dagster/column_schema", "dagster/row_count"} <= set(metadata)


def test_one_budget_holds_for_all_runs_of_a_command(open_judged: Open, server: JudgeServer) -> None:
    session = open_judged(budget_usd=0.0013, judge={"at_once": 1, "max_answer_tokens": 100})
    cells = [(SCENARIO, MODELS[0]), (SCENARIO, MODELS[2])]  # models that are no neighbours: two runs of Dagster's
    report = run_round_through_dagster(session, cells)
    asked = len(server.asked)
    assert report.failed
    assert 0 < asked < 3


ROUND_IN_A_PROCESS = f"""
from pipelines.round import score_round
from pipelines.session import open_session
from resources import judge_answers

judge_answers._LEASE["seconds"] = 1
with open_session() as session:
    score_round(session, {CELLS!r})
"""


@pytest.mark.parametrize("killed_at", [1, 3])
def test_a_killed_round_loses_no_answer_and_its_successor_asks_the_rest(
    open_judged: Open, server: JudgeServer, tmp_path: Path, killed_at: int
) -> None:
    session = open_judged(judge={"at_once": 1})
    server.script = always("a_better", credit=60, latency_seconds=0.3)
    environment = {**os.environ, "ASSAY_WORKSPACE": str(tmp_path / "ws")}
    with subprocess.Popen([sys.executable, "-c", ROUND_IN_A_PROCESS], env=environment) as process:
        while len(server.asked) < killed_at:
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
    engine = session.warehouse.engine
    kept = one(engine, "select count(*) from assay.judge_answers")
    assert killed_at - 2 <= kept <= killed_at  # one may be in flight, and one on its way to the store
    assert one(engine, "select count(*) from assay.model_scores") == 0
    (record, *_) = session.warehouse.scoring_records(SCENARIO)
    assert (record["is_scored"], record["ended_at"]) == (False, None)
    server.asked.clear()
    assert not score_round(session, CELLS).failed
    assert len(server.asked) == QUESTIONS - kept
