"""Questions, calls and answers of judges in Postgres: the cache of each scenario, who asks what, and the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import sleep
from typing import Any

from sqlalchemy import Connection, Engine, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import OperationalError

from resources.bulk import copy_rows
from resources.judge_calls import JudgeCall
from resources.stored_text import storable
from resources.tables import judge_answers, judge_calls, judge_questions
from scoring.panel import Ballot, Vote
from scoring.questions import PROMPT_VERSION
from scoring.records import Answer, Verdict

CLAIM_SECONDS = 20
"""A claim that was not renewed for so long is free: its process is dead."""

_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """The answer store of a warehouse, shared by all its processes."""

    engine: Engine

    def votes(self, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The votes that are known on those of the questions that have one."""
        with self.engine.connect() as connection:
            return _votes(connection, scenario_id, question_ids)

    def claim(self, scenario_id: str, question_ids: Iterable[str], worker_id: str) -> frozenset[str]:
        """Those of the questions that now are this worker's to ask; the others are being asked by somebody else."""
        parameters = {"scenario_id": scenario_id, "ids": sorted(question_ids), "worker_id": worker_id}
        with self.engine.begin() as connection:
            return frozenset(connection.execute(_CLAIM, parameters | _LEASE).scalars())

    def renew(self, worker_id: str) -> None:
        """What this worker has claimed stays its own for a while longer."""
        with self.engine.begin() as connection:
            connection.execute(_RENEW, {"worker_id": worker_id} | _LEASE)

    def release(self, worker_id: str) -> None:
        """This worker claims nothing any more."""
        with self.engine.begin() as connection:
            connection.execute(_RELEASE, {"worker_id": worker_id})

    def keep(self, calls: Sequence[JudgeCall]) -> None:
        """These calls are recorded and their answers kept, all or none. An answer that is there already stays.

        They are paid for: a Postgres that restarts is waited for.
        """
        for pause in _PAUSES_SECONDS:
            try:
                return self._keep(calls)
            except OperationalError:
                sleep(pause)
        return self._keep(calls)

    def _keep(self, calls: Sequence[JudgeCall]) -> None:
        with self.engine.begin() as connection:
            connection.execute(insert(judge_questions).on_conflict_do_nothing(), _questions(calls))
            copy_rows(connection, judge_calls, _CALL_COLUMNS, map(_call_row, calls))
            answers = [row for call in calls if (row := _answer_row(call)) is not None]
            if answers:
                connection.execute(insert(judge_answers).on_conflict_do_nothing(), answers)


_LEASE = {"seconds": CLAIM_SECONDS}
_CLAIM = text("""
insert into assay.judge_claims (scenario_id, question_id, worker_id, expires_at)
select :scenario_id, id, :worker_id, clock_timestamp() + make_interval(secs => :seconds)
from unnest(cast(:ids as text[])) with ordinality as asked (id, place) order by place
on conflict (scenario_id, question_id) do update
    set worker_id = excluded.worker_id, expires_at = excluded.expires_at
    where judge_claims.expires_at < clock_timestamp() or judge_claims.worker_id = excluded.worker_id
returning question_id
""")
_RENEW = text("""
update assay.judge_claims set expires_at = clock_timestamp() + make_interval(secs => :seconds)
where worker_id = :worker_id
""")
_RELEASE = text("delete from assay.judge_claims where worker_id = :worker_id")
_VOTES = text("""
select question_id, judge_model, is_swapped, verdict, credit, basis, reason from assay.judge_answers
where scenario_id = :scenario_id and question_id = any(cast(:ids as text[]))
""")


def _votes(connection: Connection, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
    found: dict[str, list[Vote]] = {}
    for row in connection.execute(_VOTES, {"scenario_id": scenario_id, "ids": list(question_ids)}):
        answer = Answer(verdict=Verdict(row.verdict), credit=row.credit, basis=row.basis, reason=row.reason)
        ballot = Ballot(judge_model=row.judge_model, is_swapped=row.is_swapped)
        found.setdefault(row.question_id, []).append(Vote(ballot=ballot, answer=answer))
    return found


def _questions(calls: Sequence[JudgeCall]) -> list[dict[str, Any]]:
    """The distinct questions behind the calls, in one order for all writers, so that no two wait for each other."""
    raised = {call.raised.key: call.raised for call in calls}
    return [
        {
            "scenario_id": scenario_id,
            "question_id": question_id,
            "question_kind": one.question.kind.value,
            "path": storable(one.question.path),
            "prompt": one.question.message,
            "prompt_version": PROMPT_VERSION,
        }
        for (scenario_id, question_id), one in sorted(raised.items())
    ]


_CALL_COLUMNS = (
    "scenario_id",
    "question_id",
    "scoring_record_id",
    "judge_model",
    "judge_family",
    "is_swapped",
    "attempt",
    "is_repair",
    "sent_text",
    "answer_text",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "duration_seconds",
    "error_kind",
    "error",
    "called_at",
)


def _call_row(call: JudgeCall) -> tuple[Any, ...]:
    return (
        *call.raised.key,
        call.raised.scoring_record_id,
        call.ballot.judge_model,
        call.judge_family,
        call.ballot.is_swapped,
        call.attempt,
        call.is_repair,
        _storable(call.sent_text),
        _storable(call.answer_text),
        _storable(call.finish_reason),
        call.input_tokens,
        call.output_tokens,
        call.cost_usd,
        call.duration_seconds,
        None if call.fault is None else call.fault.value,
        _storable(call.error),
        call.called_at.isoformat(),
    )


def _storable(value: str | None) -> str | None:
    return None if value is None else storable(value)


def _answer_row(call: JudgeCall) -> dict[str, Any] | None:
    if call.answer is None:
        return None
    scenario_id, question_id = call.raised.key
    return {
        "scenario_id": scenario_id,
        "question_id": question_id,
        "judge_model": call.ballot.judge_model,
        "is_swapped": call.ballot.is_swapped,
        "verdict": call.answer.verdict.value,
        "credit": call.answer.credit,
        "basis": call.answer.basis,
        "reason": storable(call.answer.reason),
    }
