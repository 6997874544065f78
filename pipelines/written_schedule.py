"""The schedule of rounds as assay.yaml has it right now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resources.settings import RoundSchedule, ScheduledWork
from resources.workspace import WORKSPACE_FILE, load_organisation
from scoring.errors import InputError

UNSET = "assay.yaml sets no `schedule`. Write one there, like `schedule: {rounds: nightly}`."

WORDS: Mapping[ScheduledWork, str] = {
    ScheduledWork.BOTH: "unscored or stale",
    ScheduledWork.UNSCORED: "unscored",
    ScheduledWork.STALE: "stale",
}


def written_schedule(workspace: Path | None = None) -> RoundSchedule | str:
    """What assay.yaml says now, or why there is no schedule: it sets none, cannot be read, or there is no workspace."""
    try:
        return load_organisation(workspace).schedule or UNSET
    except InputError as error:
        return str(error)


def in_words(schedule: RoundSchedule | str) -> str:
    """The schedule in one line."""
    if isinstance(schedule, str):
        return f"no rounds on a schedule: {schedule}"
    return f"rounds at '{schedule.cron}' ({schedule.timezone}) over what is {WORDS[schedule.what]}"


@dataclass(slots=True, kw_only=True)
class ScheduleWatch:
    """Looks whether assay.yaml has another schedule than it had."""

    workspace: Path
    known: RoundSchedule | str
    stamp: tuple[int, int] | None = None

    def news(self) -> RoundSchedule | str | None:
        """The schedule where it is another one than last time, else None. Reads the file only where it was written."""
        try:
            state = (self.workspace / WORKSPACE_FILE).stat()
        except OSError:
            return None  # an editor is replacing it: the next look finds it
        stamp = (state.st_mtime_ns, state.st_size)
        if stamp == self.stamp:
            return None
        self.stamp = stamp
        found = written_schedule(self.workspace)
        if found == self.known:
            return None
        self.known = found
        return found
