"""What a judge is asked for, and what is recorded of each request to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from scoring.panel import Ballot, Vote
from scoring.records import Answer, Question


class Fault(StrEnum):
    """Why a request gave no answer. The last two say why a request was never sent."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    NO_QUOTA = "no_quota"
    PARAMETER = "parameter"
    BAD_REQUEST = "bad_request"
    TOO_LONG = "too_long"
    CUT_OFF = "cut_off"
    REFUSED = "refused"
    NO_ANSWER = "no_answer"
    BUDGET = "budget"
    STOPPED = "stopped"


class JudgeError(Exception):
    """A judge that gave no answer. The message names the judge, what went wrong and what to do; never a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A question that a scoring needs answered. `scoring_record_id` is that of the first scoring that raised it."""

    scenario_id: str
    question: Question
    scoring_record_id: int | None = None

    @property
    def key(self) -> QuestionKey:
        """What the answer is kept under."""
        return self.scenario_id, self.question.question_id


QuestionKey = tuple[str, str]
"""A scenario id and a question id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCall:
    """One request to a judge, answered or not.

    `sent_text` is None where the user message was the question's own, else what was sent instead. `answer` is None for
    a failed call, and then `fault` and `error` say why. `cost_usd` is None where price or tokens are unknown, never 0
    for that.
    """

    raised: Raised
    ballot: Ballot
    judge_family: str
    attempt: int
    is_repair: bool
    sent_text: str | None
    answer_text: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    duration_seconds: float
    called_at: datetime
    answer: Answer | None = None
    fault: Fault | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came of the questions: an answer or the reason why there is none for each of them.

    `cached` are the answers that cost this process no call. `calls` counts requests, failed ones included.
    """

    answers: Mapping[QuestionKey, Answer] = field(default_factory=dict)
    failures: Mapping[QuestionKey, str] = field(default_factory=dict)
    cached: frozenset[QuestionKey] = frozenset()
    calls: int = 0


class AnswerStore(Protocol):
    """Where answers are kept, so that none is paid for twice."""

    def votes(self, scenario_id: str, question_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The votes that are known on those of the questions that have one."""

    def claim(self, scenario_id: str, question_ids: Iterable[str], worker_id: str) -> frozenset[str]:
        """Those of the questions that now are this worker's to ask; the others are being asked by somebody else."""

    def renew(self, worker_id: str) -> None:
        """What this worker has claimed stays its own for a while longer."""

    def release(self, worker_id: str) -> None:
        """This worker claims nothing any more."""

    def keep(self, calls: Sequence[JudgeCall]) -> None:
        """These calls are recorded, and their answers are kept for good."""
