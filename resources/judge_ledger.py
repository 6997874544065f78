"""The ledger of a judge at work: every request is recorded, in batches beside the asking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from resources.judge_calls import JudgeCall

MOST_AT_ONCE = 200
PAUSE_SECONDS = 0.05
"""A moment for more calls to come in: a transaction of thirty costs little more than one of one."""


@dataclass(slots=True, kw_only=True, eq=False)
class Ledger:
    """Calls on their way to the store. `keep` writes a batch and may block; it runs in a thread."""

    keep: Callable[[Sequence[JudgeCall]], None]
    count: int = 0
    _waiting: list[JudgeCall] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _is_closed: bool = False

    def record(self, call: JudgeCall) -> None:
        """The call is written soon, and for certain once `written` has returned."""
        self.count += 1
        self._waiting.append(call)
        self._news.set()

    def close(self) -> None:
        """No more calls will come."""
        self._is_closed = True
        self._news.set()

    async def written(self) -> None:
        """Writes what comes until the ledger is closed; returns when every call is in the store.

        Raises what the store raises; calls of the failed batch are then still waiting for `written` to be called again.
        """
        while self._waiting or not self._is_closed:
            if not self._waiting:
                self._news.clear()
                await self._news.wait()
                continue
            batch = self._waiting[:MOST_AT_ONCE]
            await asyncio.to_thread(self.keep, batch)
            del self._waiting[: len(batch)]
            if not self._is_closed:
                await asyncio.sleep(PAUSE_SECONDS)
