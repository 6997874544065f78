"""Where chaos takes place: a workspace and a home of their own, commands, `assay up`, and how each is killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-c", "import sys; from pipelines.cli import main; sys.exit(main())")
PATIENCE_SECONDS = 600.0
"""Longer than anything takes here; whatever is not there by then is stuck, and that is a failure."""

LOOK_SECONDS = 0.1
DAGSTER = {
    "web": "dagster_webserver",
    "daemon": "dagster._daemon",
    "code": "dagster api grpc",
    "code proxy": "code-server start",
}


class StuckError(AssertionError):
    """Something did not come about, however long it was waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One workspace and its home, below a folder that the account which runs Postgres for root can reach."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """The workspace."""
        return self.folder / "ws"

    @property
    def home(self) -> Path:
        """Its home."""
        return self.folder / "home"

    def environment(self) -> dict[str, str]:
        """The environment of every process here."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "DAGSTER_"))}
        inherited.pop("PYTHONDONTWRITEBYTECODE", None)
        own = {"ASSAY_HOME": str(self.home), "ASSAY_WORKSPACE": str(self.workspace), "PYTHONPATH": str(ROOT)}
        return inherited | own

    def start(self, *arguments: str, output: Path) -> subprocess.Popen[bytes]:
        """A command of `assay` that has just started; what it says goes to `output`."""
        with output.open("ab") as file:
            return subprocess.Popen(
                [*COMMAND, *arguments],
                env=self.environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def processes(self) -> list[psutil.Process]:
        """Living processes of this home, its Postgres among them."""
        return [process for process in psutil.process_iter() if _is_of(process, self.folder)]

    def postmaster(self) -> psutil.Process | None:
        """The main process of this home's Postgres."""
        try:
            pid = int((self.home / "postgres" / "data" / "postmaster.pid").read_text().split()[0])
            process = psutil.Process(pid)
            return process if process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name() else None
        except (OSError, ValueError, IndexError, psutil.Error):
            return None

    def part(self, up: psutil.Process, name: str) -> psutil.Process | None:
        """A part of `assay up` by its name."""
        return next((one for one in _children(up) if DAGSTER[name] in _command_of(one)), None)

    def workers(self, up: psutil.Process) -> list[psutil.Process]:
        """The processes in which Dagster executes runs now."""
        code = self.part(up, "code")
        return [one for one in _children(code) if "spawn_main" in _command_of(one)] if code else []

    def cut_power(self, rng: random.Random) -> int:
        """No process of this home lives any more, killed all at once in any order; how many there were."""
        victims = self.processes()
        rng.shuffle(victims)
        for victim in victims:
            kill(victim)
        wait_until(lambda: not self.processes() or _killed(self.processes()), "the end of all processes")
        return len(victims)


def _killed(left: list[psutil.Process]) -> bool:
    """Kill what was being started while the others were killed; never the end yet."""
    for process in left:
        kill(process)
    return False


def kill(process: psutil.Process, number: int = signal.SIGKILL) -> bool:
    """Whether the process was there to get the signal."""
    try:
        process.send_signal(number)
    except psutil.Error:
        return False
    return True


def _children(process: psutil.Process | None) -> list[psutil.Process]:
    try:
        return process.children(recursive=True) if process else []
    except psutil.Error:
        return []


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _is_of(process: psutil.Process, folder: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        named = {process.cwd(), process.environ().get("ASSAY_HOME", "")}
    except psutil.Error:
        return False
    return any(value.startswith(f"{folder}/") for value in named)


def wait_until(is_so: Callable[[], bool], what: str, *, patience: float = PATIENCE_SECONDS) -> float:
    """Seconds until it was so. Raises StuckError."""
    began = time.monotonic()
    while not is_so():
        if time.monotonic() - began > patience:
            raise StuckError(f"waited {patience:.0f} s for {what}")
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


class Up:
    """`assay up` as a service that is started again whenever it has ended, as systemd would; from `with` to its end."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.folder = folder
        self.starts = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def said(self) -> str:
        """What the present one said so far."""
        return (self.folder / f"up-{self.starts}.txt").read_text(errors="replace")

    def start(self) -> None:
        """It is running, not yet ready."""
        self.starts += 1
        self.process = self.place.start("up", output=self.folder / f"up-{self.starts}.txt")

    def is_ready(self) -> bool:
        """Whether it runs and has said that it is ready; started again where it has ended."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        return "ready after" in self.said

    def root(self) -> psutil.Process | None:
        """Its process."""
        try:
            return psutil.Process(self.process.pid) if self.process and self.process.poll() is None else None
        except psutil.Error:
            return None

    def stop(self) -> int:
        """The exit code, once it was asked to stop."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)


@contextlib.contextmanager
def nothing_left(place: Place) -> Iterator[None]:
    """Whatever happens inside, no process of the place is left afterwards."""
    try:
        yield
    finally:
        place.cut_power(random.Random(0))  # the order matters to nobody here


def server_of(home: Path) -> dict[str, str | int]:
    """How the home's Postgres is reached; empty where it never ran."""
    try:
        known: dict[str, str | int] = json.loads((home / "postgres" / "server.json").read_text())
    except (OSError, ValueError):
        return {}
    return known
