"""A judge through the real client and a real server: what is asked, retried, repaired, given up, remembered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from resources import judge_ballots, pace
from resources.judge import FAILURES_IN_A_ROW, Judge
from resources.judge_calls import Answered, Fault, JudgeCall, Raised
from resources.judge_memory import MemoryAnswers
from resources.judge_prices import Spending
from resources.settings import Endpoint, JudgeSettings
from scoring.questions import SYSTEM_MESSAGE
from scoring.records import Model, Question, QuestionKind, Verdict
from tests.judge_server import (
    Asked,
    JudgeServer,
    Reply,
    always,
    answer,
    completion,
    html,
    in_turn,
    only,
    refusal,
)

KEY = "sk-test-4711-very-secret"
PRICED = Model(model_id="lab/judge", name="judge", family="lab", input_usd_per_million=1.0, output_usd_per_million=10.0)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of a thousandth."""
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(always("both_correct")) as running:
        yield running


def question(number: int, kind: QuestionKind = QuestionKind.COMPARE, **more: Any) -> Question:
    body: dict[str, Any] = {"question": kind.value, **more}
    body |= {"A": f"a{number}", "B": f"b{number}"} if kind is QuestionKind.COMPARE else {"value": number}
    message = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return Question(question_id=f"q{number}-{kind}", kind=kind, path=f"/p{number}", message=message)


def raised(*numbers: int, kind: QuestionKind = QuestionKind.COMPARE) -> list[Raised]:
    return [Raised(scenario_id="s", question=question(number, kind)) for number in numbers]


Make = Callable[..., tuple[Judge, MemoryAnswers]]


@pytest.fixture
def make(server: JudgeServer) -> Make:
    """A judge that asks the server, and the memory that it keeps its answers in."""

    def make_(
        *,
        store: MemoryAnswers | None = None,
        names: tuple[str, ...] = ("judge",),
        models: tuple[Model, ...] = (PRICED,),
        max_prompt_tokens: int | None = None,
        **settings: Any,
    ) -> tuple[Judge, MemoryAnswers]:
        kept = store or MemoryAnswers()
        endpoints = tuple(
            Endpoint(model=name, base_url=server.base_url, api_key_env="JUDGE_KEY", max_prompt_tokens=max_prompt_tokens)
            for name in names
        )
        judge = JudgeSettings(models=endpoints, **settings)
        return Judge(judge, store=kept, models=models, environment={"JUDGE_KEY": KEY}), kept

    return make_


def one_of(answered: Answered) -> Any:
    assert not answered.failures, answered.failures
    (found,) = answered.answers.values()
    return found


def reason(answered: Answered) -> str:
    assert not answered.answers
    return next(iter(answered.failures.values()))


def test_a_question_is_asked_as_rules_and_data(server: JudgeServer, make: Make) -> None:
    judge, store = make()
    found = one_of(judge.answer(raised(1)))
    assert (found.verdict, found.credit, found.votes) == (Verdict.BOTH_CORRECT, 1.0, 1)
    (asked,) = server.asked
    assert [message["role"] for message in asked.messages] == ["system", "user"]
    assert asked.messages[0]["content"] == SYSTEM_MESSAGE
    assert asked.messages[1]["content"] == question(1).message
    assert asked.body["temperature"] == 0
    assert asked.body["response_format"]["json_schema"]["strict"] is True
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    (call,) = store.calls
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (1_000, 50, 0.0015)
    assert (call.judge_family, call.attempt, call.fault, call.error) == ("lab", 1, None, None)


def test_what_is_answered_is_not_asked_again(server: JudgeServer, make: Make) -> None:
    judge, store = make()
    judge.answer(raised(1, 2))
    again, _ = make(store=store)
    answered = again.answer(raised(1, 2, 3, 3))
    assert (len(answered.answers), answered.calls, len(answered.cached)) == (3, 1, 2)
    assert len(server.asked) == 3


def test_another_judge_model_is_asked_for_itself(make: Make) -> None:
    judge, store = make()
    judge.answer(raised(1))
    other, _ = make(store=store, names=("other-judge",))
    assert other.answer(raised(1)).calls == 1


RETRIED = [
    (refusal(429, "slow down", headers={"Retry-After": "0.01"}), Fault.RATE_LIMITED),
    (refusal(500), Fault.SERVER_ERROR),
    (refusal(503, "overloaded"), Fault.SERVER_ERROR),
    (refusal(408), Fault.TIMEOUT),
    (refusal(409), Fault.SERVER_ERROR),
    (Reply(status=None), Fault.CONNECTION),
]


