"""A Postgres by URL: how it is named, opened and checked."""

from __future__ import annotations

from collections.abc import Callable
from time import sleep
from typing import Any, TypeVar

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError

from resources.full_disk import REMEDY, is_full_disk
from scoring.errors import InputError

DRIVER = "postgresql+psycopg2"
OLDEST_VERSION = 14
_VARIABLE = "ASSAY_DATABASE_URL"
_SCHEMES = ("postgres", "postgresql", DRIVER)
_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
"""Two minutes together: so long a server takes to restart, or to recover after it was killed."""

T = TypeVar("T")


def parsed_url(text_: str, *, where: str = _VARIABLE) -> URL:
    """The URL with the driver named; `postgres://` and `postgresql://` both do.

    Raises InputError, without the text itself since it may hold a password.
    """
    remedy = "Write postgresql://user:password@host:5432/database"
    try:
        url = make_url(text_.strip())
    except (ArgumentError, ValueError):
        raise InputError("this is no database URL", where=where, remedy=remedy) from None
    if url.drivername not in _SCHEMES:
        raise InputError(f"'{url.drivername}' is no Postgres URL", where=where, remedy=remedy)
    if not url.database:
        raise InputError("the URL names no database", where=where, remedy=remedy)
    return url.set(drivername=DRIVER)


def engine_for(url: URL, *, revived: Callable[[], URL] | None = None, **options: Any) -> Engine:
    """An engine on this database with at most 5 connections, UTC, and a dead connection noticed before use.

    `revived` is called where the server refuses a connection; it starts the server and says where it now answers.
    """
    arguments: dict[str, Any] = {"connect_timeout": 10, "application_name": "assay", "options": "-c timezone=UTC"}
    settings: dict[str, Any] = {"pool_size": 2, "max_overflow": 3, "pool_pre_ping": True, "pool_recycle": 1800}
    extra = options.pop("connect_args", {})
    engine = create_engine(url, **(settings | options), connect_args=arguments | extra)
    if revived is not None:
        event.listen(engine, "do_connect", _reviving(revived))
    return engine


def _reviving(revived: Callable[[], URL]) -> Callable[..., Any]:
    """Connects as SQLAlchemy does, and once more after the server was started."""

    def connect(dialect: Any, _record: Any, positional: list[Any], named: dict[str, Any]) -> Any:
        try:
            return dialect.connect(*positional, **named)
        except dialect.loaded_dbapi.OperationalError:
            now = revived()
            return dialect.connect(*positional, **(named | {"host": now.host, "port": now.port}))

    return connect


def patiently(action: Callable[[], T], *, is_paid: bool = False) -> T:
    """What the action returns. A Postgres that restarts is waited for, and the action is done again from its start.

    So it has to be one that may be done twice: perhaps it was committed, and only the word of that was lost. What
    `is_paid` also waits for space on a full disk.
    """
    for pause in _PAUSES_SECONDS:
        try:
            return action()
        except (OperationalError, InterfaceError) as error:  # InterfaceError: it died before and is used again
            if is_full_disk(error) and not is_paid:
                raise
            sleep(pause)
    return action()


def require_usable(engine: Engine) -> None:
    """Returns when the database answers, is new enough and lets this role create schemas; else raises InputError."""
    where = str(engine.url)
    try:
        with engine.connect() as connection:
            row = connection.execute(text(_QUESTION)).one()
    except DBAPIError as error:
        if is_full_disk(error):
            raise InputError(f"Postgres has a full disk: {_first_line(error)}", where=where, remedy=REMEDY) from None
        raise InputError(
            f"Postgres does not answer: {_first_line(error)}",
            where=where,
            remedy=f"Start it, correct {_VARIABLE}, or unset {_VARIABLE} to use the embedded Postgres",
        ) from None
    if row.version < OLDEST_VERSION * 10_000:
        raise InputError(
            f"Postgres {row.version // 10_000} is too old",
            where=where,
            remedy=f"Use Postgres {OLDEST_VERSION} or newer",
        )
    if not row.may_write:
        raise InputError(
            f"role '{row.role}' may not create schemas in database '{row.database}'",
            where=where,
            remedy=f'Run: GRANT CREATE ON DATABASE "{row.database}" TO "{row.role}"',
        )


_QUESTION = """
select current_setting('server_version_num')::int as version,
       current_user::text as role,
       current_database()::text as database,
       has_database_privilege(current_database(), 'CREATE')
         or coalesce((select bool_and(pg_has_role(n.nspowner, 'USAGE'))
                      from pg_namespace n where n.nspname in ('assay', 'bi')
                      having count(*) = 2), false) as may_write
"""


def _first_line(error: DBAPIError) -> str:
    lines = str(error.orig).strip().splitlines()
    return lines[0] if lines else type(error.orig).__name__
