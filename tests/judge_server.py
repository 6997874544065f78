"""A small real HTTP server that speaks the chat-completions protocol and answers as a test scripts it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

PATH = "/v1/chat/completions"
TOKENS = {"prompt_tokens": 1_000, "completion_tokens": 50, "total_tokens": 1_050}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came: `number` counts from 1, `body` is its JSON, `question` the user message read again."""

    number: int
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @property
    def question(self) -> dict[str, Any]:
        return dict(json.loads(self.messages[1]["content"]))

    @property
    def is_repair(self) -> bool:
        return len(self.messages) > 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the server sends back, after `latency_seconds`. Without a status it closes the connection."""

    status: int | None = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    latency_seconds: float = 0.0
    content_type: str = "application/json"


Script = Callable[[Asked], Reply]


def completion(
    text: str | None,
    *,
    finish_reason: str = "stop",
    usage: Mapping[str, int] | None = TOKENS,
    latency_seconds: float = 0.0,
    **message: Any,
) -> Reply:
    """A chat completion whose assistant says `text`."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
    }
    if usage is not None:
        body["usage"] = dict(usage)
    return Reply(body=json.dumps(body), latency_seconds=latency_seconds)


def answer(verdict: str, *, credit: float | None = None, basis: str = "knowledge", reason: str = "So it is.") -> str:
    """The text of a right answer; `credit` is left out for `verify`."""
    content: dict[str, Any] = {"reason": reason, "verdict": verdict}
    if verdict not in ("correct", "wrong", "unsure"):
        content["credit"] = 100 if credit is None else credit
    return json.dumps(content | {"basis": basis})


def refusal(status: int, message: str = "no", *, headers: Mapping[str, str] | None = None, **error: Any) -> Reply:
    """An HTTP error in the provider's usual shape."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None, **error}}
    return Reply(status=status, body=json.dumps(body), headers=headers or {})


def html() -> Reply:
    """A proxy's page with status 200."""
    return Reply(body="<!doctype html><title>Welcome</title>", content_type="text/html")


def always(verdict: str, *, verify: str = "correct", credit: float | None = None, latency_seconds: float = 0) -> Script:
    """Says the same verdict to every comparison, and `verify` to every other question."""

    def script(asked: Asked) -> Reply:
        said = verify if asked.question["question"] == "verify" else verdict
        return completion(answer(said, credit=credit), latency_seconds=latency_seconds)

    return script


def only(reply: Reply) -> Script:
    """Sends the same reply whatever is asked."""

    def script(asked: Asked) -> Reply:
        del asked
        return reply

    return script


def in_turn(replies: Sequence[Reply], then: Script) -> Script:
    """The replies one after the other, then what `then` says."""

    def script(asked: Asked) -> Reply:
        return replies[asked.number - 1] if asked.number <= len(replies) else then(asked)

    return script


class JudgeServer:
    """A server in a thread of its own, from `with` to the end of it. `script` may be changed at any time."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _serve(self) -> None:
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._converse(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:]) if name}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        reply = await self._reply(head[0], headers, body)
        if reply.status is None:
            return False
        content = reply.body.encode("utf-8", "surrogatepass")
        lines = [f"HTTP/1.1 {reply.status} X", f"Content-Type: {reply.content_type}", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + content)
        await writer.drain()
        return True

    async def _reply(self, first: str, headers: Mapping[str, str], body: bytes) -> Reply:
        if first.split()[1] != PATH:
            return refusal(404, f"no such path: {first}")
        asked = Asked(number=len(self.asked) + 1, headers=headers, body=json.loads(body))
        self.asked.append(asked)
        reply = self.script(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(reply.latency_seconds)
        finally:
            self.in_flight -= 1
        return reply
