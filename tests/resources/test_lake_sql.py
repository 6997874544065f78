from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from resources.columns import meaning_of
from resources.lake_sql import duckdb_script, lake_files
from resources.lake_tables import DATASETS
from resources.warehouse import Warehouse
from tests.resources.stored_records import card_of, filled, finding_of, run_of, scenario_of, scoring_of

ODD = "it's a / b\\c é"


@pytest.fixture
def scored(warehouse: Warehouse) -> Warehouse:
    """A scenario with an odd id, scored twice, with findings."""
    filled(warehouse, scenario_of(ODD))
    warehouse.import_runs([run_of(ODD)])
    for quality in (10.0, 90.0):
        card = card_of(quality, findings=(finding_of(),))
        warehouse.commit_model_score(scoring_of(warehouse, ODD, cards={1: card}))
    return warehouse


def opened(warehouse: Warehouse, *, is_latest_only: bool = False) -> duckdb.DuckDBPyConnection:
    files = lake_files(warehouse.engine, warehouse.lake.root, list(DATASETS), is_latest_only=is_latest_only)
    connection = duckdb.connect()
    connection.execute("\n".join(duckdb_script(files, list(DATASETS))))
    return connection


def test_every_dataset_is_a_view_with_what_its_row_in_postgres_says(scored: Warehouse) -> None:
    lake = opened(scored)
    assert lake.sql("select distinct scenario_id from runs").fetchall() == [(ODD,)]
    assert lake.sql("select is_latest, is_stale, count(*) from field_scores group by all order by all").fetchall() == [
        (False, False, 1),
        (True, False, 1),
    ]
    assert lake.sql("select path, is_latest from findings order by model_score_id").fetchall() == [
        ("/year", False),
        ("/year", True),
    ]
    assert lake.sql("select number, is_latest from reference_versions").fetchall() == [(1, True)]
    assert lake.sql("select decode(output) from runs").fetchall() == [('{"year": 1942}',)]


def test_only_what_counts_now_can_be_asked_for(scored: Warehouse) -> None:
    lake = opened(scored, is_latest_only=True)
    assert lake.sql("select is_latest, count(*) from field_scores group by all").fetchall() == [(True, 1)]


def test_a_file_that_no_row_names_does_not_exist(scored: Warehouse) -> None:
    for name in scored.lake.files():
        place = Path(scored.lake.root) / name
        place.with_name("left-over.parquet").write_bytes(place.read_bytes())
    lake = opened(scored)
    for dataset, count in (("runs", 1), ("field_scores", 2), ("findings", 2), ("reference_versions", 1)):
        assert lake.sql(f"select count(*) from {dataset}").fetchall() == [(count,)]  # noqa: S608 - our own names


def test_an_empty_lake_has_views_without_rows(warehouse: Warehouse) -> None:
    lake = opened(warehouse)
    for dataset in DATASETS:
        found = lake.sql(f"select * from {dataset}")  # noqa: S608 - our own names
        assert found.fetchall() == []
        assert {field.name for field in DATASETS[dataset]} < set(found.columns)


def test_every_field_of_every_file_carries_its_meaning(scored: Warehouse) -> None:
    seen = set()
    for name in scored.lake.files():
        dataset = name.partition("/")[0]
        schema = pq.read_schema(Path(scored.lake.root) / name)
        assert schema.names == DATASETS[dataset].names
        for field in schema:
            assert field.metadata[b"comment"].decode() == meaning_of(field.name, dataset)
        seen.add(dataset)
    assert seen == set(DATASETS)
