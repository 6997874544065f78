"""`assay up`: Postgres and Dagster's code server, web server and daemon as one thing that starts and stops whole."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any
from urllib.request import Request, urlopen

from pipelines.children import Child, Program, running
from pipelines.instance import child_environment, open_instance, release_dead_runs
from pipelines.session import Session, open_session
from pipelines.written_schedule import ScheduleWatch, in_words, written_schedule
from resources.home import Home
from resources.workspace import find_workspace
from scoring.errors import InputError

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 3000
PORTS_TRIED = 50
START_SECONDS = 240
HEALTH_SECONDS = 15
HEALTH_PATIENCE_SECONDS = 10
RELOAD_SECONDS = 120

# The kernel allows 107 bytes; gRPC binds a temporary name beside it.
LONGEST_SOCKET_PATH = 90

Say = Callable[[str], None]

_HEALTH_QUERY = """{
  instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } }
  workspaceOrError { ... on Workspace { locationEntries { loadStatus locationOrLoadError {
    __typename ... on PythonError { message } } } } }
}"""

MOST_RELOADS = 4

_RELOAD = 'mutation { reloadRepositoryLocation(repositoryLocationName: "assay") { __typename } }'


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the web server says of itself, the daemon and the code: one word a part, `ok` or what is wrong."""

    web: str
    daemon: str
    code: str

    @property
    def is_ready(self) -> bool:
        """Whether every part is well."""
        return (self.web, self.daemon, self.code) == ("ok", "ok", "ok")

    def __str__(self) -> str:
        return f"web {self.web}, daemon {self.daemon}, code {self.code}"


def run_up(workspace: Path | None = None, *, port: int | None = None, say: Say) -> int:
    """Runs until it is told to stop (Ctrl-C, SIGTERM, SIGHUP), then leaves no process behind; the exit code.

    0 when stopped by a person, 1 when a part ended by itself or never became healthy. Raises InputError where the same
    home is up already, where a port that was asked for is taken, and for whatever keeps the workspace from loading.
    """
    folder = find_workspace(workspace).resolve()
    with open_session(folder) as session, _only_one(session.home) as note:
        address = f"http://{LOOPBACK}:{_port(port)}"
        note({"pid": os.getpid(), "address": address})
        with open_instance(session.home) as instance:
            for run_id in release_dead_runs(instance, session.warehouse.engine):
                say(f"run {run_id[:8]} was cut off when its process ended; it is marked as failed")
        say(f"workspace {session.workspace.root}")
        say(f"home {session.home.root}")
        code = _supervise(session, address, say)
    say("stopped; nothing is left running")
    return code


def _supervise(session: Session, address: str, say: Say) -> int:
    home = session.home.make()
    with (
        _stop_signals() as stop,
        _log(home) as (path, on_line),
        _socket(home) as code_socket,
        running(
            _programs(home, address, code_socket),
            environment=child_environment(home, session.workspace.root),
            folder=home.dagster,  # a folder of ours: its name is on Python's path
            on_line=on_line,
            guard=(sys.executable, "-m", "pipelines.guard", str(home.root)),
        ) as children,
    ):
        say(f"log {path}")
        schedule = ScheduleWatch(workspace=session.workspace.root, known=written_schedule(session.workspace.root))
        say(in_words(schedule.known))
        say(f"starting Dagster at {address} ...")
        code = _watch(children, address, stop, schedule, say)
        say("stopping ...")
    return code


@contextmanager
def _socket(home: Home) -> Iterator[str]:
    """The path of a socket that only this user can reach, nothing there yet: in the home, unless that lies too deep."""
    path = home.dagster / "code.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        path.unlink(missing_ok=True)
        yield str(path)
        path.unlink(missing_ok=True)
    else:
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            yield f"{folder}/code.sock"


def _programs(home: Home, address: str, code_socket: str) -> tuple[Program, ...]:
    """Web server and daemon share one code server, which reads the code anew when it is told to and lets runs end."""
    settings = home.dagster / "workspace.yaml"
    settings.write_text(
        f"load_from:\n  - grpc_server:\n      socket: {json.dumps(code_socket)}\n      location_name: assay\n"
    )
    python, port = (sys.executable, "-m"), address.rpartition(":")[2]
    options = ("--location-name", "assay", "--use-python-environment-entry-point")
    code = (*python, "dagster", "code-server", "start", "-m", "pipelines.definitions", "-s", code_socket, *options)
    web = (*python, "dagster_webserver", "-h", LOOPBACK, "-p", port, "-w", str(settings))
    daemon = (*python, "dagster._daemon", "run", "-w", str(settings))
    return (
        Program(name="code", command=code, makes=Path(code_socket)),
        Program(name="web", command=web),
        Program(name="daemon", command=daemon),
    )


