from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Engine, event, inspect, text
from sqlalchemy.engine import URL

from resources import migrate
from resources.columns import grain_of, meaning_of
from resources.database import engine_for
from resources.tables import SCHEMA, metadata
from scoring.errors import InputError

MakeDatabase = Callable[..., URL]


@contextmanager
def opened(url: URL) -> Iterator[Engine]:
    engine = engine_for(url)
    yield engine
    engine.dispose()


def test_the_migrations_build_what_the_tables_declare(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection,
            opts={
                "compare_type": True,
                "compare_server_default": True,
                "include_schemas": True,
                "version_table_schema": SCHEMA,
                "include_name": lambda name, kind, _: kind != "schema" or name == SCHEMA,
            },
        )
        assert compare_metadata(context, metadata) == []


def test_checks_and_keys_are_those_that_the_tables_declare(engine: Engine) -> None:
    found = inspect(engine)
    for table in metadata.sorted_tables:
        checks = {one["name"] for one in found.get_check_constraints(table.name, schema=SCHEMA)}
        declared = {str(one.name) for one in table.constraints if isinstance(one, CheckConstraint)}
        assert checks == declared, table.name
        keys = found.get_pk_constraint(table.name, schema=SCHEMA)["constrained_columns"]
        assert keys == [column.name for column in table.primary_key], table.name


def test_the_newest_migration_is_the_one_that_this_version_asks_for() -> None:
    config = Config()
    config.set_main_option("script_location", "resources:migrations")
    assert ScriptDirectory.from_config(config).get_heads() == [migrate.HEAD]


def test_every_relation_and_column_carries_its_comment_from_the_catalogue(engine: Engine) -> None:
    query = """
        select n.nspname || '.' || c.relname, obj_description(c.oid), a.attname, col_description(c.oid, a.attnum)
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where n.nspname in ('assay', 'bi') and c.relkind in ('r', 'v')
    """
    with engine.connect() as connection:
        rows = connection.execute(text(query)).all()
    assert len(rows) > 200
    for relation, grain, column, meaning in rows:
        assert grain == grain_of(relation)
        assert meaning == meaning_of(column, relation)


def test_views_for_people_say_their_grain(engine: Engine) -> None:
    for view in inspect(engine).get_view_names(schema="bi"):
        assert grain_of(f"bi.{view}").startswith("Grain: one row ")


def test_an_upgrade_of_a_current_database_is_one_query(engine: Engine) -> None:
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert migrate.upgrade(engine) == ()
    assert len(statements) == 1


def test_processes_that_race_to_upgrade_all_succeed(make_database: MakeDatabase) -> None:
    url = make_database(is_empty=True)

    def upgraded(_: int) -> tuple[str, ...]:
        with opened(url) as engine:
            return migrate.upgrade(engine)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(upgraded, range(4))) == [()] * 4
    with opened(url) as engine, engine.connect() as connection:
        assert connection.execute(text("select count(*) from bi.leaderboard")).scalar() == 0


def test_an_upgrade_that_fails_leaves_nothing(make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "grant_reading", _fail)
    with opened(make_database(is_empty=True)) as engine:
        with pytest.raises(RuntimeError, match="killed here"):
            migrate.upgrade(engine)
        assert not {"assay", "bi"} & set(inspect(engine).get_schema_names())


def test_a_view_that_somebody_added_is_left_alone(database: URL) -> None:
    with opened(database) as engine:
        with engine.begin() as connection:
            connection.execute(text("create view bi.mine as select 1 as one"))
            connection.execute(text("comment on schema bi is 'of a former release'"))
        migrate.upgrade(engine)
        with engine.connect() as connection:
            assert connection.execute(text("select one from bi.mine")).scalar() == 1


def test_a_view_that_stands_on_one_that_has_to_change_is_named(database: URL) -> None:
    with opened(database) as engine:
        with engine.begin() as connection:
            connection.execute(text("alter view bi.rounds rename column round_id to former_id"))
            connection.execute(text("create view bi.mine as select former_id from bi.rounds"))
            connection.execute(text("comment on schema bi is 'of a former release'"))
        with pytest.raises(InputError, match=r"bi\.mine depends on.*Drop the views of yours") as caught:
            migrate.upgrade(engine)
        assert "schema bi" in str(caught.value)


def _fail(_: object) -> tuple[str, ...]:
    raise RuntimeError("killed here")


def test_a_database_of_a_newer_assay_is_refused(database: URL) -> None:
    with opened(database) as engine:
        with engine.begin() as connection:
            connection.execute(text("update assay.alembic_version set version_num = '9999'"))
            connection.execute(text("comment on schema bi is 'made by a newer one'"))
        with pytest.raises(InputError, match="made by another version of Assay"):
            migrate.upgrade(engine)


def test_views_that_lost_a_column_are_made_anew(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("create or replace view bi.findings as select *, 1 as former from bi.findings"))
        connection.execute(text("comment on schema bi is 'an older state'"))
    migrate.upgrade(engine)
    columns = {column["name"] for column in inspect(engine).get_columns("findings", schema="bi")}
    assert "former" not in columns
    assert "finding_id" in columns


def test_a_database_that_is_not_there_is_an_error_with_a_remedy(database: URL) -> None:
    gone = database.set(database="no_such_database")
    with opened(gone) as engine, pytest.raises(InputError, match=r"no_such_database.*does not exist"):
        migrate.upgrade(engine)


def test_a_role_that_may_not_make_roles_migrates_and_is_told_what_is_missing(
    make_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.bi_role.ROLE", "assay_bi_of_nobody")
    url = make_database(is_empty=True)
    role = f"owner_{url.database}"
    with opened(url) as engine, engine.begin() as connection:
        connection.execute(text(f"create role {role} login password 'x'"))
        connection.execute(text(f"grant create on database {url.database} to {role}"))
        connection.execute(text(f"grant connect on database {url.database} to {role}"))
    with opened(url.set(username=role, password="x")) as engine:
        notes = migrate.upgrade(engine)
        assert "may not create roles" in " ".join(notes)
        assert "CREATE ROLE" in " ".join(notes)
        with engine.connect() as connection:
            assert connection.execute(text("select count(*) from bi.leaderboard")).scalar() == 0
    with opened(url) as engine, engine.begin() as connection:
        connection.execute(text("drop schema assay, bi cascade"))
        connection.execute(text(f"revoke all on database {url.database} from {role}"))
        connection.execute(text(f"drop role {role}"))
