"""The leaderboard in SQL and the ranking in Python say the same (SPEC 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, Table, insert, text

from resources import tables
from scoring.ranking import Result, Weights, blends_of, rank
from scoring.repetitions import mean_of
from tests.resources.stored_records import row_of

EQUAL = Weights()

weights = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(
    lambda cuts: Weights(quality=float(min(cuts)), speed=float(max(cuts) - min(cuts)), cost=float(100 - max(cuts)))
)
measures = st.none() | st.just(0.0) | st.floats(1e-4, 1e6)


@st.composite
def boards(draw: st.DrawFn) -> tuple[list[Result], dict[str, Weights]]:
    scenarios = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, unique=True))
    cells = draw(
        st.lists(
            st.tuples(st.sampled_from(scenarios), st.sampled_from(["m1", "m2", "m3", "m4"])), min_size=1, unique=True
        )
    )
    results = [result_of(*cell, draw(st.floats(0, 100)), draw(measures), draw(measures)) for cell in cells]
    return results, {scenario_id: draw(weights) for scenario_id in scenarios}


def result_of(
    scenario_id: str, model_id: str, quality: float, seconds: float | None = None, cost: float | None = None
) -> Result:
    return Result(
        scenario_id=scenario_id,
        model_id=model_id,
        quality=quality,
        qualities=(quality,),
        duration_seconds=seconds,
        cost_usd=cost,
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(boards())
def test_sql_and_python_place_models_alike(engine: Engine, board: tuple[list[Result], dict[str, Weights]]) -> None:
    results, given_weights = board
    with stored(engine, results, given_weights) as connection:
        scenario_rows, overall_rows = rows_of(connection, "scenario"), rows_of(connection, "overall")
    blends = blends_of(results, given_weights)
    expected = {(one.scenario_id, one.model_id): one for one in blends}
    assert {(row["scenario_id"], row["model_id"]) for row in scenario_rows} == set(expected)
    for row in scenario_rows:
        one = expected[row["scenario_id"], row["model_id"]]
        assert_close(row, score=one.total, quality=one.quality, speed_score=one.speed, cost_score=one.cost)
    places = {place.model_id: place for place in rank(results, given_weights)}
    assert {row["model_id"] for row in overall_rows} == set(places)
    for row in overall_rows:
        place = places[row["model_id"]]
        own = [one for one in blends if one.model_id == row["model_id"]]
        assert_close(
            row,
            score=place.total,
            quality=place.quality,
            speed_score=mean_of(one.speed for one in own),
            cost_score=mean_of(one.cost for one in own),
            mean_cost_usd=place.mean_cost_usd,
            mean_duration_seconds=place.mean_duration_seconds,
        )
        counts = (row["scenario_count"], row["speed_known_count"], row["cost_known_count"])
        assert counts == (place.scenarios, place.speed_scenarios, place.cost_scenarios)
    assert_ordered(scenario_rows)
    assert_ordered(overall_rows)


def assert_close(row: dict[str, Any], **expected: float | None) -> None:
    for name, value in expected.items():
        assert row[name] == (None if value is None else pytest.approx(value, abs=1e-6, rel=1e-9)), name


def assert_ordered(rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        better = [
            other for other in rows if other["scenario_id"] == row["scenario_id"] and other["score"] > row["score"]
        ]
        assert row["position"] == 1 + len(better)


@pytest.mark.parametrize(
    ("seconds", "costs", "speed", "cost"),
    [
        ((10.0, 12.0), (10.0, 12.0), (100.0, 92.0818), (100.0, 92.0818)),
        ((1.0, 10.0), (1.0, 200.0), (100.0, 0.0), (100.0, 0.0)),
        ((1.0, 1.0), (0.0, 5.0), (100.0, 100.0), (100.0, 100.0)),
        ((None, 1.0), (0.0, 0.0), (None, 100.0), (100.0, 100.0)),
    ],
)
def test_the_examples_of_the_specification_hold(
    seconds: tuple[float | None, ...],
    costs: tuple[float | None, ...],
    speed: tuple[float | None, ...],
    cost: tuple[float | None, ...],
    engine: Engine,
) -> None:
    results = [result_of("a", f"m{n}", 50.0, seconds[n], costs[n]) for n in (0, 1)]
    with stored(engine, results, {"a": EQUAL}) as connection:
        rows = sorted(rows_of(connection, "scenario"), key=lambda row: row["model_id"])
    for n, row in enumerate(rows):
        assert_rounded(row["speed_score"], speed[n])
        assert_rounded(row["cost_score"], cost[n])


def assert_rounded(found: float | None, expected: float | None) -> None:
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-3))


def test_equal_scores_share_a_place(engine: Engine) -> None:
    results = [result_of("a", model_id, quality) for model_id, quality in (("m1", 90.0), ("m2", 90.0), ("m3", 10.0))]
    with stored(engine, results, {"a": EQUAL}) as connection:
        places = {row["model_id"]: row["position"] for row in rows_of(connection, "overall")}
    assert places == {"m1": 1, "m2": 1, "m3": 3}


def test_every_row_has_the_numbers_behind_its_ratio(engine: Engine) -> None:
    with stored(engine, [result_of("a", "m1", 90.0)], {"a": EQUAL}) as connection:
        (row,) = rows_of(connection, "scenario")
    assert (row["ok_run_count"], row["run_count"]) == (2, 3)
    assert math.isclose(row["success_rate"], 2 / 3)


@contextmanager
def stored(engine: Engine, results: Sequence[Result], given_weights: dict[str, Weights]) -> Iterator[Connection]:
    """A transaction that holds these results as the latest scores, and is undone."""
    with engine.connect() as connection:
        versions = {}
        for scenario_id, one in given_weights.items():
            shares = {"quality_weight": one.quality, "speed_weight": one.speed, "cost_weight": one.cost}
            add(connection, tables.scenarios, scenario_id=scenario_id, config_hash="config", **shares)
            version = {"scenario_id": scenario_id, "number": 1, "origin": "import", "owner_hash": "hash"}
            versions[scenario_id] = add(connection, tables.reference_versions, **version)
        for model_id in sorted({one.model_id for one in results}):
            add(connection, tables.models, model_id=model_id)
        for one in results:
            add(
                connection,
                tables.model_scores,
                scenario_id=one.scenario_id,
                model_id=one.model_id,
                reference_version_id=versions[one.scenario_id],
                owner_reference_hash="hash",
                config_hash="config",
                mode="full",
                run_count=3,
                ok_run_count=2,
                quality=one.quality,
                mean_duration_seconds=one.duration_seconds,
                mean_cost_usd=one.cost_usd,
            )
        yield connection
        connection.rollback()


def rows_of(connection: Connection, scope: str) -> list[dict[str, Any]]:
    query = text("select * from bi.leaderboard where scope = :scope order by position")
    return [dict(row) for row in connection.execute(query, {"scope": scope}).mappings()]


def add(connection: Connection, table: Table, **values: Any) -> Any:
    """The new row's key."""
    row = connection.execute(insert(table).values(row_of(table, **values)))
    return row.inserted_primary_key[0] if row.inserted_primary_key else None
