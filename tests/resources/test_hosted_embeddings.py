from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest

from resources.hosted_embeddings import BATCH_TEXTS, HostedEmbeddings, host_of
from resources.vectors import EmbeddingError
from scoring.errors import InputError
from tests import embeddings_server as server

KEY = "sk-very-secret-key-0123456789"


def embedder(served: Any, key: str | None = KEY) -> HostedEmbeddings:
    environment = {} if key is None else {"ASSAY_TEST_KEY": key}
    return HostedEmbeddings(
        base_url=served.url, model="org/embed-1", api_key_env="ASSAY_TEST_KEY", environment=environment
    )


def failure(reply: Any, texts: list[str] | None = None) -> str:
    """The message of the error that this answer leads to."""
    with server.serving(reply) as served, pytest.raises(EmbeddingError) as caught:
        embedder(served).vectors(["alpha", "beta"] if texts is None else texts)
    assert KEY not in str(caught.value)
    assert "org/embed-1" in str(caught.value)
    return str(caught.value)


def test_every_distinct_text_gets_its_unit_vector() -> None:
    with server.serving() as served:
        vectors = embedder(served).vectors(["alpha", "beta", "alpha"])
    assert list(vectors) == ["alpha", "beta"]
    for text, vector in vectors.items():
        wanted = np.array(server.numbers_of(text))
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector, wanted / np.linalg.norm(wanted), rtol=1e-6)
    assert served.texts() == ["alpha", "beta"]
    assert served.keys == [f"Bearer {KEY}"]
    assert served.bodies[0]["encoding_format"] == "base64"


def test_no_connection_outlives_the_call() -> None:
    with server.serving() as served:
        embedder(served).vectors(["alpha", "beta"])
        port = urlsplit(served.url).port
        assert [one for one in psutil.Process().net_connections() if one.raddr and one.raddr.port == port] == []


def test_a_server_that_answers_with_lists_is_read_too() -> None:
    def floats(body: Any, _count: int) -> Any:
        return server.answer(body, [server.numbers_of(text) for text in body["input"]])

    with server.serving(floats) as served:
        assert set(embedder(served).vectors(["alpha", "beta"])) == {"alpha", "beta"}


def test_a_server_that_refuses_base64_is_asked_for_lists() -> None:
    def plain_only(body: Any, _count: int) -> Any:
        return server.error_reply(400, "encoding_format is not supported") if "base64" in body.values() else None

    with server.serving(plain_only) as served:
        assert len(embedder(served).vectors(["alpha", "beta"])) == 2
    assert [body["encoding_format"] for body in served.bodies] == ["base64", "float"]


def test_rows_in_another_order_find_their_texts() -> None:
    def shuffled(body: Any, _count: int) -> Any:
        data = [{"index": place, "embedding": server.numbers_of(text)} for place, text in enumerate(body["input"])]
        return server.json_reply(200, {"object": "list", "model": "m", "data": data[::-1]})

    with server.serving(shuffled) as served:
        vectors = embedder(served).vectors(["alpha", "beta"])
    wanted = np.array(server.numbers_of("alpha"))
    np.testing.assert_allclose(vectors["alpha"], wanted / np.linalg.norm(wanted), rtol=1e-6)


def test_texts_go_out_in_batches_and_progress_is_told() -> None:
    texts = [f"text {number}" for number in range(2 * BATCH_TEXTS + 3)]
    told: list[tuple[int, int]] = []
    with server.serving() as served:
        vectors = embedder(served).vectors(texts, lambda done, total: told.append((done, total)))
    assert list(vectors) == texts
    assert sorted(len(body["input"]) for body in served.bodies) == [3, BATCH_TEXTS, BATCH_TEXTS]
    assert told[-1] == (len(texts), len(texts))


def test_long_texts_make_small_batches() -> None:
    with server.serving() as served:
        embedder(served).vectors([f"{number} " + "long " * 10_000 for number in range(6)])
    assert len(served.bodies) > 1
    assert max(len(text) for text in served.texts()) <= 24_000


def test_what_no_server_reads_is_replaced() -> None:
    with server.serving() as served:
        vectors = embedder(served).vectors(["a\0b", "\ud800", " "])
    assert set(vectors) == {"a\0b", "\ud800", " "}
    assert served.texts() == ["a b", "?", "-"]


def test_a_busy_server_is_asked_again_after_the_pause_it_wants() -> None:
    def busy(_body: Any, count: int) -> Any:
        return server.error_reply(429, "slow down", Retry_After="0.05") if count == 1 else None

    with server.serving(busy) as served:
        assert len(embedder(served).vectors(["alpha"])) == 1
    assert len(served.bodies) == 2


