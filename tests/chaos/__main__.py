"""`make chaos`: kills what runs, at random moments of real rounds, and counts what came of it.

The last line holds the figures; the exit code is 1 where one that must be 0 is not.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.campaign import Plan, campaign
from tests.chaos.place import StuckError

MOST_SHOWN = 5


def main() -> int:
    """1 where something was lost, half, double, paid twice, stuck or different."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=180, help="kill nothing after so many minutes")
    parser.add_argument("--keep", action="store_true", help="leave the folder with all logs behind")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="assay-chaos-"))
    folder.chmod(0o711)
    say(f"seed {given.seed}, {given.kills} kills, in {folder}")
    try:
        outcome = campaign(Plan(seed=given.seed, kills=given.kills, minutes=given.minutes), folder, say)
    except StuckError as error:
        say(f"chaos: stuck: {error}; logs in {folder}")
        return 1
    for kind, problems in outcome.problems.items():
        for problem in problems[:MOST_SHOWN]:
            say(f"{kind}: {problem}")
    say(f"most connections: {outcome.seen.holders}")
    say(f"commands: {dict(outcome.record.commands)}")
    if outcome.problems or given.keep:
        say(f"logs in {folder}")
    else:
        shutil.rmtree(folder)
    sys.stdout.write(f"{outcome.last_line()}\n")
    return bool(outcome.problems)


def say(what: str) -> None:
    """A line with the time."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
