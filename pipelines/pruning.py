"""Prunes what grows without end in Dagster's storage, and leaves what says which partitions are there.

Dagster keeps every event for good and has no setting for that. Materialisations and observations are the status of
partitions and stay; of a run that ended well long ago nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import dagster as dg
import sqlalchemy as sa

from scoring.errors import InputError

if TYPE_CHECKING:
    from dagster._core.storage.event_log import SqlEventLogStorage

KEPT_EVENTS = ("ASSET_MATERIALIZATION", "ASSET_OBSERVATION")
PLANNED_EVENTS = ("ASSET_MATERIALIZATION_PLANNED", "ASSET_CHECK_EVALUATION_PLANNED")
GONE_WELL = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.CANCELED]
ENDED = [*GONE_WELL, dg.DagsterRunStatus.FAILURE]
AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How many rows are gone from Dagster's storage."""

    runs: int = 0
    events: int = 0
    check_evaluations: int = 0


def prune(instance: dg.DagsterInstance, before: datetime) -> Pruned:
    """Dagster holds no log of a run that ended before then, and no record of one that did not fail.

    A failed run keeps its record and what it planned, since that is why its partitions show as failed. The newest
    evaluation of each check stays, whatever its age. Raises InputError where the storage is no SQL database.
    """
    storage = _events_of(instance)
    gone, failed = (_ended(instance, statuses, before) for statuses in (GONE_WELL, [dg.DagsterRunStatus.FAILURE]))
    events = sum(_delete_events(storage, batch, but=KEPT_EVENTS) for batch in _batches(gone))
    events += sum(_delete_events(storage, batch, but=(*KEPT_EVENTS, *PLANNED_EVENTS)) for batch in _batches(failed))
    evaluations = _delete_evaluations(storage, before)
    for run_id in gone:
        instance.run_storage.delete_run(run_id)
    return Pruned(runs=len(gone), events=events, check_evaluations=evaluations)


def _events_of(instance: dg.DagsterInstance) -> SqlEventLogStorage:
    from dagster._core.storage.event_log import SqlEventLogStorage

    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        remedy = "Set storage.postgres in dagster.yaml"
        raise InputError(f"Dagster's storage {type(storage).__name__} cannot be pruned", remedy=remedy)
    return storage


def _ended(instance: dg.DagsterInstance, statuses: Sequence[dg.DagsterRunStatus], before: datetime) -> list[str]:
    filters = dg.RunsFilter(statuses=list(statuses), updated_before=before)
    return [record.dagster_run.run_id for record in instance.get_run_records(filters)]


def _batches(run_ids: Sequence[str]) -> list[Sequence[str]]:
    return [run_ids[start : start + AT_ONCE] for start in range(0, len(run_ids), AT_ONCE)]


def _delete_events(storage: SqlEventLogStorage, run_ids: Sequence[str], *, but: Sequence[str]) -> int:
    from dagster._core.storage.event_log.schema import SqlEventLogStorageTable as Events

    kind = Events.c.dagster_event_type
    mine = sa.and_(Events.c.run_id.in_(run_ids), sa.or_(kind.is_(None), kind.not_in(but)))
    with storage.index_connection() as connection:
        return connection.execute(Events.delete().where(mine)).rowcount


def _delete_evaluations(storage: SqlEventLogStorage, before: datetime) -> int:
    """Evaluations of checks that a newer one replaced; those that no run made stand in the log of events too."""
    from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable as Checks
    from dagster._core.storage.event_log.schema import SqlEventLogStorageTable as Events

    limit = before.astimezone(UTC).replace(tzinfo=None)
    newest = sa.select(sa.func.max(Checks.c.id)).group_by(Checks.c.asset_key, Checks.c.check_name, Checks.c.partition)
    replaced = sa.and_(Checks.c.evaluation_event_timestamp < limit, Checks.c.id.not_in(newest))
    told = sa.and_(Events.c.dagster_event_type == "ASSET_CHECK_EVALUATION", Events.c.timestamp < limit)
    with storage.index_connection() as connection:
        connection.execute(Events.delete().where(told))
        return connection.execute(Checks.delete().where(replaced)).rowcount
