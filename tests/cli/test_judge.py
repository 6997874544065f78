"""`assay judge audit`: what it asks, what it says, and when it fails."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.checks import CHECKS, Recorded
from pipelines.session import open_session
from resources import pace
from tests.cli.tower import Assay, score_without_dagster
from tests.judge_server import Asked, JudgeServer, Reply, always, answer, completion
from tests.judged_workspace import write_judged_workspace

Judged = Callable[..., Path]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    with JudgeServer(by_value) as running:
        yield running


@pytest.fixture
def judged(tmp_path: Path, assay_home: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> Judged:  # noqa: ARG001 - for its effect
    """Makes a workspace with a judge, scored."""

    def make(**settings: Any) -> Path:
        folder = write_judged_workspace(tmp_path / "judged", server.base_url, **settings)
        monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
        score_without_dagster()
        server.asked.clear()
        return folder

    return make


def by_value(asked: Asked) -> Reply:
    """A fair judge: the smaller number is better, whichever place it has; what is in an empty place is right."""
    question = asked.question
    if question["question"] == "verify":
        return completion(answer("correct"))
    return completion(answer("a_better" if question["A"] < question["B"] else "b_better", credit=50))


def figure(said: Any, measure: str, judge: str = "judge") -> dict[str, Any]:
    (found,) = [one for one in said["figures"] if one["measure"] == measure and one["judge"] == judge]
    return dict(found)


def test_a_fair_judge_is_found_fair_and_a_second_audit_asks_nothing(
    assay: Assay, judged: Judged, server: JudgeServer
) -> None:
    judged(fields=40)
    first = assay("judge", "audit", "--json", "--sample", 84)
    assert (first.json["questions"], first.json["sample"], first.json["calls"]) == (84, 84, 80 + 84)
    assert figure(first.json, "position_bias")["value"] == 0
    assert figure(first.json, "repeat")["value"] == 1
    assert {figure(first.json, one)["standing"] for one in ("position_bias", "repeat")} == {"good"}
    server.asked.clear()
    second = assay("judge", "audit", "--json", "--sample", 84)
    assert server.asked == []
    assert second.json["figures"] == first.json["figures"]
    assert second.json["calls"] == 0


def test_a_judge_that_always_takes_the_first_place_is_found_out(
    assay: Assay, judged: Judged, server: JudgeServer
) -> None:
    server.script = always("a_better", credit=50)
    judged(fields=20)
    said = assay("judge", "audit", "--json")
    assert said.code == 1
    bias = figure(said.json, "position_bias")
    assert (bias["value"], bias["standing"]) == (1, "bad")
    assert figure(said.json, "first_place")["value"] == 1
    assert "What to do: set judge.swap: true" in assay("judge", "audit").out


def test_a_judge_of_the_models_family_is_flagged_everywhere(assay: Assay, judged: Judged) -> None:
    judged()
    results = assay("results", "tables", "--json").json
    assert {row["model_id"]: row["is_judge_family"] for row in results["models"]} == {
        "kin/model": True,
        "other/model": False,
    }
    assert "judge family" in assay("results", "tables").out
    assert assay("ranking", "--json").json["judge_family"] == ["kin/model"]
    assert "Models: kin/model." in assay("ranking").out
    with open_session() as session:
        warehouse = session.warehouse
        (check,) = [one for one in CHECKS if one.name == "judge_family"]
        recorded = Recorded(cells=warehouse.cells(), warehouse=warehouse, instance=dg.DagsterInstance.ephemeral())
        assert [row["model"] for row in check.find(recorded).rows] == ["kin/model"]


def test_the_plan_tells_calls_and_cost_and_asks_nothing(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    judged()
    plan = assay("judge", "audit", "--plan", "--json", "--sample", 10).json["plan"]
    assert server.asked == []
    assert (plan["questions"], plan["sample"], plan["cached"]) == (28, 10, 0)
    made = assay("judge", "audit", "--sample", 10, "--json").json
    assert plan["calls"] == made["calls"] == len(server.asked)
    calls = assay("history", "tables", "--json", "--limit", 100).json["judge_calls"][: made["calls"]]
    assert {call["scoring_record_id"] for call in calls} == {None}
    assert sum(call["cost_usd"] for call in calls) <= plan["cost_usd"]
    assert "asks nothing" in assay("judge", "audit", "--plan", "--sample", 10).out


def test_an_unknown_price_is_said_and_never_nothing(assay: Assay, judged: Judged) -> None:
    judged(prices=None)
    assert assay("judge", "audit", "--plan", "--json").json["plan"]["cost_usd"] is None
    assert "an unknown sum" in assay("judge", "audit", "--plan").out


def test_an_audit_over_the_cache_alone_asks_nothing(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    judged()
    said = assay("judge", "audit", "--sample", 0, "--json").json
    assert server.asked == []
    assert figure(said, "first_place")["observations"] == 24
    assert figure(said, "position_bias")["standing"] == "unmeasured"


def test_a_judge_that_fails_leaves_the_rest_and_exits_with_1(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    judged()
    server.script = lambda asked: completion("no JSON") if asked.number <= 2 else by_value(asked)
    first = assay("judge", "audit", "--json")
    assert first.code == 1
    assert "gave no answer" in first.json["failures"][0]
    assert figure(first.json, "position_bias")["observations"] == 23
    second = assay("judge", "audit", "--json")
    assert (second.json["failures"], second.json["calls"]) == ([], 1)


def test_the_budget_stops_an_audit(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    folder = judged()
    settings = json.loads((folder / "assay.yaml").read_text())
    (folder / "assay.yaml").write_text(json.dumps(settings | {"budgets": {"judge_usd": 0.000_1}}))
    said = assay("judge", "audit", "--json")
    assert (said.code, server.asked) == (1, [])
    assert "the round stops before it passes its budget" in said.json["failures"][0]


def test_values_of_the_judges_own_family_win_more_often(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    def kin_wins(asked: Asked) -> Reply:
        if asked.question["question"] == "verify":
            return completion(answer("correct" if asked.question["value"] < 2_000 else "wrong"))
        units = {side: asked.question[side] % 10 for side in ("A", "B")}  # the shift of who said it, 0 the reference
        if 2 in units.values():
            return completion(answer("a_wrong" if units["A"] == 2 else "b_wrong", credit=0))
        return completion(answer("both_correct"))

    server.script = kin_wins
    judged()
    found = figure(assay("judge", "audit", "--sample", 0, "--json").json, "self_preference")
    assert (found["value"], found["observations"], found["standing"]) == (1, 28, "bad")
    assert "14 of 14 values by family Judges were held right (100%), 0 of 14 by others (0%)" in found["says"]


def test_reviewers_verdicts_are_compared_with_the_judges(assay: Assay, judged: Judged, tmp_path: Path) -> None:
    judged()
    labels = tmp_path / "verdicts.jsonl"
    rows = [
        {"scenario": "tables", "path": f"/n{n}", "reference": 10 * n, "candidate": 10 * n + 1, "verdict": verdict}
        for n, verdict in enumerate(["reference_better"] * 9 + ["both_correct"])
    ]
    rows += [{"scenario": "tables", "path": "/x0", "candidate": 1_000, "verdict": "correct"}]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))

    said = assay("judge", "audit", "--sample", 0, "--reviews", labels, "--json").json
    compared = figure(said, "reviewers_compare")
    assert compared["observations"] == 10
    assert "on 9 of 10 questions" in compared["says"]
    assert 0 < compared["value"] < 1
    assert len(compared["against"]) == 1
    verified = figure(said, "reviewers_verify")
    assert (verified["value"], verified["standing"]) == (None, "unmeasured")
    assert "kappa needs two different verdicts" in verified["says"]

    labels.write_text('{"question_id": "zz", "verdict": "a_wrong"}\n')
    refused = assay("judge", "audit", "--sample", 0, "--reviews", labels)
    assert refused.code == 2
    assert "verdicts.jsonl:1" in refused.err


def test_a_panel_is_compared_judge_by_judge(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    def script(asked: Asked) -> Reply:
        return by_value(asked) if asked.body["model"] == "fair" else always("both_wrong", verify="wrong")(asked)

    server.script = script
    judged(judge={"panel": ["fair", "harsh"]})
    said = assay("judge", "audit", "--sample", 5, "--json").json
    assert {one["judge"] for one in said["figures"]} == {"fair", "harsh", "fair + harsh"}
    compared = figure(said, "panel_compare", "fair + harsh")
    assert compared["standing"] == "bad"
    assert compared["value"] < 0
    assert "all judges said the same on 0 of 24 questions" in compared["says"]
    assert "family is not known" in figure(said, "self_preference", "fair")["says"]


def test_without_a_judge_or_answers_there_is_nothing_to_audit(assay: Assay, judged: Judged) -> None:
    folder = judged()
    settings = json.loads((folder / "assay.yaml").read_text())
    settings["judge"]["model"] = "another"
    (folder / "assay.yaml").write_text(json.dumps(settings))
    never = assay("judge", "audit")
    assert (never.code, "Score first" in never.err) == (2, True)
    (folder / "assay.yaml").write_text(json.dumps(settings | {"judge": None}))
    assert "none of these scenarios has a judge" in assay("judge", "audit").err
    assert assay("judge", "audit", "tabels").code == 2


def test_one_judge_asked_in_two_ways_is_audited_apart(assay: Assay, judged: Judged, server: JudgeServer) -> None:
    folder = judged(fields=2, extras=0)
    other = folder / "scenarios" / "swapped"
    shutil.copytree(folder / "scenarios" / "tables", other)
    judge = json.loads((folder / "assay.yaml").read_text())["judge"] | {"swap": True}
    content = {"title": "Swapped", "repetitions": 1, "reference": {"verified": True}, "scoring": {"judge": judge}}
    (other / "scenario.yaml").write_text(json.dumps(content))
    rows = (folder / "runs" / "all.jsonl").read_text()
    (folder / "runs" / "all.jsonl").write_text(rows + rows.replace('"tables"', '"swapped"'))
    score_without_dagster()
    server.asked.clear()

    said = assay("judge", "audit", "--json").json
    assert {one["judge"] for one in said["figures"]} == {"judge (tables)", "judge (swapped)"}
    assert figure(said, "position_bias", "judge (swapped)")["observations"] == 4
    assert said["calls"] == len(server.asked) == 4 + 4 + 4  # both orders of the swapped ones are known
