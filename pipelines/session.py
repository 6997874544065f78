"""The one place where home, Postgres, lake, workspace and embeddings are wired together.

Commands, Dagster's resources and the desk all open a session; nothing else builds these parts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from resources.home import Home, home_for
from resources.lease import using_postgres
from scoring.errors import InputError

if TYPE_CHECKING:
    from pipelines.attempts import Preparation
    from resources.embeddings import Embeddings
    from resources.judge import Judge
    from resources.settings import EmbeddingSettings, JudgeSettings
    from resources.warehouse import Warehouse
    from resources.workspace import Workspace

RUNS_FOLDER = "runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An open Assay: the workspace as its files say, and the stores that hold what is recorded."""

    home: Home
    workspace: Workspace
    warehouse: Warehouse
    _embeddings: dict[EmbeddingSettings | None, Embeddings] = field(default_factory=dict)
    _judges: dict[JudgeSettings, Judge] = field(default_factory=dict)

    def embeddings(self, settings: EmbeddingSettings | None) -> Embeddings:
        """The embedding model of these settings, with every vector cached for good; loaded on first use.

        Raises InputError where the settings name none.
        """
        from resources.embeddings import CachedEmbeddings, embeddings_from

        if settings not in self._embeddings:
            inner = embeddings_from(None if settings is None else settings.written)
            if inner is None:
                raise InputError("the scoring asks for similarities, and no embedding model is configured")
            self._embeddings[settings] = CachedEmbeddings(inner, self.warehouse)
        return self._embeddings[settings]

    def judge(self, settings: JudgeSettings) -> Judge:
        """The judge of these settings, with every answer cached for good in its scenario."""
        from resources.judge import Judge

        if settings not in self._judges:
            self._judges[settings] = Judge(settings, store=self.warehouse.answers, models=self.workspace.models)
        return self._judges[settings]

    def preparation(self, scenario_id: str) -> Preparation:
        """The scenario made ready for scoring against the newest version of its reference.

        Raises InputError where it has no reference, where that is not verified, or where the type is not scored.
        """
        from pipelines.attempts import Preparation
        from resources.scoring_configs import scoring_config_of
        from scoring.staleness import scoring_config_hash
        from scoring.task import prepare

        scenario = self.workspace.scenario(scenario_id)
        if not scenario.is_scorable:
            raise InputError(f"scenarios of type {scenario.type} cannot be scored yet", where=scenario_id)
        reference = self.warehouse.head_reference(scenario_id)
        if reference is None:
            remedy = "Put it into reference.json beside scenario.yaml"
            raise InputError("there is no reference to score against", where=scenario_id, remedy=remedy)
        if not reference.is_verified:
            remedy = f"Read it, then verify it with `assay reference verify {scenario_id}`"
            raise InputError("the reference is a draft; only a verified one counts", where=scenario_id, remedy=remedy)
        config = scoring_config_of(scenario.scoring)
        return Preparation(
            task=prepare(schema=scenario.schema, reference=reference.content, config=config, context=scenario.context),
            reference=reference,
            config_hash=scoring_config_hash(schema=scenario.schema, config=config, context=scenario.context),
            embedding=scenario.scoring.embedding.value,
            judge=scenario.scoring.judge.value,
        )


@contextmanager
def open_session(workspace: Path | None = None) -> Iterator[Session]:
    """The session of a workspace: Postgres answers, its schema is migrated, files and warehouse agree.

    `workspace` is its folder, or None for the one that `find_workspace` finds. Scenarios, models and reference files
    are in the warehouse inside; nothing is written where nothing changed. At the end connections are closed, and an
    embedded Postgres stops unless another process uses it. Raises InputError for all that a person can mend.
    """
    from resources.workspace import load_workspace

    loaded = load_workspace(workspace)
    with open_stores(loaded.root) as (home, warehouse):
        session = Session(home=home, workspace=loaded, warehouse=warehouse)
        sync_workspace(session)
        yield session


@contextmanager
def open_stores(workspace: Path | None = None) -> Iterator[tuple[Home, Warehouse]]:
    """Home and warehouse of a workspace whose files nobody reads: for who only needs what is recorded.

    As `open_session` otherwise.
    """
    from resources.workspace import find_workspace

    home = home_for(find_workspace(workspace)).make()
    is_embedded = not os.environ.get("ASSAY_DATABASE_URL")
    with using_postgres(home) if is_embedded else nullcontext():
        from resources.database import engine_for
        from resources.lake import Lake
        from resources.migrate import upgrade
        from resources.postgres import database_url
        from resources.warehouse import Warehouse

        # The embedded server is nobody's service: whoever finds it dead starts it again.
        engine = engine_for(database_url(home), revived=partial(database_url, home) if is_embedded else None)
        try:
            upgrade(engine)
            yield home, Warehouse(engine, Lake(home.lake_root))
        finally:
            engine.dispose()


def sync_workspace(session: Session) -> None:
    """The warehouse holds the workspace's models, scenarios and reference files; only changes are written."""
    session.warehouse.sync_models(session.workspace.models)
    session.warehouse.sync_scenarios(session.workspace.scenarios)


def stamp_of(workspace: Path) -> str:
    """A digest that changes when a file of the workspace, recorded runs aside, is written, added or removed."""
    digest = hashlib.sha256()
    for path in sorted(workspace.rglob("*")):
        if path.is_file() and path.relative_to(workspace).parts[0] != RUNS_FOLDER:
            state = path.stat()
            digest.update(f"{path}\0{state.st_mtime_ns}\0{state.st_size}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
