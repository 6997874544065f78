"""Runs a verb in a child process and kills the child at its n-th write; started by test_wholeness.py.

Reads a JSON request a line (`verb`, `model_id`, `kill_at`) and answers with the child's exit signal and its count of
writes: the kill comes before each SQL statement, commit, and step of a lake file (open, write, rename, flush to disk),
and after each commit. The child is forked after the imports, so that many kills cost little.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psycopg2.extensions
import pyarrow.parquet as pq

from pipelines import attempts  # noqa: F401 - the round imports it only once it begins
from pipelines.round import score_round
from pipelines.session import Session
from resources.database import engine_for, parsed_url
from resources.embeddings import CachedEmbeddings
from resources.home import Home
from resources.lake import Lake
from resources.references import EditFilter
from resources.scoring_configs import scoring_config_of
from resources.warehouse import Warehouse
from resources.workspace import Workspace, load_workspace
from scoring.edits import Snapshot
from scoring.merge import merge
from scoring.reading import read_output
from scoring.records import Json, Known
from scoring.schema import compile_schema
from scoring.scorecard import score
from scoring.task import prepare
from tests.small_workspace import SCENARIOS, FakeEmbeddings, run_of


def name_given_by(model_id: str) -> str:
    """What a model answers: a name that no other model gives, so that each has a text of its own to embed."""
    number = int(model_id.rpartition("m")[2])
    return f"Augusta {chr(97 + number // 26)}{chr(97 + number % 26)}zo"


def output_of(model_id: str) -> Json:
    return {"name": name_given_by(model_id), "year": 1815, "born": "London \x00\ud800"}


class Fuse:
    """Counts writes, and kills its process when the count reaches `kill_at` (0: never)."""

    def __init__(self, kill_at: int) -> None:
        self.kill_at = kill_at
        self.writes = 0

    def burn(self) -> None:
        self.writes += 1
        if self.writes == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, owner: Any, name: str, *, also_after: bool = False) -> None:
        """Burn at every call of the owner's function."""
        inner = getattr(owner, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            self.burn()
            result = inner(*arguments, **options)
            if also_after:
                self.burn()
            return result

        setattr(owner, name, wrapped)

    def connection_options(self) -> dict[str, Any]:
        """What makes psycopg2 burn around every statement and commit."""

        class Cursor(psycopg2.extensions.cursor):
            pass

        class Connection(psycopg2.extensions.connection):
            pass

        self.before(Cursor, "execute")
        self.before(Cursor, "copy_expert")
        self.before(Connection, "commit", also_after=True)
        return {"connection_factory": Connection, "cursor_factory": Cursor}


def main(workspace: Path, lake: str) -> None:
    loaded = load_workspace(workspace)
    _score_in_memory(loaded)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_in_child(json.loads(line), loaded, lake)) + "\n")
        sys.stdout.flush()


def _score_in_memory(workspace: Workspace) -> None:
    """All that a scoring imports is imported, once and not in each child."""
    scenario = workspace.scenario(SCENARIOS[0])
    config = scoring_config_of(scenario.scoring)
    task = prepare(schema=scenario.schema, reference=scenario.reference, config=config)
    score(task, read_output(json.dumps(output_of("m0"))), Known())
    merge(Snapshot(content=scenario.reference), [], root=compile_schema(scenario.schema, scenario.reference))


def _in_child(request: dict[str, Any], workspace: Workspace, lake: str) -> dict[str, int]:
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        fuse = Fuse(request["kill_at"])
        _run(request, workspace, lake, fuse)
        os.write(write_end, str(fuse.writes).encode())
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        writes = answer.read()
    _, status = os.waitpid(pid, 0)
    return {"signal": os.WTERMSIG(status), "code": os.WEXITSTATUS(status), "writes": int(writes or 0)}


def _run(request: dict[str, Any], workspace: Workspace, lake: str, fuse: Fuse) -> None:
    engine = engine_for(parsed_url(os.environ["ASSAY_DATABASE_URL"]), connect_args=fuse.connection_options())
    with engine.connect() as connection:
        connection.rollback()  # what a pool does at its first connection is no write of the verb
    fuse.writes = 0
    for owner, name in ((os, "fsync"), (Path, "open"), (Path, "rename"), (pq.ParquetWriter, "write_table")):
        fuse.before(owner, name)
    warehouse = Warehouse(engine, Lake(lake))
    if request["verb"] == "import":
        warehouse.import_runs(
            [run_of(scenario_id, request["model_id"], output_of(request["model_id"])) for scenario_id in SCENARIOS]
        )
        return
    if request["verb"] == "merge":
        warehouse.references.merge(SCENARIOS[0])
        return
    if request["verb"] == "reject":
        warehouse.references.reject(SCENARIOS[0], EditFilter(path=request["path"]), author="ann")
        return
    session = Session(home=Home(root=Path(lake)), workspace=workspace, warehouse=warehouse)
    waiting = warehouse.cells([SCENARIOS[0]], [request["model_id"]])
    embedding = workspace.scenario(SCENARIOS[0]).scoring.embedding.value
    session._embeddings[embedding] = CachedEmbeddings(FakeEmbeddings(), warehouse)
    report = score_round(session, [(cell.scenario_id, cell.model_id) for cell in waiting if cell.needs_scoring])
    if report.failed:
        os._exit(3)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
