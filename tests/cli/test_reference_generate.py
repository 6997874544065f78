from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tower import RIGHT, WRONG, Assay
from tests.judge_server import Asked, JudgeServer, Reply, completion, refusal

ANSWERS = {
    "one": json.dumps(RIGHT),
    "two": json.dumps(RIGHT | {"height_metres": 324}),
    "three": f"```json\n{json.dumps(WRONG | {'height_metres': 324.0})}\n```",
}


def script(asked: Asked) -> Reply:
    said = ANSWERS.get(asked.body["model"])
    return refusal(400, "no such model") if said is None else completion(said)


@pytest.fixture
def server(workspace: Path) -> Iterator[JudgeServer]:
    """Models that can be called, in models.yaml, and no reference yet."""
    with JudgeServer(script) as server:
        models = [
            {"id": f"lab/{name}", "name": name, "base_url": server.base_url, "output_usd_per_million": price}
            for name, price in (("one", 9), ("two", 8), ("three", 7), ("cheap", 1), ("broken", 2))
        ]
        (workspace / "models.yaml").write_text(json.dumps([*models, {"id": "a/good"}, {"id": "b/bad:free"}]))
        (workspace / "scenarios" / "tower" / "reference.json").unlink()
        yield server


def test_the_dearest_models_make_a_draft_together_with_provenance(assay: Assay, server: JudgeServer) -> None:
    said = assay("reference", "generate", "tower", "--json")
    assert said.code == 0
    assert [one["model_id"] for one in said.json["models"]] == ["lab/one", "lab/two", "lab/three"]
    assert (said.json["verified"], said.json["origin"]) == (False, "generated")
    assert said.json["content"]["height_metres"] == 324
    assert said.json["content"]["name"] == "eiffel tower"
    assert sorted(said.json["content"]["engineers"]) == sorted(RIGHT["engineers"])  # type: ignore[call-overload]  # a list
    assert len(server.asked) == 3
    log = assay("reference", "log", "tower", "--json").json
    by_path = {row["path"]: row for row in log["provenance"]}
    assert by_path["/height_metres"]["models"] == ["lab/two", "lab/three"]
    assert by_path["/height_metres"]["others"] == [{"value": 330, "models": ["lab/one"]}]
    assert "lab/two, lab/three" in assay("reference", "log", "tower").out
    assert assay("score", "tower").code == 0
    assert assay("reference", "verify", "tower").code == 0


@pytest.mark.usefixtures("server")
def test_a_model_that_fails_is_named_and_the_others_make_the_draft(assay: Assay) -> None:
    said = assay("reference", "generate", "tower", "-m", "lab/broken", "-m", "lab/one")
    assert said.code == 0
    assert "no such model" in said.out
    again = assay("reference", "generate", "tower", "-m", "lab/one")
    assert again.code == 2
    assert "--over" in again.err
    assert assay("reference", "generate", "tower", "-m", "lab/two", "--over").code == 0


@pytest.mark.usefixtures("server")
def test_models_that_cannot_be_called_and_answers_that_cannot_be_used_are_errors(assay: Assay) -> None:
    assert "base_url" in assay("reference", "generate", "tower", "-m", "a/good").err
    failed = assay("reference", "generate", "tower", "-m", "lab/broken")
    assert failed.code == 2
    assert "no model gave an answer" in failed.err
    assert assay("reference", "show", "tower").code == 2
