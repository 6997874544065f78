"""Everything Dagster runs: the only place that puts it together."""

from __future__ import annotations

import dagster as dg

from assets.checks import asset_checks
from assets.inputs import reference, scenario_config
from assets.judging import judge_history
from assets.rankings import leaderboard
from assets.references import merged_reference
from assets.runs import made_runs
from assets.scores import model_scores
from pipelines.jobs import check_scores, maintenance, make_runs, merge_findings, score_models
from pipelines.schedules import daily_checks, daily_maintenance, scheduled_rounds
from resources.dagster_resources import logged_run_watch, logged_watch, session_resource, warehouse_resource
from sensors.changed_inputs import changed_inputs
from sensors.finished_rounds import finished_rounds
from sensors.finished_runs import finished_runs
from sensors.vanished_runs import vanished_runs

defs = dg.Definitions(
    assets=[scenario_config, reference, made_runs, model_scores, merged_reference, leaderboard, judge_history],
    asset_checks=asset_checks,
    jobs=[make_runs, score_models, merge_findings, check_scores, maintenance],
    schedules=[scheduled_rounds, daily_checks, daily_maintenance],
    sensors=[finished_runs, finished_rounds, changed_inputs, vanished_runs],
    resources={
        "session": session_resource,
        "warehouse": warehouse_resource,
        "watch": logged_watch,
        "run_watch": logged_run_watch,
    },
    executor=dg.in_process_executor,  # a process a step costs 10 s on the way to 2 s of work
)
