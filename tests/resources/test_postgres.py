from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import psutil
import psycopg2
import pytest
from sqlalchemy import text

from resources.accounts import Account, account_for, is_reachable
from resources.database import engine_for
from resources.home import Home
from resources.postgres import EmbeddedPostgres, Server, dagster_url, database_url
from scoring.errors import InputError

_ENSURE = """
import sys
from pathlib import Path
from resources.home import Home
from resources.postgres import EmbeddedPostgres
print(EmbeddedPostgres(Home(root=Path(sys.argv[1])), is_durable=False).ensure().port)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account reaches, with a name that shells trip over; nothing runs in it afterwards."""
    top = Path(tempfile.mkdtemp(prefix="assay 'postgres' $HOME-"))
    top.chmod(0o711)
    yield top
    EmbeddedPostgres(Home(root=top)).stop()
    shutil.rmtree(top)


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """A cluster that was made and stopped; copying it is cheaper than making one for each test."""
    top = Path(tempfile.mkdtemp(prefix="assay-stopped-"))
    top.chmod(0o711)
    made = EmbeddedPostgres(Home(root=top), is_durable=False)
    made.ensure()
    made.stop()
    yield made.home.postgres
    shutil.rmtree(top)


@pytest.fixture
def postgres(folder: Path, stopped: Path) -> EmbeddedPostgres:
    subprocess.run(["cp", "-a", str(stopped), str(folder / "postgres")], check=True)
    return EmbeddedPostgres(Home(root=folder), is_durable=False)


def ask(server: Server, query: str) -> object:
    engine = engine_for(server.url)
    with engine.connect() as connection:
        answer: object = connection.execute(text(query)).scalar()
    engine.dispose()
    return answer


def test_a_server_without_a_free_connection_is_not_taken_for_dead(postgres: EmbeddedPostgres) -> None:
    url = postgres.ensure().url
    with ExitStack() as stack:
        for _ in range(int(ask(postgres.ensure(), "show max_connections"))):  # type: ignore[call-overload]
            named = {"host": url.host, "port": url.port, "user": "postgres", "password": url.password}
            stack.enter_context(closing(psycopg2.connect(**named, dbname="assay")))
        with pytest.raises(InputError, match="every connection of Postgres is taken"):
            postgres.ensure()
    assert ask(postgres.ensure(), "select 1") == 1


def test_it_starts_stays_and_stops(postgres: EmbeddedPostgres) -> None:
    assert not postgres.is_alive()
    first = postgres.ensure()
    assert postgres.is_alive()
    assert postgres.ensure() == first
    assert ask(first, "select 1") == 1
    postgres.stop()
    assert not postgres.is_alive()
    postgres.stop()


def test_what_was_committed_survives_kill_9(postgres: EmbeddedPostgres) -> None:
    server = postgres.ensure()
    engine = engine_for(server.url)
    with engine.begin() as connection:
        connection.execute(text("create table kept as select 7 as number"))
    engine.dispose()
    for process in _servers(postgres):
        process.kill()
    assert ask(postgres.ensure(), "select number from kept") == 7


