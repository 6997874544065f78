"""`assay doctor` finds what is missing and keeps secrets to itself."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.tower import Assay

HOSTED = """\
embedding: {{base_url: "http://127.0.0.1:{port}/v1", model: some-model, api_key_env: SOME_PROVIDER_KEY}}
judge: {{base_url: "http://127.0.0.1:{port}/v1", model: some-judge, api_key_env: SOME_JUDGE_KEY}}
"""


def parts(said: object) -> dict[str, str]:
    return {part["part"]: part["state"] for part in said["parts"]}  # type: ignore[index]  # JSON of the command


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.usefixtures("workspace")
def test_nothing_is_missing_from_a_plain_workspace(assay: Assay) -> None:
    said = assay("doctor")

    assert said.code == 0
    assert "Nothing needed is missing." in said.out
    assert assay("doctor", "--json").json["healthy"] is True


def test_a_missing_key_is_named_and_a_set_one_never_shown(
    workspace: Path, assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "assay.yaml").write_text(HOSTED.format(port=free_port()))
    monkeypatch.setenv("SOME_PROVIDER_KEY", "sk-very-secret")
    monkeypatch.delenv("SOME_JUDGE_KEY", raising=False)

    said = assay("doctor")

    assert said.code == 1
    assert "SOME_JUDGE_KEY is not set" in said.out
    assert "key in SOME_PROVIDER_KEY" in said.out
    assert "sk-very-secret" not in said.out + said.err


def test_a_service_that_does_not_answer_is_missing(workspace: Path, assay: Assay) -> None:
    port = free_port()
    (workspace / "assay.yaml").write_text(f'embedding: {{base_url: "http://127.0.0.1:{port}/v1", model: m}}\n')

    assert parts(assay("doctor", "--json").json)["embeddings m"] == "missing"


@pytest.mark.usefixtures("workspace")
def test_a_postgres_that_is_not_there_is_said_without_its_password(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", f"postgresql://me:hunter2@127.0.0.1:{free_port()}/assay")

    for words in (["doctor"], ["doctor", "--json"], ["results", "tower"], ["score", "--json"]):
        said = assay(*words)
        assert said.code == (1 if words[0] == "doctor" else 2)
        assert "hunter2" not in said.out + said.err
        assert "ASSAY_DATABASE_URL" in said.out + said.err


def test_a_broken_workspace_is_missing_with_the_reason(workspace: Path, assay: Assay) -> None:
    (workspace / "models.yaml").write_text("- name: x\n")

    said = assay("doctor")

    assert said.code == 1
    assert "models.yaml" in said.out


@pytest.mark.usefixtures("assay_home")
def test_without_a_workspace_the_rest_is_still_examined(
    tmp_path: Path, assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_WORKSPACE", raising=False)

    found = parts(assay("doctor", "--json").json)

    assert found["workspace"] == "absent"
    assert found["postgres"] == "ok"
