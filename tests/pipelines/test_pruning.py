from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from pipelines.dagster_round import run_round_through_dagster
from pipelines.definitions import defs
from pipelines.instance import open_instance
from pipelines.partitions import cell_partitions
from pipelines.pruning import prune
from pipelines.session import Session, open_session
from scoring.errors import InputError
from sensors.changed_inputs import report_news
from tests.small_workspace import CELLS, FakeEmbeddings, run_of, write_workspace

MODEL_SCORES = dg.AssetKey("model_scores")


@pytest.fixture
def session(assay_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A session on a round that went well and one in which a model failed."""
    del assay_home
    folder = write_workspace(tmp_path / "ws")
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    with open_session(folder) as session:
        fake = FakeEmbeddings(breaks_on=["poison"])
        for scenario in session.workspace.scenarios:
            session._embeddings[scenario.scoring.embedding.value] = fake
        names = {cell: "poison" if cell == CELLS[0] else "Augusta" for cell in CELLS}
        session.warehouse.import_runs([run_of(*cell, {"name": name, "year": 1815}) for cell, name in names.items()])
        run_round_through_dagster(session, CELLS[1:])
        run_round_through_dagster(session, CELLS)
        yield session


def statuses(instance: dg.DagsterInstance) -> dict[str, Any]:
    """What the UI shows of partitions, worked out anew, and how every check stands."""
    instance.wipe_asset_cached_status([MODEL_SCORES])
    cached = get_and_update_asset_status_cache_value(instance, MODEL_SCORES, cell_partitions)
    assert cached is not None
    return {
        "materialized": instance.get_materialized_partitions(MODEL_SCORES),
        "failed": cached.serialized_failed_partition_subset,
        "runs": instance.get_materialized_partitions(dg.AssetKey("runs")),
        "leaderboard": instance.get_latest_materialization_event(dg.AssetKey("leaderboard")),
        "checks": {
            str(key): getattr(instance.get_latest_asset_check_evaluation_record(key), "id", None)
            for key in defs.resolve_asset_graph().asset_check_keys
        },
    }


def count(instance: dg.DagsterInstance, table: str) -> int:
    with instance.event_log_storage.index_connection() as connection:  # type: ignore[attr-defined]  # it is SQL
        found: int = connection.execute(sa.text(f"select count(*) from {table}")).scalar_one()  # noqa: S608 - our own
    return found


def test_old_runs_and_logs_go_and_every_partition_and_check_stays_as_it_was(session: Session) -> None:
    with open_instance(session.home) as instance:
        before, events = statuses(instance), count(instance, "event_logs")
        well = instance.get_run_ids(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
        assert before["failed"]
        early = prune(instance, datetime.now(UTC) - timedelta(days=1))
        assert (early.runs, early.events, early.check_evaluations) == (0, 0, 0)
        pruned = prune(instance, datetime.now(UTC) + timedelta(minutes=1))
        assert pruned.runs == len(well) > 0
        assert pruned.events > 20
        assert count(instance, "event_logs") <= events - pruned.events
        assert {run.status for run in instance.get_runs()} == {dg.DagsterRunStatus.FAILURE}
        assert statuses(instance) == before
        assert report_news(session, instance) == 0
        again = prune(instance, datetime.now(UTC) + timedelta(minutes=1))
        assert (again.runs, again.events) == (0, 0)


def test_the_job_prunes_as_assay_yaml_says_and_sweeps_the_lake(session: Session) -> None:
    stray = Path(session.home.lake_root) / "field_scores" / "scenario=x" / "stray.parquet"
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"left behind by a killed process")
    old = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    os.utime(stray, (old, old))
    named = session.warehouse.lake.files("findings")
    with open_instance(session.home) as instance:
        result = defs.resolve_job_def("maintenance").execute_in_process(
            instance=instance, resources={"warehouse": session.warehouse}
        )
        assert result.success
        logs = [record.event_log_entry.user_message for record in instance.get_records_for_run(result.run_id).records]
    assert any("0 runs that ended over 30 days ago" in log and "1 unnamed files" in log for log in logs)
    assert not stray.exists()
    assert session.warehouse.lake.files("findings") == named


def test_a_storage_without_sql_is_refused_with_the_remedy() -> None:
    class Elsewhere:
        event_log_storage = object()

    with pytest.raises(InputError, match=r"Set storage\.postgres"):
        prune(Elsewhere(), datetime.now(UTC))  # type: ignore[arg-type]  # a stand-in
