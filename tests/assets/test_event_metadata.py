"""What Dagster stores of a round stays small and is JSON, whatever models answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from pipelines.dagster_round import run_round_through_dagster
from pipelines.instance import open_instance
from pipelines.session import open_session
from tests.small_workspace import MODELS, SCENARIOS, run_of, write_workspace

MOST_BYTES = 65_536
HUGE = {"name": "x" * 9_000_000, "year": 1e308}
NOTHING: dict[str, Any] = {}
STORED = sa.text("""
select event from event_logs
where dagster_event_type in ('ASSET_MATERIALIZATION', 'ASSET_OBSERVATION', 'ASSET_CHECK_EVALUATION')
""")


@pytest.fixture
def events(assay_home: Path, tmp_path: Path) -> Iterator[list[str]]:
    """Everything Dagster stored of a round over an output of 9 MB, an empty one and one that is no JSON."""
    del assay_home
    models = (*MODELS, "lab/" + "\u00e9" * 30)
    folder = write_workspace(tmp_path / "ws", models=models, scoring={"embedding": None})
    with open_session(folder) as session:
        outputs: list[Any] = [HUGE, NOTHING, "NaN, Infinity and no object"]
        cells = [(scenario_id, model_id) for scenario_id in SCENARIOS for model_id in models]
        session.warehouse.import_runs([run_of(*cell, outputs[number % 3]) for number, cell in enumerate(cells)])
        report = run_round_through_dagster(session, cells)
        assert not report.failed
        rows = session.warehouse.field_scores(SCENARIOS[0], models[0], 1)
        assert {row["path"]: row["outcome"] for row in rows}["/name"] == "mismatch"
        with (
            open_instance(session.home) as instance,
            instance.event_log_storage.index_connection() as connection,  # type: ignore[attr-defined]  # it is SQL
        ):
            yield [str(row[0]) for row in connection.execute(STORED)]


def test_every_event_is_small_and_valid_json(events: list[str]) -> None:
    assert len(events) > 20
    assert sum("materialization" in event for event in events) > 10
    assert max(map(len, events)) <= MOST_BYTES
    for event in events:
        json.loads(event, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
