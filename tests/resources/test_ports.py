from __future__ import annotations

import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from resources.home import Home
from resources.ports import VARIABLE, is_free, postgres_port
from resources.postgres import EmbeddedPostgres
from scoring.errors import InputError


@pytest.fixture
def taken() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return int(server.getsockname()[1])


def test_the_former_port_is_kept_while_it_is_free(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    former = free_port()
    assert postgres_port(former) == former
    assert postgres_port(taken) not in (taken, None)
    assert is_free(postgres_port(None))


def test_a_named_port_is_taken_or_refused(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = free_port()
    monkeypatch.setenv(VARIABLE, str(wanted))
    assert postgres_port(free_port()) == wanted
    for said, found in ((str(taken), f"port {taken} is taken"), ("80", "'80' is no port"), ("x", "'x' is no port")):
        monkeypatch.setenv(VARIABLE, said)
        with pytest.raises(InputError, match=re.escape(found)):
            postgres_port(None)


def test_the_embedded_server_listens_on_the_named_port_of_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(tempfile.mkdtemp(prefix="assay-port-"))
    folder.chmod(0o711)
    postgres = EmbeddedPostgres(Home(root=folder), is_durable=False)
    monkeypatch.setenv(VARIABLE, str(wanted := free_port()))
    try:
        assert postgres.ensure().port == wanted
        addresses = {one.laddr.ip for one in _listening(wanted)}
        assert addresses == {"127.0.0.1"}
    finally:
        postgres.stop()
        shutil.rmtree(folder)


def _listening(port: int) -> list[Any]:
    return [one for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.laddr.port == port]
