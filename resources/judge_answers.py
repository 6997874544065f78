"""Questions, calls and answers of judges in Postgres: the cache of each scenario, who asks what, and the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, TextClause, text
from sqlalchemy.dialects.postgresql import insert

from resources.bulk import copy_rows
from resources.database import patiently
from resources.judge_calls import JudgeCall
from resources.stored_text import storable
from resources.tables import judge_answers, judge_calls, judge_questions
from scoring.panel import Ballot, Vote
from scoring.questions import PROMPT_VERSION
from scoring.records import Answer, Verdict

CLAIM_SECONDS = 20
"""A claim that was not renewed for so long is free: its process is dead. While Postgres is away, none expires."""


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """The answer store of a warehouse, shared by all its processes."""

    engine: Engine

    def votes(self, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The votes that are known on those of the questions that have one."""
        wanted = list(question_ids)
        return patiently(lambda: self._votes(scenario_id, wanted))

    def claim(self, scenario_id: str, question_ids: Iterable[str], worker_id: str) -> frozenset[str]:
        """Those of the questions that now are this worker's to ask; the others are being asked by somebody else."""
        parameters = {"scenario_id": scenario_id, "ids": sorted(question_ids), "worker_id": worker_id} | _LEASE
        return frozenset(patiently(lambda: self._done(_CLAIM, parameters)))

    def renew(self, worker_id: str) -> None:
        """What this worker has claimed stays its own for a while longer."""
        patiently(lambda: self._done(_RENEW, {"worker_id": worker_id} | _LEASE))

    def release(self, worker_id: str) -> None:
        """This worker claims nothing any more, and neither do workers that died long ago."""
        patiently(lambda: self._done(_RELEASE, {"worker_id": worker_id} | _LEASE))

    def keep(self, calls: Sequence[JudgeCall]) -> None:
        """These calls are recorded, each once, and their answers kept. An answer that is there already stays.

        They are paid for: a Postgres that restarts, or whose disk is full, is waited for.
        """
        patiently(lambda: self._keep(calls), is_paid=True)

    def _votes(self, scenario_id: str, question_ids: Sequence[str]) -> dict[str, list[Vote]]:
        with self.engine.connect() as connection:
            return _votes(connection, scenario_id, question_ids)

    def _done(self, statement: TextClause, parameters: Mapping[str, Any]) -> list[Any]:
        with self.engine.begin() as connection:
            return list(connection.execute(statement, dict(parameters)).scalars())

    def _keep(self, calls: Sequence[JudgeCall]) -> None:
        with self.engine.begin() as connection:
            connection.execute(insert(judge_questions).on_conflict_do_nothing(), _questions(calls))
            copy_rows(connection, judge_calls, _CALL_COLUMNS, map(_call_row, _unrecorded(connection, calls)))
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
    where greatest(judge_claims.expires_at, pg_postmaster_start_time() + make_interval(secs => :seconds))
            < clock_timestamp()
        or judge_claims.worker_id = excluded.worker_id
returning question_id
""")
_RENEW = text("""
update assay.judge_claims set expires_at = clock_timestamp() + make_interval(secs => :seconds)
where worker_id = :worker_id returning question_id
""")
_RELEASE = text("""
delete from assay.judge_claims where (scenario_id, question_id) in (
    select scenario_id, question_id from assay.judge_claims
    where worker_id = :worker_id
        or greatest(expires_at, pg_postmaster_start_time()) + make_interval(secs => :seconds) < clock_timestamp()
    for update skip locked)
returning question_id
""")
_RECORDED = text("""
select scenario_id, question_id, judge_model, is_swapped, attempt, called_at from assay.judge_calls
where scenario_id = any(cast(:scenarios as text[])) and question_id = any(cast(:ids as text[]))
""")
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


def _unrecorded(connection: Connection, calls: Sequence[JudgeCall]) -> list[JudgeCall]:
    """The calls without those that an earlier try recorded, whose commit went well and only the word of it was lost."""
    named = {"scenarios": [*{call.raised.scenario_id for call in calls}], "ids": [call.raised.key[1] for call in calls]}
    recorded = {tuple(row) for row in connection.execute(_RECORDED, named)}
    return [call for call in calls if _identity(call) not in recorded]


def _identity(call: JudgeCall) -> tuple[Any, ...]:
    return (*call.raised.key, call.ballot.judge_model, call.ballot.is_swapped, call.attempt, call.called_at)


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
