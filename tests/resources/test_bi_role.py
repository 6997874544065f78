from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Engine, NullPool, create_engine, func, select, table, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from resources.bi_role import Login, drop_login, logins, make_login, missing_role
from resources.database import engine_for
from resources.migrate import upgrade
from scoring.errors import InputError


@pytest.fixture
def name(database: URL) -> str:
    return f'bi "{database.database}"'


@pytest.fixture
def login(engine: Engine, name: str) -> Iterator[Login]:
    """A login that may wait for five seconds, on a database that is closed like the embedded one."""
    with engine.begin() as connection:
        connection.exec_driver_sql(f"revoke all on database {engine.url.database} from public")
    yield make_login(engine, name, timeout_seconds=5, connections=2)
    drop_login(engine, name)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"revoke connect on database {engine.url.database} from assay_bi")


@pytest.fixture
def reader(login: Login) -> Iterator[Engine]:
    """A connection as a BI tool has it, which sets nothing itself."""
    reading = create_engine(login.url.set(drivername="postgresql+psycopg2"), poolclass=NullPool)
    yield reading
    reading.dispose()


def test_the_login_reads_every_view_of_bi(reader: Engine) -> None:
    with reader.connect() as connection:
        views = connection.execute(text("select viewname from pg_views where schemaname = 'bi'")).scalars().all()
        assert len(views) >= 8
        for view in views:
            assert connection.execute(select(func.count()).select_from(table(view, schema="bi"))).scalar() == 0


REFUSED = {
    "select * from assay.runs": "permission denied",
    "select * from assay.score_states": "permission denied",
    "insert into bi.stale_scores (quality) values (1)": "read-only|cannot insert",
    "delete from bi.runs": "read-only|cannot delete",
    "update bi.models set provider = 'mine'": "read-only|permission denied",
    "truncate bi.runs": "read-only|is not a table",
    "create table mine (a int)": "read-only|permission denied",
    "create table public.mine (a int)": "read-only|permission denied",
    "create temporary table mine (a int)": "read-only|permission denied",
    "create schema mine": "read-only|permission denied",
    "create view bi.mine as select 1": "read-only|permission denied",
    "drop view bi.findings": "read-only|must be owner",
    "comment on view bi.findings is 'mine'": "read-only|must be owner",
    "copy (select 1) to program 'id'": "permission denied",
    "select pg_read_file('PG_VERSION')": "permission denied",
    "set role postgres": "permission denied",
}


@pytest.mark.parametrize("mode", ["read only", "read write"])
def test_the_login_can_do_nothing_else(mode: str, reader: Engine) -> None:
    """Whatever a session sets itself to."""
    for statement, refusal in REFUSED.items():
        with reader.connect() as connection:
            connection.execute(text(f"set transaction {mode}"))
            with pytest.raises(DBAPIError, match=refusal):
                connection.execute(text(statement))


def test_a_query_that_takes_too_long_is_ended(reader: Engine) -> None:
    with reader.connect() as connection, pytest.raises(DBAPIError, match="statement timeout"):
        connection.execute(text("select pg_sleep(60)"))


def test_a_session_of_the_login_is_read_only_in_utc_and_bounded(reader: Engine) -> None:
    names = {
        "default_transaction_read_only": "on",
        "transaction_read_only": "on",
        "statement_timeout": "5s",
        "idle_in_transaction_session_timeout": "1min",
        "timezone": "UTC",
        "search_path": "bi",
        "temp_file_limit": "4GB",
    }
    with reader.connect() as connection:
        assert {name: connection.execute(text(f"show {name}")).scalar() for name in names} == names
        assert connection.execute(text("select count(*) from leaderboard")).scalar() == 0
        with pytest.raises(DBAPIError, match="permission denied"):
            connection.execute(text("set temp_file_limit = -1"))


def test_a_login_has_so_many_connections_and_no_more(reader: Engine) -> None:
    with reader.connect(), reader.connect(), pytest.raises(DBAPIError, match="too many connections"):
        reader.connect()


