"""The schema of the database: brought to what this version of Assay needs, by whichever process comes first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import psycopg2.errors
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import InternalError, OperationalError, ProgrammingError

from resources.bi_role import grant_reading
from resources.bulk import run_script
from resources.columns import grain_of, meaning_of
from resources.database import require_usable
from resources.locks import lock
from resources.relations import VIEWS
from scoring.errors import InputError

HEAD = "0005"
_FOLDER = Path(__file__).parent
_VIEWS = _FOLDER / "views.sql"
_CATALOGUE = (_FOLDER / "columns.py", _FOLDER / "relations.py")
_STATE = "select obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'bi'"


def upgrade(engine: Engine) -> tuple[str, ...]:
    """Schemas `assay` and `bi` are what this version needs; one query where they are already.

    Processes that race wait for each other. Returns what could not be done and a person should know, e.g. that the
    reading role could not be made. Raises InputError where the database is unreachable, too old, closed to this role,
    or was made by a newer Assay.
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
        _comment(connection)
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
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (_VIEWS, *_CATALOGUE))).hexdigest()[:12]
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


def _is_ours(relation: str) -> bool:
    """Whether it is no view that somebody else put into schema `bi`."""
    return relation in VIEWS or not relation.startswith("bi.")


def _replace_views(connection: Connection) -> None:
    statements = _VIEWS.read_text(encoding="utf-8")
    try:
        with connection.begin_nested():
            run_script(connection, statements)
    except ProgrammingError as error:
        if not isinstance(error.orig, psycopg2.errors.InvalidTableDefinition):
            raise
        # A column left or changed its type: only then are they made anew.
        _drop_views(connection)
        run_script(connection, statements)


def _drop_views(connection: Connection) -> None:
    try:
        connection.exec_driver_sql(f"drop view {', '.join(_views(connection))}")  # all at once, in whatever order
    except InternalError as error:
        if not isinstance(error.orig, psycopg2.errors.DependentObjectsStillExist):
            raise
        others = "; ".join((error.orig.diag.message_detail or "").splitlines())
        raise InputError(
            f"views of this version cannot replace those of the former: {others}",
            where="schema bi",
            remedy="Drop the views of yours that are named, start Assay again, and make them anew",
        ) from None


def _views(connection: Connection) -> Sequence[str]:
    """Our views, quoted."""
    query = """
        select n.nspname || '.' || c.relname, format('%I.%I', n.nspname, c.relname)
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind = 'v' and n.nspname in ('assay', 'bi') order by 1
    """
    return [quoted for relation, quoted in connection.execute(text(query)) if _is_ours(relation)]


_RELATIONS = """
select n.nspname || '.' || c.relname as relation,
       case c.relkind when 'v' then 'view' else 'table' end as kind,
       format('%I.%I', n.nspname, c.relname) as quoted,
       array(select a.attname::text from pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('assay', 'bi') and c.relkind in ('r', 'v') order by 1
"""


def _comment(connection: Connection) -> None:
    """Every table, view and column says what it is, as the catalogue does."""
    for relation, kind, quoted, columns in connection.execute(text(_RELATIONS)).all():
        if not _is_ours(relation):
            continue
        grain = {"comment": grain_of(relation)}
        connection.execute(text(f"comment on {kind} {quoted} is :comment"), grain)
        for column in columns:
            meaning = {"comment": meaning_of(column, relation)}
            connection.execute(text(f'comment on column {quoted}."{column}" is :comment'), meaning)
