"""The leaderboard: who stands where over all scenarios."""

from typing import Any

import dagster as dg

from assets.descriptions import OWNERS, SCORES, markdown_table, view_schema
from assets.plots import quality_against_cost, quality_spread
from assets.scores import MODEL_SCORES
from resources.view_columns import columns_of
from resources.warehouse import Warehouse

VIEW = "bi.leaderboard"
COLUMNS = (
    "position",
    "model_id",
    "score",
    "quality",
    "speed_score",
    "cost_score",
    "mean_duration_seconds",
    "mean_cost_usd",
    "scenario_count",
    "success_rate",
)


@dg.asset(
    deps=[MODEL_SCORES],
    group_name=SCORES,
    kinds={"postgres"},
    owners=OWNERS,
    description=(
        "Quality, speed and cost mixed by the scenarios' weights, best first. Stale scores are left out. The view "
        "`bi.leaderboard` is always current; this asset shows how it stood after a round."
    ),
)
def leaderboard(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult[Any]:
    """Read the view as it stands now, and show it."""
    rows = warehouse.leaderboard("overall")
    plots = {
        "quality_against_cost": quality_against_cost(rows),
        "spread": quality_spread(warehouse.spreads(), "quality over repetitions: lowest - mean - highest"),
    }
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": len(rows),
            "leaderboard": markdown_table(COLUMNS, rows),
            **{name: plot for name, plot in plots.items() if plot},
            **view_schema(columns_of(warehouse.engine, VIEW), VIEW),
        }
    )
