"""Connections through aiohttp behave to the `openai` client as httpx2's own do."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Awaitable, Callable

import httpx2
import pytest

from resources.chat_transport import AiohttpTransport, http_client

Sent = list[bytes]
Talk = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def saying(content: bytes, *, is_last: bool = False) -> Talk:
    """Sends this and, where it is the last, closes the connection."""

    async def talk(request: bytes, writer: asyncio.StreamWriter) -> None:
        del request
        writer.write(content)
        if is_last:
            writer.close()

    return talk


async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Never answers."""


class Server:
    """A socket that reads whole requests and hands each to `talk`."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.requests: Sent = []
        self.connections = 0

    async def __aenter__(self) -> str:
        self._open: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(asyncio.get_running_loop().create_task(self._converse(reader, writer)))

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                self.requests.append(head + await reader.readexactly(int(length.partition(b":")[2])))
                await self.talk(self.requests[-1], writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def posted(url: str, content: bytes = b"{}", *, timeout_seconds: float = 60, **more: str) -> httpx2.Response:
    transport = AiohttpTransport()
    async with httpx2.AsyncClient(transport=transport, timeout=timeout_seconds, follow_redirects=True) as client:
        return await client.post(url, content=content, headers=more)


def test_a_request_arrives_as_it_was_made_and_its_answer_comes_back_whole() -> None:
    async def go() -> tuple[Server, httpx2.Response]:
        server = Server(saying(http(b'{"a": 1}', "Content-Type: application/json", "X-Two: 1", "X-Two: 2")))
        async with server as url:
            return server, await posted(f"{url}/v1/a%2Fb?c=d%20e", b'{"q": 1}', authorization="Bearer k")

    server, response = asyncio.run(go())
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/a%2Fb?c=d%20e HTTP/1.1\r\n")
    assert b"authorization: bearer k" in head.lower()
    assert b"cookie" not in head.lower()
    assert body == b'{"q": 1}'
    assert (response.status_code, response.json()) == (200, {"a": 1})
    assert response.headers.get_list("x-two") == ["1", "2"]


def test_a_packed_answer_is_unpacked_once() -> None:
    async def go() -> httpx2.Response:
        async with Server(saying(http(gzip.compress(b"plain"), "Content-Encoding: gzip"))) as url:
            return await posted(url)

    assert asyncio.run(go()).text == "plain"


def test_a_redirect_is_followed_with_its_body() -> None:
    async def talk(request: bytes, writer: asyncio.StreamWriter) -> None:
        is_moved = request.startswith(b"POST /old")
        writer.write(http(b"", "Location: /new", status="307 Moved") if is_moved else http(b"here"))

    async def go() -> tuple[Server, httpx2.Response]:
        server = Server(talk)
        async with server as url:
            return server, await posted(f"{url}/old", b"data")

    server, response = asyncio.run(go())
    assert response.text == "here"
    assert [request.split()[1] for request in server.requests] == [b"/old", b"/new"]
    assert server.requests[1].endswith(b"data")


def test_connections_are_kept_and_closed_with_the_client() -> None:
    async def go() -> Server:
        server = Server(saying(http(b"ok")))
        async with server as url, httpx2.AsyncClient(transport=AiohttpTransport()) as client:
            for _ in range(5):
                await client.post(url, content=b"x")
        return server

    server = asyncio.run(go())
    assert (len(server.requests), server.connections) == (5, 1)


@pytest.mark.parametrize(
    ("talk", "error"),
    [
        (silent, httpx2.ReadTimeout),
        (saying(b"", is_last=True), httpx2.RemoteProtocolError),
        (saying(http(b"cut off")[:-3], is_last=True), httpx2.RemoteProtocolError),
        (saying(b"garbage\r\n\r\n"), httpx2.RemoteProtocolError),
        (saying(http(b"no zip", "Content-Encoding: gzip")), httpx2.DecodingError),
    ],
)
def test_a_failing_server_raises_what_httpx2_raises(talk: Talk, error: type[Exception]) -> None:
    async def go() -> None:
        async with Server(talk) as url:
            await posted(url, timeout_seconds=0.3 if talk is silent else 60)

    with pytest.raises(error):
        asyncio.run(go())


def test_a_refused_connection_is_no_timeout() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(httpx2.ConnectError):
        asyncio.run(posted(f"http://127.0.0.1:{port}"))


def test_a_header_with_a_line_break_is_never_sent() -> None:
    async def go() -> Server:
        server = Server(saying(http(b"ok")))
        async with server as url:
            with pytest.raises(httpx2.LocalProtocolError):
                await posted(url, authorization="Bearer a\r\nX-More: b")
        return server

    assert asyncio.run(go()).requests == []


@pytest.mark.parametrize(
    ("variables", "is_ours"),
    [({}, True), ({"NO_PROXY": "a.example"}, True), ({"HTTPS_PROXY": "http://p.example:1"}, False)],
)
def test_a_proxy_is_left_to_httpx2(variables: dict[str, str], is_ours: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in ("http", "https", "all", "no"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_PROXY".upper(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (http_client() is not None) == is_ours
