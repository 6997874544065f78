"""Advisory locks: who may do what at the same time, whatever processes there are."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, text


def lock(connection: Connection, *names: str) -> None:
    """Nobody else holds the lock of these names until this transaction ends."""
    connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": lock_key(*names)})


def lock_key(*names: str) -> int:
    """A signed 64-bit number for these names; distinct names hardly ever share one."""
    digest = hashlib.sha256("\x1f".join(("assay", *names)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
