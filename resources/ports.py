"""Which port of this machine the embedded Postgres listens on."""

from __future__ import annotations

import os
import socket

from scoring.errors import InputError

VARIABLE = "ASSAY_POSTGRES_PORT"


def postgres_port(former: int | None) -> int:
    """The port that `ASSAY_POSTGRES_PORT` names, else the former one where it is free, else any free one.

    Raises InputError where the named one is none, or is taken.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return former if former and is_free(former) else _free_port()
    if not named.isascii() or not named.isdigit() or not 1024 <= int(named) <= 65535:
        raise InputError(f"'{named}' is no port", where=VARIABLE, remedy="Name a free one from 1024 to 65535")
    if not is_free(int(named)):
        raise InputError(f"port {named} is taken", where=VARIABLE, remedy="Name a free one, or none at all")
    return int(named)


def is_free(port: int) -> bool:
    """Whether a server could listen on the port of this machine now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
