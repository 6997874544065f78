"""Which runs still have a process: it holds a lock in Postgres, under the run's id, for as long as it lives.

Postgres lets go of the lock when the process ends, however it ended and on whatever machine it was. A process id would
say something on one machine only, and a broker keeps a lost task as started for hours.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from resources.database import engine_for
from resources.locks import lock_key

BEAT_SECONDS = 15.0
"""How often the lock is looked after: it comes back this long after a restart of Postgres."""

# A transaction, not a session, holds the lock: so it also holds behind a pooler that lends connections by transaction.
# Shared, since a second process of the same run must not wait for the first.
_LOCK = "select pg_advisory_xact_lock_shared(:key)"

# The server notices within a minute that the machine at the other end is gone, and does not end what only waits.
_SETTINGS = """
set local tcp_keepalives_idle = 30;
set local tcp_keepalives_interval = 10;
set local tcp_keepalives_count = 3;
set local idle_in_transaction_session_timeout = 0
"""

_HELD = """
select (classid::bigint << 32) | objid::bigint as key
from pg_locks
where locktype = 'advisory' and objsubid = 1 and granted
  and database = (select oid from pg_database where datname = current_database())
"""


@contextmanager
def holding_run(engine: Engine, run_id: str) -> Iterator[None]:
    """`living` names this run inside, on one connection beside the engine's own. Raises where Postgres is away."""
    stop = threading.Event()
    own = engine_for(engine.url, pool_size=1, max_overflow=0)
    connection = _locked(own, run_id)
    keeper = threading.Thread(target=_keep, args=(own, connection, run_id, stop), name=f"run {run_id}", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()
        own.dispose()


def living(engine: Engine, run_ids: Collection[str]) -> set[str]:
    """Those of the runs whose process lives."""
    if not run_ids:
        return set()
    with engine.connect() as connection:
        held = set(connection.execute(text(_HELD)).scalars())
    return {run_id for run_id in run_ids if _key(run_id) in held}


def _key(run_id: str) -> int:
    return lock_key("run", run_id)


def _locked(engine: Engine, run_id: str) -> Connection:
    connection = engine.connect()
    connection.exec_driver_sql(_SETTINGS)
    connection.execute(text(_LOCK), {"key": _key(run_id)})
    return connection


def _keep(engine: Engine, connection: Connection | None, run_id: str, stop: threading.Event) -> None:
    """The lock is held until `stop`, taken anew where its connection broke."""
    while not stop.wait(BEAT_SECONDS):
        try:
            connection = connection or _locked(engine, run_id)
            connection.execute(text("select 1"))
        except DBAPIError:  # Postgres restarts: the next beat tries again
            _drop(connection)
            connection = None
    _drop(connection)


def _drop(connection: Connection | None) -> None:
    if connection is not None:
        connection.invalidate()
        connection.close()
