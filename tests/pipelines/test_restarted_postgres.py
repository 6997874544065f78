"""A Postgres that is killed or restarted in the middle of a round: the round goes on, and no answer is paid twice."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.round import score_round
from pipelines.session import open_session, sync_workspace
from resources.recordings import read_recordings
from tests.chaos.content import MODELS, REPETITIONS, STILL, add_scenario, judged, runs_file, scenario_id
from tests.chaos.content import write_workspace as write
from tests.chaos.contents import Stored
from tests.chaos.judge import LoggingJudge
from tests.chaos.payments import payments
from tests.chaos.place import Place, kill, nothing_left
from tests.chaos.undisturbed import within
from tests.chaos.watcher import connected
from tests.judge_server import Asked, Reply

SIGNALS = {"killed": signal.SIGKILL, "stopped at once": signal.SIGQUIT, "restarted": signal.SIGINT}


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="assay-restarts-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        place = Place(folder=Path(folder))
        with nothing_left(place):
            yield place


@pytest.fixture(scope="module")
def judge(place: Place) -> Iterator[LoggingJudge]:
    with LoggingJudge(judged) as server:
        write(place.workspace, server.base_url)
        yield server


@pytest.mark.parametrize(("how", "at"), [("killed", 1), ("stopped at once", 9), ("restarted", 17)])
def test_a_round_survives_it_and_pays_each_question_once(place: Place, judge: LoggingJudge, how: str, at: int) -> None:
    scenario = scenario_id(STILL, at)
    add_scenario(place.workspace, scenario)
    first = len(judge.asked)

    def killing(asked: Asked) -> Reply:
        if asked.number == first + at:
            postmaster = place.postmaster()
            assert postmaster is not None
            assert kill(postmaster, SIGNALS[how])
        return judged(asked)

    judge.script = killing
    files = [str(runs_file(place.workspace, scenario, repetition)) for repetition in range(1, REPETITIONS + 1)]
    with within(place), open_session() as session:
        sync_workspace(session)
        session.warehouse.import_runs(read_recordings(files, session.workspace, None, None))
        report = score_round(session, [(scenario, model) for model in MODELS])
        assert [model.error for model in report.models] == [None] * len(MODELS)
        stored = Stored(connected(place.home), str(place.home / "lake"))
        found = payments(stored, judge.served, kills=[])
        assert stored.values("select count(*) from assay.judge_claims") == [0]
        stored.connection.close()
    assert len(judge.asked) - first == len({one.prompt for one in judge.served[first:]}) > at
    assert (found.twice, found.in_flight, found.never_kept, found.paid) == ((), 0, 0, found.kept)
