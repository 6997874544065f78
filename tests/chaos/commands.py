"""Commands of `assay` on a place, started quickly through `tests.chaos.forks`, each in a process of its own."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.place import LOOK_SECONDS, PATIENCE_SECONDS, Place, StuckError


@dataclass(slots=True, kw_only=True)
class Running:
    """A command that has started. Its exit code is that of the signal, negative, where one killed it."""

    pid: int
    answers: queue.Queue[int | None]
    code: int | None = None

    def is_over(self, seconds: float = 0.0) -> bool:
        """Whether it has ended, or ends within so many seconds."""
        if self.code is None:
            try:
                answer = self.answers.get(timeout=seconds) if seconds > 0 else self.answers.get_nowait()
            except queue.Empty:
                return False
            self.code = -signal.SIGKILL if answer is None else answer  # None: what started it was killed as well
        return True

    def kill(self) -> None:
        """It is killed outright."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit code. Raises StuckError where it never ends."""
        if not self.is_over(PATIENCE_SECONDS) or self.code is None:
            raise StuckError(f"the command of process {self.pid} never ended")
        return self.code


@dataclass(slots=True, kw_only=True)
class Commands:
    """Starts commands, one at a time; what forks them is started again where it was killed too."""

    place: Place
    _process: subprocess.Popen[str] | None = None
    _answers: queue.Queue[int | None] = field(default_factory=queue.Queue)

    def start(self, arguments: Sequence[str], output: Path) -> Running:
        """A command that runs now; what it says is added to `output`."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            pid = self._asked({"arguments": list(arguments), "output": str(output)})
            if pid is not None:
                return Running(pid=pid, answers=self._answers)
            time.sleep(LOOK_SECONDS)
        raise StuckError(f"{' '.join(arguments)} could not be started")

    def _asked(self, request: object) -> int | None:
        """The process id of what was asked for; None where what forks was killed before it answered."""
        process = self._living()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except OSError:
            process.wait()
            return None
        return self._answers.get()

    def _living(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._answers = queue.Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.forks"],
                env=self.place.environment(),
                cwd=self.place.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            threading.Thread(target=_pass_on, args=(self._process, self._answers), daemon=True).start()
        return self._process

    def close(self) -> None:
        """Nothing that forks is left."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):  # what a killed one did not read is still to be flushed
                self._process.stdin.close()
            self._process.wait()


def _pass_on(process: subprocess.Popen[str], answers: queue.Queue[int | None]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            answers.put(int(line))
    answers.put(None)
