from __future__ import annotations

import socket

import psycopg2
import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from resources import database as database_module
from resources.database import engine_for, parsed_url, patiently, require_usable
from scoring.errors import InputError


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_every_spelling_of_a_postgres_url_names_the_driver(scheme: str) -> None:
    url = parsed_url(f" {scheme}://user:p%40ss@host/name ")
    assert url.drivername == "postgresql+psycopg2"
    assert url.password == "p@ss"


@pytest.mark.parametrize(
    ("text_", "found"),
    [
        ("mysql://u:hunter2@h/d", "'mysql' is no Postgres URL"),
        ("hunter2", "this is no database URL"),
        ("postgresql://u:hunter2@h:notaport/d", "this is no database URL"),
        ("postgresql://u:hunter2@h", "names no database"),
    ],
)
def test_what_is_no_postgres_url_is_refused_without_showing_it(text_: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as raised:
        parsed_url(text_)
    assert "hunter2" not in str(raised.value)
    assert "ASSAY_DATABASE_URL" in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_postgres_that_is_not_there_is_an_error_with_a_remedy_and_no_password() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    engine = engine_for(URL.create("postgresql+psycopg2", "me", "hunter2", "127.0.0.1", port, "assay"))
    with pytest.raises(InputError, match="does not answer") as raised:
        require_usable(engine)
    assert "hunter2" not in str(raised.value)
    assert "unset ASSAY_DATABASE_URL" in str(raised.value)


def test_a_wrong_password_says_so_and_does_not_repeat_it(database: URL) -> None:
    engine = engine_for(database.set(password="hunter2"))
    with pytest.raises(InputError, match="password authentication failed") as raised:
        require_usable(engine)
    assert "hunter2" not in str(raised.value)


def test_a_role_that_may_not_create_is_told_what_to_grant(engine: Engine, database: URL) -> None:
    role = f"poor_{database.database}"
    with engine.begin() as connection:
        connection.execute(text(f"create role {role} login password 'x'"))
        connection.execute(text(f"grant connect on database {database.database} to {role}"))
    poor = engine_for(database.set(username=role, password="x"))
    with pytest.raises(InputError, match=f"role '{role}' may not create schemas") as raised:
        require_usable(poor)
    assert "GRANT CREATE ON DATABASE" in str(raised.value)
    poor.dispose()
    with engine.begin() as connection:
        connection.execute(text(f"revoke connect on database {database.database} from {role}"))
        connection.execute(text(f"drop role {role}"))


def test_a_postgres_that_is_too_old_is_named(engine: Engine) -> None:
    def pretend(
        _connection: object, _cursor: object, statement: str, parameters: object, *_: object
    ) -> tuple[str, object]:
        return statement.replace("current_setting('server_version_num')::int", "130004"), parameters

    event.listen(engine, "before_cursor_execute", pretend, retval=True)
    with pytest.raises(InputError, match="Postgres 13 is too old") as raised:
        require_usable(engine)
    assert "14 or newer" in str(raised.value)


def test_connections_speak_utc(engine: Engine) -> None:
    with engine.connect() as connection:
        assert connection.execute(text("show timezone")).scalar() == "UTC"


def test_a_connection_that_died_is_replaced_before_use(engine: Engine) -> None:
    with engine.connect() as connection:
        pid = connection.execute(text("select pg_backend_pid()")).scalar_one()
    other = engine_for(engine.url)
    with other.begin() as connection:
        connection.execute(text("select pg_terminate_backend(:pid)"), {"pid": pid})
    other.dispose()
    with engine.connect() as connection:
        assert connection.execute(text("select 1")).scalar() == 1


def lost(error: Exception | None = None) -> OperationalError:
    return OperationalError("select 1", {}, error or psycopg2.OperationalError("server closed the connection"))


CLOSED = InterfaceError(None, None, psycopg2.InterfaceError("connection already closed"))


@pytest.mark.parametrize("failures", [1, 3])
@pytest.mark.parametrize("error", [lost(), CLOSED], ids=["lost", "closed before"])
def test_what_postgres_lost_is_done_again(monkeypatch: pytest.MonkeyPatch, error: DBAPIError, failures: int) -> None:
    monkeypatch.setattr(database_module, "_PAUSES_SECONDS", (0.0,) * 3)
    tries = []

    def action() -> str:
        tries.append(len(tries))
        if len(tries) <= failures:
            raise error
        return "done"

    assert patiently(action) == "done"
    assert len(tries) == failures + 1


@pytest.mark.parametrize(("is_paid", "expected"), [(False, 1), (True, 4)])
def test_a_full_disk_is_waited_for_only_by_what_is_paid(
    monkeypatch: pytest.MonkeyPatch, is_paid: bool, expected: int
) -> None:
    monkeypatch.setattr(database_module, "_PAUSES_SECONDS", (0.0,) * 3)
    tries = []

    def action() -> None:
        tries.append(1)
        raise lost(psycopg2.errors.DiskFull("No space left on device"))

    with pytest.raises(OperationalError):
        patiently(action, is_paid=is_paid)
    assert len(tries) == expected


def test_a_server_that_was_started_again_is_found_where_it_is_now(database: URL) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        before = database.set(port=unused.getsockname()[1])
    started = []

    def revived() -> URL:
        started.append(1)
        return database

    engine = engine_for(before, revived=revived)
    with engine.connect() as connection:
        assert connection.execute(text("select 1")).scalar() == 1
    engine.dispose()
    assert started == [1]
