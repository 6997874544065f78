from __future__ import annotations

import os
from pathlib import Path

import pytest

from resources.home import Home, data_root, home_for


def test_a_named_home_wins_over_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "named home"))
    assert home_for(tmp_path / "workspace").root == tmp_path / "named home"


def test_each_workspace_has_a_home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_HOME", raising=False)
    one, other = home_for(tmp_path / "a" / "films"), home_for(tmp_path / "b" / "films")
    assert one.root != other.root
    assert one.root.name.startswith("films-")
    assert one == home_for(tmp_path / "b" / ".." / "a" / "films")


def test_a_folder_name_with_odd_characters_becomes_a_safe_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_HOME", raising=False)
    assert set(home_for(tmp_path / "été 50%/x: y").root.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789~-")


def test_without_a_workspace_the_current_folder_stands_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert home_for(None) == home_for(tmp_path)


@pytest.mark.parametrize(
    ("account", "named", "expected"),
    [
        (0, "/data", "/var/lib/assay"),
        (1000, "/data", "/data/assay"),
        (1000, "", "HOME/.local/share/assay"),
        (1000, "relative", "HOME/.local/share/assay"),
    ],
)
def test_data_lies_where_the_account_that_runs_postgres_reaches_it(
    account: int, named: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: account)
    monkeypatch.setenv("XDG_DATA_HOME", named)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(data_root()) == expected.replace("HOME", str(tmp_path))


def test_making_a_home_twice_is_making_it_once(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "deep" / "home")
    assert home.make() == home.make()
    assert home.dagster.is_dir()
    assert home.logs.is_dir()


def test_the_lake_may_lie_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(root=tmp_path)
    monkeypatch.delenv("ASSAY_LAKE", raising=False)
    assert home.lake_root == str(tmp_path / "lake")
    monkeypatch.setenv("ASSAY_LAKE", "s3://bucket/lake")
    assert home.lake_root == "s3://bucket/lake"
