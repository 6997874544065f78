"""`assay bi`: logins, the contract, and the lake in DuckDB."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import duckdb
import psycopg2
import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from pipelines.session import open_session
from resources.bi_role import logins
from tests.cli.tower import Assay


@pytest.mark.usefixtures("scored")
def test_a_login_is_made_used_listed_and_dropped(assay: Assay, database: URL) -> None:
    name = f"analyst {database.database}"
    made = assay("bi", "login", name, "--timeout", 7, "--connections", 3, "--json").json
    assert (made["login"], made["statement_timeout_seconds"], made["connections"]) == (name, 7, 3)
    connection = psycopg2.connect(made["url"])
    with connection.cursor() as cursor:
        cursor.execute("select model_id from leaderboard where scope = 'overall' order by position")
        assert cursor.fetchall() == [("b/bad:free",), ("a/good",)]
        with pytest.raises(psycopg2.Error, match="permission denied"):
            cursor.execute("select * from assay.runs")
    connection.close()
    said = assay("bi", "login", name).out
    for shown in ("postgresql://", "postgresql+psycopg2://", "jdbc:postgresql://127.0.0.1:", "shown this once"):
        assert shown in said
    assert made["password"] not in said
    (psql,) = [line for line in said.splitlines() if "psql" in line and "psycopg2" not in line]
    assert psql.split()[0] == "psql"
    assert "%20" in psql
    assert name in assay("bi", "logins").out
    assert {row["name"] for row in assay("bi", "logins", "--json").json} >= {name}
    assert f"Login {name} is gone" in assay("bi", "drop", name).out
    again = assay("bi", "drop", name)
    assert (again.code, "there is no login" in again.err) == (2, True)
    with open_session() as session, session.warehouse.engine.begin() as connection_:
        assert name not in {row["name"] for row in logins(session.warehouse.engine)}
        connection_.exec_driver_sql(f"revoke connect on database {database.database} from assay_bi")


@pytest.mark.usefixtures("workspace")
def test_a_name_that_postgres_would_cut_is_refused(assay: Assay) -> None:
    assert assay("bi", "login", "x" * 64).code == 2
    assert assay("bi", "login", "").code == 2


@pytest.mark.usefixtures("workspace")
def test_the_contract_is_kept_or_its_breaks_are_named(assay: Assay) -> None:
    kept = assay("bi", "contract")
    assert (kept.code, "All 17 views are as agreed" in kept.out) == (0, True)
    with open_session() as session, session.warehouse.engine.begin() as connection:
        connection.execute(text("drop view bi.rounds"))
    broken = assay("bi", "contract", "--json")
    assert (broken.code, broken.json) == (1, {"differences": ["breaking: bi.rounds is gone"]})


@pytest.mark.usefixtures("scored")
def test_the_lake_opens_in_duckdb_with_the_files_that_exist(assay: Assay) -> None:
    script = assay("bi", "lake").out
    lake = duckdb.connect()
    lake.execute(script)
    files = assay("bi", "lake", "--json").json
    assert lake.sql("select count(*) from lake_files").fetchall() == [(len(files),)]
    assert lake.sql("select model_id, count(*) from runs group by all order by all").fetchall() == [
        ("a/good", 2),
        ("b/bad:free", 2),
    ]
    query = "select distinct scenario_id, scenario, is_latest, is_stale, reference_version from field_scores"
    assert lake.sql(query).fetchall() == [("tower", "tower", True, False, 1)]
    with open_session() as session, session.warehouse.engine.connect() as connection:
        stored = connection.execute(
            text("select model_id, path, credit from bi.field_scores order by model_id, repetition, field_position")
        ).all()
    read = lake.sql("select model_id, path, credit from field_scores order by model_id, repetition, field_position")
    assert read.fetchall() == [tuple(row) for row in stored]
    assert lake.sql("select count(*) from findings").fetchall() == [(0,)]
    assert lake.sql("select reference_version is null from findings").fetchall() == []


@pytest.mark.usefixtures("scored")
def test_the_files_themselves_can_be_listed(assay: Assay) -> None:
    rows = list(csv.DictReader(io.StringIO(assay("bi", "lake", "runs", "field_scores", "--csv").out)))
    assert {row["dataset"] for row in rows} == {"runs", "field_scores"}
    assert all(Path(row["filename"]).is_file() for row in rows)
    wrong = assay("bi", "lake", "scores")
    assert (wrong.code, "It has runs, field_scores" in wrong.err) == (2, True)
