"""`assay compare` with a judge: the hard cases of the shared collection through the real client and a real server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import main
from resources import pace
from tests.judge_server import Asked, JudgeServer, Reply, Script, always, answer, completion, refusal
from tests.test_shared_cases import ALL, case_named, generated

Compare = Callable[..., tuple[int, Any]]
KEY = "sk-compare-secret-42"
WORDS = {"correct": "both_correct", "close_enough": "a_better", "partly": "a_better"}


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(always("both_correct")) as running:
        yield running


@pytest.fixture
def compare(
    server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Compare:
    """Compares two values in a schema: the exit code and the JSON that was printed."""
    monkeypatch.setenv("COMPARE_KEY", KEY)
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)

    def compare_(schema: Any, reference: Any, candidate: Any, **config: Any) -> tuple[int, Any]:
        judge = {"base_url": server.base_url, "model": "stub", "api_key_env": "COMPARE_KEY"} | config.pop("judge", {})
        contents = {"schema": schema, "reference": reference, "candidate": candidate}
        contents["config"] = {"embedding": None, "judge": judge, **config}
        for name, content in contents.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        arguments = [word for name in contents for word in (f"--{name}", str(tmp_path / f"{name}.json"))]
        code = main(["compare", *arguments, "--json"])
        out = capsys.readouterr()
        assert KEY not in out.out + out.err
        return code, json.loads(out.out)

    return compare_


def script_of(stub: dict[str, Any]) -> Script:
    """What the stub of a case says, as a server."""
    replies = stub.get("replies", [])
    goes_on = stub.get("repeat") or stub.get("repeat_last")

    def script(asked: Asked) -> Reply:
        if not replies:
            word = stub.get("always") or stub.get("default") or "both_correct"
            return completion(answer(word.lower(), credit=50))
        at = asked.number - 1 if asked.number <= len(replies) or not goes_on else len(replies) - 1
        return reply_of(replies[min(at, len(replies) - 1)])

    return script


def reply_of(stub: Any) -> Reply:
    match stub:
        case str():
            return completion(stub)
        case {"http_status": status}:
            return refusal(status, stub.get("error", "no"))
        case {"text": text}:
            return completion(text, finish_reason=stub["finish_reason"])
        case {"verdict": verdict, "score": credit}:
            return completion(answer(WORDS.get(verdict, "b_better"), credit=credit))
        case {"verdict": verdict}:
            return completion(answer(WORDS.get(verdict, verdict)))
        case _:
            return completion(json.dumps(stub))


CASES = [(case, entry["name"]) for case in ALL if case["kind"] == "judge" for entry in case["candidates"]]


def values_of(case: dict[str, Any], name: str) -> tuple[Any, Any]:
    entry = next(entry for entry in case["candidates"] if entry["name"] == name)
    reference = generated(case["reference"]) if "$generate" in case["reference"] else case["reference"]
    rest = {key: value for key, value in entry.items() if key != "name"}
    return reference, generated(rest) if "$generate" in entry else entry["value"]


@pytest.mark.parametrize(("case", "name"), CASES, ids=[f"{case['id']}-{name}" for case, name in CASES])
def test_a_judge_case_ends_as_everybody_expects(
    server: JudgeServer, compare: Compare, case: dict[str, Any], name: str
) -> None:
    stub, expected = case["config"]["judge"], case["expected"][name]
    server.script = script_of(stub)
    limits = {"max_prompt_tokens": stub["max_prompt_tokens"]} if "max_prompt_tokens" in stub else {}
    code, found = compare(case["schema"], *values_of(case, name), judge=limits)
    if "error" in expected:
        assert (code, list(found)) == (2, ["error"])
        assert found["error"]["kind"] == expected["error"]["kind"]
        return
    assert code == 0
    rungs = {row["path"]: row["rung"] for row in found["fields"]}
    for path, verdict in expected.get("paths", {}).items():
        assert (rungs[path] == "judge") is (verdict == "judge"), path


def test_both_orders_make_equal_of_a_judge_that_always_likes_the_first(server: JudgeServer, compare: Compare) -> None:
    case = case_named("judge-position-bias")
    server.script = script_of(case["config"]["judge"])
    _, found = compare(case["schema"], *values_of(case, "paraphrase"), judge={"swap": True})
    row = next(row for row in found["fields"] if row["path"] == "/summary")
    assert (row["outcome"], row["credit"]) == ("match", 1.0)
    assert "position_conflict" in row["setting"]["text"]


def test_a_value_in_an_empty_place_is_confirmed_or_refused(server: JudgeServer, compare: Compare) -> None:
    case = case_named("null-extra-confirmed-by-judge")
    words = case["config"]["judge"]["by_value"]
    server.script = lambda asked: completion(answer(words[json.dumps(asked.question["value"])]))
    scores = {}
    for entry in case["candidates"]:
        _, found = compare(case["schema"], case["reference"], entry["value"])
        row = next(row for row in found["fields"] if row["path"] == "/stay_days")
        assert (row["outcome"], row["rung"]) == ("extra", "judge")
        scores[entry["name"]] = (found["quality"], found["hallucination"])
    assert scores["found"] == (100.0, 0.0)
    assert scores["invented"] == (pytest.approx(200 / 3), 50.0)


def test_a_contested_value_is_asked_about(server: JudgeServer, compare: Compare) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "born": {"type": "string", "format": "date"}},
    }
    reference = {"city": "Paris", "born": "1972-03-14"}
    candidate = {"city": "Warsaw", "born": "1972-03-24"}
    _, found = compare(schema, reference, candidate)
    assert not server.asked
    assert {row["outcome"] for row in found["fields"]} == {"mismatch"}
    others = [{"born": "1972-03-24"}, {"born": "1972-03-24"}, {"born": "1972-03-14"}]
    _, found = compare(schema, reference, candidate, documents=["She grew up in Warsaw."], other_outputs=others)
    assert {row["rung"] for row in found["fields"]} == {"judge"}
    assert len(server.asked) == 2


def test_a_judge_without_its_key_is_an_input_error_that_names_the_variable(
    compare: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COMPARE_KEY")
    case = case_named("judge-cache-key")
    code, found = compare(case["schema"], *values_of(case, "first"))
    assert code == 2
    assert "COMPARE_KEY is not set" in found["error"]["message"]
