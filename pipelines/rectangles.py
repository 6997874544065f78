"""Sets of (scenario, model) cells as rectangles, since one Dagster run covers a rectangle of partitions.

A run for every cell would cost seconds each; a run over a rectangle costs milliseconds a cell.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from scoring.errors import InputError

Cell = tuple[str, str]
"""A scenario id and a model id."""

_Row = tuple[int, int]
"""First and last column of an unbroken stretch of cells."""

_END = 2**62
"""A row below all others, where every rectangle has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """All models from `first` to `last` of all scenarios from `first` to `last`, in the order of the partitions."""

    first: Cell
    last: Cell
    cells: tuple[Cell, ...]


CELLS_VARIABLE = "ASSAY_CELLS_PER_RUN"
CELLS_PER_RUN = 500
"""A worker scores so many without a judge in about a minute; what a run costs Dagster besides is two seconds."""


def cells_per_run() -> int:
    """How many cells a run that Dagster starts may cover: `ASSAY_CELLS_PER_RUN`, else 500.

    Fewer spread a round over more workers. Raises InputError where it is no whole number above 0.
    """
    written = os.environ.get(CELLS_VARIABLE, str(CELLS_PER_RUN))
    if not written.isdecimal() or int(written) < 1:
        raise InputError(
            f"{written!r} is no number of cells", where=CELLS_VARIABLE, remedy="Write a whole number above 0"
        )
    return int(written)


def rectangles(
    cells: Collection[Cell], *, scenarios: Sequence[str], models: Sequence[str], most_cells: int = CELLS_PER_RUN
) -> tuple[Rectangle, ...]:
    """Rectangles that hold every one of `cells` exactly once and no other cell.

    `scenarios` and `models` give the order of the partitions and must hold every id of `cells`. A rectangle holds at
    most `most_cells` cells, or one stretch of neighbours. The cover is greedy along both axes; the smaller is taken.
    """
    row = {id_: number for number, id_ in enumerate(scenarios)}
    column = {id_: number for number, id_ in enumerate(models)}
    places = {(row[scenario_id], column[model_id]) for scenario_id, model_id in cells}
    by_row = list(_cover(places, most_cells))
    by_column = [((left, top), (right, bottom)) for (top, left), (bottom, right) in _cover(_turned(places), most_cells)]
    best = min(by_row, by_column, key=len)
    return tuple(_named(corners, scenarios, models) for corners in best)


def _cover(places: set[tuple[int, int]], most_cells: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Corners (top left, bottom right), made of equal stretches in neighbouring rows."""
    columns: dict[int, list[int]] = {}
    for row, column in places:
        columns.setdefault(row, []).append(column)
    growing: dict[_Row, int] = {}
    previous = -1
    for row in [*sorted(columns), _END]:
        stretches = set(_stretches(columns.get(row, ())))
        for stretch, top in list(growing.items()):
            is_full = (previous - top + 2) * (stretch[1] - stretch[0] + 1) > most_cells
            if stretch not in stretches or row != previous + 1 or is_full:
                yield (top, stretch[0]), (previous, stretch[1])
                del growing[stretch]
        growing.update({stretch: row for stretch in stretches if stretch not in growing})
        previous = row


def _stretches(columns: Iterable[int]) -> Iterator[_Row]:
    ordered = sorted(columns)
    start = 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or ordered[end] != ordered[end - 1] + 1:
            yield ordered[start], ordered[end - 1]
            start = end


def _turned(places: set[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(column, row) for row, column in places}


def _named(
    corners: tuple[tuple[int, int], tuple[int, int]], scenarios: Sequence[str], models: Sequence[str]
) -> Rectangle:
    (top, left), (bottom, right) = corners
    first, last = (scenarios[top], models[left]), (scenarios[bottom], models[right])
    return Rectangle(first=first, last=last, cells=between(first, last, scenarios=scenarios, models=models))


def between(first: Cell, last: Cell, *, scenarios: Sequence[str], models: Sequence[str]) -> tuple[Cell, ...]:
    """All cells of the rectangle between two corners; none where a corner is not on the axes."""
    if not {first[0], last[0]} <= set(scenarios) or not {first[1], last[1]} <= set(models):
        return ()
    rows = scenarios[scenarios.index(first[0]) : scenarios.index(last[0]) + 1]
    columns = models[models.index(first[1]) : models.index(last[1]) + 1]
    return tuple((scenario, model) for scenario in rows for model in columns)
