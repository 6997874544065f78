from __future__ import annotations

import base64
import json
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assets.plots import MOST_POINTS, quality_against_cost, quality_spread


def row(model_id: str, quality: float | None, cost: float | None, duration: float | None = 1.0) -> dict[str, Any]:
    return {"model_id": model_id, "quality": quality, "mean_cost_usd": cost, "mean_duration_seconds": duration}


def drawn(plot: Any) -> ElementTree.Element:
    encoded = str(plot.value).partition("base64,")[2].rstrip(")")
    return ElementTree.fromstring(base64.b64decode(encoded))  # noqa: S314 - our own picture


@given(
    st.lists(
        st.tuples(st.text(max_size=40), st.floats(0, 100), st.floats(0, 1e9, exclude_min=True)), min_size=2, max_size=40
    )
)
def test_any_results_are_a_well_formed_picture_with_every_point_inside(found: list[tuple[str, float, float]]) -> None:
    rows = [row(_printable(name), quality, cost) for name, quality, cost in found]
    root = drawn(quality_against_cost(rows))
    circles = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == min(len(rows), 30)
    assert all(0 <= float(one.get("cx", "nan")) <= 640 and 0 <= float(one.get("cy", "nan")) <= 360 for one in circles)


def _printable(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable())


def test_models_with_cost_and_quality_are_drawn_as_a_bounded_picture() -> None:
    plot = quality_against_cost([row(f"model {number}", 90.0, 0.01 * (number + 1)) for number in range(100)])
    assert plot is not None
    assert "mean cost of a run" in str(plot.value)
    assert len(json.dumps(plot.value)) < 65_536


def test_where_more_durations_than_costs_are_known_they_are_the_axis() -> None:
    plot = quality_against_cost([row("a", 90.0, 0.1), row("b", 80.0, 0.2), row("c", 70.0, None)])
    assert plot is not None
    assert "mean time of a run" in str(plot.value)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("a", 90.0, 0.1)],
        [row("a", None, 0.1), row("b", None, 0.2)],
        [row("a", float("nan"), 0.1), row("b", float("inf"), 0.2)],
        [row("a", 90.0, 0.0, 0.0), row("b", 80.0, 0.0, 0.0)],
    ],
)
def test_what_cannot_be_drawn_is_left_out(rows: list[dict[str, Any]]) -> None:
    assert quality_against_cost(rows) is None


Qualities = tuple[float | None, float | None, float | None]


def spread(name: str, qualities: Qualities) -> dict[str, Any]:
    return dict(zip(("lowest_quality", "quality", "highest_quality"), qualities, strict=True)) | {"model_id": name}


@given(st.lists(st.tuples(st.text(max_size=40), st.floats(0, 100), st.floats(0, 100), st.floats(0, 100)), min_size=1))
def test_any_spread_is_a_well_formed_picture_with_a_dot_a_model(found: list[tuple[str, float, float, float]]) -> None:
    rows = [spread(_printable(name), (low, mean, high)) for name, low, mean, high in found]
    root = drawn(quality_spread(rows, "quality"))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == min(len(rows), MOST_POINTS)


@pytest.mark.parametrize("qualities", [(None, None, None), (float("nan"), 1.0, 2.0), (0.0, float("inf"), 2.0)])
def test_a_model_without_a_finite_quality_is_left_out_of_the_spread(qualities: Qualities) -> None:
    assert quality_spread([spread("a", qualities)], "quality") is None
    root = drawn(quality_spread([spread("a", qualities), spread("b", (1.0, 2.0, 3.0))], "quality"))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 1


def test_many_models_of_long_names_stay_a_bounded_picture() -> None:
    rows = [spread("\U0001f600" * 200, (0.0, 50.0, 100.0)) for _ in range(500)]
    assert len(json.dumps(getattr(quality_spread(rows, "quality"), "value", None))) < 24_576
