"""Casting one ballot: asking one judge model one question in one order until there is an answer or a reason why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic

from resources.chat_client import AnswerForm, ChatClient, Messages, estimated_tokens, remedy_for
from resources.chat_replies import Reply, answer_text
from resources.judge_calls import Fault, JudgeCall, Raised
from resources.judge_prices import Price, Spending
from resources.pace import ATTEMPTS, REFUSALS, RETRIED, Gate
from scoring.panel import Ballot, Vote, message_for
from scoring.questions import SYSTEM_MESSAGE, answer_schema, read_answer
from scoring.records import Answer, Question, QuestionKind

_TOO_LONG = "choose a judge that takes longer prompts, or shorten the documents"
REPAIRED = frozenset({Fault.CUT_OFF, Fault.REFUSED, Fault.NO_ANSWER})


def first_messages(question: Question, ballot: Ballot) -> Messages:
    """The conversation that asks the question: the rules, then the data."""
    return [
        {"role": "system", "content": SYSTEM_MESSAGE},
        {"role": "user", "content": message_for(question, ballot)},
    ]


def most_usd(price: Price, conversation: Messages, max_answer_tokens: int) -> float:
    """What one request can cost at most, with half as many tokens again as its prompt is estimated to have."""
    return price.cost_usd(estimated_tokens(conversation) * 3 // 2, max_answer_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a ballot has no vote, in words for people, and the fault behind it."""

    fault: Fault
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Booth:
    """All that is needed to cast ballots with one judge model."""

    client: ChatClient
    gate: Gate
    price: Price | None
    family: str
    max_answer_tokens: int
    spending: Spending
    record: Callable[[JudgeCall], None]

    async def cast(self, raised: Raised, ballot: Ballot) -> Vote | Failure:
        """The vote, or the failure after retries and one try to repair. Every request is recorded."""
        conversation = first_messages(raised.question, ballot)
        retries = refusals = attempt = 0
        is_repair = False
        while True:
            attempt += 1
            call = await self._call(raised, ballot, conversation, attempt=attempt, is_repair=is_repair)
            match call:
                case Failure():
                    return call
                case (JudgeCall(answer=Answer() as answer), _):
                    return Vote(ballot=ballot, answer=answer)
                case (_, reply) if reply.fault in RETRIED and retries + 1 < ATTEMPTS:
                    await self.gate.pause_after(reply, retries)
                    retries += 1
                case (_, reply) if reply.fault is Fault.PARAMETER and refusals < REFUSALS:
                    refusals += 1
                case (_, reply) if reply.fault in REPAIRED and not is_repair:
                    conversation, is_repair = _repair(conversation, reply), True
                case (_, reply):
                    return self._failure(reply, attempt)

    async def _call(
        self, raised: Raised, ballot: Ballot, conversation: Messages, *, attempt: int, is_repair: bool
    ) -> tuple[JudgeCall, Reply] | Failure:
        """One request and what came of it, recorded; a failure where the budget does not allow it."""
        most = self._most_usd(conversation)
        if (refused := await self._refused_by_budget(most)) is not None:
            return refused
        await self.gate.passed()
        called_at, begun = datetime.now(UTC), monotonic()
        cost: float | None = None
        try:
            reply = await self.client.send(conversation, _form(raised.question.kind))
            cost = self._cost(reply)
        finally:
            self.spending.settle(most, cost)
        seconds = monotonic() - begun
        reply, answer = _read(raised, reply)
        call = JudgeCall(
            raised=raised,
            ballot=ballot,
            judge_family=self.family,
            attempt=attempt,
            is_repair=is_repair,
            sent_text=_sent_text(ballot, conversation, is_repair=is_repair),
            answer_text=reply.text,
            finish_reason=reply.finish_reason,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=cost,
            duration_seconds=seconds,
            called_at=called_at,
            answer=answer,
            fault=reply.fault,
            error=reply.error or None,
        )
        self.record(call)
        return call, reply

    async def _refused_by_budget(self, most_usd: float) -> Failure | None:
        limit = self.spending.limit_usd
        if limit is None:
            return None
        if self.price is None:
            reason = (
                f"budgets.judge_usd is ${limit:g}, and the price of judge {self.client.endpoint.model} is unknown. "
                "Add the judge with its prices to models.yaml, or remove the budget from assay.yaml"
            )
            return Failure(fault=Fault.BUDGET, reason=reason)
        if await self.spending.reserve(most_usd):
            return None
        reason = (
            f"the round stops before it passes its budget: ${self.spending.spent_usd:.4f} of ${limit:g} are spent, and "
            f"the next question may cost ${most_usd:.4f}. What was answered is kept. "
            "Raise budgets.judge_usd in assay.yaml, then score again: only the rest is asked"
        )
        return Failure(fault=Fault.BUDGET, reason=reason)

    def _most_usd(self, conversation: Messages) -> float:
        return 0.0 if self.price is None else most_usd(self.price, conversation, self.max_answer_tokens)

    def _cost(self, reply: Reply) -> float | None:
        """What a request cost; a refused one nothing, and None where price or tokens are unknown."""
        if self.price is None or reply.is_billed is None:
            return None
        if not reply.is_billed:
            return 0.0
        if reply.input_tokens is None or reply.output_tokens is None:
            is_free = self.price == Price(input_usd_per_million=0.0, output_usd_per_million=0.0)
            return 0.0 if is_free else None
        return self.price.cost_usd(reply.input_tokens, reply.output_tokens)

    def _failure(self, reply: Reply, attempts: int) -> Failure:
        fault = reply.fault or Fault.NO_ANSWER
        tries = f" after {attempts} requests" if attempts > 1 else ""
        reason = f"judge {self.client.name} gave no answer{tries}: {reply.error}"
        return Failure(fault=fault, reason=reason + remedy_for(fault, self.client.endpoint, too_long=_TOO_LONG))


def _form(kind: QuestionKind) -> AnswerForm:
    return AnswerForm(name=f"{kind.value}_answer", schema=answer_schema(kind))


def _read(raised: Raised, reply: Reply) -> tuple[Reply, Answer | None]:
    """The reply and its answer; one whose text is no answer says so as its fault."""
    if reply.fault is not None:
        return reply, None
    match read_answer(raised.question.kind, answer_text(reply.text or "")):
        case Answer() as answer:
            return reply, answer
        case why:
            return replace(reply, fault=Fault.NO_ANSWER, error=why), None


def _repair(conversation: Messages, reply: Reply) -> Messages:
    """The conversation continued with what the judge said and why that is no answer."""
    why = (
        f"That was no answer: {reply.error}. Answer the question again, as one JSON object that follows the rules, "
        "with a short reason, and nothing else."
    )
    said = reply.text or "(nothing)"
    return [*conversation, {"role": "assistant", "content": said}, {"role": "user", "content": why}]


def _sent_text(ballot: Ballot, conversation: Messages, *, is_repair: bool) -> str | None:
    if is_repair:
        return json.dumps([dict(message) for message in conversation[1:]])
    return conversation[1]["content"] if ballot.is_swapped else None
