from __future__ import annotations

from sqlalchemy import Engine, inspect, text

from resources import tables

JUDGE_TABLES = ("scoring_records", "judge_questions", "judge_calls", "judge_answers", "judge_claims")


def test_the_migration_makes_the_tables_of_the_judge_as_they_are_declared(engine: Engine) -> None:
    found = inspect(engine)
    for name in JUDGE_TABLES:
        declared = tables.metadata.tables[f"assay.{name}"]
        columns = {one["name"]: one for one in found.get_columns(name, schema="assay")}
        assert list(columns) == [column.name for column in declared.columns]
        assert {key: one["nullable"] for key, one in columns.items()} == {
            column.name: column.nullable for column in declared.columns
        }
        assert {one["name"] for one in found.get_indexes(name, schema="assay")} >= {
            one.name for one in declared.indexes
        }


def test_every_column_of_the_judge_says_what_it_is(engine: Engine) -> None:
    query = """
        select c.relname, a.attname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        join pg_attribute a on a.attrelid = c.oid
        where n.nspname in ('assay', 'bi') and c.relname ~ 'judge|scoring_records' and c.relkind in ('r', 'v')
          and a.attnum > 0 and col_description(c.oid, a.attnum) is null
    """
    with engine.connect() as connection:
        assert connection.execute(text(query)).all() == []
