"""The settings of several machines: Dagster and Celery take them, and every name is one that is read."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from celery.app.defaults import NAMESPACES, flatten
from dagster._core.instance.config import dagster_instance_config
from dagster._core.instance.ref import InstanceRef
from dagster._core.workspace.load import location_origins_from_yaml_paths

ROOT = Path(__file__).parents[2]
WORKERS = ROOT / "deploy" / "workers"
TEXTS = [*WORKERS.rglob("*.yaml"), *WORKERS.rglob("*.py"), *(ROOT / "deploy" / "kubernetes").iterdir()]
TEXTS += [ROOT / "docs" / "deploying.md", ROOT / "docs" / "operating.md"]

ENVIRONMENT = {
    "ASSAY_DAGSTER_STORAGE_URL": "postgresql+psycopg2://me:secret@db.example:5432/dagster",
    "ASSAY_BROKER_URL": "redis://:secret@broker.example:6379/0",
    "ASSAY_BROKER_RESULTS_URL": "redis://:secret@broker.example:6379/1",
    "ASSAY_CODE_HOST": "code.example",
    "ASSAY_CODE_PORT": "4266",
}

# Read by pyarrow's S3 client, by Dagster and by its Helm chart, not by Assay itself.
OTHERS = {
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_DEFAULT_REGION",
    "DAGSTER_HOME",
    "DAGSTER_DISABLE_TELEMETRY",
    "DAGSTER_EVENT_BATCH_SIZE",
    "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def settings(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text())
    return loaded


def test_dagster_takes_the_instance_and_starts_runs_as_tasks() -> None:
    dagster_instance_config(str(WORKERS))
    launcher = InstanceRef.from_dir(str(WORKERS)).run_launcher
    assert type(launcher).__name__ == "CeleryRunLauncher"
    assert launcher.broker == ENVIRONMENT["ASSAY_BROKER_URL"]  # type: ignore[union-attr]
    assert launcher.backend == ENVIRONMENT["ASSAY_BROKER_RESULTS_URL"]  # type: ignore[union-attr]


def test_the_instance_differs_from_the_embedded_one_only_where_several_machines_ask_for_it() -> None:
    one, several = settings(ROOT / "pipelines" / "dagster.yaml"), settings(WORKERS / "dagster.yaml")
    assert set(several) - set(one) == {"run_launcher"}
    assert {name for name in one if one[name] != several[name]} <= {"run_monitoring"}
    assert several["telemetry"] == {"enabled": False}


def test_a_run_may_wait_for_a_busy_worker() -> None:
    monitoring = settings(WORKERS / "dagster.yaml")["run_monitoring"]
    assert monitoring["enabled"] is True
    assert monitoring["start_timeout_seconds"] >= 3600
    assert monitoring["max_resume_run_attempts"] == 0


def test_webserver_and_daemon_find_the_code_server_by_the_environment() -> None:
    (origin,) = location_origins_from_yaml_paths([str(WORKERS / "workspace.yaml")])
    assert (origin.location_name, origin.host, origin.port) == ("assay", "code.example", 4266)  # type: ignore[attr-defined]


def celery_settings() -> ModuleType:
    spec = importlib.util.spec_from_file_location("settings", WORKERS / "config" / "dagster_celery_config.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_celery_knows_every_setting_of_a_worker() -> None:
    known = {name for name, _ in flatten(NAMESPACES)}
    written = {name for name in vars(celery_settings()) if name.islower() and not name.startswith("_")}
    assert written - {"annotations", "os"} <= known
    assert celery_settings().broker_url == ENVIRONMENT["ASSAY_BROKER_URL"]


def test_a_busy_worker_holds_nothing_back_and_a_message_outlives_every_run() -> None:
    module = celery_settings()
    assert module.task_acks_late
    assert module.worker_prefetch_multiplier == 1
    longest = settings(WORKERS / "dagster.yaml")["run_monitoring"]["start_timeout_seconds"]
    assert module.broker_transport_options["visibility_timeout"] > 10 * longest


def test_no_file_holds_a_password() -> None:
    for path in (WORKERS / "dagster.yaml", WORKERS / "workspace.yaml", WORKERS / "config" / "dagster_celery_config.py"):
        assert re.search(r"://[^\s/]*:[^\s/@]+@(?!host)", path.read_text()) is None, path


def test_every_name_of_the_environment_that_is_written_somewhere_is_read_somewhere() -> None:
    code = "\n".join(
        path.read_text()
        for folder in ("assets", "pipelines", "resources", "scoring", "sensors", "deploy/workers")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".yaml")
    )
    read = set(re.findall(r"\b(?:ASSAY|AWS|DAGSTER)_[A-Z_]+\b", code)) | OTHERS
    written = {name for path in TEXTS for name in re.findall(r"\b(?:ASSAY|AWS|DAGSTER)_[A-Z_]+\b", path.read_text())}
    assert sorted(written - read) == []
