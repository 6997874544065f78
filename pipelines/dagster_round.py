"""A scoring round through Dagster, in this process, on the persistent instance: what `assay score` runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from pipelines.instance import open_instance
from pipelines.rectangles import Cell, Rectangle, rectangles
from pipelines.round import ModelReport, OnProgress, RoundReport
from resources.judge_prices import Spending

if TYPE_CHECKING:
    import dagster as dg

    from pipelines.session import Session
    from resources.references import MergeReport

# The terminal shows our own progress; Dagster's events stand in its event log, and so do their errors.
QUIET: Mapping[str, object] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def run_round_through_dagster(
    session: Session, cells: Sequence[Cell], *, only_where_needed: bool = False, on_progress: OnProgress | None = None
) -> RoundReport:
    """Score every (scenario id, model id) of `cells` as Dagster runs over ranges of partitions.

    Dagster holds the partitions, the versions of what they were made from, the scores as materialisations and the
    leaderboard afterwards. A model that cannot be scored is reported with its error and makes its run fail; the others
    are committed and reported all the same. With `only_where_needed` those are left out that are unscored or stale no
    longer when their run begins.
    """
    started = monotonic()
    cells = sorted(set(cells))
    spending = Spending(limit_usd=session.workspace.config.budgets.judge_usd)
    progress = _Progress(total=len(cells), on_progress=on_progress, spending=spending)
    progress.say("starting Dagster")
    with open_instance(session.home) as instance:
        from pipelines.partitions import add_partitions
        from sensors.changed_inputs import report_news

        axes = add_partitions(instance, cells)
        report_news(session, instance)
        for rectangle in rectangles(cells, scenarios=axes.scenarios, models=axes.models, most_cells=5_000):
            _run(session, instance, rectangle, progress, only_where_needed=only_where_needed)
        _merge(session, instance, progress)
        report_news(session, instance)
    return RoundReport(
        models=tuple(progress.settled),
        texts=progress.texts,
        duration_seconds=monotonic() - started,
        merges=tuple(progress.merges),
    )


def _merge(session: Session, instance: dg.DagsterInstance, progress: _Progress) -> None:
    """What ends the round: all findings are merged, also those of a round that was killed, and Dagster knows.

    A run of Dagster's own would cost seconds.
    """
    from assets.references import merge_events
    from pipelines.merging import merge_references
    from pipelines.reporting import report_events

    progress.say("merging findings into references")
    reports = merge_references(session.warehouse.references)
    report_events(instance, merge_events(reports))
    progress.merges += reports


@dataclass(slots=True, kw_only=True)
class _Progress:
    """How far all runs are together, and what they spend on judges."""

    total: int
    on_progress: OnProgress | None
    spending: Spending
    settled: list[ModelReport] = field(default_factory=list)
    texts: int = 0
    merges: list[MergeReport] = field(default_factory=list)

    def say(self, what: str) -> None:
        if self.on_progress:
            self.on_progress(len(self.settled), self.total, what)


def _run(
    session: Session,
    instance: dg.DagsterInstance,
    rectangle: Rectangle,
    progress: _Progress,
    *,
    only_where_needed: bool,
) -> None:
    from dagster._core.utils import make_new_run_id

    from pipelines.definitions import defs
    from pipelines.partitions import range_tags
    from pipelines.waiting import ONLY_WHERE_NEEDED
    from resources.dagster_resources import Watch
    from resources.run_locks import holding_run

    reports: list[RoundReport] = []
    watch = Watch(
        on_progress=lambda _done, _total, what: progress.say(what),
        on_settled=progress.settled.append,
        on_report=reports.append,
        spending=progress.spending,
    )
    before = len(progress.settled)
    run_id = make_new_run_id()
    with holding_run(session.warehouse.engine, run_id):
        result = defs.resolve_job_def("score_models").execute_in_process(
            instance=instance,
            resources={"session": session, "warehouse": session.warehouse, "watch": watch},
            tags=range_tags(rectangle),
            run_config={**QUIET, **ONLY_WHERE_NEEDED} if only_where_needed else QUIET,
            run_id=run_id,
            raise_on_error=False,
        )
    progress.texts += sum(report.texts for report in reports)
    if not reports:
        settled = {(model.scenario_id, model.model_id) for model in progress.settled[before:]}
        error = f"Dagster run {result.run_id} ended early: {failure_in(result)}"
        missing = [cell for cell in rectangle.cells if cell not in settled]
        progress.settled += [ModelReport(scenario_id=cell[0], model_id=cell[1], error=error) for cell in missing]


def failure_in(result: dg.ExecuteInProcessResult) -> str:
    """What was at the bottom of the first failure, of a step or of the run itself."""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None) if event.is_failure else None
        while error is not None and error.cause is not None:
            error = error.cause
        if error is not None:
            return str(error.message).strip()
    return "see it in the Dagster UI"
