"""Where in a database some words stand: for tests that look for a key."""

from __future__ import annotations

from sqlalchemy import Engine, text


def tables_with(engine: Engine, words: str) -> list[str]:
    """The tables, Dagster's own included, of which a row holds these words."""
    query = """
        select table_schema, table_name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1, 2
    """
    with engine.connect() as connection:
        found = []
        for schema, table in connection.execute(text(query)).all():
            rows = f'select count(*) from "{schema}"."{table}" t where t::text like :words'  # noqa: S608 - from the catalogue
            if connection.execute(text(rows), {"words": f"%{words}%"}).scalar_one():
                found.append(f"{schema}.{table}")
    return found
