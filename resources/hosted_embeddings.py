"""Vectors from any server that speaks OpenAI's embeddings protocol, through the `openai` client."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from resources.vectors import EmbeddingError, shown, unit_vector
from scoring.errors import InputError
from scoring.records import Vector

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

BATCH_TEXTS = 128
BATCH_CHARS = 100_000
LONGEST_CHARS = 24_000
AT_ONCE = 4
RETRIES = 6
TIMEOUT_SECONDS = 60.0
MESSAGE_CHARS = 300
TOO_MUCH = frozenset({400, 413, 422})


def host_of(base_url: str) -> str:
    """The host and port of a base URL, without user, password or path. Raises InputError where there is none."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"base_url {base_url!r} is no http address", remedy="Write it like https://api.openai.com/v1")
    return parts.netloc.rpartition("@")[2].lower()


class HostedEmbeddings:
    """One model of one server. The key is read from the environment at the first call, and never shown.

    Texts go out in batches of at most 128 texts and 100,000 characters, four at once; of a longer text the first 24,000
    characters count. 408, 409, 429 and 5xx are retried six times with growing pauses, or after the pause that the
    server asks for (up to two minutes). A batch that the server finds too large is halved.
    """

    def __init__(self, *, base_url: str, model: str, api_key_env: str | None, environment: Mapping[str, str]) -> None:
        self._base_url = base_url
        self._model = model
        self._api_key_env = api_key_env
        self._environment = environment
        self._host = host_of(base_url)
        self._encoding = "base64"

    @property
    def name(self) -> str:
        """The server's host and the model: `api.openai.com/text-embedding-3-small`."""
        return f"{self._host}/{self._model}"

    def vectors(self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None) -> dict[str, Vector]:
        """One unit vector for each distinct text, keyed by the text as given; all of one length.

        Raises EmbeddingError when the server fails or answers anything else, InputError when the key is not set.
        """
        distinct = list(dict.fromkeys(texts))
        found: dict[str, Vector] = {}
        if not distinct:
            return found
        with self._opened() as client, ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
            asked = [pool.submit(self._answer, client, batch) for batch in _batches(distinct)]
            for answer in as_completed(asked):
                _take(answer, asked, found)
                if on_progress:
                    on_progress(len(found), len(distinct))
        return {text: found[text] for text in distinct if self._has_one_length(text, found)}

    def _has_one_length(self, text: str, found: Mapping[str, Vector]) -> bool:
        expected = len(next(iter(found.values())))
        if len(found[text]) != expected:
            raise EmbeddingError(
                f"{self.name} gave {len(found[text])} numbers for {shown(text)} and {expected} for another text"
            )
        return True

    def _opened(self) -> OpenAI:
        from openai import OpenAI

        return OpenAI(base_url=self._base_url, api_key=self._key(), max_retries=RETRIES, timeout=TIMEOUT_SECONDS)

    def _key(self) -> str:
        if not self._api_key_env:
            return "none"
        key = self._environment.get(self._api_key_env, "").strip()
        if not key:
            raise InputError(
                f"the environment variable {self._api_key_env} is not set",
                where=f"embedding model {self.name}",
                remedy=f"Set {self._api_key_env} to the server's key, or remove api_key_env if it wants none",
            )
        return key

    def _answer(self, client: OpenAI, batch: Sequence[str]) -> dict[str, Vector]:
        """The batch's vectors; a batch that the server refuses is halved down to the text that it refuses."""
        from openai import APIError, APIStatusError

        try:
            return self._asked(client, batch)
        except APIStatusError as error:
            if error.status_code in TOO_MUCH and self._encoding == "base64" and "encoding_format" in str(error):
                self._encoding = "float"
                return self._answer(client, batch)
            if error.status_code in TOO_MUCH and len(batch) > 1:
                half = len(batch) // 2
                return self._answer(client, batch[:half]) | self._answer(client, batch[half:])
            raise EmbeddingError(self._refusal(error, batch)) from None
        except (APIError, ValueError, AttributeError, TypeError) as error:
            raise EmbeddingError(
                f"{self.name} did not answer with embeddings for {shown(batch[0])}: {self._without_key(str(error))}"
            ) from None

    def _asked(self, client: OpenAI, batch: Sequence[str]) -> dict[str, Vector]:
        answer = client.embeddings.create(
            model=self._model,
            input=[_sendable(text) for text in batch],
            encoding_format="base64" if self._encoding == "base64" else "float",
        )
        rows = _rows_of(answer)
        if rows is None:
            raise EmbeddingError(
                f"{self.name} answered {shown(str(answer).strip())} instead of embeddings. "
                "Check base_url: it often has to end in /v1"
            )
        if len(rows) != len(batch):
            raise EmbeddingError(
                f"{self.name} gave {len(rows)} vectors for {len(batch)} texts, the first being {shown(batch[0])}"
            )
        return {text: unit_vector(_numbers_of(row), text, self.name) for text, row in zip(batch, rows, strict=True)}

    def _refusal(self, error: APIStatusError, batch: Sequence[str]) -> str:
        return (
            f"{self.name} refused {shown(batch[0])} with HTTP {error.status_code}: {self._without_key(error.message)}"
        )

    def _without_key(self, message: str) -> str:
        key = self._environment.get(self._api_key_env or "", "").strip()
        clean = message.replace(key, "***") if key else message
        return clean if len(clean) <= MESSAGE_CHARS else clean[:MESSAGE_CHARS] + "…"


def _take(
    answer: Future[dict[str, Vector]], asked: Sequence[Future[dict[str, Vector]]], found: dict[str, Vector]
) -> None:
    """Move one answer into `found`; when it failed, nothing more is sent."""
    try:
        found.update(answer.result())
    except BaseException:
        for other in asked:
            other.cancel()
        raise


def _sendable(text: str) -> str:
    """The text as every server accepts it: valid Unicode without NUL, not empty, not too long."""
    clean = text[:LONGEST_CHARS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else "-"


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    chars = 0
    for text in texts:
        length = min(len(text), LONGEST_CHARS)
        if batch and (len(batch) == BATCH_TEXTS or chars + length > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += length
    if batch:
        yield batch


def _rows_of(answer: object) -> list[object] | None:
    """The rows of the answer in the order of the texts, None where it is no list of embeddings."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list):
        return None
    places = [getattr(row, "index", None) for row in data]
    if all(place is None for place in places):
        return data
    if sorted(place for place in places if isinstance(place, int)) != list(range(len(data))):
        return None
    return [row for _, row in sorted(zip(places, data, strict=True), key=lambda pair: pair[0] or 0)]


def _numbers_of(row: object) -> object:
    """The numbers of one row, whether they came as a list or as base64 of little-endian float32."""
    numbers = getattr(row, "embedding", None)
    if not isinstance(numbers, str):
        return numbers
    try:
        return np.frombuffer(base64.b64decode(numbers, validate=True), dtype="<f4")
    except (binascii.Error, ValueError):
        return None
