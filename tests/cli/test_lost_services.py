"""A Postgres that is away and a disk that is full are told in words, however deep below they were met."""

from __future__ import annotations

import errno

import psycopg2
import pytest
from dagster_postgres.utils import DagsterPostgresException
from sqlalchemy.exc import OperationalError

from pipelines.cli import terminal
from resources.full_disk import REMEDY

LOST = OperationalError("select 1", {}, psycopg2.OperationalError("server closed the connection unexpectedly\nmore"))
FULL = OperationalError("insert", {}, psycopg2.errors.DiskFull("could not extend file: No space left on device\nHINT"))


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (LOST, "database_error", "Postgres does not answer: server closed the connection unexpectedly."),
        (caused(DagsterPostgresException("too many retries"), LOST), "database_error", "What was committed is kept"),
        (FULL, "disk_error", REMEDY),
        (caused(DagsterPostgresException("too many retries"), FULL), "disk_error", REMEDY),
        (OSError(errno.ENOSPC, "No space left on device"), "disk_error", REMEDY),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "disk_error", REMEDY),
    ],
)
def test_it_says_what_is_away_and_what_to_do(
    capsys: pytest.CaptureFixture[str], error: Exception, kind: str, words: str
) -> None:
    assert terminal.kind_of(error) == kind
    terminal.report_error(error, as_json=False)
    said = capsys.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1


def test_any_other_error_of_the_system_is_no_full_disk() -> None:
    assert terminal.kind_of(PermissionError(errno.EACCES, "Permission denied")) == terminal.USAGE_ERROR
