"""What `assay up` does about code that cannot be reached: it is loaded again, and after a few tries given up."""

from __future__ import annotations

import pytest

from pipelines import server
from pipelines.server import MOST_RELOADS, Health

BROKEN = Health(web="ok", daemon="ok", code="broken (Could not reach user code server)")
WELL = Health(web="ok", daemon="ok", code="ok")


def test_broken_code_is_loaded_again_until_it_is_well_or_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    said: list[str] = []
    monkeypatch.setattr(server, "_reload", lambda address, _say: loaded.append(address))
    counts = [0]
    for health in (WELL, BROKEN, BROKEN, WELL, *(BROKEN for _ in range(MOST_RELOADS + 1))):
        counts.append(server._reloads(health, counts[-1], "http://here", said.append))
    assert counts == [0, 0, 1, 2, 0, *range(1, MOST_RELOADS + 2)]
    assert loaded == ["http://here"] * (2 + MOST_RELOADS)
    assert said[-1] == "the code stays broken; see the log"
