"""Kills what runs as a service: run workers, daemon, code server, Postgres, and everything at once."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import psutil

from tests.chaos.place import Place, StuckError, Up, kill, wait_until
from tests.chaos.record import Record
from tests.chaos.watcher import is_answering

WORKER, DAEMON, CODE, WEB = "run worker", "daemon", "code server", "web server"
POSTGRES_KILLED, POSTGRES_IMMEDIATE, POSTGRES_RESTARTED = "Postgres (-9)", "Postgres (immediate)", "Postgres (fast)"
POWER = "power cut"

WEIGHTS: Mapping[str, float] = {
    WORKER: 40,
    DAEMON: 7,
    CODE: 7,
    WEB: 2,
    POSTGRES_KILLED: 10,
    POSTGRES_IMMEDIATE: 8,
    POSTGRES_RESTARTED: 4,
    POWER: 10,
}
SIGNALS = {
    POSTGRES_KILLED: signal.SIGKILL,
    POSTGRES_IMMEDIATE: signal.SIGQUIT,
    POSTGRES_RESTARTED: signal.SIGINT,
}
PARTS = {DAEMON: "daemon", CODE: "code", WEB: "web"}
WORKER_SECONDS = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Kills services of a place until the record is over; after each kill it waits until all is well again."""

    place: Place
    up: Up
    record: Record
    rng: random.Random
    weights: Mapping[str, float]

    def run(self) -> None:
        """As many kills as the record has room for have happened."""
        while self.record.has_room(self.weights.keys()):
            self.one(self.rng.choices(list(self.weights), list(self.weights.values()))[0])

    def one(self, target: str) -> None:
        """One kill of this target, or none where it could not be found; all is well afterwards."""
        wait_until(self.up.is_ready, "`assay up` to be ready")
        root = self.up.root()
        if root is None:
            return
        if target == WORKER:
            self._worker(root)
        elif target == POWER:
            self._sleep(0.5, 8.0)
            made = self.record.killed(POWER)
            self.place.cut_power(self.rng)
            wait_until(self.up.is_ready, "`assay up` after a power cut")
            self.record.recovered(made)
        elif target in PARTS:
            self._part(root, target)
        else:
            self._postgres(target)

    def _sleep(self, least: float, most: float) -> None:
        time.sleep(self.rng.uniform(least, most))

    def _worker(self, root: psutil.Process) -> None:
        until = time.monotonic() + WORKER_SECONDS
        while not (workers := self.place.workers(root)) and time.monotonic() < until:
            time.sleep(0.2)
        if not workers:
            return
        self._sleep(0.0, 7.0)
        for worker in workers:
            if kill(worker):
                self.record.killed(WORKER)

    def _part(self, root: psutil.Process, target: str) -> None:
        self._sleep(0.5, 6.0)
        victim = self.place.part(root, PARTS[target])
        if victim is None or not kill(victim):
            return
        made = self.record.killed(target)
        wait_until(lambda: self._is_back(victim, PARTS[target]), f"{target} to be back")
        self.record.recovered(made)

    def _is_back(self, victim: psutil.Process, name: str) -> bool:
        if not self.up.is_ready():
            return False
        root = self.up.root()
        part = self.place.part(root, name) if root else None
        return part is not None and part.pid != victim.pid

    def _postgres(self, target: str) -> None:
        self._sleep(0.5, 8.0)
        victim = self.place.postmaster()
        if victim is None or not kill(victim, SIGNALS[target]):
            return
        made = self.record.killed(target)
        self._await(lambda: not _is_alive(victim), "Postgres to have gone")
        self._await(lambda: is_answering(self.place.home), "Postgres to answer again")
        self.record.recovered(made)

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
