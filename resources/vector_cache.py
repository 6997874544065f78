"""The cache of embeddings: a vector a text and model, kept for good."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from sqlalchemy import Engine, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from resources.tables import vectors as vectors_table
from scoring.records import Vector

T = TypeVar("T")

_BATCH = 2_000
_STORED = np.dtype("<f4")


def known_vectors(engine: Engine, model: str, texts: Sequence[str]) -> dict[str, Vector]:
    """The cached vectors of those of `texts` that have one."""
    by_hash = {_hash(text): text for text in texts}
    query = select(vectors_table.c.text_sha256, vectors_table.c.vector).where(
        vectors_table.c.embedding_model == model,
        vectors_table.c.text_sha256.in_(bindparam("hashes", expanding=True)),
    )
    found: dict[str, Vector] = {}
    with engine.connect() as connection:
        for hashes in _batches(list(by_hash)):
            for digest, vector in connection.execute(query, {"hashes": hashes}):
                found[by_hash[bytes(digest)]] = np.frombuffer(vector, dtype=_STORED).astype(np.float32)
    return found


def keep_vectors(engine: Engine, model: str, vectors: Mapping[str, Vector]) -> None:
    """These vectors are cached, all or none; one that is cached already stays as it is."""
    by_hash = {_hash(text): np.asarray(vector, dtype=_STORED).tobytes() for text, vector in vectors.items()}
    rows = [
        {"embedding_model": model, "text_sha256": digest, "vector": by_hash[digest]}
        for digest in sorted(by_hash)  # one order for all writers, so that no two ever wait for each other
    ]
    with engine.begin() as connection:
        for batch in _batches(rows):
            connection.execute(insert(vectors_table).on_conflict_do_nothing(), batch)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
