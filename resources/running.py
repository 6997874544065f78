"""Making runs: many models called at once, each repetition recorded by itself as soon as its answer is there."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from resources.judge_calls import Fault
from resources.model_calls import CalledModel, Unanswered, WantedRun
from resources.pace import FAILURES_IN_A_ROW, HOPELESS, RETRIED
from resources.run_store import RunStore
from scoring.errors import InputError
from scoring.records import Run

RENEW_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 0.5

OF_THE_SERVER = frozenset({Fault.UNAUTHORIZED, Fault.NO_QUOTA})
"""Faults of an account: no other model that is called with the same key at the same server is worth a request."""

OUTAGES = RETRIED | {Fault.NO_ANSWER}
"""Faults of a server that does not work, or of something else that answers in its place."""

ENDING = HOPELESS | {Fault.BUDGET}
"""Faults after which the model is not called again."""

PAUSES_SECONDS = (1.0, 2.0, 4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of one wanted repetition.

    `run` is what was recorded here, `unanswered` why there is none; neither where another process recorded it.
    """

    wanted: WantedRun
    run: Run | None = None
    unanswered: Unanswered | None = None


OnMade = Callable[[Made], None]


@dataclass(slots=True, kw_only=True, eq=False)
class RunMaking:
    """Makes the wanted runs with these models. `at_once` says how many requests each server gets at a time.

    Nothing is asked that is recorded or that another process is making; that one is waited for, or its claim taken over
    when it has died. What a model or a server fails at is told to `on_made`, and the others go on.
    """

    models: dict[str, CalledModel]
    at_once: dict[str, int]
    store: RunStore
    on_made: OnMade
    _worker_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    _proving: dict[str, asyncio.Lock] = field(default_factory=dict)
    _elsewhere: list[WantedRun] = field(default_factory=list)

    def make(self, wanted: Sequence[WantedRun]) -> None:
        """Every wanted repetition has been told to `on_made`; it must be called where no event loop runs.

        Raises what the store raises.
        """
        if wanted:
            asyncio.run(self._made_all(wanted))

    async def _made_all(self, wanted: Sequence[WantedRun]) -> None:
        async with AsyncExitStack() as stack:
            for called in self.models.values():
                stack.push_async_callback(called.client.close)
                self._open(called)
            stack.push_async_callback(asyncio.to_thread, self.store.release, self._worker_id)
            stack.callback(asyncio.create_task(self._renewing()).cancel)
            await self._asked(wanted)
            while self._elsewhere:
                waiting, self._elsewhere = self._elsewhere, []
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
                await self._asked(waiting)

    def _open(self, called: CalledModel) -> None:
        """The client can ask; a model without its key is given up, with the variable's name."""
        try:
            called.client.open()
        except InputError as error:
            called.given_up = Unanswered(fault=Fault.UNAUTHORIZED, reason=str(error))

    async def _renewing(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await asyncio.to_thread(self.store.renew, self._worker_id)

    async def _asked(self, wanted: Sequence[WantedRun]) -> None:
        """Each of these was asked for, or put among those that are made elsewhere."""
        by_server: dict[str, list[WantedRun]] = {}
        for one in wanted:
            by_server.setdefault(self.models[one.model_id].client.endpoint.base_url, []).append(one)
        queues = [(iter(own), min(len(own), self.at_once[server])) for server, own in by_server.items()]
        workers = [asyncio.create_task(self._work(queue)) for queue, count in queues for _ in range(count)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, queue: Iterator[WantedRun]) -> None:
        """Makes one run after the other. While a model is not proven, its runs are made one by one."""
        for wanted in queue:
            called = self.models[wanted.model_id]
            if not await self._was_proving(wanted, called):
                await self._settle(wanted, called)

    async def _was_proving(self, wanted: WantedRun, called: CalledModel) -> bool:
        """Whether the run was made here because the model was not proven when its turn came."""
        if called.failures == 0:
            return False
        async with self._proving.setdefault(wanted.model_id, asyncio.Lock()):
            if called.is_proven:
                return False
            await self._settle(wanted, called)
            return True

    async def _settle(self, wanted: WantedRun, called: CalledModel) -> None:
        if called.given_up is not None:
            self.on_made(Made(wanted=wanted, unanswered=called.given_up))
        elif not await asyncio.to_thread(self.store.claim, wanted.identity, self._worker_id):
            self._elsewhere.append(wanted)
        elif await asyncio.to_thread(self.store.is_recorded, wanted.identity):
            self.on_made(Made(wanted=wanted))
        else:
            await self._take(wanted, called)

    async def _take(self, wanted: WantedRun, called: CalledModel) -> None:
        """The model is called; its run is recorded, or its failure counts for whether it is called again."""
        match await called.run_of(wanted):
            case Run() as run:
                called.failures = 0
                await self._record(run)
                self.on_made(Made(wanted=wanted, run=run))
            case unanswered:
                self._count(called, unanswered)
                self.on_made(Made(wanted=wanted, unanswered=unanswered))

    async def _record(self, run: Run) -> None:
        """The run is recorded; it is paid for, so a lake that is full or away for a moment is waited for."""
        for pause in PAUSES_SECONDS:
            try:
                await asyncio.to_thread(self.store.record, run)
            except OSError:
                await asyncio.sleep(pause)
            else:
                return
        await asyncio.to_thread(self.store.record, run)

    def _count(self, called: CalledModel, unanswered: Unanswered) -> None:
        fault = unanswered.fault
        called.failures = (called.failures or 0) + 1 if fault in OUTAGES else 0
        if fault not in ENDING and called.failures < FAILURES_IN_A_ROW:
            return
        endpoint = called.client.endpoint
        account = endpoint.base_url, endpoint.api_key_env
        for other in self.models.values():
            theirs = other.client.endpoint.base_url, other.client.endpoint.api_key_env
            if other is called or (fault in OF_THE_SERVER and theirs == account):
                other.given_up = other.given_up or _not_asked(unanswered)


def _not_asked(unanswered: Unanswered) -> Unanswered:
    return Unanswered(fault=unanswered.fault, reason=f"not asked, since {unanswered.reason}")
