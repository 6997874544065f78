"""`assay up` as a person runs it: a process of its own on a home of its own with an embedded Postgres."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.chaos.place import COMMAND

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "workspace"
PATIENCE_SECONDS = 300


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that the account which runs Postgres for root can reach."""
    folder = Path(tempfile.mkdtemp(prefix="assay-up-"))
    folder.chmod(0o711)
    shutil.copytree(EXAMPLE, folder / "ws")
    yield folder
    for process in belonging_to(folder):
        process.kill()
    shutil.rmtree(folder, ignore_errors=True)


def environment_of(place: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "DAGSTER_"))}
    inherited.pop("PYTHONDONTWRITEBYTECODE", None)
    return inherited | {"ASSAY_HOME": str(place / "home"), "PYTHONPATH": str(ROOT)}


def belonging_to(place: Path) -> list[psutil.Process]:
    """Living processes that were started for this home, the embedded Postgres among them."""
    return [process for process in psutil.process_iter() if is_of(process, place)]


def is_of(process: psutil.Process, place: Path) -> bool:
    try:
        is_alive = process.status() != psutil.STATUS_ZOMBIE
        named = {*process.environ().values(), process.cwd()}
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
    return is_alive and any(value.startswith(str(place)) for value in named)


def assay(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], env=environment_of(place), cwd=place / "ws", capture_output=True, text=True, check=False
    )


def up(place: Path) -> subprocess.Popen[bytes]:
    with (place / "up.txt").open("w") as output:
        return subprocess.Popen(
            [*COMMAND, "up"], env=environment_of(place), cwd=place / "ws", stdout=output, stderr=subprocess.STDOUT
        )


def wait_for(place: Path, what: str, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        said = (place / "up.txt").read_text()
        if what in said:
            return said
        assert process.poll() is None, said
        time.sleep(0.25)
    raise AssertionError(f"never said {what!r}: {(place / 'up.txt').read_text()}")


def wait_for_score(place: Path) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        shown = assay(place, "ranking", "--json").stdout
        if "illustrative/large" in shown:
            return shown
        time.sleep(2)
    log = (place / "home" / "logs" / "up.log").read_text()
    raise AssertionError(f"no score appeared; the log ends: {log[-3000:]}")


def kill_code_server(place: Path) -> None:
    """The process that holds our definitions is gone, and not the one that `assay up` started and watches."""
    (code,) = [one for one in belonging_to(place) if "dagster api grpc" in " ".join(one.cmdline())]
    code.kill()


def test_up_scores_what_is_imported_and_ctrl_c_leaves_no_process(place: Path) -> None:
    process = up(place)
    said = wait_for(place, "ready after", process)
    assert "web ok, daemon ok, code ok" in said
    second = assay(place, "up")
    assert second.returncode == 2
    assert "already runs on this home" in second.stderr + second.stdout
    kill_code_server(place)
    wait_for(place, "the code is loaded again", process)
    imported = assay(place, "import", str(place / "ws" / "runs" / "large.jsonl"))
    assert imported.returncode == 0, imported.stderr
    wait_for_score(place)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert "nothing is left running" in (place / "up.txt").read_text()
    assert belonging_to(place) == []


def test_killed_outright_up_leaves_no_process_either(place: Path) -> None:
    process = up(place)
    wait_for(place, "starting Dagster", process)
    while len(belonging_to(place)) < 4:
        time.sleep(0.1)
    process.kill()
    process.wait(10)
    until = time.monotonic() + 60
    while belonging_to(place) and time.monotonic() < until:
        time.sleep(0.25)
    assert belonging_to(place) == []
