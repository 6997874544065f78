from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Boolean, Column, Double, Engine, Integer, LargeBinary, MetaData, Table, Text, select
from sqlalchemy.exc import OperationalError, ProgrammingError

from resources.bulk import copy_rows, run_script

COLUMNS = ("text", "number", "real", "flag", "data")
copied = Table(
    "copied",
    MetaData(),
    Column("text", Text),
    Column("number", Integer),
    Column("real", Double),
    Column("flag", Boolean),
    Column("data", LargeBinary),
    schema="pg_temp",
    prefixes=["TEMPORARY"],
)


class Word(StrEnum):
    TAB = "a\tb"


def through(engine: Engine, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows as the database gives them back."""
    with engine.connect() as connection:
        run_script(
            connection, "create temporary table copied (text text, number int, real float8, flag bool, data bytea)"
        )
        copy_rows(connection, copied, COLUMNS, rows)
        found = [tuple(row) for row in connection.execute(select(copied))]
        connection.rollback()
    return [(*row[:4], None if row[4] is None else bytes(row[4])) for row in found]


storable_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))
rows = st.tuples(
    st.none() | storable_text,
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.booleans(),
    st.none() | st.binary(max_size=20),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_rows=st.lists(rows, max_size=8))
def test_rows_come_back_as_they_were_given(engine: Engine, given_rows: list[tuple[Any, ...]]) -> None:
    assert through(engine, given_rows) == given_rows


def test_marks_of_the_wire_format_are_plain_text_in_a_value(engine: Engine) -> None:
    texts = ["\\N", "\\.", "a\\tb", "\t", "\r\n", "\\", "", "\u2028\x0b\x85"]
    assert [row[0] for row in through(engine, [(text, None, None, None, None) for text in texts])] == texts


def test_enums_of_texts_and_numpy_numbers_are_the_values_they_are(engine: Engine) -> None:
    given_row = (Word.TAB, np.int64(3).item(), np.float64(0.1), True, None)
    assert through(engine, [given_row]) == [("a\tb", 3, 0.1, True, None)]


def test_what_is_no_number_stays_so(engine: Engine) -> None:
    (row,) = through(engine, [(None, None, math.nan, None, None)])
    assert math.isnan(row[2])


def test_what_is_no_column_value_is_refused(engine: Engine) -> None:
    with pytest.raises(TypeError, match="list is no column value"):
        through(engine, [([], None, None, None, None)])


def test_a_text_with_a_nul_is_refused_whatever_follows_it(engine: Engine) -> None:
    for text in ("\0", "a\0tb", "\0N", "\0n"):
        with pytest.raises(ValueError, match="NUL"):
            through(engine, [(text, None, None, None, None)])


def test_a_percent_sign_in_a_script_means_itself(engine: Engine) -> None:
    with engine.connect() as connection:
        run_script(connection, "create temporary table one as select '100 %s' as text")
        connection.rollback()


def send_over_a_dead_connection(engine: Engine, way: str) -> None:
    with engine.begin() as connection:
        run_script(connection, "create temporary table copied (text text)")
        pid = connection.exec_driver_sql("select pg_backend_pid()").scalar_one()
        with engine.connect() as other:
            other.exec_driver_sql(f"select pg_terminate_backend({pid}, 10000)")
        if way == "copy":
            copy_rows(connection, copied, ("text",), [("a",)])
        else:
            run_script(connection, "select 1")


@pytest.mark.parametrize("way", ["copy", "script"])
def test_a_connection_that_died_is_what_sqlalchemy_calls_one_and_its_engine_goes_on(engine: Engine, way: str) -> None:
    with pytest.raises(OperationalError) as raised:
        send_over_a_dead_connection(engine, way)
    assert raised.value.connection_invalidated
    with engine.begin() as connection:
        assert connection.exec_driver_sql("select 1").scalar() == 1


def test_what_the_server_refuses_is_refused_as_sqlalchemy_does_and_the_connection_kept(engine: Engine) -> None:
    with engine.connect() as connection:
        with pytest.raises(ProgrammingError, match="no_such_table"):
            run_script(connection, "select * from no_such_table")
        connection.rollback()
        assert not connection.invalidated
