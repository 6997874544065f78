"""The judge under chaos: a server whose own log says what was asked and answered, whoever was killed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.judge_server import JudgeServer, Reply, Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request: the question's text, when it came and when the answer left, in seconds since the epoch."""

    prompt: str
    asked_at: float
    answered_at: float
    status: int | None


class LoggingJudge(JudgeServer):
    """A judge server with a log of what it served."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.served: list[Served] = []

    async def _reply(self, first: str, headers: Mapping[str, str], body: bytes) -> Reply:
        asked_at = time.time()
        before = len(self.asked)
        reply = await super()._reply(first, headers, body)
        if len(self.asked) > before:
            prompt = str(self.asked[before].messages[1]["content"])
            served = Served(prompt=prompt, asked_at=asked_at, answered_at=time.time(), status=reply.status)
            self.served.append(served)
        return reply
