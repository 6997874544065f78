"""Who uses the embedded Postgres: the last one to leave stops it, so that no command leaves a server behind."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from resources.home import Home

if TYPE_CHECKING:
    from resources.postgres import EmbeddedPostgres


@contextmanager
def using_postgres(home: Home) -> Iterator[None]:
    """Nobody else stops the embedded server of this home inside; at the end it stops if nobody else is using it.

    The server itself is started by whoever first needs it.
    """
    home.root.mkdir(parents=True, exist_ok=True)
    with (home.root / "in-use.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # waits while the last user before us is stopping the server
        try:
            yield
        finally:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                _postgres(home).stop()


def stop_unused_postgres(home: Home) -> None:
    """The embedded server of this home does not run, unless somebody uses it."""
    with using_postgres(home):
        pass


def _postgres(home: Home) -> EmbeddedPostgres:
    from resources.postgres import EmbeddedPostgres

    return EmbeddedPostgres(home)