def test_the_catalogue_shows_the_login_nothing_of_what_is_recorded(reader: Engine) -> None:
    """Names are no secret in Postgres; rows are."""
    with reader.connect() as connection:
        readable = connection.execute(
            text(
                "select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
                " where n.nspname not in ('bi', 'pg_catalog', 'information_schema', 'pg_toast')"
                " and relkind in ('r', 'v', 'm', 'p') and has_table_privilege(c.oid, 'select')"
                " and has_schema_privilege(n.oid, 'usage')"
            )
        ).all()
        assert readable == []
        assert connection.execute(text("select has_schema_privilege('assay', 'usage')")).scalar() is False


def test_views_that_were_made_anew_can_be_read_still(engine: Engine, reader: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("create or replace view bi.findings as select *, 1 as former from bi.findings"))
        connection.execute(text("comment on schema bi is 'an older state'"))
    upgrade(engine)
    with reader.connect() as connection:
        assert connection.execute(text("select count(*) from bi.findings")).scalar() == 0


def test_making_the_login_again_gives_it_a_new_password(engine: Engine, login: Login, reader: Engine) -> None:
    again = make_login(engine, login.name, timeout_seconds=7)
    assert again.url.password != login.url.password
    renewed = create_engine(again.url.set(drivername="postgresql+psycopg2"), poolclass=NullPool)
    with renewed.connect() as connection:
        assert connection.execute(text("select current_user, current_setting('statement_timeout')")).one() == (
            login.name,
            "7s",
        )
    with pytest.raises(DBAPIError, match="password authentication failed"):
        reader.connect()


def test_a_login_that_is_dropped_is_cut_off(engine: Engine, name: str) -> None:
    login = make_login(engine, name)
    reading = create_engine(login.url.set(drivername="postgresql+psycopg2"), poolclass=NullPool)
    with reading.connect() as connection:
        assert {"name": name, "connections": 20, "connected": 1} in logins(engine)
        drop_login(engine, name)
        with pytest.raises(DBAPIError):
            connection.execute(text("select 1"))
        connection.invalidate()
    assert name not in {row["name"] for row in logins(engine)}
    with pytest.raises(InputError, match="there is no login"):
        drop_login(engine, name)


def test_what_the_database_lets_everybody_do_is_told(engine: Engine, login: Login) -> None:
    assert login.note == ""
    with engine.begin() as connection:
        connection.exec_driver_sql(f"grant temporary on database {engine.url.database} to public")
    assert "REVOKE TEMPORARY ON DATABASE" in make_login(engine, login.name).note


def test_the_password_is_in_no_text_of_the_login(login: Login) -> None:
    assert login.url.password
    assert login.url.password not in f"{login} {login!r} {login.url}"


def test_a_role_that_is_no_login_of_ours_is_not_taken_over(engine: Engine) -> None:
    owner = f"owner_{engine.url.database}"
    with engine.begin() as connection:  # whoever makes a role in Postgres 16 is a member of it
        connection.exec_driver_sql(f"create role {owner} login createrole in role assay_bi")
    for name in ("postgres", "assay_bi", owner):
        with pytest.raises(InputError, match=f"role {name} exists and is no login of assay_bi"):
            make_login(engine, name)
        with pytest.raises(InputError, match=f"there is no login {name}"):
            drop_login(engine, name)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"drop role {owner}")


def test_who_may_not_make_roles_is_told_what_an_administrator_can_do(make_database: Callable[..., URL]) -> None:
    url = make_database()
    owner = f"owner_{url.database}"
    opened = engine_for(url)
    with opened.begin() as connection:
        connection.exec_driver_sql(f"create role {owner} login password 'x'")
    poor = engine_for(url.set(username=owner, password="x"))
    with pytest.raises(InputError, match=r"login a could not be made: permission denied.*CREATE ROLE a LOGIN IN ROLE"):
        make_login(poor, "a")
    poor.dispose()
    with opened.begin() as connection:
        connection.exec_driver_sql(f"drop role {owner}")
    opened.dispose()


def test_the_role_is_there_after_a_migration(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_role(engine) is None
    monkeypatch.setattr("resources.bi_role.ROLE", "assay_bi_of_nobody")
    assert "may not create roles" in str(missing_role(engine))
