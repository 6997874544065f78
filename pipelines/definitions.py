"""Everything Dagster runs: the only place that puts it together."""

from __future__ import annotations

import dagster as dg

from assets.checks import asset_checks
from assets.inputs import reference, runs, scenario_config
from assets.judging import judge_history
from assets.rankings import leaderboard
from assets.references import merged_reference
from assets.scores import model_scores
from pipelines.jobs import check_scores, merge_findings, score_models
from resources.dagster_resources import logged_watch, session_resource, warehouse_resource
from sensors.changed_inputs import changed_inputs
from sensors.finished_rounds import finished_rounds
from sensors.finished_runs import finished_runs
from sensors.vanished_runs import vanished_runs

defs = dg.Definitions(
    assets=[scenario_config, reference, runs, model_scores, merged_reference, leaderboard, judge_history],
    asset_checks=asset_checks,
    jobs=[score_models, merge_findings, check_scores],
    sensors=[finished_runs, finished_rounds, changed_inputs, vanished_runs],
    resources={"session": session_resource, "warehouse": warehouse_resource, "watch": logged_watch},
    executor=dg.in_process_executor,  # a process a step costs 10 s on the way to 2 s of work
)
