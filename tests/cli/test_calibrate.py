"""`assay calibrate`: figures, table, what it writes, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from resources.starter import init_workspace
from resources.strictness_tables import read_tables
from tests.cli.tower import Assay
from tests.embeddings_server import answer, serving


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """30 pairs that are the same but for their words, and 30 that are not."""
    rows = [{"reference": f"same{letter} one", "candidate": f"same{letter} other", "same": True} for letter in LETTERS]
    rows += [
        {"reference": f"here{letter} one", "candidate": f"there{letter} other", "same": False} for letter in LETTERS
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.fixture
def own_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new workspace that the command finds; no database is needed."""
    folder = tmp_path / "workspace"
    init_workspace(folder)
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    return folder


LETTERS = "abcdefghijklmnopqrstuvwxyzåäöé"


def told_apart(body: dict[str, list[str]], _count: int) -> object:
    """Vectors that put the same texts together and the others apart."""
    return answer(body, [[0.0, 1.0] if text.startswith("there") else [1.0, 0.1] for text in body["input"]])


def test_a_hosted_model_gets_its_table_and_the_workspace_keeps_it(
    assay: Assay, own_workspace: Path, pairs: Path
) -> None:
    with serving(told_apart) as served:
        said = assay("calibrate", pairs, "--model", "org/m", "--base-url", served.url, "--write", "--json")
    assert said.code == 0, said.err
    made = json.loads(said.out)
    (table,) = read_tables(own_workspace)
    assert table.model == made["table"]["model"] == f"{served.url.split('/')[2]}/org/m"
    assert all(0.1 <= point.same <= 1 for point in table.points)
    assert made["limits"][-1]["limit"] == 1.0
    assert Path(made["written"]).is_file()


def test_without_write_figures_are_shown_and_nothing_is_kept(assay: Assay, own_workspace: Path, pairs: Path) -> None:
    with serving(told_apart) as served:
        said = assay("calibrate", pairs, "--model", "org/m", "--base-url", served.url)
    assert said.code == 0, said.err
    assert "precision" in said.out
    assert "normal" in said.out
    assert "Nothing was written" in said.out
    assert read_tables(own_workspace) == ()


def test_too_few_pairs_are_refused(assay: Assay, tmp_path: Path) -> None:
    file = tmp_path / "few.jsonl"
    file.write_text('{"reference": "a", "candidate": "a", "same": true}')
    said = assay("calibrate", file)
    assert said.code == 2
    assert "at least 20" in said.err


def test_a_model_without_a_server_is_refused(assay: Assay, pairs: Path) -> None:
    said = assay("calibrate", pairs, "--model", "text-embedding-3-small")
    assert said.code == 2
    assert "base_url" in said.err
