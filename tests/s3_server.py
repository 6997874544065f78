"""moto's S3 server over real HTTP, and a door before it that can break in the middle of a request."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from moto.server import ThreadedMotoServer

Fault = Callable[["Passing"], bool]
"""Looks at a request and may answer it itself; whether it did."""


class Door(ThreadingHTTPServer):
    """Passes every request on to the server behind it, unless the fault takes it."""

    daemon_threads = True

    def __init__(self, behind: int) -> None:
        self.behind = behind
        self.fault: Fault | None = None
        self.seen: list[str] = []
        super().__init__(("127.0.0.1", 0), Passing)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class Passing(BaseHTTPRequestHandler):
    """One request on its way."""

    protocol_version = "HTTP/1.1"
    server: Door

    def handle_one(self) -> None:
        self.server.seen.append(f"{self.command} {self.path}")
        if self.server.fault is not None and self.server.fault(self):
            self.close_connection = True
            return
        body = self.body()
        del self.headers["Transfer-Encoding"]
        with closing(http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=30)) as inner:
            inner.request(self.command, self.path, body, dict(self.headers))
            answer = inner.getresponse()
            self.pass_back(answer.status, answer.getheaders(), answer.read())

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one  # noqa: N815 - the names that http.server looks for

    def body(self) -> bytes:
        """What the request carries, in one piece."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def pass_back(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response(status)
        kept = [(name, value) for name, value in headers if name.lower() not in ("transfer-encoding", "connection")]
        if "content-length" not in {name.lower() for name, _ in kept}:
            kept.append(("Content-Length", str(len(content))))
        for name, value in kept:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def refuse(self, status: int, code: str) -> bool:
        """Answers with an error of S3's after the request was read."""
        self.body()
        content = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>refused</Message></Error>".encode()
        self.pass_back(status, [("Content-Type", "application/xml")], content)
        return True

    def hang_up(self, after_bytes: int) -> bool:
        """Reads so much of the body, then resets the connection."""
        self.rfile.read(after_bytes)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        return True

    def log_message(self, *_: Any) -> None:
        """Tests are quiet."""


@contextmanager
def s3_server() -> Iterator[Door]:
    """The door to a new S3 server in this process. It does not check keys."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    door = Door(port)
    threading.Thread(target=door.serve_forever, daemon=True).start()
    try:
        yield door
    finally:
        door.shutdown()
        door.server_close()
        server.stop()
