"""Kills what runs as a service: run workers, daemon, code server, Postgres, and everything at once."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import psutil

from tests.chaos.place import LOOK_SECONDS, Place, StuckError, Up, kill, wait_until
from tests.chaos.record import Kill, Record
from tests.chaos.watcher import is_answering

WORKER, DAEMON, WEB = "run worker", "daemon", "web server"
CODE, CODE_PROXY = "code server", "code proxy"
POSTGRES_KILLED, POSTGRES_IMMEDIATE, POSTGRES_RESTARTED = "Postgres (-9)", "Postgres (immediate)", "Postgres (fast)"
POWER = "power cut"

WEIGHTS: Mapping[str, float] = {
    WORKER: 26,
    DAEMON: 4,
    CODE: 3,
    CODE_PROXY: 2,
    WEB: 2,
    POSTGRES_KILLED: 10,
    POSTGRES_IMMEDIATE: 7,
    POSTGRES_RESTARTED: 4,
    POWER: 8,
}
SIGNALS = {
    POSTGRES_KILLED: signal.SIGKILL,
    POSTGRES_IMMEDIATE: signal.SIGQUIT,
    POSTGRES_RESTARTED: signal.SIGINT,
}
PARTS = {DAEMON: "daemon", CODE: "code", CODE_PROXY: "code proxy", WEB: "web"}
WORKER_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Kills services of a place until the record is over, also while `assay up` is just starting again."""

    place: Place
    up: Up
    record: Record
    rng: random.Random
    weights: Mapping[str, float]
    pending: list[Kill] = field(default_factory=list)

    def run(self) -> None:
        """As many kills as the record has room for have happened."""
        wait_until(self.is_well, "`assay up` to be ready")
        while self.record.has_room(self.weights.keys()):
            self.one(self.rng.choices(list(self.weights), list(self.weights.values()))[0])

    def is_well(self) -> bool:
        """Whether `assay up` is ready; it is started again where it has ended, and kills before it was are over."""
        if not self.up.is_ready():
            return False
        for kill_ in self.pending:
            self.record.recovered(kill_)
        self.pending.clear()
        return True

    def one(self, target: str) -> None:
        """One kill of this target, or none where it could not be found."""
        self._sleep(0.5, 7.0)
        if target == WORKER:
            self._worker()
        elif target == POWER:
            self.pending.append(self.record.killed(POWER))
            self.place.cut_power(self.rng)
        elif target in PARTS:
            self._part(target)
        else:
            self._postgres(target)

    def _sleep(self, least: float, most: float) -> None:
        until = time.monotonic() + self.rng.uniform(least, most)
        while time.monotonic() < until:
            self.is_well()
            time.sleep(LOOK_SECONDS)

    def _worker(self) -> None:
        until = time.monotonic() + WORKER_SECONDS
        while not (workers := self._workers()) and time.monotonic() < until:
            self._sleep(0.2, 0.2)
        if not workers:
            return
        self._sleep(0.0, 7.0)
        for worker in workers:
            if self.record.has_room(self.weights.keys()) and kill(worker):
                self.record.killed(WORKER)

    def _workers(self) -> list[psutil.Process]:
        root = self.up.root()
        return self.place.workers(root) if root else []

    def _part(self, target: str) -> None:
        root = self.up.root()
        victim = self.place.part(root, PARTS[target]) if root else None
        if root is None or victim is None or not kill(victim):
            return
        made = self.record.killed(target)
        wait_until(lambda: not _is_alive(root) or self._is_back(root, victim, target), f"an end of {target}")
        made.down_seconds = time.time() - made.at
        self.pending.append(made)

    def _is_back(self, root: psutil.Process, victim: psutil.Process, target: str) -> bool:
        part = self.place.part(root, PARTS[target])
        return part is not None and part.pid != victim.pid

    def _postgres(self, target: str) -> None:
        victim = self.place.postmaster()
        if victim is None or not kill(victim, SIGNALS[target]):
            return
        made = self.record.killed(target)
        self._await(lambda: not _is_alive(victim), "Postgres to have gone")
        self._await(lambda: self.is_well() and is_answering(self.place.home), "Postgres to answer again")
        self.record.recovered(made)
        made.down_seconds = made.recovered_seconds or 0.0

    def _await(self, is_so: Callable[[], bool], what: str) -> None:
        try:
            wait_until(is_so, what, patience=240)
        except StuckError:
            self.record.fault(f"waited in vain for {what}")
            raise


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
