from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.similarity import Relation, combined_similarity, relation_of
from scoring.strictness import LOCAL_MODEL
from scoring.text import normal_form


@pytest.mark.parametrize(
    ("reference", "candidate", "relation"),
    [
        ("acronym", "acronyms", Relation.SAME_WORDS),
        ("Albert Einstein", "The theory was developed by Albert Einstein", Relation.SENTENCE),
        ("calcium", "calcium (Ca)", Relation.APPOSITION),
        ("Oslo", "Oslo, Norway", Relation.APPOSITION),
        ("Thomas Edison", "Thomas Alva Edison", Relation.MIDDLE_NAMES),
        ("Mikhail Khodorkovsky", "Mikhail Khodorkowsky", Relation.MISSPELT),
        ("Royal Oak", "HMS Royal Oak", Relation.CONTAINED),
        ("Joaquin Rafael Phoenix", "Rafael Phoenix", Relation.SHORTENED),
        ("Mercedes Benz", "Mercedes", Relation.ONE_WORD),
        ("fundamental right", "constitutional right", Relation.OVERLAP),
        ("Banco Santander", "Banco Popular", Relation.OVERLAP),
        ("Iran", "Iraq", Relation.DISJOINT),
        ("Austria", "Australia", Relation.DISJOINT),
        ("methanol", "ethanol", Relation.DISJOINT),
    ],
)
def test_words_relate_in_a_named_way(reference: str, candidate: str, relation: Relation) -> None:
    assert relation_of(normal_form(reference), normal_form(candidate)) is relation


def test_words_that_repeat_the_context_do_not_count() -> None:
    assert relation_of("joey", "baby marsupial joey called", "what is a baby marsupial called") is Relation.SAME_WORDS


@pytest.mark.parametrize("cosine", [-0.2, 0.62, 0.91, 1.0])
def test_a_model_that_was_not_measured_keeps_its_bare_cosine(cosine: float) -> None:
    assert combined_similarity("oslo", "oslo, norway", cosine, model_name="api.example.org/embed") == cosine


def test_an_answer_in_a_sentence_is_lifted_over_the_limit_of_the_local_model() -> None:
    texts = normal_form("Albert Einstein"), normal_form("The theory was developed by Albert Einstein")
    assert combined_similarity(*texts, 0.90, model_name=LOCAL_MODEL) >= 0.97


def test_texts_that_differ_in_some_words_stay_below_it() -> None:
    assert combined_similarity("fundamental right", "constitutional right", 0.99, model_name=LOCAL_MODEL) < 0.97


@given(st.text(max_size=30), st.text(max_size=30), st.floats(-1, 1), st.floats(-1, 1))
def test_similarity_stays_in_range_and_never_falls_as_the_cosine_rises(
    left: str, right: str, one: float, other: float
) -> None:
    texts = normal_form(left), normal_form(right)
    low, high = sorted((one, other))
    lower = combined_similarity(*texts, low, model_name=LOCAL_MODEL)
    higher = combined_similarity(*texts, high, model_name=LOCAL_MODEL)
    assert -1 <= lower <= higher <= 1
