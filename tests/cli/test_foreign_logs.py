"""`assay import` of other tools' logs, and a ranking of what they recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tower import RIGHT, WRONG, Assay
from tests.foreign_logs import inspect_members, inspect_sample, promptfoo_json, promptfoo_result, write_zip


@pytest.fixture
def logs(workspace: Path) -> Path:
    """An Inspect log of the good model and promptfoo's results of the bad one; the workspace has no other runs."""
    (workspace / "runs" / "all.jsonl").unlink()
    folder = workspace / "logs"
    samples = [inspect_sample("tower", epoch, json.dumps(RIGHT), model_usage={}) for epoch in (1, 2)]
    write_zip(folder / "good.eval", inspect_members(*samples, model="a/good"), is_zstandard=True)
    results = [promptfoo_result("tower", WRONG, provider={"id": "b/bad:free"}, testIdx=number) for number in (0, 1)]
    (folder / "results.json").write_text(promptfoo_json(*results))
    return folder


def test_logs_are_imported_and_scored(logs: Path, assay: Assay) -> None:
    assert assay("import", logs, "--json").json == {"added": 4, "unchanged": 0, "notes": []}
    assert "Nothing new: 4 runs" in assay("import", logs / "good.eval", logs / "results.json").out

    scored = assay("score", "--json")
    models: list[dict[str, Any]] = assay("ranking", "--weights", "quality=100", "--json").json["places"]

    assert scored.code == 0
    assert [(model["model_id"], model["quality"] > 90) for model in models] == [("a/good", True), ("b/bad:free", False)]
    assert "Eiffel Tower" in assay("results", "tower", "--model", "a/good", "--run", "2").out


def test_one_bad_sample_keeps_all_out(logs: Path, assay: Assay) -> None:
    bad = inspect_sample("towr", task="t")
    write_zip(logs / "worse.eval", inspect_members(bad, model="a/good", task="t"))

    refused = assay("import", logs)

    assert refused.code == 2
    assert "worse.eval:samples/towr_epoch_1.json: unknown scenario 'towr'. Nearest known: tower." in refused.err
    assert assay("import", logs / "good.eval", "--json").json["added"] == 2


def test_an_unfinished_log_is_told(logs: Path, assay: Assay) -> None:
    log = write_zip(logs / "more.eval", inspect_members(inspect_sample("tower"), model="a/good", status="cancelled"))

    assert "the log is cancelled; its finished samples count (1)." in assay("import", log).out
    assert assay("import", log, "--json").json["notes"] == [
        f"{log}: the log is cancelled; its finished samples count (1)."
    ]


def test_where_the_ids_stand_can_be_said(logs: Path, assay: Assay) -> None:
    samples = [inspect_sample(f"q{number}", metadata={"about": "tower"}) for number in (1, 2)]
    log = write_zip(logs / "named.eval", inspect_members(*samples, model="a/good", task="t"))

    assert assay("import", log).code == 2
    assert "Recorded 2 runs." in assay("import", log, "--key", "scenario=metadata.about", "--format", "inspect").out
