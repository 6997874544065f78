"""Runs made through Dagster, in this process, on the persistent instance: what `assay run` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from pipelines.dagster_round import QUIET, failure_in
from pipelines.instance import open_instance
from pipelines.rectangles import Cell, Rectangle, rectangles
from pipelines.running import CellReport, MakingReport, OnProgress
from resources.judge_prices import Spending

if TYPE_CHECKING:
    import dagster as dg

    from pipelines.session import Session

NO_RETRIES = {"dagster/max_retries": "0"}
"""A command that was killed was killed by somebody: the daemon does not go on with it."""


def make_runs_through_dagster(
    session: Session, cells: Sequence[Cell], *, on_progress: OnProgress | None = None
) -> MakingReport:
    """The missing runs of these (scenario id, model id), made by Dagster runs over ranges of partitions.

    Dagster knows each partition's recorded runs afterwards. A server that does not work is tried again as the asset's
    policy says; what is missing then is reported and makes its Dagster run fail.
    """
    started = monotonic()
    cells = sorted(set(cells))
    progress = _Progress(on_progress=on_progress, limit_usd=session.workspace.config.budgets.runs_usd)
    progress.say(0, 0, "starting Dagster")
    with open_instance(session.home) as instance:
        from pipelines.partitions import add_partitions
        from sensors.changed_inputs import report_news

        axes = add_partitions(instance, cells)
        for rectangle in rectangles(cells, scenarios=axes.scenarios, models=axes.models, most_cells=5_000):
            _run(session, instance, rectangle, progress)
        report_news(session, instance)
    return MakingReport(cells=tuple(progress.reports.values()), duration_seconds=monotonic() - started)


@dataclass(slots=True, kw_only=True)
class _Progress:
    """How far all Dagster runs are together, and what their models spend."""

    on_progress: OnProgress | None
    limit_usd: float | None
    reports: dict[Cell, CellReport] = field(default_factory=dict)
    spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self.spending = Spending(limit_usd=self.limit_usd)

    def say(self, done: int, total: int, what: str) -> None:
        if self.on_progress:
            self.on_progress(done, total, what)

    def add(self, report: MakingReport) -> None:
        """What one try made counts together with what earlier ones did; what it could not make is what is missing."""
        for cell in report.cells:
            place = (cell.scenario_id, cell.model_id)
            before = self.reports.get(place)
            if before is not None:
                cell = replace(
                    cell,
                    wanted=before.wanted,
                    runs=[*before.runs, *cell.runs],
                    elsewhere=before.elsewhere + cell.elsewhere,
                )
            self.reports[place] = cell


def _run(session: Session, instance: dg.DagsterInstance, rectangle: Rectangle, progress: _Progress) -> None:
    from dagster._core.utils import make_new_run_id

    from pipelines.definitions import defs
    from pipelines.partitions import range_tags
    from resources.dagster_resources import RunWatch
    from resources.run_locks import holding_run

    watch = RunWatch(on_progress=progress.say, on_report=progress.add, spending=progress.spending)
    run_id = make_new_run_id()
    with holding_run(session.warehouse.engine, run_id):
        result = defs.resolve_job_def("make_runs").execute_in_process(
            instance=instance,
            resources={"session": session, "warehouse": session.warehouse, "run_watch": watch},
            tags=range_tags(rectangle) | NO_RETRIES,
            run_config=QUIET,
            run_id=run_id,
            raise_on_error=False,
        )
    for scenario_id, model_id in rectangle.cells:
        if (scenario_id, model_id) not in progress.reports:
            problem = f"Dagster run {result.run_id} ended early: {failure_in(result)}"
            report = CellReport(scenario_id=scenario_id, model_id=model_id, problem=problem)
            progress.reports[(scenario_id, model_id)] = report
