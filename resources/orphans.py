"""Lake files that no row names: what killed processes left behind."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Engine, select, union_all

from resources.lake import Lake
from resources.tables import model_scores, reference_versions, runs

_NAMING = (
    runs.c.lake_file,
    reference_versions.c.lake_file,
    model_scores.c.field_scores_file,
    model_scores.c.findings_file,
)


def named_files(engine: Engine) -> set[str]:
    """Every file that a row names: those that exist for readers."""
    query = union_all(*(select(column).where(column.is_not(None)).distinct() for column in _NAMING))
    with engine.connect() as connection:
        return set(connection.execute(query).scalars())


def sweep(engine: Engine, lake: Lake, *, older_than: timedelta) -> list[str]:
    """The names of the unnamed files older than this, now removed."""
    return lake.sweep(named_files(engine), older_than=older_than)