def test_a_server_in_trouble_is_asked_again() -> None:
    def troubled(_body: Any, count: int) -> Any:
        return server.error_reply(503, "restarting", Retry_After="0.01") if count < 3 else None

    with server.serving(troubled) as served:
        assert len(embedder(served).vectors(["alpha"])) == 1
    assert len(served.bodies) == 3


def test_a_batch_that_is_too_large_is_halved() -> None:
    def small_batches(body: Any, _count: int) -> Any:
        return server.error_reply(413, "batch too large") if len(body["input"]) > 2 else None

    with server.serving(small_batches) as served:
        assert len(embedder(served).vectors([f"text {number}" for number in range(7)])) == 7


def test_a_refused_text_is_named() -> None:
    def picky(body: Any, _count: int) -> Any:
        return server.error_reply(400, "bad input") if "beta" in body["input"] else None

    assert "'beta' with HTTP 400: " in failure(picky)


def test_a_wrong_key_stops_at_once_and_is_never_shown() -> None:
    def locked(_body: Any, _count: int) -> Any:
        return server.error_reply(401, f"the key {KEY} is wrong")

    assert "HTTP 401" in failure(locked)
    assert "***" in failure(locked)


def test_a_web_page_with_status_200_is_no_answer() -> None:
    def page(_body: Any, _count: int) -> Any:
        return 200, {"Content-Type": "text/html"}, b"<html><body>Sign in</body></html>"

    message = failure(page)
    assert "<html>" in message
    assert "/v1" in message


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'"x"', b"{", b'{"data": null}', b'{"data": "x"}', b'{"data": [1, 2]}']
)
def test_json_that_is_no_embeddings_is_no_answer(content: bytes) -> None:
    assert failure(lambda _body, _count: (200, {"Content-Type": "application/json"}, content))


def test_a_missing_vector_is_an_error() -> None:
    assert "gave 1 vectors for 2 texts" in failure(lambda body, _count: server.answer(body, [[1.0, 2.0]]))


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ([0.0, 0.0], "zero"),
        ([None, None], "null"),
        ([1.0, None], "null"),
        (None, "no list of numbers"),
        ([], "no list of numbers"),
        ("!!!", "no list of numbers"),
        (["a", "b"], "no list of numbers"),
        ([[1.0], [2.0]], "no list of numbers"),
    ],
)
def test_a_vector_that_is_none_is_an_error_and_names_its_text(row: object, fault: str) -> None:
    message = failure(lambda body, _count: server.answer(body, [[1.0, 2.0], row]))
    assert "'beta'" in message
    assert fault in message


def test_nan_is_no_number() -> None:
    def broken(body: Any, _count: int) -> Any:
        status, headers, content = server.answer(body, [[1.0, 2.0], [1.0, "NAN"]])
        return status, headers, content.replace(b'"NAN"', b"NaN")

    assert "'beta'" in failure(broken)


def test_vectors_of_two_lengths_are_an_error() -> None:
    assert "gave 3 numbers" in failure(lambda body, _count: server.answer(body, [[1.0, 2.0], [1.0, 2.0, 3.0]]))


def test_a_long_text_is_shortened_in_messages() -> None:
    message = failure(lambda body, _count: server.answer(body, [[0.0, 0.0]]), ["x" * 500])
    assert len(message) < 250


def test_a_server_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.hosted_embeddings.RETRIES", 0)
    with server.serving() as served:
        pass
    with pytest.raises(EmbeddingError, match="embed-1"):
        embedder(served).vectors(["alpha"])


def test_a_missing_key_is_the_users_to_mend_and_named() -> None:
    with server.serving() as served, pytest.raises(InputError, match="ASSAY_TEST_KEY is not set"):
        embedder(served, key=None).vectors(["alpha"])


def test_nothing_to_embed_needs_no_key() -> None:
    with server.serving() as served:
        assert embedder(served, key=None).vectors([]) == {}
    assert served.bodies == []


def test_a_local_server_needs_no_key() -> None:
    with server.serving() as served:
        model = HostedEmbeddings(base_url=served.url, model="m", api_key_env=None, environment={})
        assert len(model.vectors(["alpha"])) == 1


def test_the_name_holds_host_and_model_and_no_password() -> None:
    assert host_of("https://user:secret@API.example.org:8443/v1") == "api.example.org:8443"


@pytest.mark.parametrize("address", ["api.example.org/v1", "ftp://example.org", "http://", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no http address"):
        host_of(address)
