from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from resources.settings import Weights
from resources.tables import scenario_configs, scenarios
from resources.warehouse import Warehouse
from tests.resources.stored_records import scenario_of


@contextmanager
def statements_of(engine: Engine) -> Iterator[list[str]]:
    """What is sent to the database inside."""
    sent: list[str] = []

    def keep(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", keep)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", keep)


def stored(warehouse: Warehouse, scenario_id: str = "film") -> dict[str, Any]:
    with warehouse.engine.connect() as connection:
        query = select(scenarios).where(scenarios.c.scenario_id == scenario_id)
        return dict(connection.execute(query).mappings().one())


def test_files_that_say_what_is_stored_cost_one_query_however_many_they_are(warehouse: Warehouse) -> None:
    given = [scenario_of(f"film {number}", reference={"year": number}) for number in range(20)]
    with statements_of(warehouse.engine) as first:
        warehouse.sync_scenarios(given)
    assert len(first) > len(given)
    with statements_of(warehouse.engine) as second:
        warehouse.sync_scenarios(given)
    assert len(second) == 1
    with statements_of(warehouse.engine) as third:
        warehouse.sync_scenarios([*given[:-1], dataclasses.replace(given[-1], title="Renamed")])
    assert any(one.startswith("UPDATE") for one in third)
    assert stored(warehouse, given[-1].scenario_id)["title"] == "Renamed"


@pytest.mark.parametrize(
    ("change", "column", "value"),
    [
        ({"title": "Another"}, "title", "Another"),
        ({"entity": "Another"}, "entity", "Another"),
        ({"prompt": "Another?"}, "prompt", "Another?"),
        ({"repetitions": 7}, "expected_repetitions", 7),
        ({"weights": Weights(quality=1, speed=2, cost=3)}, "cost_weight", 3.0),
    ],
)
def test_whatever_a_file_changes_is_stored(
    warehouse: Warehouse, change: dict[str, Any], column: str, value: object
) -> None:
    warehouse.sync_scenarios([scenario_of()])
    warehouse.sync_scenarios([dataclasses.replace(scenario_of(), **change)])
    assert stored(warehouse)[column] == value


def test_another_schema_is_a_config_that_is_kept_beside_the_one_before(warehouse: Warehouse) -> None:
    warehouse.sync_scenarios([scenario_of()])
    before = stored(warehouse)
    warehouse.sync_scenarios([scenario_of(schema={"type": "object", "title": "another"})])
    after = stored(warehouse)
    assert after["config_hash"] != before["config_hash"]
    assert after["config_changed_at"] > before["config_changed_at"]
    with warehouse.engine.connect() as connection:
        kept = set(connection.execute(select(scenario_configs.c.config_hash)).scalars())
    assert kept == {before["config_hash"], after["config_hash"]}


@pytest.mark.parametrize(
    ("change", "number", "is_verified"),
    [
        ({"reference_is_verified": True}, 1, True),
        ({"reference": {"year": 1999}, "reference_is_verified": True}, 2, True),
        ({"reference": {"year": 1999}, "reference_is_verified": False}, 2, False),
        ({"reference": None}, 1, True),
    ],
)
def test_a_reference_file_is_a_version_when_it_changed(
    warehouse: Warehouse, change: dict[str, Any], number: int, is_verified: bool
) -> None:
    start = scenario_of(reference={"year": 1942}, reference_is_verified=True)
    for _ in range(2):
        warehouse.sync_scenarios([start])
    for _ in range(2):
        warehouse.sync_scenarios([dataclasses.replace(start, **change)])
    head = warehouse.head_reference("film")
    assert head is not None
    assert (head.number, head.is_verified) == (number, is_verified)


def test_a_draft_that_its_file_vouches_for_later_is_a_verified_version(warehouse: Warehouse) -> None:
    draft = scenario_of(reference={"year": 1942}, reference_is_verified=False)
    warehouse.sync_scenarios([draft])
    warehouse.sync_scenarios([dataclasses.replace(draft, reference_is_verified=True)])
    head = warehouse.head_reference("film")
    assert head is not None
    assert (head.number, head.is_verified) == (2, True)


def test_a_scenario_without_a_reference_file_is_compared_by_its_row_alone(warehouse: Warehouse) -> None:
    plain = scenario_of(reference=None)
    warehouse.sync_scenarios([plain])
    with statements_of(warehouse.engine) as sent:
        warehouse.sync_scenarios([plain])
    assert len(sent) == 1
