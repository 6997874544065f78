"""What people do meanwhile: import runs, score, edit references; each command is given again until it has succeeded."""

from __future__ import annotations

import random
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.commands import Commands, Running
from tests.chaos.content import EDITS, KINDS, REPETITIONS, OwnerEdit, add_scenario, kind_of, runs_file, scenario_id
from tests.chaos.place import Place, StuckError
from tests.chaos.record import COMMANDS, Kill, Record

KILLED_SHARE = 0.7
MOST_KILLS_IN_A_ROW = 3
MOST_TRIES = 60
FIRST_GUESS_SECONDS = 2.0
PAUSE_SECONDS = 0.3


@dataclass(slots=True, kw_only=True)
class Deeds:
    """Commands on a place, some of them killed. `edits` are those that were acknowledged, in their order."""

    place: Place
    record: Record
    rng: random.Random
    folder: Path
    commands: Commands
    scored_by_command: float = 0.5
    scenarios: list[str] = field(default_factory=list)
    edits: list[tuple[str, OwnerEdit]] = field(default_factory=list)
    _seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def epoch(self, number: int) -> None:
        """Two more scenarios, all their runs imported, their owners' edits made; half of the time scored as well."""
        scenarios = [scenario_id(kind, number) for kind in KINDS]
        for scenario in scenarios:
            add_scenario(self.place.workspace, scenario)
            self.scenarios.append(scenario)
        for repetition in range(1, REPETITIONS + 1):
            files = [str(runs_file(self.place.workspace, scenario, repetition)) for scenario in scenarios]
            self.done("import", *files)
        is_scored = self.rng.random() < self.scored_by_command
        for scenario in scenarios:
            for edit in EDITS[kind_of(scenario)]:
                if is_scored:
                    self.done("score", scenario)
                self.edit(scenario, edit)
        if is_scored:
            self.done("score", *scenarios)

    def edit(self, scenario: str, edit: OwnerEdit) -> None:
        """The owner's edit is made and acknowledged."""
        self.done("reference", "set", scenario, edit.path, str(edit.value), "--verify", "--author", "owner")
        self.edits.append((scenario, edit))

    def done(self, *arguments: str) -> None:
        """The command has succeeded; before that it was killed at random moments and given again."""
        verb = " ".join(arguments[:2] if arguments[0] == "reference" else arguments[:1])
        pending: list[Kill] = []
        for _ in range(MOST_TRIES):
            output = self.folder / f"{verb.replace(' ', '-')}-{self.record.commands[verb]}.txt"
            self.record.commands[verb] += 1
            running, began = self.commands.start(arguments, output), time.monotonic()
            kill = self._killed(running, verb) if len(pending) < MOST_KILLS_IN_A_ROW else None
            if kill is not None:
                pending.append(kill)
            code = running.wait()
            if code == 0:
                for one in pending:
                    self.record.recovered(one)
                self._seconds[verb].append(time.monotonic() - began)
                return
            if code > 0:
                self._refused(verb, code, output)
            time.sleep(PAUSE_SECONDS)
        raise StuckError(f"{' '.join(arguments)} did not succeed in {MOST_TRIES} tries; see {output}")

    def _killed(self, running: Running, verb: str) -> Kill | None:
        """The kill of this command at a random moment of its life; None where it is spared, or was quicker."""
        if not self.record.has_room(COMMANDS) or self.rng.random() > KILLED_SHARE:
            return None
        if running.is_over(self._moment(self._seconds[verb])):
            return None
        running.kill()
        return self.record.killed(verb)

    def _moment(self, seconds: Sequence[float]) -> float:
        """Seconds into the command; more often in its second half, where it writes."""
        usual = statistics.median(seconds[-9:]) if seconds else FIRST_GUESS_SECONDS
        return usual * (self.rng.uniform(0.0, 1.1) if self.rng.random() < 0.3 else self.rng.uniform(0.5, 1.0))

    def _refused(self, verb: str, code: int, output: Path) -> None:
        """A command may fail while others are killed, but it says why in words."""
        said = output.read_text(errors="replace")
        self.record.commands[f"{verb} refused"] += 1
        if "Traceback" in said or not said.strip() or code not in (1, 2):
            self.record.fault(f"{verb} ended with {code} and said: {said.strip()[-1500:]}")
