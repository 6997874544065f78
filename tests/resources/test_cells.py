from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import event, text

from resources import tables
from resources.bulk import copy_rows
from resources.cells import Cell
from resources.settings import Resolved, ScoringSettings
from resources.warehouse import ReferenceOrigin, Warehouse
from scoring.records import Origin
from tests.resources.stored_records import failed_run_of, filled, row_of, run_of, scenario_of, scoring_of

OWNER = ReferenceOrigin.OWNER_SAVE
STRICT = ScoringSettings(strictness=Resolved(value="strict", origin=Origin.SCENARIO))


def cell_of(warehouse: Warehouse, model_id: str = "m1") -> Cell:
    (cell,) = warehouse.cells(["film"], [model_id])
    return cell


@pytest.fixture
def scored(warehouse: Warehouse) -> Warehouse:
    """A warehouse in which m1 is scored on a film."""
    filled(warehouse).import_runs([run_of()])
    warehouse.commit_model_score(scoring_of(warehouse))
    return warehouse


def save(warehouse: Warehouse, year: int, origin: ReferenceOrigin = OWNER, *, is_verified: bool = True) -> None:
    warehouse.save_reference("film", {"year": year}, author="ann", origin=origin, is_verified=is_verified)


def test_every_model_of_every_scenario_is_a_cell(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of("b"), scenario_of("a"))
    assert [(cell.scenario_id, cell.model_id) for cell in warehouse.cells()] == [
        ("a", "m1"),
        ("a", "m2"),
        ("b", "m1"),
        ("b", "m2"),
    ]
    assert len(warehouse.cells(["a"], ["m2", "nobody"])) == 1
    assert warehouse.cells([]) == []


def test_a_cell_is_complete_when_every_repetition_is_recorded_failed_or_not(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(repetitions=2))
    assert (cell_of(warehouse).recorded, cell_of(warehouse).newest_run_id) == (0, None)
    warehouse.import_runs([run_of()])
    assert not cell_of(warehouse).is_complete
    warehouse.import_runs([failed_run_of(repetition=2)])
    assert cell_of(warehouse).is_complete
    assert cell_of(warehouse).needs_scoring
    assert not cell_of(warehouse, "m2").needs_scoring


def test_a_scored_cell_needs_no_scoring_until_something_changes(scored: Warehouse) -> None:
    cell = cell_of(scored)
    assert (cell.is_scored, cell.is_stale, cell.has_new_runs, cell.needs_scoring) == (True, False, False, False)
    scored.import_runs([run_of(repetition=2)])
    cell = cell_of(scored)
    assert (cell.is_stale, cell.has_new_runs, cell.needs_scoring) == (False, True, True)
    scored.commit_model_score(scoring_of(scored))
    assert not cell_of(scored).needs_scoring


def test_an_owners_save_makes_stale_and_saving_it_back_makes_fresh(scored: Warehouse) -> None:
    save(scored, 1943)
    assert cell_of(scored).is_stale
    assert cell_of(scored).needs_scoring
    assert [row["is_stale"] for row in scored.results("film")] == [True]
    assert scored.leaderboard() == []
    save(scored, 1942)
    assert not cell_of(scored).is_stale
    assert len(scored.leaderboard()) == 1


def test_an_automatic_edit_makes_nothing_stale(scored: Warehouse) -> None:
    save(scored, 1943, ReferenceOrigin.ROUND)
    assert not cell_of(scored).is_stale
    assert not cell_of(scored).needs_scoring


def test_a_changed_scoring_config_makes_stale_and_its_return_makes_fresh(scored: Warehouse) -> None:
    scored.sync_scenarios([scenario_of(scoring=STRICT)])
    assert cell_of(scored).is_stale
    with scored.engine.connect() as connection:
        changed = connection.execute(text("select changed from bi.stale_scores")).scalar()
    assert changed == "scoring config"
    scored.sync_scenarios([scenario_of()])
    assert not cell_of(scored).is_stale


@pytest.mark.parametrize("change", [{"title": "Another"}, {"repetitions": 1}, {"prompt": "Say"}])
def test_what_does_not_decide_a_score_makes_nothing_stale(change: dict[str, object], scored: Warehouse) -> None:
    scored.sync_scenarios([dataclasses.replace(scenario_of(), **change)])  # type: ignore[arg-type]  # a field each
    assert not cell_of(scored).is_stale


def test_an_unverified_reference_keeps_a_cell_from_being_scored(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference_is_verified=False)).import_runs([run_of()])
    assert not cell_of(warehouse).needs_scoring
    warehouse.verify_reference("film", "ann")
    assert cell_of(warehouse).needs_scoring


def test_some_cells_are_as_they_are_among_all(scored: Warehouse) -> None:
    filled(scored, scenario_of(), scenario_of("b"))
    scored.import_runs([run_of(scenario_id="b"), failed_run_of(repetition=2)])
    every = scored.cells()
    assert len(every) == 4
    for scenario_ids in (None, ["film"], ["b"], ["film", "b"]):
        for model_ids in (None, ["m1"], ["m2"]):
            wanted = [
                cell
                for cell in every
                if (scenario_ids is None or cell.scenario_id in scenario_ids)
                and (model_ids is None or cell.model_id in model_ids)
            ]
            assert scored.cells(scenario_ids, model_ids) == wanted


def test_syncing_again_writes_nothing(scored: Warehouse) -> None:
    statements: list[str] = []
    event.listen(scored.engine, "before_cursor_execute", lambda *given: statements.append(given[2].split()[0].lower()))
    scored.sync_scenarios([scenario_of()])
    assert "update" not in statements
    with scored.engine.connect() as connection:
        counts = connection.execute(
            text(
                "select (select count(*) from assay.scenario_configs), (select count(*) from assay.reference_versions)"
            )
        ).one()
    assert tuple(counts) == (1, 1)


def test_ten_thousand_cells_are_one_query(warehouse: Warehouse) -> None:
    numbers = range(100)
    film, model, run = tables.scenarios, tables.models, tables.runs
    with warehouse.engine.begin() as connection:
        connection.execute(film.insert(), [row_of(film, scenario_id=f"s{n}", expected_repetitions=3) for n in numbers])
        connection.execute(model.insert(), [row_of(model, model_id=f"m{n}") for n in numbers])
        rows = [(f"s{s}", f"m{m}", r, "failed", "", "") for s in numbers for m in numbers for r in (1, 2, 3)]
        names = ("scenario_id", "model_id", "repetition", "status", "lake_file", "content_hash")
        copy_rows(connection, run, names, rows)
    statements: list[str] = []
    event.listen(warehouse.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    cells = warehouse.cells()
    assert len(statements) == 1
    assert len(cells) == 10_000
    assert all(cell.is_complete and not cell.needs_scoring for cell in cells)
