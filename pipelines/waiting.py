"""What waits for a scoring round, what is being scored, and how often it was tried: asked of the stores each time.

Two answers hold a repeated start apart from a new one: a digest of what a round would answer (its state), and how many
scorings came to nothing in that state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.partitions import Axes, cells_of_run, range_tags
from pipelines.rectangles import Cell, Rectangle, cells_per_run, rectangles
from resources.cells import MOST_CRASHES
from resources.cells import Cell as CellState
from resources.judge_prices import Spending
from resources.rounds import RoundTrigger

if TYPE_CHECKING:
    from pipelines.session import Session

STATE_TAG = "assay/state"
TRIGGER_TAG = "assay/trigger"
ROUND_TAG = "assay/round"
"""The same for all runs that are one round together."""

# A run that crashed takes its other models with it: the next try is over fewer, the last one over each alone.
MOST_CELLS = (500, 25, 1)

ONLY_WHERE_NEEDED: Mapping[str, object] = {"ops": {"model_scores": {"config": {"only_where_needed": True}}}}

UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

States = Mapping[Cell, CellState]


def place_of(state: CellState) -> Cell:
    """The scenario id and model id of a cell."""
    return state.scenario_id, state.model_id


def being_scored(instance: dg.DagsterInstance, axes: Axes) -> set[Cell]:
    """The cells of scoring runs that have not ended; runs in the making keep no model that is complete waiting."""
    runs = instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    return {cell for run in runs if _scores(run) for cell in cells_of_run(run.tags, axes)}


def _scores(run: dg.DagsterRun) -> bool:
    chosen = run.asset_selection
    return run.job_name != "make_runs" and (not chosen or dg.AssetKey("model_scores") in chosen)


def is_unscored(state: CellState) -> bool:
    """Whether all is there for a first score, or for one that counts runs recorded since the last one."""
    return state.is_scorable and (not state.is_scored or state.has_new_runs)


def waiting(states: Iterable[CellState], wanted: Callable[[CellState], bool], in_flight: Collection[Cell]) -> States:
    """The cells that are wanted and that no run is scoring."""
    return {place_of(one): one for one in states if wanted(one) and place_of(one) not in in_flight}


def state_of(rectangle: Rectangle, states: States) -> str:
    """A digest of what a round over the rectangle would answer: its cells, their newest runs, references and configs.

    A later legitimate round (another run, an edited reference, the next try) has another digest, so that no old run key
    blocks it.
    """
    return digest([[*cell, *_ingredients(states[cell])] for cell in rectangle.cells])


def _ingredients(state: CellState) -> list[object]:
    head = None if state.head is None else state.head.model_score_id
    parts = [state.newest_run_id, state.runs_hash, state.reference_hash, state.config_hash]
    return [*parts, head, state.failures, state.crashes]


def digest(content: object) -> str:
    """32 hex digits for this content: short enough for a tag."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]


def tries_of(state: str, instance: dg.DagsterInstance, tags: Mapping[str, str] | None = None) -> int:
    """How many runs, those with `tags`, were asked for in this state and left it as it is; at most `MOST_CRASHES`."""
    filters = dg.RunsFilter(tags={STATE_TAG: state, **(tags or {})})
    return len(instance.get_run_ids(filters, limit=MOST_CRASHES))


def cover(states: States, axes: Axes) -> list[Rectangle]:
    """Rectangles that hold each of these cells once; the more often runs over them crashed, the smaller they are."""

    def crashes(cell: Cell) -> int:
        return min(states[cell].crashes, len(MOST_CELLS) - 1)

    most = cells_per_run()
    groups = groupby(sorted(states, key=lambda cell: (crashes(cell), cell)), key=crashes)
    return [one for number, cells in groups for one in _rectangles(list(cells), axes, min(MOST_CELLS[number], most))]


def _rectangles(cells: Collection[Cell], axes: Axes, most_cells: int) -> Iterable[Rectangle]:
    if most_cells == 1:
        return [Rectangle(first=cell, last=cell, cells=(cell,)) for cell in cells]
    return rectangles(cells, scenarios=axes.scenarios, models=axes.models, most_cells=most_cells)


def requests(
    states: States, axes: Axes, instance: dg.DagsterInstance, *, trigger: RoundTrigger, tags: Mapping[str, str]
) -> Iterator[dg.RunRequest]:
    """A run over each rectangle of these cells, left out where it was asked for often enough in its present state."""
    for rectangle in cover(states, axes):
        state = state_of(rectangle, states)
        tries = tries_of(state, instance, tags)
        if tries < MOST_CRASHES:
            yield dg.RunRequest(
                run_key="-".join([state, *tags.values(), str(tries)]),
                tags={**range_tags(rectangle), STATE_TAG: state, TRIGGER_TAG: trigger.value, **tags},
                run_config=ONLY_WHERE_NEEDED,
            )


def given_up(states: Iterable[CellState], axes: Axes, instance: dg.DagsterInstance) -> list[tuple[CellState, str]]:
    """Unscored cells that no sensor will try again, each with why its last try left no score."""
    unscored = waiting(states, is_unscored, being_scored(instance, axes))
    failed = [(one, one.last_error or "its process ended") for one in unscored.values() if one.is_given_up]
    left = {cell: one for cell, one in unscored.items() if not one.is_given_up}
    stuck = [
        (left[cell], "the runs ended before they began to score")
        for rectangle in cover(left, axes.with_new(left))
        if tries_of(state_of(rectangle, left), instance) >= MOST_CRASHES
        for cell in rectangle.cells
    ]
    return failed + stuck


def spending_of(session: Session, instance: dg.DagsterInstance, tags: Mapping[str, str]) -> Spending | None:
    """What a run may spend on judges where several runs are one round: what the budget leaves of the others' spending.

    None for a run that is a round of its own. Runs of one round go one after another (see dagster.yaml).
    """
    if ROUND_TAG not in tags:
        return None
    run_ids = instance.get_run_ids(dg.RunsFilter(tags={ROUND_TAG: tags[ROUND_TAG]}))
    spent_usd = session.warehouse.judge_spending(run_ids)
    return Spending(limit_usd=session.workspace.config.budgets.judge_usd, spent_usd=spent_usd)
