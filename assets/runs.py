"""Runs made here: models called over their providers' APIs, one Dagster run over any rectangle of partitions."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.descriptions import markdown_table
from assets.inputs import runs
from pipelines.partitions import cell_key, cell_of, cell_partitions, one_run
from pipelines.running import CellReport, MakingReport, make_runs
from pipelines.session import Session
from resources.cells import Cell as CellState
from resources.dagster_resources import RunWatch
from resources.warehouse import Warehouse
from scoring.records import Run

VERSION_TAG = "dagster/data_version"
RUN_COLUMNS = ("repetition", "status", "seconds", "input_tokens", "output_tokens", "cost_usd", "error")
CELL_COLUMNS = ("scenario_id", "model_id", "error")

# Beside the retries of each request: a server that is down for minutes. What is recorded is not asked for again.
OUTAGE_RETRIES = dg.RetryPolicy(max_retries=2, delay=20, backoff=dg.Backoff.EXPONENTIAL)


@dg.multi_asset(
    name="runs",
    specs=[runs],
    partitions_def=cell_partitions,
    backfill_policy=one_run,
    retry_policy=OUTAGE_RETRIES,
)
def made_runs(
    context: dg.AssetExecutionContext,
    session: dg.ResourceParam[Session],
    warehouse: dg.ResourceParam[Warehouse],
    run_watch: dg.ResourceParam[RunWatch],
) -> Iterator[dg.MaterializeResult[Any]]:
    """Make the missing runs of this run's partitions; those of an earlier try are there and cost nothing."""
    cells = [cell_of(key) for key in context.partition_keys]
    report = make_runs(session, cells, spending=run_watch.spending, on_progress=run_watch.on_progress)
    run_watch.tell(report)
    made = [(cell.scenario_id, cell.model_id) for cell in report.cells if cell.runs]
    states = warehouse.cells(sorted({one for one, _ in made}), sorted({one for _, one in made}))
    for event in events_of(report, states):
        context.log_event(event)
    if report.failed:
        raise failure_of(report)
    yield from ()  # each partition has its own version, which one result for all of them could not say


def events_of(report: MakingReport, states: list[CellState]) -> Iterator[dg.AssetMaterialization]:
    """A materialisation of each cell in which runs were made, with the data version that imports get too."""
    by_cell = {(one.scenario_id, one.model_id): one for one in states}
    for cell in report.cells:
        state = by_cell.get((cell.scenario_id, cell.model_id))
        if cell.runs and state is not None and state.runs_hash is not None:
            yield dg.AssetMaterialization(
                runs.key,
                partition=cell_key((cell.scenario_id, cell.model_id)),
                tags={VERSION_TAG: state.runs_hash},
                metadata=_metadata(cell, state),
            )


def _metadata(cell: CellReport, state: CellState) -> dict[str, Any]:
    cost = cell.cost_usd
    return {
        "scenario": cell.scenario_id,
        "model": cell.model_id,
        "dagster/partition_row_count": state.recorded,
        "recorded": state.recorded,
        "expected": state.expected_repetitions,
        "made": len(cell.runs),
        "failed": cell.failed_runs,
        **({} if cost is None else {"cost_usd": cost}),
        "runs": markdown_table(RUN_COLUMNS, [_row(run) for run in sorted(cell.runs, key=lambda run: run.repetition)]),
    }


def _row(run: Run) -> dict[str, Any]:
    return {
        "repetition": run.repetition,
        "status": run.status.value,
        "seconds": run.duration_seconds,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost_usd": run.cost_usd,
        "error": run.error,
    }


def failure_of(report: MakingReport) -> dg.Failure:
    """The failure of the step. It is tried again where a server did not work, since nobody else can mend that."""
    rows = [{"scenario_id": one.scenario_id, "model_id": one.model_id, "error": one.error} for one in report.failed]
    first = report.failed[0]
    return dg.Failure(
        description=(
            f"{len(rows)} of {len(report.cells)} models lack runs; what was made is recorded, and another run asks for "
            f"the rest alone. First: {first.scenario_id} / {first.model_id}: {first.error}"
        ),
        metadata={"failed": markdown_table(CELL_COLUMNS, rows)},
        allow_retries=report.is_outage,
    )
