"""Small plots for Dagster's metadata: PNG in a data URI, bounded in size."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

MOST_POINTS = 30
MOST_BYTES = 40_000
AXES = {"mean_cost_usd": "mean cost of a run, USD", "mean_duration_seconds": "mean time of a run, seconds"}


def quality_against_cost(rows: Sequence[Mapping[str, Any]]) -> dg.MarkdownMetadataValue | None:
    """A point a model: quality over the mean cost of a run on a log scale, or over its duration where that shows more.

    None where there are not two points.
    """
    label, points = max(((label, _points(rows, key)) for key, label in AXES.items()), key=lambda axis: len(axis[1]))
    return _scatter(points[:MOST_POINTS], label) if len(points) > 1 else None


def _points(rows: Sequence[Mapping[str, Any]], key: str) -> list[tuple[str, float, float]]:
    return [(row["model_id"], row[key], row["quality"]) for row in rows if _is_drawable(row, key)]


def _is_drawable(row: Mapping[str, Any], key: str) -> bool:
    values = (row.get(key), row.get("quality"))
    return all(value is not None and math.isfinite(value) for value in values) and row[key] > 0


def _scatter(points: Sequence[tuple[str, float, float]], label: str) -> dg.MarkdownMetadataValue | None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.scatter([x for _, x, _ in points], [y for _, _, y in points], color="#3b5bdb")
    for name, x, y in points:
        axes.annotate(name[:24], (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("quality, 0..100")
    axes.grid(visible=True, alpha=0.25)
    axes.margins(x=0.18, y=0.12)
    picture = io.BytesIO()
    canvas.print_png(picture)  # type: ignore[no-untyped-call]  # matplotlib types most, not this
    if picture.tell() > MOST_BYTES:
        return None
    encoded = base64.b64encode(picture.getvalue()).decode()
    return dg.MetadataValue.md(f"![Quality against {label}](data:image/png;base64,{encoded})")
