"""Scores of models on scenarios: one run over any rectangle of partitions."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from assets.descriptions import OWNERS, SCORES, cell_text, column_schema, markdown_table
from assets.inputs import reference, runs, scenario_config
from pipelines.partitions import by_scenario, cell_key, cell_of, cell_partitions, one_run
from pipelines.reporting import Reporter, report_events
from pipelines.round import ModelReport, RoundReport, score_round
from pipelines.session import Session
from pipelines.waiting import TRIGGER_TAG, spending_of
from resources import tables
from resources.cells import ScoreHead
from resources.dagster_resources import Watch
from resources.rounds import RoundTrigger

# Raise it when the ladder changes what scores mean: every partition then shows as outdated in Dagster.
CODE_VERSION = "1"
MODEL_SCORES = dg.AssetKey("model_scores")
REFERENCE_FINDINGS = dg.AssetKey("reference_findings")
COLUMNS = ("scenario_id", "model_id", "quality", "runs", "failed_runs", "unreadable_runs", "mode", "error")


class ScoreConfig(dg.Config):
    """What to score of the partitions of a run: all of them, or those that still need it."""

    only_where_needed: bool = False


_INPUTS = (
    runs,
    dg.AssetDep(reference, partition_mapping=by_scenario),
    dg.AssetDep(scenario_config, partition_mapping=by_scenario),
)


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            MODEL_SCORES,
            group_name=SCORES,
            deps=_INPUTS,
            code_version=CODE_VERSION,
            kinds={"python", "postgres", "parquet"},
            owners=OWNERS,
            description=(
                "How good each model's runs are against the reference: quality, completeness, correctness and "
                "hallucination, with every field and list behind them. A model is committed whole, in one transaction, "
                "or not at all. Read `bi.model_scores`, `bi.run_scores`, `bi.field_scores`, `bi.list_scores`."
            ),
            metadata=column_schema(tables.model_scores),
        ),
        dg.AssetSpec(
            REFERENCE_FINDINGS,
            group_name=SCORES,
            deps=_INPUTS,
            code_version=CODE_VERSION,
            kinds={"python", "postgres", "parquet"},
            owners=OWNERS,
            description=(
                "Where scoring shows that a reference should change: path, proposed value, evidence, model, run and "
                "judge question. Committed with the score. Read `bi.findings`."
            ),
            metadata=column_schema(tables.findings),
        ),
    ],
    partitions_def=cell_partitions,
    backfill_policy=one_run,
)
def model_scores(
    context: dg.AssetExecutionContext,
    config: ScoreConfig,
    session: dg.ResourceParam[Session],
    watch: dg.ResourceParam[Watch],
) -> Iterator[dg.MaterializeResult[Any]]:
    """Score the partitions of this run; what fails is named, and the others count all the same."""
    cells = [cell_of(key) for key in context.partition_keys]
    pointers = _input_pointers(context.instance)
    report = score_round(
        session,
        cells,
        only_where_needed=config.only_where_needed,
        trigger=RoundTrigger(context.run.tags.get(TRIGGER_TAG, RoundTrigger.COMMAND)),
        dagster_run_id=context.run.run_id,
        on_progress=watch.on_progress,
        on_settled=watch.on_settled,
        spending=watch.spending or spending_of(session, context.instance, context.run.tags),
    )
    if watch.on_report:
        watch.on_report(report)
    if report.failed:
        _report_the_others(context, session, report, pointers)
        raise _failure(report)
    yield dg.MaterializeResult(asset_key=MODEL_SCORES, metadata=_metadata(report))
    yield dg.MaterializeResult(asset_key=REFERENCE_FINDINGS, metadata=_findings_metadata(session, report))


def _metadata(report: RoundReport) -> dict[str, Any]:
    rows = [_row(model) for model in report.models]
    qualities = [model.quality for model in report.models if model.quality is not None]
    numbers = {"mean_quality": sum(qualities) / len(qualities)} if qualities else {}
    return numbers | {
        "dagster/row_count": len(report.models),
        "models_scored": len(report.models),
        "exact_only_models": sum(model.mode == "exact_only" for model in report.models),
        "texts_compared_by_similarity": report.texts,
        "duration_seconds": round(report.duration_seconds, 3),
        "scores": markdown_table(COLUMNS[:-1], rows),
    }


def _findings_metadata(session: Session, report: RoundReport) -> dict[str, Any]:
    score_ids = [model.model_score_id for model in report.models if model.model_score_id is not None]
    rows = session.warehouse.references.finding_counts(score_ids)
    columns = ("scenario_id", "evidence", "findings", "paths", "models")
    return {
        "dagster/row_count": sum(row["findings"] for row in rows),
        "findings": markdown_table(columns, rows),
    }


def _row(model: ModelReport) -> dict[str, Any]:
    return {column: getattr(model, column) for column in COLUMNS}


def _input_pointers(instance: dg.DagsterInstance) -> dict[str, str]:
    """Tags that say up to which event of each input a score is current, as Dagster itself writes them."""
    newest = {
        scenario_config.key: instance.fetch_observations(scenario_config.key, limit=1).records,
        reference.key: instance.fetch_observations(reference.key, limit=1).records,
        runs.key: instance.fetch_materializations(runs.key, limit=1).records,
    }
    return {
        f"dagster/input_event_pointer/{key.to_user_string()}": str(record.storage_id)
        for key, records in newest.items()
        for record in records
    }


def _report_the_others(
    context: dg.AssetExecutionContext, session: Session, report: RoundReport, pointers: dict[str, str]
) -> None:
    """Materialisations of the committed models, with what they were made from, since the step itself fails."""
    done = sorted({(model.scenario_id, model.model_id) for model in report.models if model.error is None})
    states = session.warehouse.cells(sorted({one for one, _ in done}), sorted({one for _, one in done}))
    heads = {(one.scenario_id, one.model_id): one.head for one in states if one.head is not None}
    tags = {cell: _versions(heads[cell]) | pointers for cell in done if cell in heads}
    step = context.get_step_execution_context().step.key
    reporter = Reporter(run_id=context.run.run_id, job_name=context.run.job_name, step_key=step)
    for asset in (MODEL_SCORES, REFERENCE_FINDINGS):
        events = [dg.AssetMaterialization(asset, partition=cell_key(cell), tags=tags[cell]) for cell in tags]
        report_events(context.instance, events, reporter)


def _versions(head: ScoreHead) -> dict[str, str]:
    return {
        "dagster/code_version": CODE_VERSION,
        "dagster/data_version": f"{head.reference_hash}-{head.config_hash}-{head.runs_hash}",
        "dagster/input_data_version/reference": head.reference_hash,
        "dagster/input_data_version/scenario_config": head.config_hash,
        "dagster/input_data_version/runs": head.runs_hash,
    }


def _failure(report: RoundReport) -> dg.Failure:
    failed = [_row(model) for model in report.failed]
    first = report.failed[0]
    return dg.Failure(
        description=(
            f"{len(failed)} of {len(report.models)} models have no score; the others are committed. "
            f"First: {first.scenario_id} / {first.model_id}: {cell_text(first.error)}"
        ),
        metadata={"failed": markdown_table(("scenario_id", "model_id", "error"), failed)},
        allow_retries=False,  # a second try would pay a judge again; whoever asked decides
    )
