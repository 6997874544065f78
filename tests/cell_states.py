"""Cells in the states that sensors and checks tell apart."""

from __future__ import annotations

from dataclasses import replace

from resources.cells import Cell, ScoreHead

HEAD = ScoreHead(
    model_score_id=1, reference_version_id=1, reference_hash="r", config_hash="c", runs_hash="u", mode="full"
)
WAITING = Cell(
    scenario_id="s",
    model_id="m",
    expected_repetitions=3,
    recorded=3,
    newest_run_id=7,
    runs_hash="u",
    reference_hash="r",
    has_verified_reference=True,
    config_hash="c",
    head=None,
    is_stale=False,
)
"""All is there for a first score."""

SCORED = replace(WAITING, head=HEAD)
