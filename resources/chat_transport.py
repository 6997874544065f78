"""Connections to chat servers through aiohttp, which parses in C and writes a request at once: a question takes 0.6 of
the processor time that it takes with httpx2's own connections.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING
from urllib.request import getproxies

import httpx2

if TYPE_CHECKING:
    from aiohttp import ClientSession

KEPT_ALIVE_SECONDS = 5.0
"""Below what servers usually keep an idle connection, so that none is used that the server is about to close."""


def http_client() -> httpx2.AsyncClient | None:
    """A client for `AsyncOpenAI` to send with, closed by whoever closes that.

    None where httpx2's own connections have to do: a proxy that the environment names is their business.
    """
    from openai import DefaultAsyncHttpxClient

    if getproxies().keys() & {"http", "https", "all"}:
        return None
    return DefaultAsyncHttpxClient(transport=AiohttpTransport())


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of an httpx2 client over an aiohttp session, in the event loop of the first of them.

    Raises httpx2's exceptions.
    """

    def __init__(self) -> None:
        self._session: ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The whole response. Redirects, cookies and content encodings are left to httpx2."""
        from aiohttp import ClientTimeout
        from yarl import URL

        limits = request.extensions.get("timeout", {})
        timeout = ClientTimeout(total=None, sock_connect=limits.get("connect"), sock_read=limits.get("read"))
        with _as_httpx2():
            async with self._open().request(
                request.method,
                URL(str(request.url), encoded=True),
                headers=request.headers.multi_items(),
                data=await request.aread(),
                allow_redirects=False,
                timeout=timeout,
                ssl=_trusted() if request.url.scheme == "https" else True,
            ) as response:
                content = await response.read()
        return httpx2.Response(response.status, headers=list(response.raw_headers), content=content, request=request)

    def _open(self) -> ClientSession:
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        if self._session is None:
            self._session = ClientSession(
                connector=TCPConnector(limit=0, keepalive_timeout=KEPT_ALIVE_SECONDS),
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session

    async def aclose(self) -> None:
        """All its connections are closed."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)  # a connection lets go of its socket at the next turn of the loop, and not before


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates that httpx2 trusts; read once, since that takes a tenth of a second."""
    return httpx2.create_ssl_context()


@contextmanager
def _as_httpx2() -> Iterator[None]:
    """What aiohttp raises, as the `openai` client knows it."""
    import aiohttp

    try:
        yield
    except aiohttp.ConnectionTimeoutError as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except TimeoutError as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except aiohttp.ClientConnectorError as error:
        raise httpx2.ConnectError(str(error)) from error
    except aiohttp.ClientOSError as error:
        raise httpx2.ReadError(str(error)) from error
    except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
        raise httpx2.UnsupportedProtocol(str(error)) from error
    except aiohttp.ClientError as error:
        raise httpx2.RemoteProtocolError(str(error)) from error
    except ValueError as error:
        raise httpx2.LocalProtocolError(str(error)) from error
