"""Jobs: a scoring round over many models in one process, and the checks of what is recorded."""

from __future__ import annotations

import dagster as dg

from assets.checks import asset_checks
from assets.judging import judge_history
from assets.rankings import leaderboard
from assets.references import merged_reference
from assets.scores import model_scores

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
    description="References verified, runs complete, scores fresh, similarity used.",
)
