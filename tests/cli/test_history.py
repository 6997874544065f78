"""`assay history`: what was asked, answered and paid, failed calls included."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources import pace
from tests.cli.tower import Assay, score_without_dagster
from tests.judge_server import Asked, JudgeServer, Reply, always, refusal
from tests.judged_workspace import write_judged_workspace


@pytest.fixture
def judged(tmp_path: Path, assay_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:  # noqa: ARG001 - for its effect
    """A scored workspace of two models whose judge failed at its second request."""
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    fair = always("b_wrong", credit=10)

    def script(asked: Asked) -> Reply:
        return refusal(500, "the server\x1b[31m is out") if asked.number == 2 else fair(asked)

    with JudgeServer(script) as server:
        folder = write_judged_workspace(tmp_path / "judged", server.base_url, fields=3, extras=1)
        monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
        score_without_dagster()
        yield server


@pytest.mark.usefixtures("judged")
def test_history_holds_every_scoring_and_every_call(assay: Assay) -> None:
    found = assay("history", "tables", "--json").json
    calls = found["judge_calls"]
    assert [row["model_id"] for row in found["scoring_records"]] == ["other/model", "kin/model"]
    assert len(calls) == 9
    assert sum(call["cost_usd"] for call in calls) == pytest.approx(8 * 0.0015)
    assert calls[0]["judge_call_id"] > calls[-1]["judge_call_id"]
    assert all(json.loads(call["prompt"])["entity"] == "Tables" for call in calls)
    text = assay("history", "tables").out
    assert "b_wrong 0.10" in text
    assert "failed: server_error" in text


@pytest.mark.usefixtures("judged")
def test_history_can_be_narrowed(assay: Assay) -> None:
    failed = assay("history", "tables", "--failed", "--json").json
    (call,) = failed["judge_calls"]
    assert (failed["scoring_records"], call["error_kind"], call["cost_usd"]) == ([], "server_error", 0)
    own = assay("history", "tables", "--model", "other/model", "--limit", 2, "--json").json
    assert {row["model_id"] for row in own["judge_calls"]} == {"other/model"}
    assert len(own["judge_calls"]) == 2
    assert "Nothing to show" in assay("history", "tables", "--model", "other/model", "--failed").out
    assert assay("history", "tables", "--model", "other/modle").code == 2
    assert assay("history", "tabels").code == 2


@pytest.mark.usefixtures("judged")
def test_calls_as_csv(assay: Assay) -> None:
    rows = list(csv.DictReader(io.StringIO(assay("history", "tables", "--csv").out)))
    assert len(rows) == 9
    assert {"prompt", "answer_text", "input_tokens", "output_tokens", "cost_usd", "duration_seconds", "error"} <= set(
        rows[0]
    )


@pytest.mark.usefixtures("judged")
def test_a_question_is_shown_whole(assay: Assay) -> None:
    (failed,) = assay("history", "tables", "--failed", "--json").json["judge_calls"]
    start = failed["question_id"][:10]
    found = assay("history", "tables", "--question", start, "--json").json
    assert [(call["attempt"], call["error_kind"]) for call in found["calls"]] == [(1, "server_error"), (2, None)]
    assert len(found["answers"]) == 1
    assert found["fields"]
    text = assay("history", "tables", "--question", start).out
    assert '"entity": "Tables"' in text
    assert "So it is." in text
    assert "server_error: HTTP 500: the server" in text
    assert "\x1b" not in text
    assert "What it decides now" in text
    assert len(list(csv.DictReader(io.StringIO(assay("history", "tables", "--question", start, "--csv").out)))) == 2


@pytest.mark.usefixtures("judged")
def test_a_start_that_fits_no_or_many_questions_is_refused(assay: Assay) -> None:
    many = assay("history", "tables", "--question", "")
    none = assay("history", "tables", "--question", "%")
    assert (many.code, none.code) == (2, 2)
    assert "8 questions start with ''" in many.err
    assert "no question starts with '%'" in none.err
