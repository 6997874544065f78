from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from pipelines.children import Program, running

ROOT = Path(__file__).parents[2]
GUARD = (sys.executable, "-c", "from pipelines.children import watch_over; watch_over(lambda: None)")
SLEEP = "import time; time.sleep(300)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(300)"
)
FAMILY = f"import subprocess, sys; print('up', flush=True); subprocess.run([sys.executable, '-c', {SLEEP!r}])"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def wait_until_gone(pids: list[int], seconds: float) -> list[int]:
    until = time.monotonic() + seconds
    while left := [pid for pid in pids if is_living(pid)]:
        if time.monotonic() > until:
            return left
        time.sleep(0.05)
    return []


def is_living(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_programs_their_children_and_the_guard_are_gone_afterwards(tmp_path: Path) -> None:
    lines: list[tuple[str, str]] = []
    programs = [
        Program(name="family", command=(sys.executable, "-c", FAMILY)),
        Program(name="plain", command=(sys.executable, "-c", "print('\\x1b[32mgreen\\x1b[0m')")),
    ]
    with running(
        programs, environment=environment(), folder=tmp_path, on_line=lambda *line: lines.append(line), guard=GUARD
    ) as children:
        until = time.monotonic() + 60
        while not {("family", "up"), ("plain", "green")} <= set(lines) and time.monotonic() < until:
            time.sleep(0.05)
        while len(psutil.Process(children[0].process.pid).children()) < 1 and time.monotonic() < until:
            time.sleep(0.05)
        pids = [process.pid for process in psutil.Process().children(recursive=True)]
        assert len(pids) >= 3
    assert wait_until_gone(pids, 5) == []


def test_a_program_deaf_to_the_request_is_killed(tmp_path: Path) -> None:
    lines: list[str] = []
    program = Program(name="deaf", command=(sys.executable, "-c", STUBBORN))
    with running(
        [program], environment=environment(), folder=tmp_path, on_line=lambda _, line: lines.append(line), guard=GUARD
    ) as (child,):
        until = time.monotonic() + 60
        while not lines and time.monotonic() < until:
            time.sleep(0.05)
    assert child.exit_code == -9


def test_the_next_program_waits_for_what_the_first_one_makes(tmp_path: Path) -> None:
    made = tmp_path / "made"
    first = f"import pathlib, time; time.sleep(0.5); pathlib.Path({str(made)!r}).touch(); time.sleep(300)"
    programs = [
        Program(name="first", command=(sys.executable, "-c", first), makes=made),
        Program(name="second", command=(sys.executable, "-c", SLEEP)),
    ]
    with running(
        programs, environment=environment(), folder=tmp_path, on_line=lambda *_: None, guard=GUARD
    ) as children:
        assert made.exists()
        assert all(child.exit_code is None for child in children)


def test_the_guard_ends_everything_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    supervisor = f"""
import os, sys, time
from pathlib import Path
from pipelines.children import Program, running
programs = [Program(name="family", command=(sys.executable, "-c", {FAMILY!r}))]
with running(programs, environment=dict(os.environ), folder=Path({str(tmp_path)!r}),
             on_line=lambda name, line: print(line, flush=True), guard={GUARD!r}):
    time.sleep(300)
"""
    process = subprocess.Popen([sys.executable, "-c", supervisor], env=environment(), stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        until = time.monotonic() + 60
        while len(psutil.Process(process.pid).children(recursive=True)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        pids = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
        process.kill()
    assert wait_until_gone(pids, 30) == []
