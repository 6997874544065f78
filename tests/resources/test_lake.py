from __future__ import annotations

import errno
import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from resources import lake as lake_module
from resources.columns import meaning_of
from resources.lake import Lake
from resources.lake_tables import DATASETS, lake_table
from scoring.errors import InputError

NOW = timedelta(0)


@pytest.fixture(params=["path", "file system of another kind"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake on a path, and one on a file system that is not local as far as the lake can tell, as `s3://` is."""
    root = tmp_path / "lake"
    if request.param == "path":
        return Lake(str(root))
    for folder in ("runs/scenario=x", "runs/scenario=film", "runs/scenario=a~2fb~3a~20c", "field_scores/scenario=film"):
        (root / folder).mkdir(parents=True)  # an object store has no folders that would have to be made
    other = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    monkeypatch.setattr(lake_module, "_opened", lambda _: (other, "lake"))
    return Lake("s3://bucket/lake")


def rows(*numbers: int) -> pa.Table:
    return pa.table({"model_id": [f"m{number}" for number in numbers], "number": numbers})


def test_what_was_written_is_read_back(lake: Lake) -> None:
    file = lake.write("runs", {"scenario": "film"}, rows(1, 2))
    assert lake.read(file).equals(rows(1, 2))
    assert lake.read(file, columns=["number"], where=pc.field("model_id") == "m2").to_pydict() == {"number": [2]}


def test_files_lie_in_hive_partitions_of_safe_keys(lake: Lake) -> None:
    file = lake.write("runs", {"scenario": "a/b: c"}, rows(1))
    assert file.startswith("runs/scenario=a~2fb~3a~20c/")
    assert lake.files() == lake.files("runs") == [file]


def test_two_writes_are_two_files(lake: Lake) -> None:
    assert lake.write("runs", {"scenario": "x"}, rows(1)) != lake.write("runs", {"scenario": "x"}, rows(1))
    assert len(lake.files()) == 2


def test_any_parquet_reader_sees_the_dataset(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    lake.write("runs", {"scenario": "film"}, rows(1))
    lake.write("runs", {"scenario": "firm"}, rows(2))
    table = ds.dataset(tmp_path / "runs", partitioning="hive").to_table()
    assert sorted(zip(table["scenario"].to_pylist(), table["number"].to_pylist(), strict=True)) == [
        ("film", 1),
        ("firm", 2),
    ]


def test_each_model_has_a_row_group_of_its_own(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    file = lake.write("runs", {"scenario": "film"}, rows(1, 1, 2))
    assert pq.ParquetFile(tmp_path / file).num_row_groups == 2


def test_an_empty_table_keeps_its_columns(lake: Lake) -> None:
    file = lake.write("field_scores", {"scenario": "film"}, lake_table("field_scores", []))
    assert lake.read(file).schema.names == DATASETS["field_scores"].names


def test_a_file_that_is_gone_is_an_error_with_a_remedy(lake: Lake) -> None:
    with pytest.raises(InputError, match="the lake has lost runs/x"):
        lake.read("runs/x.parquet")


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_a_full_disk_leaves_no_file(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(str(tmp_path))
    lake.write("runs", {"scenario": "x"}, rows(1))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    target = (os, "fsync") if call == "fsync" else (Path, "rename")
    monkeypatch.setattr(*target, full)
    with pytest.raises(OSError, match="No space left"):
        lake.write("runs", {"scenario": "x"}, rows(2))
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_the_sweep_removes_what_no_row_names_once_it_is_old(lake: Lake) -> None:
    kept = lake.write("runs", {"scenario": "x"}, rows(1))
    orphan = lake.write("runs", {"scenario": "x"}, rows(2))
    assert lake.sweep({kept}) == []
    assert lake.sweep({kept}, older_than=NOW) == [orphan]
    assert lake.files() == [kept]
    assert lake.sweep({kept}, older_than=NOW) == []


def test_the_sweep_also_removes_what_a_killed_process_had_not_finished(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    half = tmp_path / "runs" / "scenario=x" / "abc.unfinished"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"PAR1")
    strange = tmp_path / "runs" / "README"
    strange.write_text("a person's own file")
    assert lake.files() == []
    assert lake.sweep(set(), older_than=NOW) == ["runs/scenario=x/abc.unfinished"]
    assert strange.exists()


def test_an_empty_lake_has_no_files(tmp_path: Path) -> None:
    assert Lake(str(tmp_path / "none")).files() == []


def test_a_root_of_an_unknown_kind_is_an_error_that_names_it() -> None:
    with pytest.raises(InputError, match="ftp://host/lake: the lake cannot be opened"):
        Lake("ftp://host/lake")


def test_keys_have_no_place_in_the_name_of_a_lake_and_are_not_repeated() -> None:
    with pytest.raises(
        InputError, match="the options of an s3:// lake are endpoint_override, region, scheme"
    ) as raised:
        Lake("s3://bucket/lake?secret_key=hunter2")
    assert "hunter2" not in str(raised.value)


def test_an_s3_lake_is_opened_without_asking_the_network() -> None:
    lake = Lake("s3://bucket/lake?endpoint_override=127.0.0.1:9&scheme=http&region=eu-west-1")
    assert lake.root.startswith("s3://bucket/lake")


@pytest.mark.parametrize("dataset", sorted(DATASETS))
def test_every_field_of_every_dataset_says_what_it_means(dataset: str, tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    file = lake.write(dataset, {"scenario": "x"}, lake_table(dataset, []))
    for field in pq.read_schema(tmp_path / file):
        assert field.metadata[b"comment"].decode() == meaning_of(field.name, dataset)