@pytest.mark.parametrize(("reply", "fault"), RETRIED, ids=lambda one: getattr(one, "value", ""))
def test_a_passing_fault_is_retried_and_recorded(server: JudgeServer, make: Make, reply: Reply, fault: Fault) -> None:
    server.script = in_turn([reply, reply], always("both_correct"))
    judge, store = make()
    one_of(judge.answer(raised(1)))
    assert [call.fault for call in store.calls] == [fault, fault, None]
    assert [call.attempt for call in store.calls] == [1, 2, 3]
    assert all(call.error and call.cost_usd == 0 for call in store.calls[:2])


def test_a_fault_that_stays_is_a_failure_in_words(server: JudgeServer, make: Make) -> None:
    server.script = only(refusal(503, "overloaded"))
    judge, store = make()
    said = reason(judge.answer(raised(1)))
    assert len(store.calls) == judge_ballots.ATTEMPTS
    assert "after 6 requests: HTTP 503: overloaded" in said
    assert not judge.known("s", [question(1)])


def test_a_slow_server_times_out(server: JudgeServer, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_ballots, "ATTEMPTS", 2)
    server.script = always("both_correct", latency_seconds=30)
    judge, store = make(timeout_seconds=0.2)
    assert "no answer within the time limit" in reason(judge.answer(raised(1)))
    assert [(call.fault, call.cost_usd) for call in store.calls] == [(Fault.TIMEOUT, None)] * 2


HOPELESS = [
    (refusal(401, f"Incorrect API key provided: {KEY}"), "JUDGE_KEY"),
    (refusal(403, "forbidden"), "JUDGE_KEY"),
    (refusal(404, "no such model", code="model_not_found"), "'judge'"),
    (refusal(429, "You exceeded your current quota", code="insufficient_quota"), "quota"),
]


@pytest.mark.parametrize(("reply", "words"), HOPELESS)
def test_a_hopeless_fault_stops_all_further_asking(server: JudgeServer, make: Make, reply: Reply, words: str) -> None:
    server.script = only(reply)
    judge, store = make(at_once=8)
    answered = judge.answer(raised(*range(20)))
    assert len(answered.failures) == 20
    assert len(store.calls) == 1
    assert words in answered.failures[("s", question(0).question_id)]
    assert not any(KEY in said for said in answered.failures.values())
    assert not any(KEY in str(call) for call in store.calls)


def test_a_server_that_is_down_is_given_up_after_a_few_questions(server: JudgeServer, make: Make) -> None:
    server.script = only(refusal(500))
    judge, store = make(at_once=16)
    answered = judge.answer(raised(*range(50)))
    assert len(answered.failures) == 50
    assert len(store.calls) == FAILURES_IN_A_ROW * judge_ballots.ATTEMPTS
    assert "given up" in answered.failures[("s", question(49).question_id)]


REFUSED = [
    ("response_format is not supported by this model", {}, "response_format", ["json_schema", "json_object"]),
    ("'temperature' does not support 0 with this model.", {"param": "temperature"}, "temperature", [0]),
    (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        {"code": "unsupported_parameter"},
        "max_tokens",
        [2000],
    ),
]


@pytest.mark.parametrize(("message", "more", "parameter", "values"), REFUSED)
def test_a_refused_parameter_is_given_up_for_good(
    server: JudgeServer, make: Make, message: str, more: dict[str, Any], parameter: str, values: list[Any]
) -> None:
    def script(asked: Asked) -> Reply:
        return refusal(400, message, **more) if parameter in asked.body else always("both_correct")(asked)

    server.script = script
    judge, store = make(at_once=4)
    answered = judge.answer(raised(*range(8)))
    assert len(answered.answers) == 8
    faults = [call.fault for call in store.calls]
    assert faults == [Fault.PARAMETER] * len(values) + [None] * 8
    sent = [asked.body[parameter] for asked in server.asked if parameter in asked.body]
    assert [one["type"] if isinstance(one, dict) else one for one in sent] == values
    if parameter == "max_tokens":
        assert server.asked[-1].body["max_completion_tokens"] == 2000


def test_any_other_bad_request_is_named_and_not_repeated(server: JudgeServer, make: Make) -> None:
    server.script = only(refusal(400, "messages must alternate"))
    judge, store = make()
    assert "messages must alternate" in reason(judge.answer(raised(1)))
    assert [call.fault for call in store.calls] == [Fault.BAD_REQUEST]


