"""What a person should know before trusting the numbers; each check says where and what to do.

Checks are unpartitioned and name the cells in their metadata: a run over a range allows no partitioned ones.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from assets.descriptions import markdown_table
from assets.inputs import reference, runs
from assets.scores import MODEL_SCORES
from resources.cells import Cell
from resources.warehouse import Warehouse
from scoring.staleness import Ingredients, changes_since

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of the warehouse: `rows_of` finds what is wrong among the cells, `remedy` says what to do about it."""

    asset: dg.AssetKey
    name: str
    description: str
    remedy: str
    rows_of: Callable[[Sequence[Cell]], Rows]

    @property
    def key(self) -> dg.AssetCheckKey:
        """Its key in Dagster."""
        return dg.AssetCheckKey(self.asset, self.name)


def unverified_references(cells: Sequence[Cell]) -> Rows:
    """Scenarios without a verified reference."""
    return [
        {"scenario_id": id_} for id_ in _distinct(cell.scenario_id for cell in cells if not cell.has_verified_reference)
    ]


def incomplete_runs(cells: Sequence[Cell]) -> Rows:
    """Cells of which some but not all repetitions are recorded."""
    return [
        _place(cell) | {"recorded": cell.recorded, "expected": cell.expected_repetitions}
        for cell in cells
        if 0 < cell.recorded < cell.expected_repetitions
    ]


def stale_scores(cells: Sequence[Cell]) -> Rows:
    """Scored cells whose reference, scoring config or runs changed, or whose edit was rejected, with what it was."""
    return [_place(cell) | {"changed": what} for cell in cells if (what := ", ".join(changes_of(cell)))]


def exact_only_scores(cells: Sequence[Cell]) -> Rows:
    """Scored cells for which no embedding model was configured."""
    return [_place(cell) for cell in cells if cell.head is not None and cell.head.mode == "exact_only"]


def scores_by_own_family(cells: Sequence[Cell]) -> Rows:
    """Scored cells with a judge of the model's own family."""
    return [_place(cell) for cell in cells if cell.head is not None and cell.head.is_judge_family]


def changes_of(cell: Cell) -> tuple[str, ...]:
    """What changed since the cell was scored; empty where it is fresh or was never scored."""
    if cell.head is None:
        return ()
    scored = Ingredients(
        reference_hash=cell.head.reference_hash, config_hash=cell.head.config_hash, runs_hash=cell.head.runs_hash
    )
    now = Ingredients(reference_hash=cell.reference_hash, config_hash=cell.config_hash, runs_hash=cell.runs_hash)
    return (*changes_since(scored, now), *(("rejected edit",) if cell.is_edit_rejected else ()))


CHECKS: tuple[Check, ...] = (
    Check(
        asset=reference.key,
        name="reference_verified",
        description="Every scenario has a verified reference.",
        remedy="Read the reference, then verify it with `assay reference verify SCENARIO`.",
        rows_of=unverified_references,
    ),
    Check(
        asset=runs.key,
        name="runs_complete",
        description="Every model that has runs of a scenario has all the repetitions that the scenario asks for.",
        remedy="Import the missing repetitions; the model is scored as soon as the last one is in.",
        rows_of=incomplete_runs,
    ),
    Check(
        asset=MODEL_SCORES,
        name="scores_fresh",
        description="No score is older than its reference, scoring config or runs.",
        remedy="Score again with `assay score --stale`.",
        rows_of=stale_scores,
    ),
    Check(
        asset=MODEL_SCORES,
        name="similarity_used",
        description="Every score had an embedding model; without one (`exact_only`) other spellings count as wrong.",
        remedy="Set `embedding: local` in assay.yaml or in the scenario, and score again.",
        rows_of=exact_only_scores,
    ),
    Check(
        asset=MODEL_SCORES,
        name="judge_family",
        description="No model was judged by a model of its own family, which a judge may prefer.",
        remedy="Take a judge of another family or a panel of several, or measure it with `assay judge audit`.",
        rows_of=scores_by_own_family,
    ),
)


def result_of(check: Check, cells: Sequence[Cell]) -> dg.AssetCheckResult:
    """How the check stands over these cells."""
    rows = check.rows_of(cells)
    if not rows:
        return dg.AssetCheckResult(asset_key=check.asset, check_name=check.name, passed=True)
    return dg.AssetCheckResult(
        asset_key=check.asset,
        check_name=check.name,
        passed=False,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(rows)} found. {check.remedy}",
        metadata={"found": len(rows), "where": markdown_table(tuple(rows[0]), rows)},
    )


def _definition(check: Check) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=check.asset, name=check.name, description=check.description)
    def run(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        return result_of(check, warehouse.cells())

    return run


asset_checks = tuple(_definition(check) for check in CHECKS)


def _place(cell: Cell) -> dict[str, Any]:
    return {"scenario_id": cell.scenario_id, "model_id": cell.model_id}


def _distinct(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))
