from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from resources.scoring_configs import scoring_config_of
from resources.starter import init_workspace
from resources.strictness_tables import TABLES_FOLDER, read_tables, write_table
from resources.workspace import load_workspace
from scoring.errors import InputError
from scoring.strictness import LOCAL_MODEL, LOCAL_TABLE, StrictnessPoint, StrictnessTable

OWN = StrictnessTable(
    model=LOCAL_MODEL,
    points=(
        StrictnessPoint(strictness=0, same=0.8, undecided=0.7),
        StrictnessPoint(strictness=1, same=0.9, undecided=0.8),
    ),
)


def test_a_workspace_without_tables_has_none(tmp_path: Path) -> None:
    assert read_tables(tmp_path) == ()


def test_a_written_table_is_read_again(tmp_path: Path) -> None:
    hosted = replace(LOCAL_TABLE, model="api.example.org/org/embed:1")
    write_table(tmp_path, hosted)
    write_table(tmp_path, OWN)
    write_table(tmp_path, OWN)
    assert set(read_tables(tmp_path)) == {hosted, OWN}
    assert not list((tmp_path / TABLES_FOLDER).glob("*.tmp"))


def test_a_broken_table_is_named(tmp_path: Path) -> None:
    write_table(tmp_path, OWN).write_text('{"model": "m"}')
    with pytest.raises(InputError, match=TABLES_FOLDER):
        read_tables(tmp_path)


def test_the_workspaces_table_decides_the_limits_of_its_scenarios(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    init_workspace(root)
    before = scoring_config_of(load_workspace(root).scenarios[0].scoring)
    write_table(root, OWN)
    after = scoring_config_of(load_workspace(root).scenarios[0].scoring)
    assert before.cutoffs is not None
    assert after.cutoffs is not None
    assert (before.cutoffs.same, after.cutoffs.same) == (0.97, 0.85)


def test_a_broken_table_stops_the_workspace_from_loading(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    init_workspace(root)
    write_table(root, OWN).write_text("{")
    with pytest.raises(InputError):
        load_workspace(root)
