"""The schema of the database: brought to what this version of Assay needs, by whichever process comes first."""

from __future__ import annotations

import hashlib
from pathlib import Path

import psycopg2.errors
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from resources.bi_role import grant_reading
from resources.bulk import run_script
from resources.columns import RELATIONS, grain_of, meaning_of
from resources.database import require_usable
from resources.locks import lock
from scoring.errors import InputError

HEAD = "0001"
_FOLDER = Path(__file__).parent
_VIEWS = _FOLDER / "views.sql"
_STATE = "select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'bi'"


def upgrade(engine: Engine) -> tuple[str, ...]:
    """Schemas `assay` and `bi` are what this version needs; one query where they are already.

    Processes that race wait for each other. Returns what could not be done and a person should know, e.g. that the
    reading role could not be made. Raises InputError where the database is unreachable, too old, closed to this role, or
    was made by a newer Assay.
    """
    wanted = _state()
    if _found_state(engine) == wanted:
        return ()
    require_usable(engine)
    with engine.begin() as connection:
        lock(connection, "migrate")
        if connection.execute(text(_STATE)).scalar() == wanted:
            return ()
        connection.execute(text("create schema if not exists assay"))
        connection.execute(text("create schema if not exists bi"))
        _run_alembic(connection)
        _replace_views(connection)
        notes = grant_reading(connection)
        connection.execute(text("comment on schema bi is :state"), {"state": wanted})
    return notes


def _found_state(engine: Engine) -> str | None:
    """What an earlier upgrade left, None also where the database does not answer."""
    try:
        with engine.connect() as connection:
            found: str | None = connection.execute(text(_STATE)).scalar()
            return found
    except OperationalError:
        return None


def _state() -> str:
    parts = [_VIEWS.read_text(encoding="utf-8"), *(f"{name}{comment}" for name, comment in RELATIONS.items())]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
    return f"Documented views for BI tools (tables {HEAD}, views {digest})"


def _run_alembic(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_FOLDER / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise InputError(
            f"the database was made by another version of Assay ({error})",
            remedy="Update Assay, or use a database of its own",
        ) from None


def _replace_views(connection: Connection) -> None:
    statements = _VIEWS.read_text(encoding="utf-8")
    try:
        with connection.begin_nested():
            run_script(connection, statements)
    except psycopg2.errors.InvalidTableDefinition:  # a column left or changed its type: only then are they made anew
        for schema, view in reversed(_views(connection)):
            connection.exec_driver_sql(f'drop view if exists "{schema}"."{view}"')
        run_script(connection, statements)
    _comment(connection)


def _views(connection: Connection) -> list[tuple[str, str]]:
    """Our views in the order in which they build on each other."""
    query = """
        select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind = 'v' and n.nspname in ('assay', 'bi') order by c.oid
    """
    return [(schema, view) for schema, view in connection.execute(text(query))]


def _comment(connection: Connection) -> None:
    query = "select table_name, column_name from information_schema.columns where table_schema = 'bi'"
    columns = connection.execute(text(query)).all()
    for view in sorted({view for view, _ in columns}):
        connection.execute(text(f'comment on view bi."{view}" is :comment'), {"comment": grain_of(f"bi.{view}")})
    for view, column in columns:
        comment = {"comment": meaning_of(column, f"bi.{view}")}
        connection.execute(text(f'comment on column bi."{view}"."{column}" is :comment'), comment)
