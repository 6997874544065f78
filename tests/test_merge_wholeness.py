"""A merge or a rejection that is killed at any of its writes leaves the old version or the new one, never a mixture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from resources.rounds import RoundTrigger
from resources.warehouse import ModelScoring, Warehouse
from resources.workspace import load_workspace
from scoring.records import Evidence, Finding, Json, Mode
from tests.resources.stored_records import card_of
from tests.small_workspace import REFERENCE, SCENARIOS, run_of, write_workspace

SCENARIO = SCENARIOS[0]
MODEL = "lab/one:free"

Request = Callable[..., dict[str, int]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write_workspace(tmp_path / "ws")


@pytest.fixture
def stores(warehouse: Warehouse, workspace: Path) -> Warehouse:
    """A warehouse that holds the workspace and one run."""
    loaded = load_workspace(workspace)
    warehouse.sync_models(loaded.models)
    warehouse.sync_scenarios(loaded.scenarios)
    warehouse.import_runs([run_of(SCENARIO, MODEL)])
    return warehouse


class Child:
    """A process that runs verbs in children of its own, which can be killed at their n-th write."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, verb: str, kill_at: int = 0, **more: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"verb": verb, "kill_at": kill_at} | more) + "\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, int]:
        assert self._process.stdout is not None
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer

    def run(self, verb: str, kill_at: int = 0, **more: Any) -> dict[str, int]:
        self.start(verb, kill_at, **more)
        return self.end()


@pytest.fixture
def make_child(stores: Warehouse, workspace: Path) -> Iterator[Callable[[], Child]]:
    url = stores.engine.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "tests.killed_process", str(workspace), stores.lake.root]
    with ExitStack() as stack:

        def make() -> Child:
            process = stack.enter_context(
                subprocess.Popen(
                    command,
                    cwd=Path(__file__).parents[1],
                    env=os.environ | {"ASSAY_DATABASE_URL": url},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            assert process.stdin is not None
            stack.callback(process.stdin.close)
            return Child(process)

        yield make


def find(stores: Warehouse, *paths: str) -> None:
    """A round whose score found a value for each of these empty places."""
    (cell,) = stores.cells([SCENARIO], [MODEL])
    head = stores.references.head(SCENARIO)
    assert head is not None
    findings = tuple(
        Finding(path=path, evidence=Evidence.FILLED_GAP, has_proposal=True, proposal="found", question_id=None)
        for path in paths
    )
    stores.commit_model_score(
        ModelScoring(
            scenario_id=SCENARIO,
            model_id=MODEL,
            round_id=stores.open_round(RoundTrigger.COMMAND, planned_models=1),
            reference=head,
            config_hash=cell.config_hash,
            mode=Mode.EXACT_ONLY,
            embedding_model=None,
            runs=stores.runs_of(SCENARIO, MODEL),
            cards={1: card_of(fields=(), lists=(), findings=findings)},
            replaces=None if cell.head is None else cell.head.model_score_id,
        )
    )


def state(stores: Warehouse) -> dict[str, Any]:
    """All that readers see of the reference, and what is still to be merged."""
    head = stores.references.head(SCENARIO)
    assert head is not None
    edits = stores.references.edits(head)
    return {
        "number": head.number,
        "content": head.content,
        "in_place": sorted(edit.path for edit in edits if edit.is_in_place),
        "rejected": sorted(edit.path for edit in edits if edit.is_rejected),
        "logged": sorted({edit.number for edit in edits}),
        "unmerged": list(stores.references.unmerged()),
    }


def content_with(names: Sequence[str]) -> Json:
    return {**REFERENCE, **dict.fromkeys(names, "found")}  # type: ignore[dict-item]  # an object


def test_a_merge_that_is_killed_at_any_write_is_all_there_or_not_at_all(
    stores: Warehouse, make_child: Callable[[], Child]
) -> None:
    child, found = make_child(), ["first", "k0"]
    for name in found:  # the first one also makes folders
        find(stores, f"/{name}")
        undisturbed = child.run("merge")
        assert undisturbed["code"] == 0
    outcomes = []
    for kill_at in range(1, undisturbed["writes"] + 1):
        before, name = state(stores), f"k{kill_at}"
        find(stores, f"/{name}")
        assert child.run("merge", kill_at)["signal"] == 9
        after = state(stores)
        outcomes.append(after["number"] - before["number"])
        if outcomes[-1]:
            assert after["content"] == content_with([*found, name])
            assert after["in_place"] == sorted(f"/{one}" for one in (*found, name))
            assert after["unmerged"] == []
        else:
            assert after == before | {"unmerged": [SCENARIO]}
        stores.references.merge(SCENARIO)
        found.append(name)
        assert state(stores)["content"] == content_with(found)
        assert state(stores)["unmerged"] == []
    assert undisturbed["writes"] > 15
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {0, 1}


def test_a_rejection_that_is_killed_at_any_write_is_all_there_or_not_at_all(
    stores: Warehouse, make_child: Callable[[], Child]
) -> None:
    child = make_child()
    names = [f"k{number}" for number in range(60)]
    find(stores, *(f"/{name}" for name in names))
    stores.references.merge(SCENARIO)
    writes = child.run("reject", path=f"/{names[0]}")["writes"]
    outcomes = []
    for kill_at, name in zip(range(1, writes + 1), names[1:], strict=False):
        before = state(stores)
        assert child.run("reject", kill_at, path=f"/{name}")["signal"] == 9
        after = state(stores)
        outcomes.append(after["number"] - before["number"])
        assert (name in after["content"]) is not bool(outcomes[-1])
        assert (f"/{name}" in after["rejected"]) is bool(outcomes[-1])
        assert outcomes[-1] or after == before
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {0, 1}


def test_two_processes_that_merge_at_once_make_one_version(stores: Warehouse, make_child: Callable[[], Child]) -> None:
    children = [make_child(), make_child()]
    for child in children:
        child.run("merge")
    for number in range(5):
        before = state(stores)["number"]
        find(stores, f"/k{number}")
        for child in children:
            child.start("merge")
        assert [child.end()["code"] for child in children] == [0, 0]
        after = state(stores)
        assert after["number"] == before + 1
        assert after["in_place"] == [f"/k{one}" for one in range(number + 1)]
        assert after["unmerged"] == []
