"""Fills a small disk of its own under a workspace at work: `python -m tests.full_disk lake|postgres FOLDER`.

Started by tests/test_full_disk.py in a mount namespace of its own, where it may mount a small tmpfs that nobody else
sees. Fails where an error is not told in words, something is half there, or the rest does not complete afterwards.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg2

from pipelines.cli import main as assay
from resources.full_disk import FULL_DISK_WORDS, REMEDY
from resources.home import Home
from resources.lease import using_postgres
from resources.postgres import EmbeddedPostgres
from tests.chaos import checks
from tests.chaos.content import MODELS, MOVING, REPETITIONS, STILL, add_scenario, judged, runs_file, scenario_id
from tests.chaos.content import write_workspace as write
from tests.chaos.contents import Stored
from tests.chaos.judge import LoggingJudge
from tests.chaos.payments import payments
from tests.chaos.place import Place, nothing_left
from tests.chaos.record import Kill
from tests.chaos.undisturbed import within
from tests.chaos.watcher import connected

FIRST, SECOND = scenario_id(STILL, 1), scenario_id(STILL, 2)
LAKE_BYTES = 2**20
SPARE_BYTES = 20 * 2**20


def mount(folder: Path, size: int) -> None:
    """An empty disk of so many bytes is mounted there."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)


def fill(folder: Path, *, leaving: int = 0) -> Path:
    """A file that takes all space of the disk of this folder but so many bytes."""
    filler = folder / "filler"
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize - leaving
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while free > 0 and (written := file.write(b"\0" * min(free, 4096))):
            free -= written
    return filler


def said(*arguments: str) -> tuple[int, str]:
    """Exit code and words of a command. A traceback is raised, not returned."""
    words = io.StringIO()
    with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
        code = assay([*arguments])
    return code, words.getvalue()


def done(*arguments: str) -> None:
    """The command succeeds."""
    code, words = said(*arguments)
    assert code == 0, f"{arguments} ended with {code}: {words}"


def refused(codes: Sequence[int], *arguments: str) -> str:
    """The command fails in words that name the full disk and what to do about it."""
    code, words = said(*arguments)
    assert code in codes, f"{arguments} ended with {code}: {words}"
    assert FULL_DISK_WORDS[0] in words, words
    assert REMEDY in words, words
    return words


def tried(*arguments: str) -> None:
    """The command finds room in what Postgres has on its disk already, or says that the disk is full."""
    code, words = said(*arguments)
    assert code == 0 or (FULL_DISK_WORDS[0] in words and REMEDY in words), words


def imported(place: Place, scenario: str) -> tuple[str, ...]:
    """The command that imports all runs of a scenario."""
    files = [runs_file(place.workspace, scenario, repetition) for repetition in range(1, REPETITIONS + 1)]
    return "import", *(str(file) for file in files)


def full_lake(place: Place, _judge: LoggingJudge) -> list[Kill]:
    """The disk of the lake is full when runs are imported, and when scores are committed."""
    lake = place.folder / "lake"
    lake.mkdir()
    mount(lake, LAKE_BYTES)
    os.environ["ASSAY_LAKE"] = str(lake)
    done(*imported(place, FIRST))
    filler = fill(lake)
    refused([2], *imported(place, SECOND))
    refused([1], "score", FIRST)
    with using_postgres(Home(root=place.home)):
        EmbeddedPostgres(Home(root=place.home)).ensure()
        stored = Stored(connected(place.home), str(lake))
        assert stored.values("select count(*) from assay.model_scores") == [0]
        assert set(stored.values("select scenario_id from assay.runs")) == {FIRST}
        assert stored.values("select count(*) from assay.judge_answers")[0] > len(MODELS)
        stored.connection.close()
    assert list(lake.rglob("*.unfinished")) == []
    filler.unlink()
    return []


def full_postgres(place: Place, _judge: LoggingJudge) -> list[Kill]:
    """The disk of Postgres is full: first for tables, then for its log of writes, so that it cannot even start."""
    os.environ["ASSAY_LAKE"] = str(place.home / "lake")
    done(*imported(place, FIRST))
    data = place.home / "postgres" / "data"
    _on_a_small_disk(data)
    with using_postgres(Home(root=place.home)):
        EmbeddedPostgres(Home(root=place.home)).ensure()
        connection = connected(place.home)
        connection.autocommit = True
        filler = fill(data)
        began = time.time()
        tried(*imported(place, SECOND))
        tried("score", FIRST)
        with contextlib.suppress(psycopg2.Error):
            while True:  # until it finds no room for the next file of its log of writes
                connection.cursor().execute("select pg_logical_emit_message(true, '', 'x'), pg_switch_wal()")
        words = refused([2], "score", SECOND)
        assert "Postgres did not start" in words, words
        filler.unlink()
        return [Kill(target="Postgres, its disk full", at=began, down_seconds=time.time() - began)]


def _on_a_small_disk(data: Path) -> None:
    """The cluster, which does not run, lies on a disk with little more room than it needs."""
    aside = data.with_name("aside")
    subprocess.run(["cp", "-a", str(data), str(aside)], check=True)
    used = sum(file.stat().st_blocks * 512 for file in data.rglob("*") if file.is_file())
    mount(data, used + SPARE_BYTES)
    data.chmod(0o700)
    subprocess.run(["sh", "-c", 'cp -a "$1"/. "$2"/', "-", str(aside), str(data)], check=True)


KINDS: dict[str, Callable[[Place, LoggingJudge], list[Kill]]] = {"lake": full_lake, "postgres": full_postgres}


def main(kind: str, folder: Path) -> None:
    """Raises where something is wrong."""
    place = Place(folder=folder)
    with nothing_left(place), LoggingJudge(judged) as judge:
        write(place.workspace, judge.base_url)
        for scenario in (FIRST, SECOND):
            add_scenario(place.workspace, scenario)
        with within(place):
            kills = KINDS[kind](place, judge)
            done(*imported(place, SECOND))
            done("score")
            done("score")
            _check(place, judge, kills)


def _check(place: Place, judge: LoggingJudge, kills: Sequence[Kill]) -> None:
    """All is complete, nothing half, nothing double, nothing paid twice."""
    with using_postgres(Home(root=place.home)):
        EmbeddedPostgres(Home(root=place.home)).ensure()
        stored = Stored(connected(place.home), os.environ["ASSAY_LAKE"])
        assert len(stored.scores([FIRST, SECOND])) == 2 * len(MODELS)
        problems = [*checks.half(stored), *checks.lost(stored, set(), [FIRST, SECOND], [])]
        problems += [*checks.doubled(stored, rescored_kind=MOVING)]
        found = payments(stored, judge.served, kills)
        stored.connection.close()
    assert problems == []
    assert found.twice == ()
    sys.stdout.write(json.dumps({"paid": found.paid, "kept": found.kept, "in_flight": found.in_flight}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