NO_ANSWERS = {
    "prose": (completion("I would say both are fine!"), Fault.NO_ANSWER, "no JSON"),
    "empty": (completion(""), Fault.NO_ANSWER, "empty"),
    "null": (completion(None), Fault.NO_ANSWER, "empty"),
    "cut off": (completion('{"reason": "bo', finish_reason="length"), Fault.CUT_OFF, "cut off"),
    "cut off whole": (completion(answer("both_correct"), finish_reason="length"), Fault.CUT_OFF, "cut off"),
    "refused": (completion(None, refusal="I cannot help with that."), Fault.REFUSED, "refused"),
    "filtered": (completion("", finish_reason="content_filter"), Fault.REFUSED, "filter"),
    "out of range": (completion(answer("a_better", credit=150)), Fault.NO_ANSWER, "150"),
    "unknown verdict": (completion(answer("A_is_best")), Fault.NO_ANSWER, "A_is_best"),
    "incomplete": (completion('{"reason": "x", "verdict": "a_better"}'), Fault.NO_ANSWER, "keys"),
    "a list": (completion("[1, 2]"), Fault.NO_ANSWER, "no JSON object"),
    "html": (html(), Fault.NO_ANSWER, "/v1"),
    "no choices": (Reply(body="{}"), Fault.NO_ANSWER, "chat completion"),
    "broken json": (Reply(body='{"choices": ['), Fault.NO_ANSWER, ""),
}


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_no_answer_is_repaired_once(server: JudgeServer, make: Make, name: str) -> None:
    reply, fault, words = NO_ANSWERS[name]
    server.script = in_turn([reply], always("a_better", credit=40))
    judge, store = make()
    assert one_of(judge.answer(raised(1))).verdict is Verdict.A_BETTER
    assert [(call.fault, call.is_repair) for call in store.calls] == [(fault, False), (None, True)]
    roles = [message["role"] for message in server.asked[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert words in server.asked[1].messages[3]["content"]
    assert server.asked[1].messages[:2] == server.asked[0].messages


@pytest.mark.parametrize("name", NO_ANSWERS)
def test_what_is_still_no_answer_is_a_failure_and_never_cached(server: JudgeServer, make: Make, name: str) -> None:
    reply, _, words = NO_ANSWERS[name]
    server.script = only(reply)
    judge, store = make()
    assert words in reason(judge.answer(raised(1)))
    assert len(store.calls) == 2
    server.script = always("both_correct")
    assert one_of(judge.answer(raised(1))).verdict is Verdict.BOTH_CORRECT


def test_thought_and_a_code_fence_around_an_answer_are_no_fault(server: JudgeServer, make: Make) -> None:
    server.script = only(completion(f"<think>Hm {{}}.</think>\n```json\n{answer('b_wrong', credit=0)}\n```"))
    judge, _ = make()
    assert one_of(judge.answer(raised(1))).verdict is Verdict.B_WRONG


def test_a_prompt_longer_than_allowed_is_never_sent(server: JudgeServer, make: Make) -> None:
    judge, store = make(max_prompt_tokens=1_000)
    long = Raised(scenario_id="s", question=question(1, documents=["word " * 4_000]))
    said = reason(judge.answer([long]))
    assert "too long" in said
    assert "Nothing was cut" in said
    assert not server.asked
    assert [call.fault for call in store.calls] == [Fault.TOO_LONG]


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ("This model's maximum context length is 8192 tokens.", {"code": "context_length_exceeded"}),
        ("the prompt is too long: 210000 tokens > 200000 maximum", {}),
        ("This model's maximum context length is 4096 tokens; reduce the messages or max_tokens.", {}),
    ],
)
def test_a_prompt_that_the_server_finds_too_long_is_not_repeated(
    server: JudgeServer, make: Make, message: str, more: dict[str, Any]
) -> None:
    server.script = only(refusal(400, message, **more))
    judge, store = make()
    assert "Nothing was cut" in reason(judge.answer(raised(1)))
    assert [call.fault for call in store.calls] == [Fault.TOO_LONG]


def test_a_missing_key_names_its_variable(make: Make, server: JudgeServer) -> None:
    judge = Judge(make()[0].settings, store=MemoryAnswers(), environment={})
    assert "JUDGE_KEY is not set" in reason(judge.answer(raised(1)))
    assert not server.asked


def test_no_more_questions_are_in_flight_than_allowed(server: JudgeServer, make: Make) -> None:
    server.script = always("both_correct", latency_seconds=0.02)
    judge, _ = make(at_once=5)
    judge.answer(raised(*range(40)))
    assert 1 < server.most_in_flight <= 5


