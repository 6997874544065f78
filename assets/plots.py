"""Small plots for Dagster's metadata: SVG in a data URI, at most `MOST_POINTS` models, so bounded in size.

Drawn by hand: importing a plotting library would cost more than the whole leaderboard.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import dagster as dg

MOST_POINTS = 30
LONGEST_NAME = 24
AXES = {"mean_cost_usd": "mean cost of a run, USD", "mean_duration_seconds": "mean time of a run, seconds"}

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 24, 16, 48
MARGIN = 0.12
BAR_HEIGHT, BAR_LEFT, BAR_WIDTH = 20, 180, 320

Point = tuple[str, float, float]
"""A model's name, the value along and the quality up."""


def quality_against_cost(rows: Sequence[Mapping[str, Any]]) -> dg.MarkdownMetadataValue | None:
    """A point a model: quality over the mean cost of a run on a log scale, or over its duration where that shows more.

    None where there are not two points.
    """
    label, points = max(((label, _points(rows, key)) for key, label in AXES.items()), key=lambda axis: len(axis[1]))
    if len(points) < 2:
        return None
    return _picture(f"Quality against {label}", HEIGHT, _scatter(points[:MOST_POINTS], label))


def cost_bars(rows: Sequence[Mapping[str, Any]], key: str, label: str) -> dg.MarkdownMetadataValue | None:
    """A bar a model, dearest first, with the amount in USD; models whose cost is unknown say so.

    None where nothing was paid.
    """
    known = [(row["model_id"], _finite(row[key])) for row in rows]
    most = max((cost for _, cost in known if cost is not None), default=0.0)
    if most <= 0:
        return None
    ordered = sorted(known, key=lambda bar: (bar[1] is None, -(bar[1] or 0.0), bar[0]))[:MOST_POINTS]
    bars = [_bar(place, name, cost, most) for place, (name, cost) in enumerate(ordered)]
    return _picture(label, 2 * TOP + BAR_HEIGHT * len(ordered), bars)


def quality_spread(rows: Sequence[Mapping[str, Any]], label: str) -> dg.MarkdownMetadataValue | None:
    """A line a model from its lowest to its highest quality with a dot at the mean, in the order of the rows.

    None where no model has a quality.
    """
    keys = ("lowest_quality", "quality", "highest_quality")
    found = [(row["model_id"], *(_finite(row.get(key)) for key in keys)) for row in rows]
    drawn = [(name, low, mean, high) for name, low, mean, high in found if None not in (low, mean, high)][:MOST_POINTS]
    if not drawn:
        return None
    height = TOP + BAR_HEIGHT * len(drawn) + BOTTOM
    lines = [_range(place, *one) for place, one in enumerate(drawn)]
    return _picture(label, height, [*_quality_axis(height, label), *lines])


