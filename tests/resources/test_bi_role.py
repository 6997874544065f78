from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, func, select, table, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from resources.bi_role import make_login, missing_role
from resources.database import engine_for
from scoring.errors import InputError


@pytest.fixture
def name(database: URL) -> str:
    return f'bi "{database.database}"'


@pytest.fixture
def reader(engine: Engine, database: URL, name: str) -> Iterator[Engine]:
    """A connection as a BI tool has it."""
    password = make_login(engine, name)
    reading = engine_for(database.set(username=name, password=password), connect_args={"options": ""})
    yield reading
    reading.dispose()
    with engine.begin() as connection:
        quoted = connection.dialect.identifier_preparer.quote_identifier(name)
        connection.exec_driver_sql(f"revoke connect on database {database.database} from assay_bi")
        connection.exec_driver_sql(f"drop role {quoted}")


def test_the_login_reads_every_view_of_bi(reader: Engine) -> None:
    with reader.connect() as connection:
        views = connection.execute(text("select viewname from pg_views where schemaname = 'bi'")).scalars().all()
        assert len(views) >= 8
        for view in views:
            assert connection.execute(select(func.count()).select_from(table(view, schema="bi"))).scalar() == 0


@pytest.mark.parametrize(
    "statement",
    [
        "select * from assay.runs",
        "select * from assay.score_states",
        "insert into bi.stale_scores (quality) values (1)",
        "create table mine (a int)",
        "create schema mine",
        "create view bi.mine as select 1",
        "drop view bi.findings",
        "comment on view bi.findings is 'mine'",
        "set role postgres",
    ],
)
@pytest.mark.parametrize("is_read_only", [True, False], ids=["read only", "after it set itself to read and write"])
def test_the_login_can_do_nothing_else(statement: str, is_read_only: bool, reader: Engine) -> None:
    with reader.connect() as connection:
        if not is_read_only:
            connection.execute(text("set transaction read write"))
        with pytest.raises(DBAPIError, match=r"permission denied|read-only|must be owner|cannot insert"):
            connection.execute(text(statement))


def test_the_login_reads_in_utc_and_has_a_time_limit(reader: Engine) -> None:
    with reader.connect() as connection:
        found = connection.execute(
            text(
                "select current_setting('timezone'), current_setting('statement_timeout'),"
                " current_setting('search_path')"
            )
        ).one()
    assert tuple(found) == ("UTC", "1min", "bi")


def test_making_the_login_again_gives_it_a_new_password(
    engine: Engine, reader: Engine, database: URL, name: str
) -> None:
    again = engine_for(database.set(username=name, password=make_login(engine, name)))
    with again.connect() as connection:
        assert connection.execute(text("select current_user")).scalar() == name
    again.dispose()
    del reader


def test_a_role_that_is_no_login_of_ours_is_not_taken_over(engine: Engine) -> None:
    with pytest.raises(InputError, match="role postgres exists and is no login of assay_bi"):
        make_login(engine, "postgres")


def test_the_role_is_there_after_a_migration(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_role(engine) is None
    monkeypatch.setattr("resources.bi_role.ROLE", "assay_bi_of_nobody")
    assert "may not create roles" in str(missing_role(engine))