def _watch(children: Sequence[Child], address: str, stop: threading.Event, schedule: ScheduleWatch, say: Say) -> int:
    started, announced = time.monotonic(), ""
    is_up, reloads = False, 0
    while not stop.wait(HEALTH_SECONDS if is_up else 0.5):
        ended = [child for child in children if child.exit_code is not None]
        if ended:
            say(f"{ended[0].program.name} ended by itself with exit code {ended[0].exit_code}; see the log")
            return 1
        health = _health(address)
        seconds = time.monotonic() - started
        if health.is_ready and not is_up:
            is_up = True
            say(f"ready after {seconds:.0f} s: {health}")
            say(f"open {address} - imported runs are scored by themselves - Ctrl-C stops all")
        elif str(health) != announced and is_up:
            say(f"health: {health}")
        announced = str(health)
        if is_up and (reloads := _reloads(health, reloads, address, say)) > MOST_RELOADS:
            return 1
        if is_up and (news := schedule.news()) is not None:
            say(f"assay.yaml changed: {in_words(news)}")
            _reload(address, say)
        if not is_up and seconds > START_SECONDS:
            say(f"not healthy after {seconds:.0f} s: {health}; see the log")
            return 1
    return 0


def _reloads(health: Health, before: int, address: str, say: Say) -> int:
    """How often in a row broken code was loaded again: its process may have died, and Dagster does not mend that."""
    if not health.code.startswith("broken"):
        return 0
    if before == MOST_RELOADS:
        say("the code stays broken; see the log")
    else:
        say("the code is loaded again")
        _reload(address, say)
    return before + 1


def _reload(address: str, say: Say) -> None:
    """Dagster reads the definitions anew, and with them the schedule; runs under way end as they began."""
    try:
        _ask(address, _RELOAD, patience_seconds=RELOAD_SECONDS)
    except (OSError, ValueError) as error:
        say(f"Dagster has not reloaded yet ({error}); if the schedule stays as it was, reload the location in its UI")


def _ask(address: str, query: str, *, patience_seconds: float) -> dict[str, Any]:
    """What the web server answers. Raises OSError or ValueError where it does not."""
    request = Request(  # noqa: S310 - our own address, http on loopback
        f"{address}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=patience_seconds) as answer:  # noqa: S310 - as above
        data: dict[str, Any] = json.load(answer).get("data") or {}
    return data


def _health(address: str) -> Health:
    try:
        data = _ask(address, _HEALTH_QUERY, patience_seconds=HEALTH_PATIENCE_SECONDS)
    except (OSError, ValueError) as error:
        is_starting = isinstance(getattr(error, "reason", error), ConnectionRefusedError)
        return Health(web="starting" if is_starting else f"failing ({error})", daemon="unknown", code="unknown")
    return Health(web="ok", daemon=_daemon_health(data), code=_code_health(data))


def _daemon_health(data: dict[str, Any]) -> str:
    statuses = data["instance"]["daemonHealth"]["allDaemonStatuses"]
    ill = [status["daemonType"] for status in statuses if status["required"] and not status["healthy"]]
    return "ok" if not ill else f"without a heartbeat of {', '.join(sorted(ill))}"


def _code_health(data: dict[str, Any]) -> str:
    entries = (data.get("workspaceOrError") or {}).get("locationEntries") or []
    loaded = [entry["locationOrLoadError"] for entry in entries if entry["loadStatus"] == "LOADED"]
    if not entries or len(loaded) < len(entries):
        return "loading"
    errors = [entry["message"].strip().splitlines()[-1] for entry in loaded if entry["__typename"] == "PythonError"]
    return f"broken ({errors[0]})" if errors else "ok"


@contextmanager
def _only_one(home: Home) -> Iterator[Callable[[dict[str, Any]], None]]:
    """The lock of this home, with a way to note who holds it; InputError where somebody else does."""
    with (home.root / "up.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _is_up_already(home, file) from None

        def note(holder: dict[str, Any]) -> None:
            file.truncate(0)
            file.write(json.dumps(holder))
            file.flush()

        yield note
        note({})


def _is_up_already(home: Home, file: IO[str]) -> InputError:
    file.seek(0)
    try:
        holder = json.loads(file.read())
    except ValueError:
        holder = {}
    who = f"process {holder['pid']}, {holder['address']}" if "pid" in holder else "it is just starting"
    return InputError(
        f"`assay up` already runs on this home ({who})",
        where=str(home.root),
        remedy="Open that address, or stop it there with Ctrl-C first",
    )


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """An event that the first stop signal sets; signals act as before afterwards."""
    stop = threading.Event()

    def note(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _log(home: Home) -> Iterator[tuple[Path, Callable[[str, str], None]]]:
    """One log of all programs, a prefix a line."""
    path = home.logs / "up.log"
    lock = threading.Lock()
    with path.open("a", encoding="utf-8", buffering=1) as file:

        def on_line(name: str, line: str) -> None:
            with lock:
                if not file.closed:
                    file.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {name:6} | {line}\n")

        yield path, on_line
        with lock:
            file.flush()


def _port(asked: int | None) -> int:
    """A free port: the one asked for, else 3000 or the next free one above. Raises InputError."""
    if asked is not None:
        if not _is_free(asked):
            raise InputError(f"port {asked} is taken", remedy="Name another with --port, or none to have one chosen")
        return asked
    for port in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        if _is_free(port):
            return port
    raise InputError(
        f"ports {DEFAULT_PORT} to {DEFAULT_PORT + PORTS_TRIED - 1} are all taken", remedy="Name one with --port"
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
