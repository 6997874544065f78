"""Scenarios whose findings wait for a merge, and the runs that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import dagster as dg

from pipelines.partitions import PARTITION_TAG, RANGE_END_TAG, RANGE_START_TAG, Axes
from pipelines.waiting import STATE_TAG, TRIGGER_TAG, UNFINISHED, digest, tries_of
from resources.cells import MOST_CRASHES
from resources.rounds import RoundTrigger
from scoring.keys import id_of, safe_key

Unmerged = Mapping[str, Sequence[int]]
"""Ids of model scores that went into no merge yet, by scenario id."""


def being_merged(instance: dg.DagsterInstance, axes: Axes) -> set[str]:
    """The scenarios of runs that have not ended, those over scenarios x models aside."""
    runs = instance.get_runs(dg.RunsFilter(statuses=UNFINISHED))
    return {one for run in runs for one in _scenarios_of(run.tags, axes.scenarios)}


def _scenarios_of(tags: Mapping[str, str], order: Sequence[str]) -> Sequence[str]:
    """The scenarios that a run over scenario partitions covers; none for other runs."""
    first = tags.get(RANGE_START_TAG) or tags.get(PARTITION_TAG, "")
    last = tags.get(RANGE_END_TAG) or first
    if not first or "|" in first:
        return ()
    ends = id_of(first), id_of(last)
    return order[order.index(ends[0]) : order.index(ends[1]) + 1] if set(ends) <= set(order) else ()


def stretches(scenario_ids: Iterable[str], order: Sequence[str]) -> list[list[str]]:
    """The scenarios as stretches of neighbours in the order of the partitions: one run can cover each."""
    place = {scenario_id: number for number, scenario_id in enumerate(order)}
    known = sorted((one for one in scenario_ids if one in place), key=place.__getitem__)
    grouped = groupby(enumerate(known), key=lambda pair: place[pair[1]] - pair[0])
    return [[scenario_id for _, scenario_id in group] for _, group in grouped]


def merge_state(stretch: Sequence[str], unmerged: Unmerged) -> str:
    """A digest of what a merge over the stretch would answer; after a later round it is another."""
    return digest(["merge", *([scenario_id, max(unmerged[scenario_id])] for scenario_id in stretch)])


def merge_requests(waiting: Unmerged, axes: Axes, instance: dg.DagsterInstance) -> Iterator[dg.RunRequest]:
    """A run over each stretch of these scenarios, and after one that came to nothing a run over each scenario alone.

    A scenario that was tried often enough in its present state is left out.
    """
    for stretch in stretches(waiting, axes.scenarios):
        is_new = tries_of(merge_state(stretch, waiting), instance) == 0
        for part in [stretch] if is_new else [[scenario_id] for scenario_id in stretch]:
            state = merge_state(part, waiting)
            tries = tries_of(state, instance)
            if tries < MOST_CRASHES:
                yield _request(part, state, tries)


def _request(stretch: Sequence[str], state: str, tries: int) -> dg.RunRequest:
    ends = {RANGE_START_TAG: safe_key(stretch[0]), RANGE_END_TAG: safe_key(stretch[-1])}
    tags = {**ends, STATE_TAG: state, TRIGGER_TAG: RoundTrigger.SENSOR.value}
    return dg.RunRequest(run_key=f"{state}-{tries}", tags=tags)


def unmergeable(unmerged: Unmerged, instance: dg.DagsterInstance) -> list[str]:
    """The scenarios that no sensor will try to merge again."""
    return [one for one in unmerged if tries_of(merge_state([one], unmerged), instance) >= MOST_CRASHES]
