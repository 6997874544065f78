"""The one place where home, Postgres, lake, workspace and embeddings are wired together.

Commands, Dagster's resources and the desk all open a session; nothing else builds these parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.errors import InputError

if TYPE_CHECKING:
    from resources.home import Home
    from resources.warehouse import Warehouse
    from resources.workspace import Workspace

WORKSPACE_VARIABLE = "ASSAY_WORKSPACE"
WORKSPACE_FILE = "assay.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An open Assay: the workspace as read from its files, and the stores that hold its records."""

    home: Home
    workspace: Workspace
    warehouse: Warehouse


def find_workspace(path: Path | None = None) -> Path:
    """The absolute folder of the workspace.

    That is `path` where given, else `ASSAY_WORKSPACE`, else the nearest folder at or above the current one that holds
    an `assay.yaml`. Raises InputError where there is none.
    """
    named = path or os.environ.get(WORKSPACE_VARIABLE)
    if named:
        return Path(named).absolute()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / WORKSPACE_FILE).is_file():
            return folder
    raise InputError(
        f"no {WORKSPACE_FILE} here or in any folder above",
        where=str(here),
        remedy="Make a workspace with `assay init DIR`, or name one with --workspace",
    )


@contextmanager
def open_session(workspace: Path | None = None) -> Iterator[Session]:
    """Open the workspace's session: Postgres answers, the schema is migrated, files and warehouse agree.

    Scenarios, models and first references of the workspace are in the warehouse afterwards; nothing is written where
    nothing changed. Connections are closed at the end.
    """
    from sqlalchemy import create_engine

    from resources.home import home_for
    from resources.lake import Lake
    from resources.migrate import upgrade
    from resources.postgres import database_url
    from resources.warehouse import Warehouse
    from resources.workspace import load_workspace

    folder = find_workspace(workspace)
    loaded = load_workspace(folder)
    home = home_for(folder)
    engine = create_engine(database_url(home))
    try:
        upgrade(engine)
        warehouse = Warehouse(engine, Lake(str(home.lake)))
        session = Session(home=home, workspace=loaded, warehouse=warehouse)
        sync_workspace(session)
        yield session
    finally:
        engine.dispose()


def sync_workspace(session: Session) -> None:
    """Bring the workspace's scenarios, models and first references into the warehouse; idempotent."""
    session.warehouse.sync_models(session.workspace.models)
    for scenario in session.workspace.scenarios:
        session.warehouse.sync_scenario(scenario)
