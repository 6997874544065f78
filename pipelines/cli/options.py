"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        metavar="DIR",
        help="The workspace; else ASSAY_WORKSPACE, else the nearest assay.yaml above.",
    ),
]
ModelsOption = Annotated[
    list[str] | None, typer.Option("--model", "-m", metavar="MODEL", help="Only this model; repeatable.")
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
ParquetOption = Annotated[Path | None, typer.Option("--parquet", metavar="FILE", help="Write a Parquet file.")]
LayoutOption = Annotated[
    str | None,
    typer.Option(
        "--layout",
        metavar="PATTERN",
        help="How a folder is laid out: system/task, task/system or a path with {model} and {scenario}.",
    ),
]
KeysOption = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="KEY=PATH",
        help="Where its files hold output, seconds, cost, status, ..., or a log its scenario, model, repetition; "
        "repeatable.",
    ),
]
