"""What the columns of a view are, as the database itself says."""

from __future__ import annotations

from sqlalchemy import Engine, text

_COLUMNS = text("""
select a.attname, format_type(a.atttypid, a.atttypmod), coalesce(col_description(a.attrelid, a.attnum), '')
from pg_attribute a where a.attrelid = cast(:view as regclass) and a.attnum > 0 and not a.attisdropped order by a.attnum
""")


def columns_of(engine: Engine, view: str) -> list[tuple[str, str, str]]:
    """Name, type and comment of each column, in order. Raises ProgrammingError where there is no such view."""
    with engine.connect() as connection:
        return [(name, type_, comment) for name, type_, comment in connection.execute(_COLUMNS, {"view": view})]
