"""The history of judging: what every scoring needed of its judges, what that cost, and where to read each request."""

from typing import Any

import dagster as dg

from assets.descriptions import OWNERS, SCORES, markdown_table, view_schema
from assets.plots import cost_bars
from assets.scores import MODEL_SCORES
from resources.view_columns import columns_of
from resources.warehouse import Warehouse

VIEW = "bi.scoring_records"
COLUMNS = (
    "model_id",
    "scorings",
    "failed_scorings",
    "questions",
    "cached",
    "calls",
    "failed_calls",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "unpriced_calls",
    "judge_seconds",
    "scoring_seconds",
)


@dg.asset(
    deps=[MODEL_SCORES],
    group_name=SCORES,
    kinds={"postgres"},
    owners=OWNERS,
    description=(
        "What the judges were asked and what it cost, failed requests included: a row a model, over all its scorings. "
        "Read `bi.scoring_records` (a row a scoring) and `bi.judge_calls` (a row a request, with prompt and answer)."
    ),
)
def judge_history(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult[Any]:
    """Read the ledger as it stands now, and show it."""
    rows = warehouse.judging_costs()
    plot = cost_bars(rows, "known_cost_usd", "Cost of judging each model, USD")
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": sum(row["scorings"] for row in rows),
            "judge_calls": sum(row["calls"] for row in rows),
            "judge_cost_usd": sum(row["known_cost_usd"] for row in rows),
            "calls_of_unknown_cost": sum(row["unpriced_calls"] for row in rows),
            "by_model": markdown_table(COLUMNS, rows),
            **({"cost": plot} if plot else {}),
            **view_schema(columns_of(warehouse.engine, VIEW), VIEW),
        }
    )
