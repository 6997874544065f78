"""Who may read schema `bi`: the group role `assay_bi`, and logins made from it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from psycopg2.extensions import encrypt_password
from sqlalchemy import Connection, Engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, ProgrammingError

from scoring.errors import InputError

ROLE = "assay_bi"
TIMEOUT_SECONDS = 60
CONNECTIONS = 20
_SETTINGS = (
    "default_transaction_read_only = on",
    f"statement_timeout = '{TIMEOUT_SECONDS}s'",
    "idle_in_transaction_session_timeout = '60s'",
    "timezone = 'UTC'",
    "search_path = bi",
)
# Only a superuser may set this, and only for those who may not: what a query sorts and hashes cannot fill the disk.
_DISK_SETTING = "temp_file_limit = '4GB'"
_NO_ROLE = (
    f"Role {ROLE} could not be made, since this role may not create roles. "
    "BI tools can read nothing until an administrator runs: "
    f"CREATE ROLE {ROLE} NOLOGIN; GRANT USAGE ON SCHEMA bi TO {ROLE}; GRANT SELECT ON ALL TABLES IN SCHEMA bi TO {ROLE}"
)
_TEMPORARY = (
    "This database lets everybody make temporary tables, also who reads only. To end that: "
    "REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login that was just made. `url` holds its password, which is known to nobody else and hidden in `str()`.

    `note` says what else the database lets everybody do, and how to end that; empty where it does not.
    """

    name: str
    url: URL = field(repr=False)
    timeout_seconds: int
    connections: int
    note: str


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


def make_login(
    engine: Engine, name: str, *, timeout_seconds: int = TIMEOUT_SECONDS, connections: int = CONNECTIONS
) -> Login:
    """Login role `name` with a new password: it reads schema `bi`, in read-only transactions and so long a statement.

    Its settings are set on the role itself and hold for every tool; a former password of the same login is void.
    Raises InputError where this role may not make roles, or the name is taken by a role that is no login of ours.
    """
    password = secrets.token_urlsafe(24)
    with _telling(engine, f"login {name} could not be made", f"CREATE ROLE {name} LOGIN IN ROLE {ROLE}") as connection:
        quoted, given = _quoted(connection, name), {"name": name}
        _make_or_renew(connection, name, quoted, password)
        connection.exec_driver_sql(f"alter role {quoted} connection limit {connections}")
        for setting in (*_SETTINGS, f"statement_timeout = '{timeout_seconds}s'"):
            connection.exec_driver_sql(f"alter role {quoted} set {setting}")
        if connection.execute(text("select rolsuper from pg_roles where rolname = current_user")).scalar():
            connection.exec_driver_sql(f"alter role {quoted} set {_DISK_SETTING}")
        database = _quoted(connection, str(engine.url.database))
        connection.exec_driver_sql(f"grant connect on database {database} to {ROLE}")
        may_fill = connection.execute(text("select has_database_privilege(:name, current_database(), 'TEMP')"), given)
        note = _TEMPORARY.format(database) if may_fill.scalar() else ""
    return Login(
        name=name,
        url=engine.url.set(drivername="postgresql", username=name, password=password),
        timeout_seconds=timeout_seconds,
        connections=connections,
        note=note,
    )


def drop_login(engine: Engine, name: str) -> None:
    """There is no login `name`, and whoever was connected as it is cut off. Raises InputError for one not of ours."""
    what, remedy = f"login {name} could not be dropped", f"DROP ROLE {name}"
    with _telling(engine, what, remedy) as connection:
        if not _is_ours(connection, name):
            raise InputError(f"there is no login {name} of {ROLE}", remedy="See the logins with: assay bi logins")
        connection.exec_driver_sql(f"alter role {_quoted(connection, name)} nologin")
    with _telling(engine, what, remedy) as connection:  # nobody comes in any more
        connection.execute(_CUT_OFF, {"name": name})
        connection.exec_driver_sql(f"drop role {_quoted(connection, name)}")


_CUT_OFF = text("select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = :name")
_LOGINS = text("""
select r.rolname as name, r.rolconnlimit as connections,
       (select count(*) from pg_stat_activity a where a.usename = r.rolname) as connected
from pg_roles r
where r.rolcanlogin and not r.rolsuper
  and r.oid in (select m.member from pg_auth_members m join pg_roles g on g.oid = m.roleid where g.rolname = :role)
order by r.rolname
""")


def logins(engine: Engine) -> list[dict[str, object]]:
    """The logins of `assay_bi` on this server: name, most connections, and how many it has now."""
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(_LOGINS, {"role": ROLE}).mappings()]


@contextmanager
def _telling(engine: Engine, what: str, remedy: str) -> Iterator[Connection]:
    """A transaction; where the server refuses, InputError says `what`, and what an administrator may run instead."""
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise InputError(
            f"{what}: {str(error.orig).strip().splitlines()[0]}", remedy=f"Let an administrator run: {remedy}"
        ) from None


def _make_or_renew(connection: Connection, name: str, quoted: str, password: str) -> None:
    is_ours = _is_ours(connection, name)
    if is_ours is False:
        raise InputError(f"role {name} exists and is no login of {ROLE}", remedy="Choose another name")
    driver: Any = connection.connection.dbapi_connection
    verifier = encrypt_password(password, name, driver, "scram-sha-256")  # no log of the server sees the password
    verb = "create role" if is_ours is None else "alter role"
    connection.execute(text(f"{verb} {quoted} login password :verifier"), {"verifier": verifier})
    connection.exec_driver_sql(f"grant {ROLE} to {quoted}")


_IS_OURS = text("""
select r.rolcanlogin and not r.rolsuper and not r.rolcreaterole and r.rolname not in (:role, current_user)
  and exists (select from pg_auth_members m join pg_roles g on g.oid = m.roleid
              where m.member = r.oid and g.rolname = :role)
from pg_roles r where r.rolname = :name
""")


def _is_ours(connection: Connection, name: str) -> bool | None:
    """Whether the role is a login of `assay_bi` and nothing more; None where there is no such role."""
    found: bool | None = connection.execute(_IS_OURS, {"name": name, "role": ROLE}).scalar()
    return found


def _quoted(connection: Connection, name: str) -> str:
    return connection.dialect.identifier_preparer.quote_identifier(name)


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
