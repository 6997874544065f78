"""Jobs: a scoring round over many models in one process, and the checks of what is recorded."""

from datetime import UTC, datetime, timedelta

import dagster as dg

from assets.checks import asset_checks
from assets.judging import judge_history
from assets.rankings import leaderboard
from assets.references import merged_reference
from assets.runs import made_runs
from assets.scores import model_scores
from pipelines.pruning import prune
from resources.warehouse import Warehouse
from resources.workspace import load_organisation

WORK_TAG = "assay/work"

make_runs = dg.define_asset_job(
    "make_runs",
    selection=dg.AssetSelection.assets(made_runs).without_checks(),
    description="Calls the models of the chosen partitions for the runs that are missing there, and for no others.",
    # Only a worker that crashed: what failed was retried by its step, and what it recorded is not asked for again.
    tags={WORK_TAG: "make_runs", "dagster/max_retries": "3", "dagster/retry_on_asset_or_op_failure": "false"},
)

score_models = dg.define_asset_job(
    "score_models",
    selection=dg.AssetSelection.assets(model_scores, leaderboard, judge_history).without_checks(),
    description="A scoring round: all models of the chosen partitions in one process, then leaderboard and costs.",
)

merge_findings = dg.define_asset_job(
    "merge_findings",
    selection=dg.AssetSelection.assets(merged_reference).without_checks(),
    description="The merge that ends a round: the findings of all rounds into the references of the chosen scenarios.",
)

check_scores = dg.define_asset_job(
    "check_scores",
    selection=dg.AssetSelection.checks(*asset_checks),
    description="Every check: what a person should know before trusting the numbers, each with what to do about it.",
)


@dg.op(
    description=(
        "Deletes Dagster's records of runs that ended more than `retention.dagster_run_days` ago (assay.yaml), but not "
        "their materialisations, and lake files older than a day that no row names."
    )
)
def prune_and_sweep(context: dg.OpExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> None:
    """Dagster's storage holds no old logs afterwards, and the lake no file that nobody knows."""
    days = load_organisation().retention.dagster_run_days
    pruned = prune(context.instance, datetime.now(UTC) - timedelta(days=days))
    swept = warehouse.sweep_lake()
    context.log.info(
        f"Records of {pruned.runs} runs that ended over {days} days ago are gone, with {pruned.events} events and "
        f"{pruned.check_evaluations} replaced results of checks; {len(swept)} unnamed files of the lake are removed."
    )


@dg.job(description="Prunes what grows without end; what Assay itself records is kept for good.")
def maintenance() -> None:
    """One step: prune, then sweep."""
    prune_and_sweep()
