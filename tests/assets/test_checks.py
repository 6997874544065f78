from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from sqlalchemy import text

from assets.checks import CHECKS, Check, Recorded, result_of
from pipelines.round import score_round
from resources.cells import MOST_FAILURES, Cell
from resources.reference_versions import ReferenceOrigin
from resources.warehouse import Warehouse
from resources.workspace import load_workspace
from tests.cell_states import HEAD, SCORED
from tests.small_workspace import CELLS, MODELS, SCENARIOS, run_of, write_workspace


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def failing(warehouse: Warehouse, instance: dg.DagsterInstance, *cells: Cell) -> dict[str, dg.AssetCheckResult]:
    found = Recorded(cells=cells, warehouse=warehouse, instance=instance)
    results = {check.name: result_of(check, found) for check in CHECKS}
    return {name: result for name, result in results.items() if not result.passed}


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (SCORED, set()),
        (replace(SCORED, head=None), set()),
        (replace(SCORED, has_verified_reference=False), {"reference_verified"}),
        (replace(SCORED, recorded=2), {"runs_complete"}),
        (replace(SCORED, recorded=0, head=None), set()),
        (replace(SCORED, runs_hash="more"), {"scores_fresh"}),
        (replace(SCORED, head=None, failures=MOST_FAILURES), {"rounds_succeed"}),
        (replace(SCORED, head=replace(HEAD, mode="exact_only")), {"similarity_used"}),
        (replace(SCORED, head=replace(HEAD, is_judge_family=True)), {"judge_family"}),
    ],
)
def test_each_check_fails_for_what_it_is_about_alone(
    warehouse: Warehouse, instance: dg.DagsterInstance, cell: Cell, names: set[str]
) -> None:
    assert set(failing(warehouse, instance, SCORED, cell)) == names


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_says_what_it_is_about_and_what_to_do(check: Check) -> None:
    assert len(check.description) > 30
    assert len(check.remedy) > 40


@pytest.fixture
def scored(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """A warehouse in which every cell of the small workspace has a score, with field scores in the lake."""
    session = _session(warehouse, write_workspace(tmp_path / "ws", scoring={"embedding": None}))
    warehouse.import_runs([run_of(*cell) for cell in CELLS])
    report = score_round(session, CELLS)
    assert not report.failed
    return warehouse


def _session(warehouse: Warehouse, folder: Path) -> Any:
    from pipelines.session import Session, sync_workspace
    from resources.home import Home

    session = Session(home=Home(root=folder), workspace=load_workspace(folder), warehouse=warehouse)
    sync_workspace(session)
    return session


def where(result: dg.AssetCheckResult) -> str:
    return str(result.metadata["where"].value)


def test_a_stale_score_says_which_version_became_which_since_when_and_how_to_see_it(
    scored: Warehouse, instance: dg.DagsterInstance
) -> None:
    scored.save_reference(
        SCENARIOS[0], {"name": "Ada", "year": 1}, author="mia", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True
    )
    result = failing(scored, instance, *scored.cells())["scores_fresh"]
    assert "assay score --stale" in str(result.description)
    assert result.severity is dg.AssetCheckSeverity.WARN
    for part in (
        f"| {SCENARIOS[0]} | {', '.join(MODELS)} |",
        "reference: version 1 -> 2, saved by mia",
        f"assay reference diff {SCENARIOS[0]} --from 1 --to 2",
    ):
        assert part in where(result)


def test_another_scoring_config_says_which_settings_changed(
    scored: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    _session(scored, write_workspace(tmp_path / "ws", scoring={"embedding": None, "empty_values": ["nix"]}))
    _session(scored, write_workspace(tmp_path / "ws", scoring={"embedding": "local", "strictness": 0.9}))
    result = failing(scored, instance, *scored.cells())["scores_fresh"]
    assert 'embedding null -> "' in where(result)
    assert "strictness null -> [" in where(result)
    assert "empty_values" not in where(result)


def test_whole_scores_are_counted_and_a_lost_file_or_row_is_found(
    scored: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    (check,) = [check for check in CHECKS if check.name == "scores_whole"]
    found = Recorded(cells=scored.cells(), warehouse=scored, instance=instance)
    whole = result_of(check, found)
    assert whole.passed
    assert whole.metadata["scores_counted"].value == len(CELLS)
    files = scored.lake.files("field_scores")
    (tmp_path / "lake" / files[0]).unlink()
    (tmp_path / "lake" / files[1]).write_bytes(b"half a fi")
    with scored.engine.begin() as connection:
        connection.execute(text("delete from assay.field_scores where model_score_id = 1 and field_position = 0"))
    broken = result_of(check, found)
    assert broken.severity is dg.AssetCheckSeverity.ERROR
    for part in ("the lake has lost this file", "it is no whole Parquet file", "1 of 2 field scores are there"):
        assert part in where(broken)


def test_a_view_that_somebody_changed_breaks_the_contract_of_bi(
    warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    with warehouse.engine.begin() as connection:
        connection.execute(text("drop view bi.reference_rejections"))
    assert "bi.reference_rejections is gone" in where(failing(warehouse, instance)["bi_contract"])
