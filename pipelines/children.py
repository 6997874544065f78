"""Programs that run below a supervisor: each in a process group of its own, its output line by line, stopped whole."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

OnLine = Callable[[str, str], None]
"""Called with a program's name and a line of its output, from a thread of its own."""

AWAIT_SECONDS = 60.0
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program to run. `name` is its prefix in the log; the next one starts once the file `makes` exists."""

    name: str
    command: tuple[str, ...]
    makes: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A started program. Its process id is the id of its process group, which holds whatever it starts itself."""

    program: Program
    process: subprocess.Popen[str]
    reader: threading.Thread

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.poll()


@contextmanager
def running(
    programs: Sequence[Program], *, environment: Mapping[str, str], folder: Path, on_line: OnLine, guard: Sequence[str]
) -> Iterator[tuple[Child, ...]]:
    """All programs run inside, and no process of theirs is left afterwards.

    That holds when this process is killed outright too: `guard` is the command of a program that reads process groups
    from its input and ends them when the input closes before the word `done`.
    """
    watch = subprocess.Popen(  # noqa: S603 - the caller gives a command of ours, no shell
        guard, stdin=subprocess.PIPE, text=True, env=dict(environment), cwd=folder, start_new_session=True
    )
    children: list[Child] = []
    try:
        for program in programs:
            children.append(_started(program, environment, folder, on_line))
            _tell(watch, f"group {children[-1].process.pid}")
            _await_file(children[-1])
        yield tuple(children)
    finally:
        stop_groups([child.process.pid for child in children])
        for child in children:
            child.process.wait()
            child.reader.join()
        _tell(watch, "done")
        watch.communicate()


def stop_groups(groups: Iterable[int], *, patience_seconds: float = 12.0) -> None:
    """No process of these groups runs: asked to end first, killed after `patience_seconds`."""
    left = set(groups)
    for signal_, seconds in ((signal.SIGTERM, patience_seconds), (signal.SIGKILL, 10.0)):
        for group in left:
            _signal_group(group, signal_)
        until = time.monotonic() + seconds
        while (left := {group for group in left if _has_living(group)}) and time.monotonic() < until:
            time.sleep(0.05)


def _started(program: Program, environment: Mapping[str, str], folder: Path, on_line: OnLine) -> Child:
    process = subprocess.Popen(  # noqa: S603 - the caller gives a command of ours, no shells
        program.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=dict(environment),
        cwd=folder,
        start_new_session=True,  # Ctrl-C in the terminal reaches the supervisor alone, which stops all in order
    )
    reader = threading.Thread(target=_pass_on, args=(program.name, process, on_line), daemon=True)
    reader.start()
    return Child(program=program, process=process, reader=reader)


def _await_file(child: Child) -> None:
    """Returns when the program has made its file, has ended, or takes too long: others then tell what is wrong."""
    until = time.monotonic() + AWAIT_SECONDS
    made = child.program.makes
    while made is not None and not made.exists() and child.exit_code is None and time.monotonic() < until:
        time.sleep(0.05)


def _pass_on(name: str, process: subprocess.Popen[str], on_line: OnLine) -> None:
    if process.stdout is not None:
        with process.stdout as lines:
            for line in lines:
                on_line(name, _COLOURS.sub("", line.rstrip("\n")))


def _tell(watch: subprocess.Popen[str], line: str) -> None:
    if watch.stdin is None or watch.poll() is not None:
        return
    try:
        watch.stdin.write(f"{line}\n")
        watch.stdin.flush()
    except BrokenPipeError:  # the guard was killed; there is nobody to tell
        return


def _signal_group(group: int, signal_: signal.Signals) -> None:
    try:
        os.killpg(group, signal_)
    except (ProcessLookupError, PermissionError):
        return


def _has_living(group: int) -> bool:
    """Whether a process of the group runs; zombies do not, and not everywhere does somebody reap them."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return any(_is_living_in(process, group) for process in psutil.process_iter())


def _is_living_in(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


def watch_over(on_orphaned: Callable[[], None]) -> None:
    """The guard's whole life: it ends at the word `done`, or ends the groups it was told of and calls `on_orphaned`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    groups: list[int] = []
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "done":
            return
        groups.append(int(rest))
    stop_groups(groups, patience_seconds=5)
    on_orphaned()
