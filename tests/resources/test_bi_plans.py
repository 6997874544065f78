"""Dashboards stay quick as the history grows: what filters by scenario, model or what is latest uses an index."""

from __future__ import annotations

from sqlalchemy import Engine, text

from benchmarks.bi_views import ASKS, fill, plan_of


def test_a_filter_reads_no_growing_table_from_end_to_end(engine: Engine) -> None:
    fill(engine, scenarios=20, models=10, rounds=20)
    with engine.connect() as connection:
        assert connection.execute(text("select count(*) from assay.field_scores")).scalar() == 64_000
        plans = {ask.name: plan_of(connection, ask.query) for ask in ASKS}
        assert {name: plan.read_whole for name, plan in plans.items() if plan.read_whole and is_narrow(name)} == {}
    assert (plans["leaderboard overall"].rows, plans["leaderboard of one"].rows) == (10, 10)
    assert plans["model_scores, now"].rows == 200
    assert plans["field_scores, model and scenario"].rows == 16


def is_narrow(name: str) -> bool:
    return next(ask.is_narrow for ask in ASKS if ask.name == name)
