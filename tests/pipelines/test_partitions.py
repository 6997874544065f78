from __future__ import annotations

import dagster as dg
from hypothesis import given
from hypothesis import strategies as st

from pipelines.partitions import Axes, add_partitions, axes_of, cell_key, cell_of, cells_of_run, range_tags
from pipelines.rectangles import rectangles

IDS = st.text(min_size=1, max_size=12)


@given(IDS, IDS)
def test_any_ids_come_back_from_their_partition_key(scenario_id: str, model_id: str) -> None:
    try:
        scenario_id.encode(), model_id.encode()
    except UnicodeEncodeError:
        return  # lone surrogates are refused as ids long before
    assert cell_of(str(cell_key((scenario_id, model_id)))) == (scenario_id, model_id)


def test_partitions_keep_their_order_and_are_added_once() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        add_partitions(instance, [("b", "x|y"), ("a", "m/n:free")])
        axes = add_partitions(instance, [("a", "x|y"), ("c", "z")])
        assert axes == axes_of(instance) == Axes(scenarios=("b", "a", "c"), models=("x|y", "m/n:free", "z"))
        assert axes.requests_beyond(axes) == []


def test_a_run_says_which_cells_it_is_over() -> None:
    axes = Axes(scenarios=("b", "a", "c"), models=("x|y", "m/n:free"))
    cells = [(scenario, model) for scenario in axes.scenarios[:2] for model in axes.models]
    (rectangle,) = rectangles(cells, scenarios=axes.scenarios, models=axes.models)
    assert sorted(cells_of_run(range_tags(rectangle), axes)) == sorted(cells)
    assert list(cells_of_run({"dagster/partition": str(cell_key(cells[0]))}, axes)) == cells[:1]
    assert cells_of_run({}, axes) == ()
    assert cells_of_run({"dagster/partition": "2024-01-01"}, axes) == ()