def test_requests_a_minute_are_spread(make: Make) -> None:
    judge, store = make(requests_per_minute=1_200, at_once=8)
    judge.answer(raised(*range(8)))
    times = sorted(call.called_at for call in store.calls)
    assert (times[-1] - times[0]).total_seconds() >= 7 * 0.05 - 0.02


def test_both_orders_are_asked_and_a_flipped_verdict_is_a_tie(server: JudgeServer, make: Make) -> None:
    server.script = always("a_better", credit=30)
    judge, store = make(is_swapped=True)
    found = one_of(judge.answer(raised(1)))
    assert (found.verdict, found.worths, found.votes) == (Verdict.BOTH_CORRECT, (1.0, 1.0), 2)
    assert found.is_position_conflict
    shown = [(asked.question["A"], asked.question["B"]) for asked in server.asked]
    assert sorted(shown) == [("a1", "b1"), ("b1", "a1")]
    swapped = next(call for call in store.calls if call.ballot.is_swapped)
    assert json.loads(swapped.sent_text or "")["A"] == "b1"


def test_a_value_alone_has_no_order(make: Make) -> None:
    judge, _ = make(is_swapped=True)
    assert judge.answer(raised(1, kind=QuestionKind.VERIFY)).calls == 1


def test_a_panel_asks_each_judge_once_and_takes_the_median(server: JudgeServer, make: Make) -> None:
    credit = {"one": 30, "two": 50, "three": 80}
    server.script = lambda asked: completion(answer("a_better", credit=credit[asked.body["model"]]))
    judge, store = make(names=("one", "two", "three"))
    found = one_of(judge.answer(raised(1)))
    assert (found.verdict, found.worths, found.votes) == (Verdict.A_BETTER, (1.0, 0.5), 3)
    assert sorted(call.ballot.judge_model for call in store.calls) == ["one", "three", "two"]


def test_a_panel_that_lacks_a_vote_has_no_answer_and_asks_only_for_that_vote_later(
    server: JudgeServer, make: Make
) -> None:
    agreeing = always("both_correct")
    server.script = lambda asked: refusal(400) if asked.body["model"] == "two" else agreeing(asked)
    judge, store = make(names=("one", "two"))
    assert judge.answer(raised(1)).failures
    server.script = always("both_correct")
    assert judge.answer(raised(1)).calls == 1
    assert [call.ballot.judge_model for call in store.calls if call.answer] == ["one", "two"]


def test_an_unknown_price_is_unknown_and_a_free_judge_is_free(make: Make) -> None:
    judge, store = make(models=())
    judge.answer(raised(1))
    assert store.calls[0].cost_usd is None
    free = Model(model_id="judge", input_usd_per_million=0.0, output_usd_per_million=0.0)
    judge, store = make(models=(free,))
    judge.answer(raised(1))
    assert store.calls[0].cost_usd == 0


def test_tokens_that_the_server_does_not_tell_leave_the_cost_unknown(server: JudgeServer, make: Make) -> None:
    server.script = only(completion(answer("both_correct"), usage=None))
    judge, store = make()
    judge.answer(raised(1))
    call: JudgeCall = store.calls[0]
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (None, None, None)


def test_a_budget_is_never_passed_and_what_was_paid_stays(server: JudgeServer, make: Make) -> None:
    server.script = always("both_correct", latency_seconds=0.005)
    judge, store = make(at_once=8, max_answer_tokens=50)
    spending = Spending(limit_usd=0.02)
    answered = judge.answer(raised(*range(60)), spending=spending)
    paid = sum(call.cost_usd or 0 for call in store.calls)
    assert 0 < paid <= 0.02 + 8 * 0.0015  # the server counts more input tokens than such short prompts have
    assert len(answered.answers) == len(store.calls)
    assert "budget" in next(iter(answered.failures.values()))
    assert "Raise budgets.judge_usd" in next(iter(answered.failures.values()))


def test_a_budget_without_a_price_asks_nothing(server: JudgeServer, make: Make) -> None:
    judge, _ = make(models=())
    assert "price of judge judge is unknown" in reason(judge.answer(raised(1), spending=Spending(limit_usd=1.0)))
    assert not server.asked


def test_a_broken_store_stops_the_asking(server: JudgeServer, make: Make) -> None:
    class Broken(MemoryAnswers):
        def keep(self, calls: object) -> None:
            raise OSError(f"the disk is full: {calls}"[:16])

    judge, _ = make(store=Broken(), at_once=2)
    server.script = always("both_correct", latency_seconds=0.01)
    with pytest.raises(OSError, match="disk is full"):
        judge.answer(raised(*range(200)))
    assert len(server.asked) < 50
