from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import InstigatorType
from sqlalchemy.engine import URL

from pipelines.definitions import defs
from pipelines.jobs import WORK_TAG
from pipelines.waiting import ROUND_TAG

ROOT = Path(__file__).parents[2]

SPECS = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}


def test_the_definitions_load() -> None:
    dg.Definitions.validate_loadable(defs)


def test_the_graph_holds_the_assets_of_the_spine_with_their_lineage() -> None:
    parents = {name: {dep.asset_key.to_user_string() for dep in spec.deps} for name, spec in SPECS.items()}
    assert parents == {
        "scenario_config": set(),
        "reference": set(),
        "runs": {"scenario_config"},
        "model_scores": {"runs", "reference", "scenario_config"},
        "reference_findings": {"runs", "reference", "scenario_config"},
        "merged_reference": {"reference_findings"},
        "leaderboard": {"model_scores"},
        "judge_history": {"model_scores"},
    }


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_asset_says_what_it_is_and_whose(name: str) -> None:
    spec = SPECS[name]
    assert len(spec.description or "") > 60
    assert spec.owners
    assert spec.kinds
    assert spec.group_name in {"inputs", "scores", "references"}


@pytest.mark.parametrize("name", sorted(set(SPECS) - {"leaderboard", "judge_history"}))
def test_every_stored_asset_describes_each_of_its_columns(name: str) -> None:
    schema = SPECS[name].metadata["dagster/column_schema"]
    assert schema.columns
    assert all(column.description for column in schema.columns)


def test_sensors_and_upkeep_run_without_being_switched_on() -> None:
    repository = defs.get_repository_def()
    running = {dg.DefaultSensorStatus.RUNNING, dg.DefaultScheduleStatus.RUNNING}
    names = {one.name for one in [*repository.sensor_defs, *repository.schedule_defs] if one.default_status in running}
    assert names == {
        "finished_runs",
        "finished_rounds",
        "changed_inputs",
        "vanished_runs",
        "daily_checks",
        "daily_maintenance",
    }
    assert {one.name for one in repository.schedule_defs} - names == {"scheduled_rounds"}


def test_every_sensor_schedule_and_job_says_what_it_does() -> None:
    repository = defs.get_repository_def()
    jobs = [job for job in repository.get_all_jobs() if not job.name.startswith("__")]
    for one in (*repository.sensor_defs, *repository.schedule_defs, *jobs):
        assert len(one.description or "") > 50, one.name


def test_the_job_of_checks_holds_every_check() -> None:
    from assets.checks import CHECKS

    selected = defs.resolve_job_def("check_scores").asset_layer.asset_graph
    assert {key.name for key in selected.asset_check_keys} == {check.name for check in CHECKS}


def test_merges_have_a_pool_of_their_own() -> None:
    from assets.references import POOL, merged_reference

    assert merged_reference.op.pool == POOL


@pytest.mark.parametrize("file", ["pipelines/dagster.yaml", "deploy/workers/dagster.yaml"])
def test_the_settings_of_an_instance_load_and_hold_what_rounds_rely_on(
    file: str, tmp_path: Path, database: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dagster.yaml").write_text((ROOT / file).read_text())
    url = database.set(drivername="postgresql+psycopg2").render_as_string(hide_password=False)
    for name in ("ASSAY_DAGSTER_STORAGE_URL", "ASSAY_BROKER_URL", "ASSAY_BROKER_RESULTS_URL"):
        monkeypatch.setenv(name, url if "STORAGE" in name else "redis://127.0.0.1:1/0")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        settings = instance.get_concurrency_config()
        assert settings.pool_config.default_pool_limit == 1
        assert settings.run_queue_config is not None
        assert settings.run_queue_config.max_concurrent_runs == 2
        limits = settings.run_queue_config.tag_concurrency_limits
        assert [(limit["key"], limit["limit"]) for limit in limits] == [(ROUND_TAG, 1), (WORK_TAG, 1)]
        assert instance.run_monitoring_enabled
        assert instance.run_retries_enabled
        assert (instance.run_retries_max_retries, instance.run_retries_retry_on_asset_or_op_failure) == (0, False)
        assert not instance.telemetry_enabled
        assert not instance.nux_enabled
        assert instance.get_tick_retention_settings(InstigatorType.SENSOR)
