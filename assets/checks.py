"""What a person should know before trusting the numbers; each check says where and what to do.

Checks are unpartitioned and name the cells in their metadata: a run over a range allows no partitioned ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from assets.descriptions import markdown_table
from assets.inputs import reference, runs
from assets.references import MERGED_REFERENCE
from assets.scores import MODEL_SCORES
from pipelines.partitions import axes_of
from pipelines.unmerged import unmergeable
from pipelines.waiting import given_up
from resources.bi_contract import differences
from resources.cells import Cell
from resources.stale_scores import StaleScores, stale_scores
from resources.warehouse import Warehouse
from resources.wholeness import wholeness

LEADERBOARD = dg.AssetKey("leaderboard")
MOST_NAMED = 5

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """All that a check may look at: every cell, the stores, and what Dagster knows of runs."""

    cells: Sequence[Cell]
    warehouse: Warehouse
    instance: dg.DagsterInstance


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check found wrong, a row each; `looked_at` says how much there was to find it in."""

    rows: Rows
    looked_at: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check of what is recorded: `find` finds what is wrong, `remedy` says what to do about it.

    A thorough one takes a look at every file and is made once after each round and once a day. One that is an error
    means that numbers are missing or wrong; the others say what to keep in mind.
    """

    asset: dg.AssetKey
    name: str
    description: str
    remedy: str
    find: Callable[[Recorded], Found]
    is_thorough: bool = False
    is_error: bool = False

    @property
    def key(self) -> dg.AssetCheckKey:
        """Its key in Dagster."""
        return dg.AssetCheckKey(self.asset, self.name)


def unverified_references(found: Recorded) -> Found:
    """Scenarios without a verified reference."""
    ids = dict.fromkeys(cell.scenario_id for cell in found.cells if not cell.has_verified_reference)
    return Found(rows=[{"scenario": id_, "see": f"assay reference show {id_}"} for id_ in ids])


def incomplete_runs(found: Recorded) -> Found:
    """Cells of which some but not all repetitions are recorded."""
    return _over_cells(
        found,
        lambda cell: 0 < cell.recorded < cell.expected_repetitions,
        lambda cell: {"recorded": cell.recorded, "expected": cell.expected_repetitions},
    )


def outdated_scores(found: Recorded) -> Found:
    """Scores older than their reference or scoring config, or made against a rejected value, or with runs since."""
    rows = [_stale_row(one) for one in stale_scores(found.warehouse.engine)]
    behind = [cell for cell in found.cells if cell.has_new_runs]
    rows += [_place(cell) | {"changed": "runs: more are recorded", "see": "the run in progress"} for cell in behind]
    return Found(rows=rows)


def unsuccessful_rounds(found: Recorded) -> Found:
    """Cells that rounds tried in vain and that no sensor tries again."""
    given = given_up(found.cells, axes_of(found.instance), found.instance)
    return Found(rows=[_place(cell) | {"failures": cell.failures, "why": reason} for cell, reason in given])


def unsuccessful_merges(found: Recorded) -> Found:
    """Scenarios whose merges came to nothing and that no sensor tries again."""
    ids = unmergeable(found.warehouse.references.unmerged(), found.instance)
    return Found(rows=[{"scenario": id_, "see": f"assay score {id_}"} for id_ in ids])


def exact_only_scores(found: Recorded) -> Found:
    """Scored cells for which no embedding model was configured."""
    return _over_cells(found, lambda cell: cell.head is not None and cell.head.mode == "exact_only")


def scores_by_own_family(found: Recorded) -> Found:
    """Scored cells with a judge of the model's own family."""
    return _over_cells(found, lambda cell: cell.head is not None and cell.head.is_judge_family)


def unwhole_scores(found: Recorded) -> Found:
    """Lake files that are gone or too short, and scores that lack a part."""
    whole = wholeness(found.warehouse.engine, found.warehouse.lake)
    rows = [{"where": one.where, "problem": one.problem} for one in whole.problems]
    return Found(rows=rows, looked_at={"files_found": whole.files, "scores_counted": whole.counted_scores})


def contract_breaches(found: Recorded) -> Found:
    """Where the views of schema `bi` are not as dashboards may expect them."""
    return Found(rows=[{"difference": one} for one in differences(found.warehouse.engine)])


