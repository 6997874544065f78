"""Everything Dagster runs: the only place that puts it together."""

from __future__ import annotations

import warnings

import dagster as dg

# We use single-run backfills and the multi-dimension mapping on purpose; Dagster calls them beta in every process.
warnings.filterwarnings("ignore", category=dg.BetaWarning)

from assets.checks import asset_checks  # noqa: E402 - after the filter
from assets.inputs import reference, runs, scenario_config  # noqa: E402
from assets.rankings import leaderboard  # noqa: E402
from assets.scores import model_scores  # noqa: E402
from pipelines.jobs import check_scores, score_models  # noqa: E402
from resources.dagster_resources import logged_watch, session_resource  # noqa: E402
from sensors.changed_inputs import changed_inputs  # noqa: E402
from sensors.finished_runs import finished_runs  # noqa: E402

defs = dg.Definitions(
    assets=[scenario_config, reference, runs, model_scores, leaderboard],
    asset_checks=asset_checks,
    jobs=[score_models, check_scores],
    sensors=[finished_runs, changed_inputs],
    resources={"session": session_resource, "watch": logged_watch},
    executor=dg.in_process_executor,  # a process a step costs 10 s on the way to 2 s of work
)
