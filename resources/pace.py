"""The pace at which one server is asked, and how often and after which pauses a request is repeated."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from time import monotonic

from resources.chat_replies import LONGEST_PAUSE_SECONDS, Reply
from resources.judge_calls import Fault

ATTEMPTS = 6
FIRST_PAUSE_SECONDS = 0.5
LONGEST_OWN_PAUSE_SECONDS = 30.0
REFUSALS = 6
"""So many refused parameters can follow each other before a server is left alone."""

FAILURES_IN_A_ROW = 3
"""After so many requests in a row that a server did not answer, retries included, it is down: nothing more is sent."""

RETRIED = frozenset({Fault.TIMEOUT, Fault.CONNECTION, Fault.RATE_LIMITED, Fault.SERVER_ERROR})
HOPELESS = frozenset({Fault.UNAUTHORIZED, Fault.NOT_FOUND, Fault.NO_QUOTA})
"""Faults after which nothing else is worth a request."""

_jitter = random.SystemRandom()


@dataclass(slots=True, kw_only=True)
class Gate:
    """The pace of one server: so many requests a minute at most, and none before a pause that it asked for is over."""

    requests_per_minute: float | None
    not_before: float = field(default=0.0)
    next_slot: float = field(default=0.0)

    async def passed(self) -> None:
        """Returns when the next request may be sent."""
        at = max(monotonic(), self.not_before)
        if self.requests_per_minute is not None:
            at = max(at, self.next_slot)
            self.next_slot = at + 60.0 / self.requests_per_minute
        while (wait := max(at, self.not_before) - monotonic()) > 0:
            await asyncio.sleep(wait)

    def pause(self, seconds: float) -> None:
        """No request is sent for so many seconds."""
        self.not_before = max(self.not_before, monotonic() + min(seconds, LONGEST_PAUSE_SECONDS))

    async def pause_after(self, reply: Reply, retries: int) -> None:
        """The failed request may be repeated after this, for the `retries + 1`-th time.

        A server that asks for a pause because of its limits gets it from every request, others wait for themselves.
        """
        if reply.fault is Fault.RATE_LIMITED and reply.pause_seconds is not None:
            self.pause(reply.pause_seconds)
            return
        longest = min(LONGEST_OWN_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2**retries)
        await asyncio.sleep(max(reply.pause_seconds or 0.0, longest * _jitter.uniform(0.5, 1.0)))
