"""Assay as Dagster resources: an open session for the length of a run or tick, and whoever watches a round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.session import Session, open_session, open_stores
from resources.run_locks import holding_run
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from pipelines.round import ModelReport, OnProgress, RoundReport
    from pipelines.running import MakingReport
    from resources.judge_prices import Spending

LOG_EVERY_SECONDS = 15.0


@dg.resource(description="The workspace's files and the stores that hold what is recorded.")
def session_resource(_context: dg.InitResourceContext) -> Iterator[Session]:
    """An open session, closed after the run or tick. Raises InputError for all that a person can mend.

    The workspace is the one that `ASSAY_WORKSPACE` or the current folder names.
    """
    with open_session() as session:
        yield session


@dg.resource(description="What is recorded, without a look at the workspace's files.")
def warehouse_resource(context: dg.InitResourceContext) -> Iterator[Warehouse]:
    """An open warehouse, closed after the run or tick. Raises InputError for all that a person can mend.

    A run holds its lock meanwhile; every job needs this resource, so that the lock tells which runs live.
    """
    run = context.run
    with open_stores() as (_, warehouse), holding_run(warehouse.engine, run.run_id) if run else nullcontext():
        yield warehouse


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who wants to hear of a round as it goes on. `spending` is what several rounds may spend on judges together."""

    on_progress: OnProgress | None = None
    on_settled: Callable[[ModelReport], None] | None = None
    on_report: Callable[[RoundReport], None] | None = None
    spending: Spending | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWatch:
    """Who wants to hear of runs being made. `spending` is what several Dagster runs may spend on models together."""

    on_progress: OnProgress | None = None
    on_report: Callable[[MakingReport], None] | None = None
    spending: Spending | None = None

    def tell(self, report: MakingReport) -> None:
        """Whoever wants to hear of it knows what came of one try."""
        if self.on_report:
            self.on_report(report)


@dg.resource(description="Tells the run's log how far the making of runs is.")
def logged_run_watch(context: dg.InitResourceContext) -> RunWatch:
    """A watch that logs at most every 15 seconds."""
    return RunWatch(on_progress=_logged(context, "runs"))


@dg.resource(description="Tells the run's log how far a round is.")
def logged_watch(context: dg.InitResourceContext) -> Watch:
    """A watch that logs at most every 15 seconds, since each line is a row in the event log."""
    return Watch(on_progress=_logged(context, "models"))


def _logged(context: dg.InitResourceContext, noun: str) -> OnProgress:
    told = [time.monotonic()]

    def on_progress(done: int, total: int, what: str) -> None:
        if time.monotonic() - told[0] >= LOG_EVERY_SECONDS and context.log is not None:
            told[0] = time.monotonic()
            context.log.info(f"{done} of {total} {noun}: {what}")

    return on_progress
