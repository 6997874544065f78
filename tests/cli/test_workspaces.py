"""`assay init`, `assay import`, `assay reference`: files in, all or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.tower import Assay, run_row


@pytest.mark.usefixtures("assay_home")
def test_init_makes_a_workspace_whose_next_steps_work(tmp_path: Path, assay: Assay) -> None:
    made = assay("init", tmp_path / "new")

    assert made.code == 0
    assert f"assay import --workspace {tmp_path / 'new'}" in made.out
    assert assay("doctor", "--workspace", tmp_path / "new").code == 0


def test_init_leaves_a_folder_that_is_not_empty_alone(tmp_path: Path, assay: Assay) -> None:
    (tmp_path / "thesis.txt").write_text("x")

    refused = assay("init", tmp_path, "--json")

    assert refused.code == 2
    assert "not empty" in refused.json["error"]["message"]
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_init_takes_a_benchmark_of_plain_folders(tmp_path: Path, assay: Assay) -> None:
    source = tmp_path / "bench"
    for name, content in (
        ("schema/t1.json", {"type": "object"}),
        ("reference/t1.json", {"a": 1}),
        ("outputs/sys-a/t1.json", {"data": {"a": 1}}),
        ("outputs/sys-b/t1.json", {"data": {"a": 2}}),
    ):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(json.dumps(content))

    made = assay("init", tmp_path / "new", "--from", source, "--verified", "--key", "output=data", "--json")

    assert made.code == 0
    assert (made.json["scenarios"], made.json["models"], made.json["runs"]) == (1, 2, 2)


def test_options_for_a_benchmark_need_one(tmp_path: Path, assay: Assay) -> None:
    assert "--from" in assay("init", tmp_path / "new", "--verified").err


@pytest.mark.usefixtures("workspace")
def test_an_import_says_what_is_new(assay: Assay) -> None:
    assert "Recorded 4 runs." in assay("import").out
    assert assay("import", "--json").json == {"added": 0, "unchanged": 4, "notes": []}
    assert "Nothing new: 4 runs recorded already." in assay("import").out


def test_one_bad_line_keeps_all_out(workspace: Path, assay: Assay) -> None:
    (workspace / "runs" / "more.jsonl").write_text(run_row("a/good", 3, {}) + run_row("a/goood", 4, {}))

    refused = assay("import")

    assert refused.code == 2
    assert "more.jsonl:2" in refused.err
    assert "a/good" in refused.err
    (workspace / "runs" / "more.jsonl").unlink()
    assert assay("import", "--json").json == {"added": 4, "unchanged": 0, "notes": []}


def test_another_output_for_a_recorded_run_is_refused(workspace: Path, assay: Assay) -> None:
    assay("import")
    (workspace / "runs" / "all.jsonl").write_text(run_row("a/good", 1, {"name": "changed"}))

    assert assay("import").code == 2


def test_a_broken_workspace_file_is_named_with_its_line(workspace: Path, assay: Assay) -> None:
    (workspace / "assay.yaml").write_text("embedding: null\nstrictnes: strict\n")

    refused = assay("import", "--json")

    assert refused.code == 2
    assert "assay.yaml:2" in refused.json["error"]["message"]
    assert "strictness" in refused.json["error"]["message"]


def test_a_draft_is_not_scored_until_it_is_verified(workspace: Path, assay: Assay) -> None:
    scenario = workspace / "scenarios" / "tower" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("verified: true", "verified: false"))
    assay("import")

    waiting = assay("score", "--json").json["waiting"]
    shown = assay("reference", "show", "tower", "--json").json
    verified = assay("reference", "verify", "tower", "--author", "an owner")

    assert {one["model_id"] for one in waiting} == {"a/good", "b/bad:free"}
    assert "assay reference verify tower" in waiting[0]["remedy"]
    assert shown["verified"] is False
    assert verified.code == 0
    assert "is verified by an owner" in verified.out
    assert len(assay("score", "--json").json["scored"]) == 2


@pytest.mark.usefixtures("assay_home")
def test_no_workspace_says_how_to_get_one(tmp_path: Path, assay: Assay) -> None:
    missing = assay("score", "--workspace", tmp_path)

    assert missing.code == 2
    assert "assay init DIR" in missing.err
