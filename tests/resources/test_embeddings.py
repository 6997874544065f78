from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from resources.embeddings import (
    LOCAL_LONGEST_CHARS,
    CachedEmbeddings,
    EmbeddingError,
    HostedEmbeddings,
    LocalEmbeddings,
    MemoryStore,
    embedding_model_name,
    embeddings_from,
    readable,
)
from resources.vectors import unit_vector
from scoring.errors import InputError
from scoring.records import Vector
from scoring.strictness import LOCAL_MODEL


class Counted:
    """An embedder that remembers what it was asked, and fails from a call on."""

    name = "counted/model"

    def __init__(self, *, fails_from: int = 1000, length: int = 2) -> None:
        self.asked: list[list[str]] = []
        self._fails_from = fails_from
        self._length = length

    def vectors(self, texts: Sequence[str], on_progress: Callable[[int, int], None] | None = None) -> dict[str, Vector]:
        if len(self.asked) >= self._fails_from:
            raise EmbeddingError("counted/model is down")
        self.asked.append(list(texts))
        if on_progress:
            on_progress(len(texts), len(texts))
        return {text: unit_vector([len(text) + 1.0] + [1.0] * (self._length - 1), text, self.name) for text in texts}


@pytest.fixture(scope="module")
def local() -> LocalEmbeddings:
    return LocalEmbeddings()


def test_local_vectors_are_unit_float32_and_keyed_by_the_text_as_given(local: LocalEmbeddings) -> None:
    vectors = local.vectors(["Amsterdam", "the capital", "Amsterdam"])
    assert list(vectors) == ["Amsterdam", "the capital"]
    assert all(vector.dtype == np.float32 for vector in vectors.values())
    assert np.linalg.norm(vectors["Amsterdam"]) == pytest.approx(1.0)


def test_related_texts_lie_closer_than_unrelated_ones(local: LocalEmbeddings) -> None:
    found = local.vectors(["the cat sleeps", "a cat is asleep", "quarterly tax return"])
    first, second, other = found.values()
    assert first @ second > first @ other


def test_a_vector_does_not_depend_on_its_batch(local: LocalEmbeddings) -> None:
    texts = [f"text number {number}" for number in range(9)]
    together = local.vectors(texts)
    np.testing.assert_allclose(local.vectors(texts[4:5])[texts[4]], together[texts[4]], atol=1e-6)


def test_characters_that_the_engine_cannot_read_hide_nothing(local: LocalEmbeddings) -> None:
    vectors = local.vectors(["a\0b", "a", "\ud800"])
    assert vectors["a\0b"] @ vectors["a"] < 0.999
    assert len(vectors) == 3


def test_a_huge_text_is_represented_by_pieces_of_all_of_it() -> None:
    text = "".join(f"{number} " for number in range(100_000))
    piece = readable(text)
    assert len(piece) == LOCAL_LONGEST_CHARS + 3
    assert piece.startswith("0 1 2 ")
    assert piece.endswith("99999 ")


def test_local_progress_reaches_the_total(local: LocalEmbeddings) -> None:
    told: list[tuple[int, int]] = []
    local.vectors(["one", "two", "three"], lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)


def test_what_the_store_knows_is_never_embedded_again() -> None:
    inner, store = Counted(), MemoryStore()
    cached = CachedEmbeddings(inner, store)
    first = cached.vectors(["a", "b", "a"])
    again = CachedEmbeddings(inner, store).vectors(["b", "c"])
    assert inner.asked == [["a", "b"], ["c"]]
    assert set(first) == {"a", "b"}
    np.testing.assert_array_equal(first["b"], again["b"])


def test_vectors_won_before_a_failure_are_kept() -> None:
    store, texts = MemoryStore(), [f"text {number}" for number in range(1200)]
    with pytest.raises(EmbeddingError):
        CachedEmbeddings(Counted(fails_from=2), store).vectors(texts)
    later = Counted()
    assert len(CachedEmbeddings(later, store).vectors(texts)) == 1200
    assert sum(map(len, later.asked)) == 1200 - 1024


def test_progress_counts_what_had_to_be_embedded() -> None:
    told: list[tuple[int, int]] = []
    texts = [f"text {number}" for number in range(600)]
    CachedEmbeddings(Counted(), MemoryStore()).vectors(texts, lambda done, total: told.append((done, total)))
    assert told == [(512, 600), (600, 600)]


def test_another_model_under_a_known_name_is_found_out() -> None:
    store = MemoryStore()
    CachedEmbeddings(Counted(), store).vectors(["a"])
    with pytest.raises(EmbeddingError, match="another length"):
        CachedEmbeddings(Counted(length=3), store).vectors(["a", "b"])


def test_settings_name_their_embedder_without_opening_it() -> None:
    hosted = {"base_url": "https://api.example.org/v1", "model": "org/embed", "api_key_env": "NO_SUCH_VARIABLE"}
    assert embeddings_from(None) is None
    assert embedding_model_name(None) is None
    assert isinstance(embeddings_from("local"), LocalEmbeddings)
    assert embedding_model_name("local") == LOCAL_MODEL
    assert isinstance(embeddings_from(hosted), HostedEmbeddings)
    assert embedding_model_name(hosted) == "api.example.org/org/embed"


@pytest.mark.parametrize(
    "settings",
    ["openai", {"model": "m"}, {"base_url": "https://x.org/v1"}, {"base_url": "x", "model": "m"}, {"key": "k"}],
)
def test_settings_that_name_no_embedder_are_refused(settings: object) -> None:
    with pytest.raises(InputError):
        embeddings_from(settings)  # type: ignore[arg-type]  # what a file may hold
