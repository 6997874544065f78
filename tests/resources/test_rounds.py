from __future__ import annotations

import pytest
from sqlalchemy import text

from resources.locks import lock_key
from resources.warehouse import RoundStatus, RoundTrigger, Warehouse


@pytest.mark.parametrize(("status", "problem"), [(RoundStatus.DONE, ""), (RoundStatus.FAILED, "disk \x00 full")])
def test_a_round_says_why_it_began_and_how_it_ended(status: RoundStatus, problem: str, warehouse: Warehouse) -> None:
    round_id = warehouse.open_round(RoundTrigger.SENSOR, planned_models=3, dagster_run_id="run-1")
    query = text("select trigger, status, planned_models, dagster_run_id, problem, closed_at is null from assay.rounds")
    with warehouse.engine.connect() as connection:
        assert tuple(connection.execute(query).one()) == ("sensor", "open", 3, "run-1", "", True)
    warehouse.close_round(round_id, status, problem=problem)
    with warehouse.engine.connect() as connection:
        found = tuple(connection.execute(query).one())
    assert found == ("sensor", status.value, 3, "run-1", problem.replace("\x00", "␀"), False)


def test_locks_of_different_names_are_different_and_fit_postgres() -> None:
    keys = {lock_key("score", "a", "bc"), lock_key("score", "ab", "c"), lock_key("score", "a"), lock_key("é\ud800")}
    assert len(keys) == 4
    assert all(-(2**63) <= key < 2**63 for key in keys)
