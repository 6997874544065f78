from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sqlalchemy import Engine

from resources.vector_cache import keep_vectors, known_vectors
from scoring.records import Vector
from tests.resources.stored_records import HOSTILE


def vector(*numbers: float) -> Vector:
    return np.array(numbers, dtype=np.float32)


def test_a_vector_comes_back_bit_for_bit_under_its_text(engine: Engine) -> None:
    kept = {"a": vector(0.1, -1e-30, 3e38), HOSTILE: vector(1.0), "": vector(0.5)}
    keep_vectors(engine, "m", kept)
    found = known_vectors(engine, "m", ["a", HOSTILE, "", "unknown", "a"])
    assert set(found) == set(kept)
    assert all(np.array_equal(found[text], kept[text]) and found[text].dtype == np.float32 for text in kept)


def test_models_have_vectors_of_their_own(engine: Engine) -> None:
    keep_vectors(engine, "one", {"a": vector(1.0)})
    assert known_vectors(engine, "other", ["a"]) == {}


def test_the_first_vector_of_a_text_stays(engine: Engine) -> None:
    keep_vectors(engine, "m", {"a": vector(1.0)})
    keep_vectors(engine, "m", {"a": vector(2.0), "b": vector(3.0)})
    found = known_vectors(engine, "m", ["a", "b"])
    assert {text: one.tolist() for text, one in found.items()} == {"a": [1.0], "b": [3.0]}


def test_nothing_is_asked_and_nothing_kept_for_no_texts(engine: Engine) -> None:
    keep_vectors(engine, "m", {})
    assert known_vectors(engine, "m", []) == {}


def test_more_texts_than_fit_one_statement_are_kept_and_found(engine: Engine) -> None:
    texts = [f"text {number}" for number in range(4_500)]
    keep_vectors(engine, "m", {text: vector(float(number)) for number, text in enumerate(texts)})
    found = known_vectors(engine, "m", texts)
    assert len(found) == 4_500
    assert found["text 4321"].tolist() == [4321.0]


def test_writers_of_the_same_texts_never_wait_for_each_other_in_a_circle(engine: Engine) -> None:
    texts = [f"text {number}" for number in range(500)]
    orders = [texts, texts[::-1]] * 2
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda order: keep_vectors(engine, "m", {text: vector(1.0) for text in order}), orders))
    assert len(known_vectors(engine, "m", texts)) == 500
