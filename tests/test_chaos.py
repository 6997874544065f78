"""`make chaos` in short: a few kills of commands, run workers and Postgres, and the whole checker afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.chaos.campaign import Plan, campaign
from tests.chaos.faults import POSTGRES_IMMEDIATE, POSTGRES_KILLED, WORKER

KILLS = 10


def test_nothing_is_lost_half_double_paid_twice_stuck_or_different() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as folder:
        Path(folder).chmod(0o711)
        weights = {WORKER: 1.0, POSTGRES_KILLED: 1.0, POSTGRES_IMMEDIATE: 1.0}
        outcome = campaign(Plan(seed=6, kills=KILLS, weights=weights, fewest_epochs=1), Path(folder), print)
    assert outcome.problems == {}
    assert outcome.last_line().startswith(f"chaos: {KILLS} kills (")
    assert len(outcome.record.kills) == KILLS
    assert outcome.payments is not None
    assert outcome.payments.kept > 0
    assert outcome.compared >= 4 * 2 + 2
    assert outcome.seen.looks > 0
    assert outcome.seen.rows
