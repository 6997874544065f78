"""The merge at the end of a round, with or without Dagster: every scenario whose findings went into no merge yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resources.references import MergeReport, References


def merge_references(
    references: References,
    scenario_ids: Sequence[str] | None = None,
    *,
    on_merged: Callable[[MergeReport], None] | None = None,
) -> tuple[MergeReport, ...]:
    """What the findings of all rounds make of the references of these scenarios (None: all), one transaction each.

    Scenarios without unmerged scores are left alone. After a kill the next call merges the rest.
    """
    reports = []
    for scenario_id in references.unmerged(scenario_ids):
        report = references.merge(scenario_id)
        if report is not None:
            reports.append(report)
            if on_merged:
                on_merged(report)
    return tuple(reports)
