"""A judge that fails for random stretches: others go on, and once it is well all completes, nothing paid twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import text

from pipelines.round import score_round
from pipelines.session import open_session
from resources import pace
from resources.recordings import read_recordings
from tests.chaos.content import MODELS, REPETITIONS, STILL, add_scenario, judged, runs_file, scenario_id
from tests.chaos.content import write_workspace as write
from tests.judge_server import Asked, JudgeServer, Reply, completion, html, refusal

WAYS = {
    "500": lambda: refusal(500),
    "429": lambda: refusal(429, headers={"retry-after": "0"}),
    "reset": lambda: Reply(status=None),
    "garbage": lambda: completion("I would rather not say."),
    "html": html,
    "cut off": lambda: completion('{"reason": "So', finish_reason="length"),
    "hang": lambda: Reply(status=None, latency_seconds=0.5),
    "quota": lambda: refusal(429, code="insufficient_quota"),
    "refused": lambda: refusal(400),
}
MOST_ROUNDS = 60


class Moody:
    """Fails in a random way for a random stretch of questions, then answers for another; notes what it answered."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.answered: Counter[str] = Counter()
        self.ways: set[str] = set()
        self._left, self._way = 0, ""

    def __call__(self, asked: Asked) -> Reply:
        if self._left == 0:
            is_well = self._way != ""
            self._way = "" if is_well else self.rng.choice(sorted(WAYS))
            self._left = self.rng.randrange(1, 12)
        self._left -= 1
        if self._way:
            self.ways.add(self._way)
            return WAYS[self._way]()
        self.answered[asked.messages[1]["content"]] += 1
        return judged(asked)


@pytest.mark.usefixtures("assay_home")
@pytest.mark.parametrize("seed", [1, 2])
def test_what_a_moody_judge_answered_is_paid_once_and_all_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    scenarios = [scenario_id(STILL, number) for number in (1, 2)]
    cells = {(scenario, model) for scenario in scenarios for model in MODELS}
    moody, failures, rounds = Moody(seed), 0, 0
    with JudgeServer(moody) as server:
        workspace = write(tmp_path / "ws", server.base_url)
        for scenario in scenarios:
            add_scenario(workspace, scenario)
        files = [str(runs_file(workspace, one, number)) for one in scenarios for number in range(1, REPETITIONS + 1)]
        with open_session(workspace) as session:
            session.warehouse.import_runs(read_recordings(files, session.workspace, None, None))
            while cells and rounds < MOST_ROUNDS:
                rounds += 1
                report = score_round(session, sorted(cells))
                assert all(model.error for model in report.failed)
                failures += len(report.failed)
                cells -= {(one.scenario_id, one.model_id) for one in report.models if one.error is None}
                with session.warehouse.engine.connect() as connection:
                    whole = connection.execute(text("select count(*) from assay.model_scores")).scalar_one()
                    kept = connection.execute(text("select count(*) from assay.judge_answers")).scalar_one()
                assert whole == len(scenarios) * len(MODELS) - len(cells)
                assert kept == len(moody.answered)
    assert cells == set()
    assert failures > 0
    assert len(moody.ways) > 1
    assert set(moody.answered.values()) == {1}