CHECKS: tuple[Check, ...] = (
    Check(
        asset=reference.key,
        name="reference_verified",
        description="Every scenario has a verified reference.",
        remedy="Read the reference, then verify it with `assay reference verify SCENARIO`.",
        find=unverified_references,
    ),
    Check(
        asset=runs.key,
        name="runs_complete",
        description="Every model that has runs of a scenario has all the repetitions that the scenario asks for.",
        remedy="Import the missing repetitions; the model is scored as soon as the last one is in.",
        find=incomplete_runs,
    ),
    Check(
        asset=MODEL_SCORES,
        name="scores_fresh",
        description="No score is older than its reference, scoring config or runs.",
        remedy="Score again with `assay score --stale`, or set `schedule` in assay.yaml.",
        find=outdated_scores,
    ),
    Check(
        asset=MODEL_SCORES,
        name="rounds_succeed",
        description="No model was tried so often in vain that no sensor tries it again.",
        remedy="Mend what `why` says, then score with `assay score`.",
        find=unsuccessful_rounds,
        is_error=True,
    ),
    Check(
        asset=MODEL_SCORES,
        name="scores_whole",
        description=(
            "Every file that a row names is in the lake, and the newest 2,000 scores have all their parts: runs, "
            "fields, and as many rows in the lake as in Postgres."
        ),
        remedy="Restore the lake from its backup or point ASSAY_LAKE at the right one; else `assay score --all`.",
        find=unwhole_scores,
        is_thorough=True,
        is_error=True,
    ),
    Check(
        asset=MODEL_SCORES,
        name="similarity_used",
        description="Every score had an embedding model; without one (`exact_only`) other spellings count as wrong.",
        remedy="Set `embedding: local` in assay.yaml or in the scenario, and score again.",
        find=exact_only_scores,
    ),
    Check(
        asset=MODEL_SCORES,
        name="judge_family",
        description="No model was judged by a model of its own family, which a judge may prefer.",
        remedy="Take a judge of another family or a panel of several, or measure it with `assay judge audit`.",
        find=scores_by_own_family,
    ),
    Check(
        asset=MERGED_REFERENCE,
        name="merges_succeed",
        description="No scenario's findings were merged so often in vain that no sensor tries it again.",
        remedy="Read the error of the last run of the job merge_findings, then merge with `assay score SCENARIO`.",
        find=unsuccessful_merges,
        is_error=True,
    ),
    Check(
        asset=LEADERBOARD,
        name="bi_contract",
        description="The views of schema `bi` are what dashboards were promised: names, types, order, grain.",
        remedy="Bring the database to this version (any `assay` command does), or undo what was changed in it by hand.",
        find=contract_breaches,
        is_thorough=True,
        is_error=True,
    ),
)


def result_of(check: Check, found: Recorded) -> dg.AssetCheckResult:
    """How the check stands over what is recorded now."""
    wrong = check.find(found)
    if not wrong.rows:
        return dg.AssetCheckResult(
            asset_key=check.asset, check_name=check.name, passed=True, metadata=dict(wrong.looked_at)
        )
    return dg.AssetCheckResult(
        asset_key=check.asset,
        check_name=check.name,
        passed=False,
        severity=dg.AssetCheckSeverity.ERROR if check.is_error else dg.AssetCheckSeverity.WARN,
        description=_in_short(check, wrong.rows),
        metadata={
            "found": len(wrong.rows),
            "where": markdown_table(tuple(wrong.rows[0]), wrong.rows),
            **wrong.looked_at,
        },
    )


def _in_short(check: Check, rows: Rows) -> str:
    """How many there are, what to do, and the first few: the page of a check shows it without a click."""
    first = markdown_table(tuple(rows[0]), rows[:MOST_NAMED]).value
    return f"{len(rows)} found. {check.remedy}\n\n{first}"


def _definition(check: Check) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=check.asset, name=check.name, description=check.description)
    def run(context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
        return result_of(check, Recorded(cells=warehouse.cells(), warehouse=warehouse, instance=context.instance))

    return run


asset_checks = tuple(_definition(check) for check in CHECKS)


def _over_cells(
    found: Recorded, is_wrong: Callable[[Cell], bool], more: Callable[[Cell], Mapping[str, Any]] = lambda _: {}
) -> Found:
    return Found(rows=[_place(cell) | dict(more(cell)) for cell in found.cells if is_wrong(cell)])


def _stale_row(stale: StaleScores) -> dict[str, Any]:
    return {
        "scenario": stale.scenario_id,
        "models": _named(stale.model_ids),
        "changed": "; ".join(stale.changes),
        "since": stale.changed_at.isoformat(sep=" ", timespec="seconds"),
        "see": stale.see,
    }


def _named(ids: Sequence[str]) -> str:
    """The first few ids and how many more there are."""
    rest = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return ", ".join(ids[:MOST_NAMED]) + rest


def _place(cell: Cell) -> dict[str, Any]:
    return {"scenario": cell.scenario_id, "model": cell.model_id}
