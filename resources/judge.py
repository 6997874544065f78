"""The judge: one model or a panel, asked about many questions at once, each only once in its scenario for good."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from resources.chat_client import ChatClient, estimated_tokens
from resources.judge_ballots import Booth, Failure, first_messages, most_usd
from resources.judge_calls import Answered, AnswerStore, Fault, QuestionKey, Raised
from resources.judge_ledger import Ledger
from resources.judge_prices import Spending, model_named, price_of
from resources.pace import FAILURES_IN_A_ROW, HOPELESS, RETRIED, Gate
from resources.settings import Endpoint, JudgeSettings
from scoring.errors import InputError
from scoring.panel import Ballot, Vote, ballots_for, combined
from scoring.records import Answer, Model, Question

RENEW_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 0.25

OnAnswers = Callable[[int, int], None]
"""Called with the votes cast so far and all that are wanted from the judges now."""

Job = tuple[Raised, Ballot]


@dataclass(slots=True, kw_only=True, eq=False)
class _Asking:
    """What is known in the middle of asking: votes and failures by question, and which judges are given up."""

    votes: dict[QuestionKey, list[Vote]] = field(default_factory=dict)
    failures: dict[QuestionKey, str] = field(default_factory=dict)
    given_up: dict[str, str] = field(default_factory=dict)
    in_a_row: dict[str, int] = field(default_factory=dict)
    on_answers: OnAnswers | None = None
    wanted: int = 0
    cast: int = 0

    def is_proven(self, model: str) -> bool:
        """Whether the judge's last question did not find its server failing."""
        return self.in_a_row.get(model) == 0

    def take(self, raised: Raised, ballot: Ballot, result: Vote | Failure) -> None:
        """The result counts for its question, and for whether its judge is asked again."""
        model = ballot.judge_model
        self.cast += 1
        if self.on_answers:
            self.on_answers(self.cast, self.wanted)
        if isinstance(result, Vote):
            self.in_a_row[model] = 0
            self.votes.setdefault(raised.key, []).append(result)
            return
        self.failures.setdefault(raised.key, result.reason)
        self.in_a_row[model] = self.in_a_row.get(model, 0) + 1 if result.fault in RETRIED else 0
        if result.fault in HOPELESS or self.in_a_row[model] >= FAILURES_IN_A_ROW:
            self.given_up.setdefault(model, f"not asked, since the judge is given up: {result.reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """A request that will be made: about so many input tokens, at most so many output tokens and dollars.

    `cost_usd` is None where the judge's price is unknown.
    """

    judge_model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class Judge:
    """The judges of some scenarios, as their settings say. What is answered is kept in `store` for good.

    `models` are those of models.yaml: they know prices and families. Each server is asked at most `at_once` questions
    at a time and `requests_per_minute`; a server that does not answer, or refuses the key, is given up.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        *,
        store: AnswerStore,
        models: Sequence[Model] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.settings = settings
        self._store = store
        self._models = models
        self._clients = [self._client(endpoint, environment) for endpoint in settings.models]

    def _client(self, endpoint: Endpoint, environment: Mapping[str, str] | None) -> ChatClient:
        return ChatClient(
            endpoint=endpoint,
            environment=os.environ if environment is None else environment,
            timeout_seconds=self.settings.timeout_seconds,
            max_answer_tokens=self.settings.max_answer_tokens,
        )

    def known(self, scenario_id: str, questions: Iterable[Question]) -> dict[str, Answer]:
        """The answers of the cache to those of the questions that are answered whole."""
        asked = {question.question_id: question for question in questions}
        votes = self._store.votes(scenario_id, asked)
        found = ((id_, self._whole(asked[id_], cast)) for id_, cast in votes.items())
        return {id_: answer for id_, answer in found if answer is not None}

    def ballots(self, question: Question) -> tuple[Ballot, ...]:
        """The votes that an answer to the question needs."""
        names = [endpoint.model for endpoint in self.settings.models]
        return ballots_for(question.kind, names, is_swapped=self.settings.is_swapped)

    def planned(self, scenario_id: str, questions: Iterable[Question]) -> list[PlannedRequest]:
        """The requests that these questions will take, but for retries: one for each vote that the cache lacks."""
        asked = {question.question_id: question for question in questions}
        votes = self._store.votes(scenario_id, asked)
        return [
            self._planned(question, ballot)
            for id_, question in asked.items()
            for ballot in self.ballots(question)
            if ballot not in {vote.ballot for vote in votes.get(id_, ())}
        ]

    def _planned(self, question: Question, ballot: Ballot) -> PlannedRequest:
        price = price_of(ballot.judge_model, self._models)
        conversation = first_messages(question, ballot)
        longest = self.settings.max_answer_tokens
        return PlannedRequest(
            judge_model=ballot.judge_model,
            input_tokens=estimated_tokens(conversation),
            output_tokens=longest,
            cost_usd=None if price is None else most_usd(price, conversation, longest),
        )

    def answer(
        self, raised: Sequence[Raised], *, spending: Spending | None = None, on_answers: OnAnswers | None = None
    ) -> Answered:
        """An answer, or the reason why there is none, for every question; each answer is kept before this returns.

        No question is asked that is answered already or that another process is asking: that one's answer is waited
        for, or its claim taken over when it has died. Nothing is raised for a judge that fails. It must be called
        where no event loop runs.
        """
        distinct = list({one.key: one for one in reversed(raised)}.values())[::-1]
        if not distinct:
            return Answered()
        with asyncio.Runner(loop_factory=_new_loop) as runner:
            return runner.run(self._answered(distinct, spending or Spending(), on_answers))

    async def _answered(self, raised: list[Raised], spending: Spending, on_answers: OnAnswers | None) -> Answered:
        worker_id = uuid.uuid4().hex
        asking, ledger = _Asking(on_answers=on_answers), Ledger(keep=self._store.keep)
        async with AsyncExitStack() as stack:
            for client in self._clients:
                stack.push_async_callback(client.close)
            stack.push_async_callback(asyncio.to_thread, self._store.release, worker_id)
            writing = asyncio.create_task(ledger.written())
            stack.push_async_callback(_closed, ledger, writing)
            stack.callback(asyncio.create_task(self._renewing(worker_id)).cancel)
            self._open(asking)
            poll = _Poll(judge=self, asking=asking, booths=self._booths(ledger, spending), writing=writing)
            asked = await self._settled(raised, worker_id, poll)
        answers = {one.key: answer for one in raised if (answer := self.of(one, asking)) is not None}
        failures = {key: reason for key, reason in asking.failures.items() if key not in answers}
        cached = frozenset(answers.keys() - asked)
        return Answered(answers=answers, failures=failures, cached=cached, calls=ledger.count)

    def _open(self, asking: _Asking) -> None:
        """Clients that can ask; one without its key is given up, with the variable's name."""
        for client in self._clients:
            try:
                client.open()
            except InputError as error:
                asking.given_up[client.endpoint.model] = str(error)

    def _booths(self, ledger: Ledger, spending: Spending) -> dict[str, Booth]:
        gates: dict[str, Gate] = {}
        return {
            client.endpoint.model: Booth(
                client=client,
                gate=gates.setdefault(
                    client.endpoint.base_url, Gate(requests_per_minute=self.settings.requests_per_minute)
                ),
                price=price_of(client.endpoint.model, self._models),
                family=self.family_of(client.endpoint),
                max_answer_tokens=self.settings.max_answer_tokens,
                spending=spending,
                record=ledger.record,
            )
            for client in self._clients
        }

    def family_of(self, endpoint: Endpoint) -> str:
        """The judge's family: as its setting says, else as models.yaml does, else empty."""
        model = model_named(endpoint.model, self._models)
        return endpoint.family or ("" if model is None else model.family)

    async def _settled(self, raised: list[Raised], worker_id: str, poll: _Poll) -> set[QuestionKey]:
        """Every question has its votes or a failure after this. Returns those that were asked here."""
        waiting, asked = list(raised), set()
        while waiting:
            mine = await asyncio.to_thread(self._claimed, waiting, worker_id)
            await asyncio.to_thread(self._recall, waiting, poll.asking)
            jobs = [job for one in waiting if one.key in mine for job in self._missing(one, poll.asking)]
            asked |= {one.key for one, _ in jobs}
            if jobs:
                await poll.held(jobs)
            waiting = [one for one in waiting if one.key not in mine and self.of(one, poll.asking) is None]
            if waiting:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        return asked

    def _claimed(self, waiting: Sequence[Raised], worker_id: str) -> set[QuestionKey]:
        return {
            (scenario_id, id_)
            for scenario_id, ids in _by_scenario(waiting).items()
            for id_ in self._store.claim(scenario_id, ids, worker_id)
        }

    def _recall(self, waiting: Sequence[Raised], asking: _Asking) -> None:
        """What the store knows by now. A claim comes first, so that an answer given just before it is seen."""
        for scenario_id, ids in _by_scenario(waiting).items():
            for id_, votes in self._store.votes(scenario_id, ids).items():
                asking.votes[(scenario_id, id_)] = list(votes)

    def _missing(self, one: Raised, asking: _Asking) -> list[Job]:
        cast = {vote.ballot for vote in asking.votes.get(one.key, ())}
        return [(one, ballot) for ballot in self.ballots(one.question) if ballot not in cast]

    async def _renewing(self, worker_id: str) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await asyncio.to_thread(self._store.renew, worker_id)

    def of(self, one: Raised, asking: _Asking) -> Answer | None:
        """The answer to the question by what is known now; None while a vote is missing."""
        return self._whole(one.question, asking.votes.get(one.key, []))

    def _whole(self, question: Question, votes: Sequence[Vote]) -> Answer | None:
        """The answer that the votes make; None while one is missing."""
        wanted = self.ballots(question)
        cast = {vote.ballot: vote for vote in votes}
        if not all(ballot in cast for ballot in wanted):
            return None
        return combined(question.kind, [cast[ballot] for ballot in wanted])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Poll:
    """Ballots being cast: each server is asked so many at once as it may be."""

    judge: Judge
    asking: _Asking
    booths: Mapping[str, Booth]
    writing: asyncio.Task[None]
    proving: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def held(self, jobs: Sequence[Job]) -> None:
        """All these ballots are cast or have failed. Raises what the store raises, and then asks nothing more."""
        self.asking.wanted += len(jobs)
        by_gate: dict[int, list[Job]] = {}
        for job in jobs:
            by_gate.setdefault(id(self.booths[job[1].judge_model].gate), []).append(job)
        queues = [(iter(own), min(len(own), self.judge.settings.at_once)) for own in by_gate.values()]
        workers = [asyncio.create_task(self._work(queue)) for queue, count in queues for _ in range(count)]
        everything: asyncio.Future[Any] = asyncio.gather(*workers)
        watched: set[asyncio.Future[Any]] = {everything, self.writing}
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            if self.writing.done():
                self.writing.result()
            await everything
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(everything, *workers, return_exceptions=True)

    async def _work(self, queue: Iterator[Job]) -> None:
        """Casts one ballot after the other. While a judge is not proven, its questions go one by one."""
        for raised, ballot in queue:
            result = await self._proving(raised, ballot)
            self.asking.take(raised, ballot, result if result is not None else await self._cast(raised, ballot))

    async def _proving(self, raised: Raised, ballot: Ballot) -> Vote | Failure | None:
        """The result where the judge was not proven when its turn came; None where this needs no turn."""
        model = ballot.judge_model
        if self.asking.is_proven(model):
            return None
        async with self.proving.setdefault(model, asyncio.Lock()):
            if self.asking.is_proven(model):
                return None
            return await self._cast(raised, ballot)

    async def _cast(self, raised: Raised, ballot: Ballot) -> Vote | Failure:
        reason = self.asking.given_up.get(ballot.judge_model) or self.asking.failures.get(raised.key)
        if reason is not None:
            return Failure(fault=Fault.STOPPED, reason=reason)
        return await self.booths[ballot.judge_model].cast(raised, ballot)


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's event loop where it is installed (the web server brings it), since it spends a third less on sockets."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.new_event_loop()
    return new_event_loop()


async def _closed(ledger: Ledger, writing: asyncio.Task[None]) -> None:
    """Every call is in the store."""
    ledger.close()
    await writing


def _by_scenario(raised: Iterable[Raised]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for one in raised:
        ids.setdefault(one.scenario_id, []).append(one.question.question_id)
    return ids
