"""A real Postgres for the tests: one embedded server for all workers, a fresh database for each test."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis
import psycopg2
import pytest
from sqlalchemy import Engine
from sqlalchemy.engine import URL

_VARIABLE = "ASSAY_TEST_CLUSTER"
_TEMPLATE = "assay_template"
_GUARD = pytest.StashKey["subprocess.Popen[str]"]()

# How long an example takes says more about the machine than about the law.
hypothesis.settings.register_profile("assay", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("assay")


def pytest_configure(config: pytest.Config) -> None:
    """Workers inherit the folder of the cluster from the process that starts them, which also removes it."""
    if not hasattr(config, "workerinput"):
        folder = Path(tempfile.mkdtemp(prefix="assay-tests-"))
        folder.chmod(0o711)  # the account that runs Postgres for root passes through
        os.environ[_VARIABLE] = str(folder)
        config.stash[_GUARD] = subprocess.Popen(
            [sys.executable, "-m", "tests.guard", str(folder)],
            stdin=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    """No server and no folder stay behind: after a run that was killed outright the guard sees to that."""
    if not hasattr(config, "workerinput"):
        from tests.guard import clean_up

        clean_up(Path(os.environ.pop(_VARIABLE)))
        config.stash[_GUARD].communicate("done\n")


def _cluster(folder: Path) -> Any:
    from resources.home import Home
    from resources.postgres import EmbeddedPostgres

    return EmbeddedPostgres(Home(root=folder), is_durable=False)


@pytest.fixture(scope="session")
def postgres_server() -> Any:
    """The running server that all tests share, with a migrated template database."""
    from resources.database import engine_for
    from resources.migrate import upgrade

    folder = Path(os.environ[_VARIABLE])
    server = _cluster(folder).ensure()
    with (folder / "template.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not (folder / "template.done").exists():
            _run_sql(server, f"create database {_TEMPLATE}")
            engine = engine_for(server.url_of(_TEMPLATE))
            upgrade(engine)
            engine.dispose()
            (folder / "template.done").touch()
    return server


@pytest.fixture
def make_database(postgres_server: Any) -> Iterator[Callable[..., URL]]:
    """Makes databases that are gone after the test: migrated ones, or with `is_empty=True` bare ones."""
    names: list[str] = []

    def make(*, is_empty: bool = False) -> URL:
        name = f"t_{uuid.uuid4().hex[:16]}"
        template = "template0" if is_empty else _TEMPLATE
        _run_sql(postgres_server, f"create database {name} template {template} strategy file_copy")
        names.append(name)
        return postgres_server.url_of(name)

    yield make
    for name in names:
        _run_sql(postgres_server, f"drop database if exists {name} with (force)")


@pytest.fixture
def database(make_database: Callable[..., URL]) -> URL:
    """A fresh, migrated database."""
    return make_database()


@pytest.fixture
def engine(database: URL) -> Iterator[Engine]:
    """An engine on a fresh, migrated database."""
    from resources.database import engine_for

    engine = engine_for(database)
    yield engine
    engine.dispose()


@pytest.fixture
def warehouse(engine: Engine, tmp_path: Path) -> Any:
    """An empty warehouse with a lake of its own."""
    from resources.lake import Lake
    from resources.warehouse import Warehouse

    return Warehouse(engine, Lake(str(tmp_path / "lake")))


@pytest.fixture
def assay_home(tmp_path: Path, database: URL, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own on a fresh, migrated database: for commands and Dagster, also in processes that they start."""
    home = tmp_path / "home"
    monkeypatch.setenv("ASSAY_HOME", str(home))
    monkeypatch.setenv("ASSAY_DATABASE_URL", database.render_as_string(hide_password=False))
    return home


def _run_sql(server: Any, statement: str) -> None:
    url = server.url_of("postgres")
    with closing(
        psycopg2.connect(host=url.host, port=url.port, user=url.username, password=url.password, dbname="postgres")
    ) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
