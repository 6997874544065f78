"""Calling one model until a repetition has its run, or there is a reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from resources.chat_client import AnswerForm, ChatClient, Messages, estimated_tokens, remedy_for
from resources.chat_replies import Reply
from resources.judge_calls import Fault
from resources.judge_prices import Spending
from resources.models import cost_of
from resources.pace import ATTEMPTS, REFUSALS, RETRIED, Gate
from resources.recorded_runs import Identity
from resources.recordings import MAX_ERROR_LENGTH
from scoring.records import Model, Run, RunStatus

_TOO_LONG = "shorten the documents, or take the model out of this scenario"
ENDED = frozenset({None, Fault.CUT_OFF, Fault.REFUSED})
"""What a model may do to end a run: answer, stop at its longest answer, decline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedRun:
    """A repetition that is to be made, and what the model is asked for it."""

    scenario_id: str
    model_id: str
    repetition: int
    messages: Messages
    form: AnswerForm | None = None

    @property
    def identity(self) -> Identity:
        """What it is recorded under."""
        return self.scenario_id, self.model_id, self.repetition


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """Why a repetition has no run: the fault of its last request, in words for people, after so many requests."""

    fault: Fault
    reason: str
    requests: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class CalledModel:
    """A model, how it is reached, and how it fared so far.

    `failures` counts those in a row, None before the first call; `given_up` says why nothing more is asked of it.
    """

    model: Model
    client: ChatClient
    gate: Gate
    spending: Spending
    failures: int | None = None
    given_up: Unanswered | None = None

    @property
    def is_proven(self) -> bool:
        """Whether its last call ended in a run. While it is not, its runs are made one by one."""
        return self.failures == 0

    def most_usd(self, messages: Messages) -> float | None:
        """What one request can cost at most, with half as many tokens again as the prompt is estimated to have.

        None where a price or `max_answer_tokens` is unknown.
        """
        longest = self.client.max_answer_tokens
        if self.model.input_usd_per_million == self.model.output_usd_per_million == 0:
            return 0.0
        return None if longest is None else cost_of(self.model, estimated_tokens(messages) * 3 // 2, longest)

    async def run_of(self, wanted: WantedRun) -> Run | Unanswered:
        """The run, whatever the model said; or what kept the answer away, after retries.

        A model that was cut off or declined has run. A server that fails, a page of a proxy or a wrong key has not.
        """
        retries = refusals = requests = 0
        while True:
            sent = await self._sent(wanted)
            if isinstance(sent, Unanswered):
                return sent
            reply, seconds = sent
            requests += 1
            match reply.fault:
                case fault if fault in ENDED or reply.is_completion:
                    return self._run(wanted, reply, seconds)
                case fault if fault in RETRIED and retries + 1 < ATTEMPTS:
                    await self.gate.pause_after(reply, retries)
                    retries += 1
                case Fault.PARAMETER if refusals < REFUSALS:
                    refusals += 1
                case fault:
                    return self._unanswered(fault or Fault.NO_ANSWER, reply, requests)

    async def _sent(self, wanted: WantedRun) -> tuple[Reply, float] | Unanswered:
        """One request and how many seconds its answer took; no request where the budget does not allow it."""
        reserved = await self._reserved(wanted)
        if isinstance(reserved, Unanswered):
            return reserved
        cost: float | None = None
        try:
            await self.gate.passed()
            begun = monotonic()
            reply = await self.client.send(wanted.messages, wanted.form)
            seconds = monotonic() - begun
            cost = self._cost(reply)
        finally:
            self.spending.settle(reserved, cost)
        return reply, seconds

    async def _reserved(self, wanted: WantedRun) -> float | Unanswered:
        """The most that the request may cost, now reserved."""
        limit = self.spending.limit_usd
        if limit is None:
            return 0.0
        most = self.most_usd(wanted.messages)
        if most is None:
            return Unanswered(fault=Fault.BUDGET, reason=_unbounded(self.model, limit))
        if await self.spending.reserve(most):
            return most
        reason = (
            f"the runs stop before they pass their budget: ${self.spending.spent_usd:.4f} of ${limit:g} are spent, and "
            f"the next request to {self.model.model_id} may cost ${most:.4f}. What was answered is recorded. "
            "Raise budgets.runs_usd in assay.yaml, then run again: only the rest is asked"
        )
        return Unanswered(fault=Fault.BUDGET, reason=reason)

    def _cost(self, reply: Reply) -> float | None:
        """What the request cost; a refused one nothing, and None where price or tokens are unknown."""
        match reply.is_billed:
            case None:
                return None
            case False:
                return 0.0
            case _:
                return cost_of(self.model, reply.input_tokens, reply.output_tokens)

    def _run(self, wanted: WantedRun, reply: Reply, seconds: float) -> Run:
        """The run that the reply is. A text counts as the output, also one that was cut off; SPEC 5 scores it."""
        has_output = reply.fault in (None, Fault.CUT_OFF) and bool((reply.text or "").strip())
        said = f": {reply.text}" if reply.fault is Fault.REFUSED and reply.text else ""
        return Run(
            scenario_id=wanted.scenario_id,
            model_id=wanted.model_id,
            repetition=wanted.repetition,
            status=RunStatus.OK if has_output else RunStatus.FAILED,
            output=reply.text if has_output else None,
            duration_seconds=seconds,
            cost_usd=self._cost(reply),
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            error=None if has_output else f"{reply.error}{said}"[:MAX_ERROR_LENGTH],
        )

    def _unanswered(self, fault: Fault, reply: Reply, requests: int) -> Unanswered:
        tries = f" after {requests} requests" if requests > 1 else ""
        remedy = remedy_for(fault, self.client.endpoint, too_long=_TOO_LONG)
        reason = f"{self.model.model_id} gave no answer{tries}: {reply.error}{remedy}"
        return Unanswered(fault=fault, reason=reason, requests=requests)


def _unbounded(model: Model, limit_usd: float) -> str:
    has_prices = None not in (model.input_usd_per_million, model.output_usd_per_million)
    lacking = "max_answer_tokens" if has_prices else "prices"
    return (
        f"budgets.runs_usd is ${limit_usd:g}, and what an answer of {model.model_id} may cost is unknown. "
        f"Give the model its {lacking} in models.yaml, or remove the budget from assay.yaml"
    )
