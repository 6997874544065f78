"""`assay up`: everything that runs for long."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli import terminal
from pipelines.cli.options import WorkspaceOption


def up(
    workspace: WorkspaceOption = None,
    port: Annotated[
        int | None, typer.Option(metavar="PORT", help="Port of the Dagster UI; a free one from 3000 on if none.")
    ] = None,
) -> int:
    """Start Postgres and Dagster with its web page; one Ctrl-C stops all."""
    from pipelines.server import run_up

    page = terminal.screen()
    return run_up(workspace, port=port, say=lambda text: page.print(text, soft_wrap=True))
