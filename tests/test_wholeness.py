"""A process that is killed at any of its writes leaves nothing half-written, and the next one completes the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, table, text

from resources.warehouse import Warehouse
from resources.workspace import load_workspace
from tests.killed_process import name_given_by, output_of
from tests.small_workspace import SCENARIOS, run_of, write_workspace

MODELS = tuple(f"lab/m{number}" for number in range(200))
VIEWS = ("model_scores", "run_scores", "field_scores", "list_scores", "findings", "leaderboard")
TABLES = ("model_scores", "findings")
VARYING = {
    "model_score_id",
    "run_id",
    "finding_id",
    "round_id",
    "scoring_record_id",
    "model_id",
    "position",
    "output_sha256",
}
VARYING |= {"scored_at", "found_at", "scoring_duration_seconds"}

Request = Callable[..., dict[str, int]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write_workspace(tmp_path / "ws", models=MODELS, repetitions=1)


@pytest.fixture
def stores(warehouse: Warehouse, workspace: Path) -> Warehouse:
    """A warehouse that holds the workspace."""
    loaded = load_workspace(workspace)
    warehouse.sync_models(loaded.models)
    warehouse.sync_scenarios(loaded.scenarios)
    return warehouse


@pytest.fixture
def request_kill(stores: Warehouse, workspace: Path) -> Iterator[Request]:
    """Runs a verb in a child process that is killed at its n-th write."""
    url = stores.engine.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "tests.killed_process", str(workspace), stores.lake.root]
    root = Path(__file__).parents[1]
    with subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {"ASSAY_DATABASE_URL": url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def request(verb: str, model_id: str, kill_at: int = 0) -> dict[str, int]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"verb": verb, "model_id": model_id, "kill_at": kill_at}) + "\n")
            process.stdin.flush()
            answer: dict[str, int] = json.loads(process.stdout.readline())
            return answer

        yield request
        process.stdin.close()


def test_a_scoring_that_is_killed_at_any_write_is_invisible_and_completed_by_the_next(
    stores: Warehouse, request_kill: Request
) -> None:
    stores.import_runs([run_of(SCENARIOS[0], model_id, output_of(model_id)) for model_id in MODELS])
    undisturbed = request_kill("score", MODELS[0])
    assert undisturbed["code"] == 0
    expected = content_of(stores, MODELS[0])
    assert expected["bi.field_scores"]
    assert expected["lake"]
    first_seen = 0
    for kill_at in count(1):
        model_id = MODELS[kill_at]
        if request_kill("score", model_id, kill_at)["signal"] == 0:
            break
        found = content_of(stores, model_id)
        if first_seen or any(found.values()):
            first_seen = first_seen or kill_at
            assert found == expected, f"write {kill_at} of {undisturbed['writes']}"
        assert rows_of(stores, model_id) in ({"model_scores": 0, "findings": 0}, rows_of(stores, MODELS[0]))
        assert request_kill("score", model_id)["code"] == 0
        assert content_of(stores, model_id) == expected, f"restart after write {kill_at}"
    assert kill_at > 20
    assert first_seen > kill_at / 2


def test_an_import_that_is_killed_at_any_write_records_all_or_nothing_and_its_files_are_swept(
    stores: Warehouse, request_kill: Request
) -> None:
    seen = []
    for kill_at in count(1):
        model_id = MODELS[kill_at]
        if request_kill("import", model_id, kill_at)["signal"] == 0:
            break
        recorded = [len(stores.runs_of(scenario_id, model_id)) for scenario_id in SCENARIOS]
        assert recorded in ([0, 0], [1, 1])
        seen.append(recorded)
        assert request_kill("import", model_id)["code"] == 0
        for scenario_id in SCENARIOS:
            assert [one.run for one in stores.runs_of(scenario_id, model_id)] == [
                run_of(scenario_id, model_id, output_of(model_id))
            ]
    assert len(seen) > 10
    assert seen == sorted(seen)
    assert seen[0] == [0, 0]
    assert seen[-1] == [1, 1]
    assert any(name.endswith(".parquet") for name in stores.sweep_lake(older_than=timedelta(0)))
    assert stores.sweep_lake(older_than=timedelta(0)) == []
    for scenario_id in SCENARIOS:
        assert len(stores.runs_of(scenario_id, MODELS[1])) == 1


def content_of(stores: Warehouse, model_id: str) -> dict[str, list[Any]]:
    """All that readers see of a model's score, without ids and times."""
    found: dict[str, list[Any]] = {}
    with stores.engine.connect() as connection:
        for view in VIEWS:
            rows = connection.execute(
                select(text("*")).where(text("model_id = :id")).select_from(table(view, schema="bi")), {"id": model_id}
            )
            found[f"bi.{view}"] = sorted(
                json.dumps({name: value for name, value in row.items() if name not in VARYING}, default=str).replace(
                    name_given_by(model_id), "NAME"
                )
                for row in rows.mappings()
            )
        query = text("select field_scores_file from assay.model_scores where model_id = :id")
        files = connection.execute(query, {"id": model_id}).scalars().all()
    read = [stores.lake.read(file).drop_columns(["model_id", "run_id"]) for file in files]
    found["lake"] = [str(one.to_pylist()).replace(name_given_by(model_id), "NAME") for one in read]
    found["cells"] = [cell.is_scored for cell in stores.cells([SCENARIOS[0]], [model_id]) if cell.is_scored]
    return found


def rows_of(stores: Warehouse, model_id: str) -> dict[str, int]:
    """How many rows of the model the tables themselves hold."""
    with stores.engine.connect() as connection:
        return {
            name: connection.execute(
                select(func.count()).select_from(table(name, schema="assay")).where(text("model_id = :id")),
                {"id": model_id},
            ).scalar_one()
            for name in TABLES
        }
