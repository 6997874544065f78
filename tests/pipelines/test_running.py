"""Runs made of models behind a real server, through the real client: what is a run, what is missing, what is paid."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.rectangles import Cell
from pipelines.running import MakingReport, make_runs, missing_repetitions, plan_runs, runnable_cells
from pipelines.session import Session, open_session
from resources import pace, running
from resources.database import engine_for
from resources.run_store import RunStore
from resources.warehouse import Warehouse
from scoring.errors import InputError
from scoring.records import RunStatus
from tests.judge_server import Asked, JudgeServer, Reply, completion, html, in_turn, only, refusal
from tests.run_workspace import KEY, KEY_VARIABLE, MODELS, PRICE_OF_A_RUN, answered, right, write_callable
from tests.small_workspace import CELLS, REFERENCE, SCENARIOS, run_of

ONE = CELLS[0]
Open = Callable[..., Session]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(running, "LOOK_AGAIN_SECONDS", 0.02)
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(right) as running_server:
        yield running_server


@pytest.fixture
def open_callable(assay_home: Path, tmp_path: Path, server: JudgeServer) -> Iterator[Open]:
    """Opens a session on the workspace as its files say now."""
    del assay_home
    managers: list[Any] = []

    def open_(**options: Any) -> Session:
        managers.append(open_session(write_callable(tmp_path / "ws", server.base_url, **options)))
        session: Session = managers[-1].__enter__()
        return session

    yield open_
    for manager in managers:
        manager.__exit__(None, None, None)


def recorded(session: Session, cell: Cell = ONE) -> list[Any]:
    return [one.run for one in session.warehouse.runs_of(*cell)]


def errors(report: MakingReport) -> str:
    return " | ".join(str(cell.error) for cell in report.failed)


@pytest.mark.parametrize(
    ("expected", "taken", "missing"),
    [
        (3, (), (1, 2, 3)),
        (3, (1, 3), (2,)),
        (3, (2, 7), (1,)),
        (2, (5, 6), ()),
        (1, (1, 2, 3), ()),
        (3, (1, 2, 4), ()),
    ],
)
def test_as_many_runs_are_missing_as_there_are_too_few(
    expected: int, taken: tuple[int, ...], missing: tuple[int, ...]
) -> None:
    assert missing_repetitions(expected, taken) == missing


@given(st.integers(1, 50), st.sets(st.integers(1, 80)))
def test_what_is_missing_completes_the_runs_and_touches_none(expected: int, taken: set[int]) -> None:
    missing = missing_repetitions(expected, taken)
    assert not taken & set(missing)
    assert len(taken) + len(missing) == max(expected, len(taken))


def test_every_model_is_asked_for_every_repetition_once_with_prompt_and_schema(
    open_callable: Open, server: JudgeServer
) -> None:
    session = open_callable()
    report = make_runs(session, CELLS)
    assert not report.failed
    assert len(server.asked) == 12
    for cell in CELLS:
        runs = recorded(session, cell)
        assert [run.repetition for run in runs] == [1, 2, 3]
        assert {json.dumps(json.loads(run.output)) for run in runs} == {json.dumps(REFERENCE)}
        assert {(run.input_tokens, run.output_tokens, run.cost_usd) for run in runs} == {(1000, 50, PRICE_OF_A_RUN)}
        assert all(run.duration_seconds > 0 for run in runs)
    asked = server.asked[0]
    assert asked.messages[1]["content"].startswith("Who?\n\nJSON Schema of the answer:\n")
    assert asked.body["response_format"]["json_schema"]["schema"]["properties"].keys() == {"name", "year"}
    assert not {"temperature", "max_tokens"} & asked.body.keys()
    assert {one.body["model"] for one in server.asked} == set(MODELS)


def test_what_is_recorded_is_never_asked_for_again(open_callable: Open, server: JudgeServer) -> None:
    session = open_callable()
    session.warehouse.import_runs([run_of(*ONE, repetition=2)])
    report = make_runs(session, [ONE])
    assert len(server.asked) == 2
    assert [run.repetition for run in report.cells[0].runs] in ([1, 3], [3, 1])
    assert make_runs(session, [ONE]).cells[0].wanted == 0
    assert len(server.asked) == 2


def test_settings_of_models_yaml_stand_in_the_request(open_callable: Open, server: JudgeServer) -> None:
    session = open_callable(settings={"max_answer_tokens": 77, "parameters": {"temperature": 0.7, "seed": 3}})
    make_runs(session, [ONE])
    body = server.asked[0].body
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (77, 0.7, 3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parameters": {"messages": []}}, "messages is set by Assay itself"),
        ({"at_once": 0}, "at_once"),
        ({"timeout_seconds": -1.0}, "timeout_seconds"),
        ({"max_answer_token": 5}, "max_answer_token"),
    ],
)
def test_settings_that_cannot_be_are_refused_by_name(open_callable: Open, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_callable(settings=settings)


BIG = {"name": "x" * 10_000_000, "year": 1815}

RUNS = {
    "garbage": (completion("I am sure it was Ada!"), RunStatus.OK, "I am sure it was Ada!", None),
    "cut off": (completion('{"name": "Ad', finish_reason="length"), RunStatus.OK, '{"name": "Ad', None),
    "cut off before a word": (completion("", finish_reason="length"), RunStatus.FAILED, None, "cut off"),
    "refusal": (completion(None, refusal="I will not"), RunStatus.FAILED, None, "refused to answer: I will not"),
    "filtered": (completion("He", finish_reason="content_filter"), RunStatus.FAILED, None, "content filter"),
    "empty": (completion(""), RunStatus.FAILED, None, "the answer is empty"),
    "odd characters": (completion("a\x00b\ud800"), RunStatus.OK, "a\x00b\ud800", None),
    "ten megabytes": (answered(BIG), RunStatus.OK, json.dumps(BIG), None),
}


@pytest.mark.parametrize("name", RUNS)
def test_whatever_a_model_says_is_a_run(open_callable: Open, server: JudgeServer, name: str) -> None:
    reply, status, output, error = RUNS[name]
    server.script = only(reply)
    session = open_callable(repetitions=1)
    report = make_runs(session, [ONE])
    assert not report.failed
    assert len(server.asked) == 1
    (run,) = recorded(session)
    assert (run.status, run.output) == (status, output)
    assert (error or "") in (run.error or "")
    assert run.cost_usd == PRICE_OF_A_RUN


MISSING = {
    "a page of a proxy": (html(), 3, "base_url often has to end in /v1"),
    "no chat completion": (Reply(body='{"detail": "hello"}'), 3, "instead of a chat completion"),
    "half a body": (Reply(body='{"choices": [{"mess'), 3, "no JSON"),
    "errors of the server": (refusal(500, "oops"), 18, "after 6 requests: HTTP 500"),
    "a connection that closes": (Reply(status=None), 18, "the connection failed"),
    "a wrong key": (refusal(401, f"wrong key {KEY}"), 1, f"Check the key in {KEY_VARIABLE}"),
    "no such model": (refusal(404, "no model"), 1, "Check base_url"),
    "no credit": (refusal(429, "pay", code="insufficient_quota"), 1, "HTTP 429: pay"),
    "too long": (refusal(400, "prompt is too long", code="context_length_exceeded"), 4, "shorten the documents"),
    "a bad request": (refusal(400, "unknown field: seed"), 4, "HTTP 400: unknown field: seed"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_no_model_said_is_no_run_and_is_asked_for_again_later(
    open_callable: Open, server: JudgeServer, name: str
) -> None:
    reply, requests, words = MISSING[name]
    server.script = only(reply)
    session = open_callable(repetitions=4, settings={"parameters": {"seed": 1}})
    report = make_runs(session, [ONE])
    assert len(server.asked) == requests
    assert words in errors(report)
    assert KEY not in errors(report)
    assert len(report.cells[0].unanswered) == 4
    assert recorded(session) == []
    server.script = right
    assert not make_runs(session, [ONE]).failed
    assert len(recorded(session)) == 4


def test_a_slow_server_is_waited_for_as_long_as_models_yaml_says(open_callable: Open, server: JudgeServer) -> None:
    server.script = in_turn([answered(REFERENCE, latency_seconds=60)], right)
    session = open_callable(repetitions=1, settings={"timeout_seconds": 0.3})
    assert not make_runs(session, [ONE]).failed
    (run,) = recorded(session)
    assert len(server.asked) == 2
    assert run.duration_seconds < 60


def test_a_server_that_asks_for_a_pause_gets_it(open_callable: Open, server: JudgeServer) -> None:
    server.script = in_turn([refusal(429, "slow down", headers={"Retry-After": "0.2"})] * 2, right)
    session = open_callable()
    report = make_runs(session, [ONE])
    assert not report.failed
    assert len(server.asked) == 5
    assert report.duration_seconds >= 0.4


def test_a_server_that_knows_no_schema_is_asked_without(open_callable: Open, server: JudgeServer) -> None:
    def script(asked: Asked) -> Reply:
        return refusal(400, "response_format is not supported") if "response_format" in asked.body else right(asked)

    server.script = script
    session = open_callable()
    assert not make_runs(session, [ONE]).failed
    assert len(server.asked) == 2 + 3


def test_a_model_that_fails_costs_the_others_nothing(open_callable: Open, server: JudgeServer) -> None:
    server.script = lambda asked: refusal(404, "no") if asked.body["model"] == MODELS[0] else right(asked)
    session = open_callable()
    report = make_runs(session, CELLS)
    assert [(cell.scenario_id, cell.model_id) for cell in report.failed] == [CELLS[0], CELLS[2]]
    assert not report.is_outage
    assert len(server.asked) == 1 + 6
    assert [len(recorded(session, cell)) for cell in CELLS] == [0, 3, 0, 3]


def test_a_wrong_key_is_tried_once_for_all_models_of_the_server(open_callable: Open, server: JudgeServer) -> None:
    server.script = lambda asked: refusal(401, "no") if asked.body["model"] == MODELS[0] else right(asked)
    report = make_runs(open_callable(), CELLS)
    assert len(report.failed) >= 2
    assert sum(asked.body["model"] == MODELS[0] for asked in server.asked) == 1


def test_a_key_that_is_not_set_is_named_and_nobody_is_asked(
    open_callable: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    report = make_runs(open_callable(), CELLS)
    assert f"{KEY_VARIABLE} is not set" in errors(report)
    assert not server.asked


@pytest.mark.parametrize(("at_once", "most"), [(None, 8), (3, 3), (1, 1)])
def test_a_server_gets_so_many_requests_at_once_as_models_yaml_says(
    open_callable: Open, server: JudgeServer, at_once: int | None, most: int
) -> None:
    server.script = lambda _: answered(REFERENCE, latency_seconds=0.01 if server.most_in_flight >= most else 2.0)
    settings = {} if at_once is None else {"at_once": at_once}
    make_runs(open_callable(repetitions=10, settings=settings), CELLS[:2])
    assert len(server.asked) == 20
    assert server.most_in_flight == most


def test_requests_a_minute_hold_for_all_models_of_a_server(open_callable: Open, server: JudgeServer) -> None:
    report = make_runs(open_callable(repetitions=2, settings={"requests_per_minute": 1200}), CELLS)
    assert len(server.asked) == 8
    assert report.duration_seconds >= 7 * 60 / 1200


def test_a_budget_stops_before_it_is_passed_and_a_larger_one_goes_on(open_callable: Open, server: JudgeServer) -> None:
    session = open_callable(repetitions=20, budget_usd=0.02, settings={"max_answer_tokens": 50, "at_once": 1})
    report = make_runs(session, [ONE])
    spent = sum(run.cost_usd for run in recorded(session))
    assert 0 < spent <= 0.02
    assert len(server.asked) == len(recorded(session)) < 20
    assert "Raise budgets.runs_usd" in errors(report)
    assert not report.is_outage
    again = open_callable(repetitions=20, budget_usd=1.0, settings={"max_answer_tokens": 50})
    assert not make_runs(again, [ONE]).failed
    assert len(server.asked) == 20


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_answer_tokens": 50, "output_usd_per_million": None}, "Give the model its prices"),
        ({}, "Give the model its max_answer_tokens"),
    ],
)
def test_a_budget_asks_nothing_whose_cost_nobody_knows(
    open_callable: Open, server: JudgeServer, settings: dict[str, Any], words: str
) -> None:
    report = make_runs(open_callable(budget_usd=5, settings=settings), [ONE])
    assert words in errors(report)
    assert not server.asked


def test_an_unknown_price_is_an_unknown_cost(open_callable: Open) -> None:
    session = open_callable(settings={"output_usd_per_million": None})
    report = make_runs(session, [ONE])
    assert report.cells[0].cost_usd is None
    assert [run.cost_usd for run in recorded(session)] == [None] * 3
    assert recorded(session)[0].input_tokens == 1000


def test_the_plan_is_an_upper_bound_and_calls_nobody(open_callable: Open, server: JudgeServer) -> None:
    session = open_callable(settings={"max_answer_tokens": 50})
    session.warehouse.import_runs([run_of(*ONE, repetition=1)])
    plan = plan_runs(session, CELLS)
    assert plan.requests == 11
    assert plan.cells[0].missing == (2, 3)
    assert plan.cost_usd is not None
    assert not server.asked
    cheapest = 11 * 50 * 10 / 1_000_000
    assert cheapest < plan.cost_usd < 11 * 0.01
    assert plan_runs(open_callable(), CELLS).unbounded == MODELS


def test_two_processes_at_once_pay_for_each_repetition_once(open_callable: Open, server: JudgeServer) -> None:
    server.script = lambda _: answered(REFERENCE, latency_seconds=0.02)
    session = open_callable(repetitions=25)
    reports: list[MakingReport] = []
    threads = [threading.Thread(target=lambda: reports.append(make_runs(session, CELLS))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.asked) == 100
    assert not any(report.failed for report in reports)
    assert sum(len(cell.runs) for report in reports for cell in report.cells) == 100
    assert sum(cell.elsewhere for report in reports for cell in report.cells) > 0


def test_the_claim_of_a_process_that_died_is_taken_over(
    open_callable: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RunStore.claim.__globals__["_LEASE"], "seconds", 0.5)
    session = open_callable()
    assert session.warehouse.run_store.claim((*ONE, 2), "a dead one")
    assert not make_runs(session, [ONE]).failed
    assert len(server.asked) == 3


def test_a_lake_that_is_full_for_a_moment_loses_no_answer(
    open_callable: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PAUSES_SECONDS", (0.0, 0.0))
    session = open_callable()
    fails = iter([True, False, True, True, False, False])

    def record(store: RunStore, run: Any) -> bool:
        if next(fails):
            raise OSError(28, "No space left on device")
        return inner(store, run)

    inner = RunStore.record
    monkeypatch.setattr(RunStore, "record", record)
    assert not make_runs(session, [ONE]).failed
    assert len(server.asked) == 3


def test_a_lake_that_stays_full_ends_the_making_and_keeps_what_was_recorded(
    open_callable: Open, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "PAUSES_SECONDS", (0.0,))
    session = open_callable(settings={"at_once": 1})
    inner = RunStore.record

    def record(store: RunStore, run: Any) -> bool:
        if run.repetition > 1:
            raise OSError(28, "No space left on device")
        return inner(store, run)

    monkeypatch.setattr(RunStore, "record", record)
    with pytest.raises(OSError, match="No space left"):
        make_runs(session, [ONE])
    assert len(server.asked) == 2
    monkeypatch.setattr(RunStore, "record", inner)
    assert not make_runs(session, [ONE]).failed
    assert len(server.asked) == 4


def test_a_model_without_an_address_is_a_problem_of_its_cell_alone(open_callable: Open, tmp_path: Path) -> None:
    session = open_callable()
    models = json.loads((tmp_path / "ws" / "models.yaml").read_text())
    del models[0]["base_url"]
    (tmp_path / "ws" / "models.yaml").write_text(json.dumps(models))
    with open_session(tmp_path / "ws") as changed:
        report = make_runs(changed, CELLS)
        assert {cell.model_id for cell in report.failed} == {MODELS[0]}
        assert "Give it a base_url" in errors(report)
        changed.warehouse.import_runs([run_of(*cell, repetition=n) for cell in CELLS[::2] for n in (1, 2, 3)])
        assert not make_runs(changed, CELLS).failed  # nothing is missing there, so nobody has to be called
        assert runnable_cells(changed, [SCENARIOS[0]], None) == [(SCENARIOS[0], MODELS[1])]
        with pytest.raises(InputError, match="cannot be called"):
            runnable_cells(changed, [SCENARIOS[0]], [MODELS[0]])
    assert session.warehouse.cells()


def test_only_enrichment_can_be_run(open_callable: Open, tmp_path: Path) -> None:
    open_callable()
    file = tmp_path / "ws" / "scenarios" / "s0" / "scenario.yaml"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"type": "example_generation"}))
    with open_session(tmp_path / "ws") as session, pytest.raises(InputError, match="example_generation cannot be run"):
        runnable_cells(session, [SCENARIOS[0]], None)


def test_a_run_is_recorded_once_and_its_claim_ends(warehouse: Warehouse, open_callable: Open) -> None:
    del warehouse
    session = open_callable()
    store = session.warehouse.run_store
    run = run_of(*ONE, repetition=1)
    assert store.claim((*ONE, 1), "a")
    assert not store.claim((*ONE, 1), "b")
    assert store.record(run)
    assert store.record(run)
    assert not store.record(run_of(*ONE, {"name": "Another"}, repetition=1))
    assert store.claim((*ONE, 1), "b")
    assert [one.output for one in recorded(session)] == [json.dumps(REFERENCE)]
    other = engine_for(session.warehouse.engine.url)
    assert RunStore(other, session.warehouse.lake).is_recorded((*ONE, 1))
    other.dispose()
