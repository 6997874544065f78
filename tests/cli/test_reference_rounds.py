"""The whole way: models are judged, what the judge found changes the reference, and its owner has the last word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tower import REFERENCE, RIGHT, Assay, run_row
from tests.judge_server import Asked, JudgeServer, Reply, answer, completion

BUILT_HIGHER = RIGHT | {"height_metres": 324, "engineers": [*RIGHT["engineers"], "Stephen Sauvestre"]}  # type: ignore[misc]  # a list


def script(asked: Asked) -> Reply:
    """Finds 324 right and 330 wrong, and confirms whatever else is asked about."""
    question = asked.question
    if question["question"] == "verify":
        return completion(answer("correct", reason="He designed the arches."))
    verdict = {324: "b_wrong", 330: "a_wrong"}.get(question["A"], "both_correct")
    return completion(answer(verdict, credit=0, reason="It measured 324 m when it opened."))


@pytest.fixture
def judged(workspace: Path) -> Iterator[Path]:
    """The tower with a judge, and two models of which one knows better than the reference."""
    with JudgeServer(script) as server:
        judge = {"base_url": server.base_url, "model": "judge"}
        (workspace / "assay.yaml").write_text(json.dumps({"embedding": None, "judge": judge}))
        rows = [run_row("a/good", number, BUILT_HIGHER) for number in (1, 2)]
        rows += [run_row("b/bad:free", number, RIGHT) for number in (1, 2)]
        (workspace / "runs" / "all.jsonl").write_text("".join(rows))
        yield workspace


def stale(assay: Assay) -> set[str]:
    return {row["model_id"] for row in assay("results", "tower", "--json").json["models"] if row["is_stale"]}


@pytest.mark.usefixtures("judged")
def test_a_judged_round_changes_the_reference_and_its_owner_has_the_last_word(assay: Assay) -> None:
    assert assay("import").code == 0
    scored: Any = assay("score", "--json").json
    assert scored["failed"] == []
    (merge,) = scored["references"]
    assert merge["version"] == 2
    shown = assay("reference", "show", "tower", "--json").json
    assert shown["content"]["height_metres"] == 324
    assert shown["content"]["engineers"] == [*REFERENCE["engineers"], "Stephen Sauvestre"]  # type: ignore[misc]  # a list
    reasons = {edit["evidence"]: edit["reason"] for edit in shown["edits"]}
    assert reasons["reference_wrong"] == "It measured 324 m when it opened."
    assert stale(assay) == set()
    assert assay("score", "--all", "--json").json["failed"] == []
    assert assay("reference", "reject", "tower", "--path", "/height_metres", "--expect", "1").code == 0
    assert stale(assay) == {"a/good", "b/bad:free"}
    assert assay("score", "--json").json["failed"] == []
    assert stale(assay) == set()
    after = assay("reference", "show", "tower", "--json").json["content"]
    assert (after["height_metres"], len(after["engineers"])) == (330, 3)
