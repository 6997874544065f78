"""A small real HTTP server that speaks OpenAI's embeddings protocol, and misbehaves as told."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Reply = tuple[int, dict[str, str], bytes]
Misbehaviour = Callable[[dict[str, Any], int], Reply | None]
LENGTH = 8


@dataclass
class Served:
    """The server's address, and every request body and key that it was sent."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def texts(self) -> list[str]:
        return [text for body in self.bodies for text in body["input"]]


def numbers_of(text: str) -> list[float]:
    """A vector that depends on the text alone; not of unit length."""
    digest = hashlib.sha256(text.encode()).digest()[:LENGTH]
    return [float(byte) + 1.0 for byte in digest]


def answer(body: dict[str, Any], rows: list[Any] | None = None) -> Reply:
    """A right answer, or one with these rows as embeddings."""
    vectors = [numbers_of(text) for text in body["input"]] if rows is None else rows
    if body.get("encoding_format") == "base64" and rows is None:
        vectors = [base64.b64encode(np.array(row, "<f4").tobytes()).decode() for row in vectors]
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(vectors)]
    made = {"object": "list", "model": body["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return json_reply(200, made)


def json_reply(status: int, value: object, **headers: str) -> Reply:
    return status, {"Content-Type": "application/json"} | headers, json.dumps(value).encode()


def error_reply(status: int, message: str, **headers: str) -> Reply:
    return json_reply(status, {"error": {"message": message, "type": "server_error"}}, **headers)


@contextmanager
def serving(misbehave: Misbehaviour = lambda _body, _count: None) -> Iterator[Served]:
    """The server on a free port of this machine. `misbehave(body, count)` may answer in its place."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.bodies.append(body)
            served.keys.append(self.headers.get("Authorization", ""))
            status, headers, content = misbehave(body, len(served.bodies)) or answer(body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
