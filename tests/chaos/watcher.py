"""Looks at Postgres twice a second while everything else is killed: what is committed, and how many are connected."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg2

from tests.chaos.place import server_of

LOOK_SECONDS = 0.5
NAME = "assay-chaos"

# What is there once must be there for good: tables that only grow, by key.
GROWING = {
    "runs": "run_id || ':' || content_hash",
    "model_scores": "model_score_id || ':' || field_scores_file",
    "reference_versions": "reference_version_id || ':' || content_hash",
    "reference_edits": "reference_edit_id::text",
    "findings": "finding_id || ':' || stable_path",
    "judge_calls": "judge_call_id::text",
    "judge_answers": "scenario_id || ':' || question_id || ':' || verdict || ':' || credit",
    "merged_scores": "model_score_id || ':' || reference_version_id",
}
_LOOK = " union all ".join(
    f"select '{table}', {key} from assay.{table}"  # noqa: S608 - names of our own tables
    for table, key in GROWING.items()
)
_BACKENDS = """
select coalesce(nullif(application_name, ''), 'dagster'), datname from pg_stat_activity
where backend_type = 'client backend' and application_name <> %s
"""


@dataclass(slots=True, kw_only=True)
class Seen:
    """All that was ever seen committed, and the most connections that were there at once, by who held them."""

    rows: set[tuple[str, str]] = field(default_factory=set)
    connections: int = 0
    holders: dict[str, int] = field(default_factory=dict)
    looks: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, rows: list[tuple[str, str]], backends: list[tuple[str, str]]) -> None:
        """These rows and connections are there now."""
        with self._lock:
            self.rows.update(rows)
            self.looks += 1
            if len(backends) > self.connections:
                self.connections = len(backends)
                self.holders = dict(Counter(f"{name} on {database}" for name, database in backends))


class Watcher:
    """Looks from `with` to its end. A Postgres that does not answer is looked for again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.seen = Seen()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(psycopg2.Error), contextlib.closing(connected(self.home)) as connection:
                self._look_at(connection)
            self._stop.wait(LOOK_SECONDS)

    def _look_at(self, connection: Any) -> None:
        connection.autocommit = True
        with connection.cursor() as cursor:
            while not self._stop.wait(LOOK_SECONDS):
                cursor.execute(_LOOK)
                rows = cursor.fetchall()
                cursor.execute(_BACKENDS, (NAME,))
                self.seen.note(rows, cursor.fetchall())


def connected(home: Path, database: str = "assay") -> Any:
    """A connection of our own to the home's Postgres. Raises psycopg2.Error where it does not answer."""
    known = server_of(home)
    if "port" not in known:
        raise psycopg2.OperationalError("Postgres never ran here")
    return psycopg2.connect(
        host="127.0.0.1",
        port=known["port"],
        user="postgres",
        password=known["password"],
        dbname=database,
        connect_timeout=5,
        application_name=NAME,
    )


def is_answering(home: Path) -> bool:
    """Whether the home's Postgres answers a new connection."""
    try:
        with contextlib.closing(connected(home)) as connection, connection.cursor() as cursor:
            cursor.execute("select 1")
            return bool(cursor.fetchone())
    except psycopg2.Error:
        return False
