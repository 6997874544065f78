"""Who may read schema `bi`: the group role `assay_bi`, and logins made from it."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from scoring.errors import InputError

ROLE = "assay_bi"
_SETTINGS = (
    "default_transaction_read_only = on",
    "statement_timeout = '60s'",
    "idle_in_transaction_session_timeout = '60s'",
    "timezone = 'UTC'",
    "search_path = bi",
)
_NO_ROLE = (
    f"Role {ROLE} could not be made, since this role may not create roles. "
    "BI tools can read nothing until an administrator runs: "
    f"CREATE ROLE {ROLE} NOLOGIN; GRANT USAGE ON SCHEMA bi TO {ROLE}; GRANT SELECT ON ALL TABLES IN SCHEMA bi TO {ROLE}"
)


def grant_reading(connection: Connection) -> tuple[str, ...]:
    """Role `assay_bi` reads all views of `bi` and nothing else. Returns a note where the role could not be made."""
    if not _has_role(connection) and not _make_role(connection):
        return (_NO_ROLE,)
    connection.execute(text(f"grant usage on schema bi to {ROLE}"))
    connection.execute(text(f"grant select on all tables in schema bi to {ROLE}"))
    return ()


def missing_role(engine: Engine) -> str | None:
    """What to do where the views are there and role `assay_bi` is not, else None."""
    with engine.connect() as connection:
        has_views = connection.execute(text("select to_regnamespace('bi') is not null")).scalar()
        return _NO_ROLE if has_views and not _has_role(connection) else None


def make_login(engine: Engine, name: str) -> str:
    """The new password of login role `name`, which may read schema `bi`: read-only, at most 60 s a statement.

    Raises InputError where this role may not make roles, or the name is taken by a role that is no login of ours.
    """
    password = secrets.token_urlsafe(24)
    try:
        with engine.begin() as connection:
            quoted = connection.dialect.identifier_preparer.quote_identifier(name)
            _make_or_renew(connection, name, quoted, password)
            for setting in _SETTINGS:
                connection.exec_driver_sql(f"alter role {quoted} set {setting}")
            database = connection.dialect.identifier_preparer.quote_identifier(str(engine.url.database))
            connection.exec_driver_sql(f"grant connect on database {database} to {ROLE}")
    except DBAPIError as error:
        raise InputError(
            f"login {name} could not be made: {str(error.orig).strip().splitlines()[0]}",
            remedy=f"Let an administrator run: CREATE ROLE {quoted} LOGIN IN ROLE {ROLE}",
        ) from None
    return password


def _make_or_renew(connection: Connection, name: str, quoted: str, password: str) -> None:
    query = "select pg_has_role(:name, :role, 'MEMBER') and not rolsuper from pg_roles where rolname = :name"
    is_ours = connection.execute(text(query), {"name": name, "role": ROLE}).scalar()
    if is_ours is False:
        raise InputError(f"role {name} exists and is no login of {ROLE}", remedy="Choose another name")
    verb = "create role" if is_ours is None else "alter role"
    connection.execute(text(f"{verb} {quoted} login password :password"), {"password": password})
    connection.exec_driver_sql(f"grant {ROLE} to {quoted}")


def _has_role(connection: Connection) -> bool:
    return connection.execute(text("select 1 from pg_roles where rolname = :name"), {"name": ROLE}).scalar() is not None


def _make_role(connection: Connection) -> bool:
    """Whether the role is there now; another database of the same server may have made it meanwhile."""
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(f"create role {ROLE} nologin")
            for setting in _SETTINGS:
                connection.exec_driver_sql(f"alter role {ROLE} set {setting}")
    except (ProgrammingError, DBAPIError):
        return _has_role(connection)
    return True
