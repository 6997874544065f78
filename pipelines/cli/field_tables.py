"""Compared fields and lists as tables, the same for a comparison of files and for a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.cli import terminal

if TYPE_CHECKING:
    from rich.table import Table

MARKS = {"match": "✓", "partial": "~", "mismatch": "✗", "missing": "−", "extra": "+", "empty": "·"}
STYLES = {
    "match": "green",
    "partial": "yellow",
    "mismatch": "red",
    "missing": "red",
    "extra": "magenta",
    "empty": "dim",
}
OPTIONAL = ("similarity", "rung", "credit")  # left out first on a narrow terminal


def fields_table() -> Table:
    """An empty table of compared fields; `add_field` fills it."""
    columns = ("", "field", "reference", "candidate", "outcome", "rung", "credit", "similarity", "why")
    return terminal.table(*columns, numbers=("credit", "similarity"))


def add_field(
    fields: Table,
    *,
    path: str,
    reference: str | None,
    candidate: str | None,
    outcome: str,
    rung: str | None,
    credit: float,
    similarity: float | None,
    reason: str,
) -> None:
    """Add one compared field, told apart by mark, word and colour."""
    fields.add_row(
        MARKS[outcome],
        path or "(all)",
        terminal.shown(reference or "", 40),
        terminal.shown(candidate or "", 40),
        outcome,
        rung or "-",
        terminal.number(credit, 2),
        terminal.number(similarity, 3),
        terminal.shown(reason, 80),
        style=STYLES[outcome],
    )


def lists_table() -> Table:
    """An empty table of compared lists."""
    shares = ("precision", "recall", "F1")
    return terminal.table("list", "matched", "missed", "hallucinated", *shares, numbers=("matched", *shares))


def items(values: Sequence[object], most: int = 5) -> str:
    """The labels of list items, a line each; `n more` after the first few."""
    lines = [terminal.shown(value, 50) for value in values[:most]]
    if len(values) > most:
        lines.append(f"{len(values) - most} more")
    return "\n".join(lines)
