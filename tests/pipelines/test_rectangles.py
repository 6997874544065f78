from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.rectangles import Cell, cells_per_run, rectangles
from scoring.errors import InputError

SCENARIOS = [f"s{number}" for number in range(7)]
MODELS = [f"m{number}" for number in range(5)]
CELLS = st.sets(st.tuples(st.sampled_from(SCENARIOS), st.sampled_from(MODELS)))


@given(CELLS, st.integers(1, 40))
def test_every_cell_is_covered_exactly_once_and_no_other(cells: set[Cell], most_cells: int) -> None:
    covered = [
        cell
        for rectangle in rectangles(cells, scenarios=SCENARIOS, models=MODELS, most_cells=most_cells)
        for cell in rectangle.cells
    ]
    assert sorted(covered) == sorted(cells)


@given(CELLS, st.integers(7, 40))
def test_no_rectangle_is_larger_than_the_limit(cells: set[Cell], most_cells: int) -> None:
    found = rectangles(cells, scenarios=SCENARIOS, models=MODELS, most_cells=most_cells)
    assert all(len(rectangle.cells) <= most_cells for rectangle in found)


@pytest.mark.parametrize(
    ("cells", "count"),
    [
        ([], 0),
        ([("s0", "m0")], 1),
        ([(scenario, model) for scenario in SCENARIOS for model in MODELS], 1),
        ([(scenario, "m3") for scenario in SCENARIOS], 1),
        ([("s2", model) for model in MODELS], 1),
        ([("s0", "m0"), ("s1", "m1")], 2),
        ([(s, m) for s in SCENARIOS for m in MODELS if s != "s3"], 2),
        ([(s, m) for s in SCENARIOS for m in MODELS if m != "m2"], 2),
        ([(s, m) for s in SCENARIOS for m in MODELS if (s, m) != ("s3", "m2")], 4),
    ],
)
def test_whole_rounds_need_few_rectangles(cells: list[Cell], count: int) -> None:
    assert len(rectangles(cells, scenarios=SCENARIOS, models=MODELS)) == count


def test_how_much_a_run_covers_is_said_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_CELLS_PER_RUN", raising=False)
    assert cells_per_run() == 500
    monkeypatch.setenv("ASSAY_CELLS_PER_RUN", "36")
    assert cells_per_run() == 36


@pytest.mark.parametrize("written", ["", "0", "-3", "many", "1.5"])
def test_what_is_no_number_of_cells_is_refused(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CELLS_PER_RUN", written)
    with pytest.raises(InputError, match=r"ASSAY_CELLS_PER_RUN: .* is no number of cells"):
        cells_per_run()
