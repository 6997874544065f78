from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from pipelines.session import Session, open_session
from tests.small_workspace import write_workspace


@pytest.fixture
def session(assay_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """On a small workspace, which the sensors find too."""
    del assay_home
    folder = write_workspace(tmp_path / "ws")
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    with open_session(folder) as session:
        yield session


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance
