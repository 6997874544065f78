"""`assay judge audit`: what it asks, what it says, and when it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assets.checks import CHECKS
from pipelines.session import open_session
from resources import judge_ballots
from tests.cli.tower import Assay, score_without_dagster
from tests.judge_server import Asked, JudgeServer, Reply, always, answer, completion
from tests.judged_workspace import write_judged_workspace

Judged = Callable[..., Path]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(judge_ballots, "FIRST_PAUSE_SECONDS", 0.001)
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
        cells = session.warehouse.cells()
    (check,) = [one for one in CHECKS if one.name == "judge_family"]
    assert [row["model_id"] for row in check.rows_of(cells)] == ["kin/model"]
