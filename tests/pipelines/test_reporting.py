from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipelines.instance import open_instance
from pipelines.reporting import MOST_IN_A_TICK, Event, beyond_a_tick, report_events
from resources.home import Home

VERSION = "dagster/data_version"
EVENTS: list[Event] = [
    *(dg.AssetObservation("reference", partition=f"s{n}", tags={VERSION: f"r{n}"}) for n in range(3)),
    *(dg.AssetMaterialization("runs", partition=f"m|s{n}", tags={VERSION: f"h{n}"}) for n in range(4)),
    dg.AssetMaterialization("merged_reference", partition="s0", metadata={"edits": 2}),
    dg.AssetCheckEvaluation(asset_key=dg.AssetKey("runs"), check_name="whole", passed=True),
]


@pytest.fixture
def instance(make_database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:  # type: ignore[no-untyped-def]
    url = make_database(is_empty=True)
    monkeypatch.setattr("resources.postgres.dagster_url", lambda _home: url)
    with open_instance(Home(root=tmp_path / "home")) as instance:
        yield instance


def told(instance: dg.DagsterInstance) -> list[object]:
    """All that Dagster shows of the events: by asset, kind and partition, and the newest of each asset."""
    keys = [dg.AssetKey(name) for name in ("reference", "runs", "merged_reference")]
    log = instance.event_log_storage
    records = [
        sorted((one.partition_key or "", str(one.asset_materialization or one.asset_observation)) for one in found)
        for key in keys
        for found in (instance.fetch_materializations(key, 50).records, instance.fetch_observations(key, 50).records)
    ]
    kinds = (dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_OBSERVATION)
    tags = [log.get_latest_tags_by_partition(key, kind, tag_keys=[VERSION]) for key in keys for kind in kinds]
    newest = [(one.partition, one.metadata) for key in keys if (one := _newest(instance, key)) is not None]
    check = instance.get_latest_asset_check_evaluation_record(dg.AssetCheckKey(dg.AssetKey("runs"), "whole"))
    partitions = [sorted(log.get_materialized_partitions(key)) for key in keys]
    return [records, tags, newest, check is not None, partitions, sorted(map(str, instance.all_asset_keys()))]


def _newest(instance: dg.DagsterInstance, key: dg.AssetKey) -> dg.AssetMaterialization | None:
    event = instance.get_latest_materialization_event(key)
    return None if event is None else event.asset_materialization


def test_events_in_batches_read_like_events_one_by_one(instance: dg.DagsterInstance) -> None:
    report_events(instance, EVENTS)
    in_batches = told(instance)
    instance.wipe_assets([dg.AssetKey(name) for name in ("reference", "runs", "merged_reference")])
    for event in EVENTS:
        instance.report_runless_asset_event(event)
    assert in_batches == told(instance)
    assert len(in_batches[0][3 - 1]) == 4  # type: ignore[index]  # the runs' materialisations


def test_a_batch_that_is_larger_than_the_batch_size_is_whole(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "3")
    events = [dg.AssetMaterialization("runs", partition=f"m|s{n}") for n in range(8)]
    report_events(instance, events)
    found = instance.fetch_materializations(dg.AssetKey("runs"), 50).records
    assert sorted(one.partition_key or "" for one in found) == sorted(one.partition or "" for one in events)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_tick_hands_over_few_events_and_writes_many(instance: dg.DagsterInstance, extra: int) -> None:
    runs = [dg.AssetMaterialization("runs", partition=f"m|s{n}") for n in range(MOST_IN_A_TICK - 1 + extra)]
    check = EVENTS[-1]
    left = beyond_a_tick(instance, [*runs, check])
    assert left == ([check] if extra else [*runs, check])
    assert len(instance.fetch_materializations(dg.AssetKey("runs"), 1000).records) == (len(runs) if extra else 0)
