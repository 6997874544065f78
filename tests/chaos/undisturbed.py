"""The same scenarios in a home where nothing is killed: what must come of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tests.chaos.content import EDITS, KINDS, MOVING, REPETITIONS, STILL, add_scenario, runs_file, scenario_id
from tests.chaos.contents import Stored
from tests.chaos.place import Place
from tests.chaos.watcher import connected


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Scores of a still scenario by model and the owner's version, of a moving one by model, references by kind."""

    still: Mapping[tuple[str, str], str]
    moving: Mapping[str, str]
    references: Mapping[str, str]


@contextmanager
def within(place: Place) -> Iterator[None]:
    """This process works on the place, as its commands do."""
    before = {name: os.environ.get(name) for name in ("ASSAY_HOME", "ASSAY_WORKSPACE", "ASSAY_DATABASE_URL")}
    os.environ |= {"ASSAY_HOME": str(place.home), "ASSAY_WORKSPACE": str(place.workspace)}
    os.environ.pop("ASSAY_DATABASE_URL", None)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def expected(place: Place) -> Expected:
    """What comes of a round without faults: all scored after the import and after every edit, then all once more."""
    from pipelines.session import open_session, sync_workspace
    from resources.recordings import read_recordings

    for kind in KINDS:
        add_scenario(place.workspace, scenario_id(kind, 0))
    files = [
        str(runs_file(place.workspace, scenario_id(kind, 0), repetition))
        for kind in KINDS
        for repetition in range(1, REPETITIONS + 1)
    ]
    with within(place), open_session() as session:
        sync_workspace(session)
        session.warehouse.import_runs(read_recordings(files, session.workspace, None, None))
        for kind in KINDS:
            _played(session, scenario_id(kind, 0), kind)
        stored = Stored(connected(place.home), str(place.home / "lake"))
        still, moving = scenario_id(STILL, 0), scenario_id(MOVING, 0)
        return Expected(
            still={
                (row["model_id"], row["owner_reference_hash"]): stored.score(row["model_score_id"], still)
                for row in stored.scores([still])
            },
            moving={
                row["model_id"]: stored.score(row["model_score_id"], moving)
                for row in stored.scores([moving])
                if row["is_latest"]
            },
            references={kind: stored.reference(scenario_id(kind, 0)) for kind in KINDS},
        )


def _played(session: object, scenario: str, kind: str) -> None:
    from pipelines.merging import merge_references
    from pipelines.round import score_round
    from pipelines.session import Session
    from scoring.placed_values import with_value

    assert isinstance(session, Session)
    references = session.warehouse.references

    def scored() -> None:
        cells = [(scenario, model.model_id) for model in session.workspace.models]
        report = score_round(session, cells)
        assert not report.failed, report.failed
        merge_references(references)

    scored()
    for edit in EDITS[kind]:
        head = references.head(scenario)
        assert head is not None
        references.save(scenario, with_value(head.snapshot, edit.path, edit.value), author="owner", is_verified=True)
        scored()
    if kind == MOVING:
        scored()