def test_a_stale_pid_file_that_names_a_stranger_is_no_server(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    pid_file = postgres.home.postgres.resolve() / "data" / "postmaster.pid"
    written = pid_file.read_text()
    postgres.stop()
    pid_file.write_text(written.replace(written.split()[0], str(os.getpid()), 1))
    assert ask(postgres.ensure(), "select 1") == 1


def test_processes_that_race_for_it_make_one_cluster_and_share_its_server(folder: Path) -> None:
    command = [sys.executable, "-c", _ENSURE, str(folder)]
    racing = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    ports = {process.communicate()[0].strip() for process in racing}
    assert len(ports) == 1
    assert ports != {""}


def test_nobody_else_comes_in(postgres: EmbeddedPostgres) -> None:
    server = postgres.ensure()
    file = postgres.home.postgres.resolve() / "server.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert server.password in file.read_text()
    assert server.password not in f"{server!r} {server.url} {server.dagster_url!r}"
    assert ask(server, "show listen_addresses") == "127.0.0.1"
    assert ask(server, "show password_encryption") == "scram-sha-256"
    wrong = {"host": "127.0.0.1", "port": server.port, "user": "postgres", "dbname": "assay"}
    with pytest.raises(psycopg2.OperationalError):
        psycopg2.connect(**wrong, password="guess")


def test_connections_are_bounded_and_what_is_committed_is_flushed(folder: Path) -> None:
    (folder / "postgres").mkdir()
    half = folder / "postgres" / "data.new"  # left by a process that was killed while it made the cluster
    half.mkdir()
    (half / "PG_VERSION").write_text("18")
    server = EmbeddedPostgres(Home(root=folder)).ensure()
    assert ask(server, "show max_connections") == "100"
    assert ask(server, "show fsync") == "on"


def test_a_copied_home_is_not_the_server_of_the_first(postgres: EmbeddedPostgres, folder: Path) -> None:
    first = postgres.ensure()
    copied = EmbeddedPostgres(Home(root=folder / "copy"))
    copied.home.postgres.mkdir(parents=True)
    shutil.copy(postgres.home.postgres / "server.json", copied.home.postgres)
    assert first.port
    assert not copied.is_alive()


def test_a_port_that_another_process_took_meanwhile_is_given_up(postgres: EmbeddedPostgres) -> None:
    file = postgres.home.postgres / "server.json"
    with closing(socket.socket()) as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        taken = stranger.getsockname()[1]
        file.write_text(json.dumps(json.loads(file.read_text()) | {"port": taken}))
        server = postgres.ensure()
        assert server.port != taken
        assert ask(server, "select 1") == 1


def test_a_cluster_that_cannot_start_is_an_error_that_names_the_log(postgres: EmbeddedPostgres) -> None:
    postgres.ensure()
    postgres.stop()
    (postgres.home.postgres.resolve() / "data" / "postgresql.auto.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(InputError, match="no_such_setting") as raised:
        postgres.ensure(timeout_seconds=1)
    assert raised.value.where.endswith("server.log")


def test_a_home_below_a_closed_folder_gets_its_cluster_elsewhere(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    postgres = EmbeddedPostgres(Home(root=closed / "below" / "home"), is_durable=False)
    assert ask(postgres.ensure(), "select 1") == 1
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    place = postgres.home.postgres.resolve()
    postgres.stop()
    shutil.rmtree(place)


def test_a_damaged_server_file_is_an_error_that_names_it(postgres: EmbeddedPostgres) -> None:
    (postgres.home.postgres / "server.json").write_text("{")
    with pytest.raises(InputError, match=r"server.json: this file is damaged"):
        postgres.ensure()


def test_a_home_of_another_account_is_an_error_with_a_remedy(
    postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    for name, home in (("read_text", postgres.home), ("mkdir", Home(root=Path("/new")))):
        closed = EmbeddedPostgres(home)
        with monkeypatch.context() as patch:
            patch.setattr(Path, name, forbidden)
            with pytest.raises(InputError, match=r"belongs to another account.*ASSAY_HOME"):
                closed.ensure()


def test_root_runs_a_cluster_as_the_account_that_owns_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    made_by = account_for(tmp_path / "not made yet")
    assert made_by is not None
    assert made_by.name in {"postgres", "nobody"}
    monkeypatch.setattr(Path, "stat", lambda _: SimpleNamespace(st_uid=1234, st_gid=99, st_mode=0o40700))
    assert account_for(tmp_path) == Account(name="1234", uid=1234, gid=99)


def test_folders_down_to_a_path_must_all_be_open(tmp_path: Path) -> None:
    stranger = Account(name="stranger", uid=54321, gid=54321)
    tmp_path.chmod(0o700)
    assert not is_reachable(tmp_path, stranger)
    assert is_reachable(Path("/"), stranger)
    assert is_reachable(tmp_path, Account(name="owner", uid=os.geteuid(), gid=0)) == is_reachable(
        tmp_path.parent, Account(name="owner", uid=os.geteuid(), gid=0)
    )


def test_a_url_in_the_environment_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(root=tmp_path / "home")
    monkeypatch.setenv("ASSAY_DATABASE_URL", "postgres://me:secret@db.example:6543/results")
    assert (
        database_url(home).render_as_string(hide_password=False)
        == "postgresql+psycopg2://me:secret@db.example:6543/results"
    )
    assert dagster_url(home) == database_url(home)
    monkeypatch.setenv("ASSAY_DAGSTER_STORAGE_URL", "postgresql://me@db.example/dagster")
    assert dagster_url(home).database == "dagster"
    assert not home.root.exists()


def _servers(postgres: EmbeddedPostgres) -> list[psutil.Process]:
    pid = int((postgres.home.postgres.resolve() / "data" / "postmaster.pid").read_text().split()[0])
    main = psutil.Process(pid)
    return [main, *main.children()]
