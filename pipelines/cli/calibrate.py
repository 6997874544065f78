"""`assay calibrate`: which cosine of an embedding model means the same, from pairs that people labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli import terminal
from pipelines.cli.options import AsJson, WorkspaceOption

if TYPE_CHECKING:
    from resources.embeddings import EmbeddingSettings
    from scoring.calibration import LimitRow, ScoredPair
    from scoring.strictness import StrictnessTable

LOCAL = "local"
SHOWN_ROWS = 20


def calibrate(
    pairs: Annotated[
        Path,
        typer.Argument(metavar="PAIRS", help="CSV or JSON Lines with reference, candidate, same and, if any, context."),
    ],
    model: Annotated[str, typer.Option("--model", "-m", metavar="MODEL", help="The embedding model.")] = LOCAL,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="The OpenAI-compatible server of a hosted model.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="The environment variable that holds the server's key.")
    ] = None,
    is_written: Annotated[
        bool, typer.Option("--write", help="Make the table the workspace's own; its scores become stale.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Print precision and recall of each limit of an embedding model, and its strictness table."""
    from resources.strictness_tables import write_table
    from resources.workspace import find_workspace
    from scoring.calibration import limit_rows, strictness_table

    root = find_workspace(workspace) if is_written else None
    name, scored = _scored(pairs, _settings(model, base_url, api_key_env))
    limits = _limits(scored)
    table = strictness_table(name, scored, limits)
    written = None if root is None else write_table(root, table)
    rows = limit_rows(scored, limits)
    if as_json:
        terminal.print_json(_as_json(table, rows, written))
    else:
        _show(table, rows, written)


def _settings(model: str, base_url: str | None, api_key_env: str | None) -> EmbeddingSettings:
    if model == LOCAL and base_url is None:
        return "local"
    return {"base_url": base_url, "model": model, "api_key_env": api_key_env}


def _scored(path: Path, settings: EmbeddingSettings) -> tuple[str, Sequence[ScoredPair]]:
    """The model's name and every labelled pair with its similarity."""
    from resources.embeddings import embeddings_from
    from resources.labelled_pairs import read_labelled_pairs
    from scoring.calibration import scored_pairs, texts_to_embed

    pairs = read_labelled_pairs(path)
    embeddings = embeddings_from(settings)
    assert embeddings is not None  # noqa: S101  # only None settings have no embedder
    with terminal.progress("embedding") as on_progress:
        vectors = embeddings.vectors(texts_to_embed(pairs), on_progress)
    return embeddings.name, scored_pairs(pairs, vectors, embeddings.name)


def _limits(scored: Sequence[ScoredPair]) -> tuple[float, ...]:
    """The limits worth asking about: from just below the least similar pair that a model decided to 1."""
    from scoring.calibration import limits_between

    decided = [pair.similarity for pair in scored if -1 < pair.similarity < 1]
    return limits_between(round(max(-1.0, min(decided, default=0.0) - 0.005), 2), 1.0)


def _as_json(table: StrictnessTable, rows: Sequence[LimitRow], written: Path | None) -> dict[str, object]:
    from scoring.strictness import table_as_json

    return {
        "table": table_as_json(table),
        "written": None if written is None else str(written),
        "limits": [asdict(row) for row in rows],
    }


def _show(table: StrictnessTable, rows: Sequence[LimitRow], written: Path | None) -> None:
    page = terminal.screen()
    step = max(1, len(rows) // SHOWN_ROWS)
    figures = terminal.table("limit", "matched", "right", "precision", "recall", title=table.model)
    for row in rows[::-step]:
        figures.add_row(
            f"{row.limit:.3f}", str(row.matched), str(row.right),
            _share(row.precision, row.precision_interval), _share(row.recall, row.recall_interval),
        )  # fmt: skip
    terminal.print_table(page, figures)
    names = {0.0: "lenient", 0.5: "normal", 1.0: "strict"}
    limits = terminal.table("strictness", "the same from", "undecided from")
    for point in table.points:
        limits.add_row(names.get(point.strictness, str(point.strictness)), f"{point.same:g}", f"{point.undecided:g}")
    terminal.print_table(page, limits)
    page.print(f"Written to {written}." if written else "Nothing was written; --write makes it the workspace's table.")


def _share(share: float, interval: tuple[float, float]) -> str:
    return f"{share:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
