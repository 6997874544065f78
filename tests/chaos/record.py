"""What was killed when, and how long it took until all was well again."""

from __future__ import annotations

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, field

Say = Callable[[str], None]

COMMANDS = frozenset({"import", "score", "reference set"})
COMMANDS_SHARE = 0.65
"""So many of all kills hit commands, the others services."""


@dataclass(slots=True, kw_only=True)
class Kill:
    """One kill: its target and its time in seconds since the epoch.

    After `down_seconds` all that had to end with it has ended, or is back; after `recovered_seconds` all is well again.
    """

    target: str
    at: float
    down_seconds: float = 0.0
    recovered_seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Record:
    """All kills of a campaign of at most `most` of them, none after `until` on the monotonic clock; thread-safe."""

    most: int
    say: Say
    until: float
    has_services: bool = True
    kills: list[Kill] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    commands: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def has_room(self, targets: Set[str]) -> bool:
        """Whether one more of these targets may be killed: commands and services have a share each."""
        if time.monotonic() > self.until:
            return False
        is_command = targets <= COMMANDS
        of_commands = round(self.most * COMMANDS_SHARE) if self.has_services else self.most
        most = of_commands if is_command else self.most - of_commands
        return sum((kill.target in COMMANDS) == is_command for kill in self.kills) < most

    def killed(self, target: str) -> Kill:
        """The kill that has just happened."""
        with self._lock:
            made = Kill(target=target, at=time.time())
            self.kills.append(made)
        self.say(f"kill {len(self.kills)} of {self.most}: {target}")
        return made

    def recovered(self, kill: Kill) -> None:
        """All is well after this kill."""
        kill.recovered_seconds = time.time() - kill.at

    def fault(self, what: str) -> None:
        """Something that must never happen has happened."""
        with self._lock:
            self.faults.append(what)
        self.say(f"FAULT: {what}")

    def by_target(self) -> str:
        """The count of kills of each target."""
        counts = Counter(kill.target for kill in self.kills)
        return ", ".join(f"{count} {target}" for target, count in sorted(counts.items(), key=lambda one: -one[1]))

    def recovery(self) -> tuple[float, float]:
        """Median and maximum of the seconds until all was well."""
        seconds = [kill.recovered_seconds for kill in self.kills if kill.recovered_seconds is not None]
        return (statistics.median(seconds), max(seconds)) if seconds else (0.0, 0.0)
