"""The values for Kubernetes, as far as a machine without a cluster can tell."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from dagster._core.instance.config import dagster_instance_config

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
VALUES: dict[str, Any] = yaml.safe_load((KUBERNETES / "values.yaml").read_text())
SETTINGS: list[dict[str, Any]] = list(yaml.safe_load_all((KUBERNETES / "settings.example.yaml").read_text()))
SCHEMA = json.loads(Path(__file__).with_name("chart_schema.json").read_text())
CONTAINERFILE = (KUBERNETES / "Containerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LAUNCHER = VALUES["runLauncher"]["config"]["k8sRunLauncher"]
(CODE,) = VALUES["dagster-user-deployments"]["deployments"]


def test_the_chart_knows_every_value() -> None:
    jsonschema.validate(VALUES, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_a_value_that_the_chart_does_not_know_would_be_noticed() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(VALUES | {"dagsterDaemonn": {}}, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_dagster_takes_the_instance_that_the_values_describe(tmp_path: Path) -> None:
    """The parts that the chart writes into dagster.yaml as they are, beside the empty coordinator that it makes."""
    coordinator = {"module": "dagster.core.run_coordinator", "class": "QueuedRunCoordinator"}
    (tmp_path / "dagster.yaml").write_text(
        yaml.safe_dump(VALUES["additionalInstanceConfig"] | {"run_coordinator": coordinator})
    )
    config, _ = dagster_instance_config(str(tmp_path))
    embedded = yaml.safe_load((ROOT / "pipelines" / "dagster.yaml").read_text())
    runs = config["concurrency"]["runs"]
    assert runs["tag_concurrency_limits"] == embedded["concurrency"]["runs"]["tag_concurrency_limits"]
    assert config["concurrency"]["pools"] == embedded["concurrency"]["pools"]
    assert config["run_retries"] == embedded["run_retries"]


def test_telemetry_is_off_and_nothing_is_open_to_the_world() -> None:
    assert VALUES["telemetry"] == {"enabled": False}
    assert VALUES["ingress"] == {"enabled": False}
    assert VALUES["dagsterWebserver"]["service"]["type"] == "ClusterIP"


def test_runs_and_the_code_server_have_the_same_settings_and_every_name_is_there() -> None:
    assert (LAUNCHER["envConfigMaps"], LAUNCHER["envSecrets"]) == (CODE["envConfigMaps"], CODE["envSecrets"])
    made = {(one["kind"], one["metadata"]["name"]) for one in SETTINGS}
    wanted = {("ConfigMap", one["name"]) for one in CODE["envConfigMaps"]}
    wanted |= {("Secret", one["name"]) for one in CODE["envSecrets"]}
    assert made == wanted | {("Secret", VALUES["global"]["postgresqlSecretName"])}


def test_no_setting_holds_a_secret_and_no_secret_is_filled_in() -> None:
    for one in SETTINGS:
        for name, value in (one.get("data", {}) | one.get("stringData", {})).items():
            is_secret = re.search(r"PASSWORD|password|KEY|URL", name) is not None
            assert is_secret == (one["kind"] == "Secret"), name
            assert is_secret == ("change-me" in value), name


def test_kubernetes_and_the_chart_start_no_run_again_by_themselves() -> None:
    assert LAUNCHER["runK8sConfig"]["jobSpecConfig"]["backoffLimit"] == 0
    assert VALUES["dagsterDaemon"]["runRetries"] == {"enabled": False}
    assert VALUES["dagsterDaemon"]["runMonitoring"]["maxResumeRunAttempts"] == 0


def instructions(word: str) -> list[list[str]]:
    """The arguments of every instruction of this kind."""
    joined = CONTAINERFILE.replace("\\\n", " ")
    return [line.split()[1:] for line in joined.splitlines() if line.split()[:1] == [word]]


def test_everything_that_the_image_copies_is_there() -> None:
    sources = [source for arguments in instructions("COPY") for source in arguments[:-1]]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    packages = {pattern.rstrip("*") for pattern in PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert {package for package in packages if any((ROOT / package).rglob("*.py"))} <= set(sources)


def test_the_image_is_made_of_known_instructions_and_runs_as_nobody_special() -> None:
    known = {"FROM", "ENV", "RUN", "WORKDIR", "COPY", "USER"}
    lines = [line for line in CONTAINERFILE.replace("\\\n", " ").splitlines() if line.strip() and line[0] != "#"]
    assert {line.split()[0] for line in lines} <= known
    assert lines[0].startswith("FROM ")
    assert lines[-1] == "USER 10001"
    pod = LAUNCHER["runK8sConfig"]["podSpecConfig"]["securityContext"]
    assert pod == {"runAsNonRoot": True, "runAsUser": 10001}


def test_the_image_installs_with_the_versions_of_the_repository() -> None:
    setup = (ROOT / "deploy" / "setup.sh").read_text()
    version = re.search(r"^UV_VERSION=(\S+)$", setup, re.MULTILINE)
    assert version is not None
    assert f"uv=={version.group(1)}" in CONTAINERFILE
    (sister,) = [one for one in PROJECT["project"]["dependencies"] if one.startswith("dagster-postgres")]
    assert f'"{sister.replace("postgres", "k8s")}"' in CONTAINERFILE
