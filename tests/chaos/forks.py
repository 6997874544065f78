"""Runs commands of `assay` in children of a process that has imported them already: `python -m tests.chaos.forks`.

Reads `{"arguments", "output"}` as JSON, a line each; answers with the child's process id when it has started and its
exit code when it has ended (negative: the signal that killed it). So a kill falls into a command's work, hardly ever
into its imports, and two hundred kills take minutes.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from pipelines.cli import main as assay

IMPORTED_LATE = (
    "pipelines.attempts",
    "pipelines.dagster_round",
    "pipelines.definitions",
    "pipelines.judging",
    "pipelines.merging",
    "resources.judge",
    "resources.migrate",
    "resources.recordings",
    "resources.references",
    "resources.warehouse",
    "scoring.placed_values",
    "scoring.scorecard",
    "sensors.changed_inputs",
)
"""What commands import once they begin."""


def main() -> None:
    """One command after the other, until the input ends."""
    for name in IMPORTED_LATE:
        import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(request)
        _answer(pid)
        _, status = os.waitpid(pid, 0)
        _answer(os.waitstatus_to_exitcode(status))


def _answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _run(request: dict[str, Any]) -> None:
    """The command in this child, as in a process of its own: its output in a file, its own session, its exit code."""
    os.setsid()
    handle = os.open(Path(request["output"]), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for number in (1, 2):
        os.dup2(handle, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    code = 1
    try:
        code = assay(request["arguments"])
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - what Python itself does at the end of a process
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