def _picture(label: str, height: int, body: Iterable[str]) -> dg.MarkdownMetadataValue:
    """An image that a page without network shows, on a ground of its own: pages are light or dark."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>'
    )
    return dg.MetadataValue.md(f"![{label}](data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()})")


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _quality_axis(height: int, label: str) -> Iterator[str]:
    for value in range(0, 101, 20):
        x = _along(value)
        yield f'<path d="M{x:.1f} {TOP - 6}V{height - BOTTOM}" stroke="#e3e3e8"/>'
        yield f'<text x="{x:.1f}" y="{height - BOTTOM + 14}" text-anchor="middle" fill="#555">{value}</text>'
    yield f'<text x="{_along(50):.1f}" y="{height - 12}" text-anchor="middle">{escape(label)}</text>'


def _range(place: int, name: str, low: Any, mean: Any, high: Any) -> str:
    y = TOP + place * BAR_HEIGHT + BAR_HEIGHT / 2
    return (
        f'<text x="{BAR_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(_short(name))}</text>'
        f'<path d="M{_along(low):.1f} {y:.1f}H{_along(high):.1f}" stroke="#8fa2ee" stroke-width="5"'
        f' stroke-linecap="round"/>'
        f'<circle cx="{_along(mean):.1f}" cy="{y:.1f}" r="4.5" fill="#3b5bdb"/>'
        f'<text x="{BAR_LEFT + BAR_WIDTH + 12}" y="{y + 4:.1f}">{low:.1f} - {mean:.1f} - {high:.1f}</text>'
    )


def _along(quality: float) -> float:
    return BAR_LEFT + BAR_WIDTH * min(100.0, max(0.0, quality)) / 100


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _bar(place: int, name: str, cost: float | None, most: float) -> str:
    top = TOP + place * BAR_HEIGHT
    width = BAR_WIDTH * (cost or 0.0) / most
    amount = "unknown" if cost is None else f"${cost:.4g}"
    return (
        f'<text x="{BAR_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(_short(name))}</text>'
        f'<rect x="{BAR_LEFT}" y="{top + 3}" width="{width:.1f}" height="{BAR_HEIGHT - 6}" fill="#3b5bdb"/>'
        f'<text x="{BAR_LEFT + width + 6:.1f}" y="{top + 14}">{amount}</text>'
    )


def _points(rows: Sequence[Mapping[str, Any]], key: str) -> list[Point]:
    return [(row["model_id"], row[key], row["quality"]) for row in rows if _is_drawable(row, key)]


def _is_drawable(row: Mapping[str, Any], key: str) -> bool:
    values = (row.get(key), row.get("quality"))
    return all(value is not None and math.isfinite(value) for value in values) and row[key] > 0


def _scatter(points: Sequence[Point], label: str) -> list[str]:
    along = _widened([math.log10(x) for _, x, _ in points])
    up = _widened([y for _, _, y in points])
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [
        *_grid(along, up),
        *_dots(points, along, up),
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">{escape(label)}</text>',
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">quality, 0..100</text>',
    ]


def _grid(along: tuple[float, float], up: tuple[float, float]) -> Iterator[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for value in _log_ticks(along):
        x = _x(value, along)
        yield f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e3e3e8"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{value:g}</text>'
    for value in _ticks(up):
        y = _y(value, up)
        yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e3e3e8"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{value:g}</text>'
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="#555" fill="none"/>'


def _dots(points: Iterable[Point], along: tuple[float, float], up: tuple[float, float]) -> Iterator[str]:
    for name, value, quality in points:
        x, y = _x(value, along), _y(quality, up)
        is_far_right = x > WIDTH * 0.7
        place = f'x="{x - 7:.1f}" text-anchor="end"' if is_far_right else f'x="{x + 7:.1f}"'
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="#3b5bdb"/>'
        yield f'<text {place} y="{y - 5:.1f}">{escape(_short(name))}</text>'


def _widened(values: Sequence[float]) -> tuple[float, float]:
    """The range of the values with room around it, never empty."""
    low, high = min(values), max(values)
    room = (high - low) * MARGIN or 0.5
    return low - room, high + room


def _x(value: float, along: tuple[float, float]) -> float:
    share = (math.log10(value) - along[0]) / (along[1] - along[0])
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(value: float, up: tuple[float, float]) -> float:
    return HEIGHT - BOTTOM - (value - up[0]) / (up[1] - up[0]) * (HEIGHT - TOP - BOTTOM)


def _log_ticks(along: tuple[float, float]) -> list[float]:
    """1, 2, 5, 10, 20, ... within the range, thinned where they would crowd."""
    decades = range(math.floor(along[0]), math.ceil(along[1]) + 1)
    every = [step * 10.0**power for power in decades for step in (1, 2, 5)]
    inside = [value for value in every if value > 0 and along[0] <= math.log10(value) <= along[1]]
    return inside if len(inside) <= 12 else inside[:: math.ceil(len(inside) / 12)]


def _ticks(up: tuple[float, float]) -> list[float]:
    """About five round values within the range."""
    rough = (up[1] - up[0]) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [round(number * step, 10) for number in range(math.ceil(up[0] / step), math.floor(up[1] / step) + 1)]
