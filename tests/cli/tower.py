"""The task of the command-line tests: one small scenario, a right and a wrong answer, and what a command said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Assay = Callable[..., Said]

SCENARIO = """\
title: The Eiffel Tower
repetitions: 2
reference: {{verified: {verified}}}
"""
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "height_metres": {"type": "number"}, "engineers": {"type": "array"}},
}
REFERENCE = {"name": "Eiffel Tower", "height_metres": 330, "engineers": ["Maurice Koechlin", "Émile Nouguier"]}
RIGHT = {"name": "eiffel tower", "height_metres": 330, "engineers": ["Émile Nouguier", "Maurice Koechlin"]}
WRONG = {"name": "The tower", "height_metres": 300, "engineers": ["Gustave Eiffel"]}


def run_row(
    model: str, repetition: int, output: Any, *, seconds: float = 1.0, cost: float | None = 0.01, **more: Any
) -> str:
    row = {
        "scenario": "tower",
        "model": model,
        "repetition": repetition,
        "output": output,
        "seconds": seconds,
        "cost": cost,
    }
    return json.dumps({key: value for key, value in (row | more).items() if value is not None}) + "\n"


def score_without_dagster() -> None:
    """Record and score the workspace's complete runs as `assay score` does, without starting Dagster."""
    from pipelines.round import score_round
    from pipelines.session import open_session
    from resources.recordings import read_recordings

    with open_session() as session:
        session.warehouse.import_runs(read_recordings([session.workspace.root / "runs"], session.workspace))
        cells = [(cell.scenario_id, cell.model_id) for cell in session.warehouse.cells() if cell.needs_scoring]
        score_round(session, cells)
