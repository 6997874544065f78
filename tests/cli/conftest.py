"""A small workspace on a database of its own, and the command line on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipelines.cli import main
from tests.cli.tower import REFERENCE, RIGHT, SCENARIO, SCHEMA, WRONG, Assay, Said, run_row, score_without_dagster


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Assay:
    """The command line: what it said on its two streams, and its exit code."""

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(code=code, out=captured.out, err=captured.err)

    return call


@pytest.fixture
def workspace(tmp_path: Path, assay_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - for its effect
    """One verified scenario without embedding model, two models with two runs each; `ASSAY_WORKSPACE` names it."""
    folder = tmp_path / "my workspace"
    scenario = folder / "scenarios" / "tower"
    scenario.mkdir(parents=True)
    (folder / "runs").mkdir()
    (folder / "assay.yaml").write_text("embedding: null\n")
    (folder / "models.yaml").write_text("- id: a/good\n- id: b/bad:free\n")
    (scenario / "scenario.yaml").write_text(SCENARIO.format(verified="true"))
    (scenario / "schema.json").write_text(json.dumps(SCHEMA))
    (scenario / "reference.json").write_text(json.dumps(REFERENCE))
    rows = [run_row("a/good", number, RIGHT, seconds=2.0, cost=0.10) for number in (1, 2)]
    rows += [run_row("b/bad:free", number, WRONG, cost=0.01) for number in (1, 2)]
    (folder / "runs" / "all.jsonl").write_text("".join(rows))
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    return folder


@pytest.fixture
def scored(workspace: Path) -> Path:
    """The workspace with its runs recorded and scored."""
    score_without_dagster()
    return workspace
