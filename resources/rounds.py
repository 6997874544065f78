"""Scoring rounds: when, why, and how they ended."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Engine, func, insert, update

from resources.stored_text import storable
from resources.tables import rounds


class RoundTrigger(StrEnum):
    """What began a round."""

    COMMAND = "command"
    SENSOR = "sensor"
    SCHEDULE = "schedule"


class RoundStatus(StrEnum):
    """How a round stands. One whose process was killed stays open: what it committed counts all the same."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


def open_round(engine: Engine, trigger: RoundTrigger, *, planned_models: int, dagster_run_id: str | None = None) -> int:
    """The id of a round that has begun."""
    values = {"trigger": trigger.value, "status": RoundStatus.OPEN.value, "planned_models": planned_models}
    new = insert(rounds).values(**values, problem="", dagster_run_id=dagster_run_id).returning(rounds.c.round_id)
    with engine.begin() as connection:
        round_id: int = connection.execute(new).scalar_one()
    return round_id


def close_round(engine: Engine, round_id: int, status: RoundStatus, *, problem: str = "") -> None:
    """The round has ended this way."""
    closed = update(rounds).where(rounds.c.round_id == round_id)
    with engine.begin() as connection:
        connection.execute(closed.values(status=status.value, problem=storable(problem), closed_at=func.now()))
