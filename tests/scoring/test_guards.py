from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.guards import guard_against
from scoring.text import normal_form

GUARDED = [
    ("iPhone 12", "iPhone 13", "numbers differ"),
    ("GPT-4", "GPT-4o", "numbers differ"),
    ("version 1.2.3", "version 1.2.4", "numbers differ"),
    ("Elizabeth I", "Elizabeth II", "numbers differ"),
    ("Elizabeth I", "Elizabeth", "numbers differ"),
    ("First World War", "Second World War", "numbers differ"),
    ("twelve apostles", "ten apostles", "numbers differ"),
    ("£50m", "£50bn", "numbers differ"),
    ("1930s", "1930", "numbers differ"),
    ("-5 °C", "5 °C", "numbers differ"),
    ("vitamin B", "vitamin C", "numbers differ"),
    ("500 mg", "500 g", "units differ"),
    ("20 °C", "20 °F", "units differ"),
    ("7 am", "7 pm", "units differ"),
    ("35 years", "35 months", "units differ"),
    ("C. B. A. Company", "A. B. C. Company", "letters differ"),
    ("the drug is not safe", "the drug is safe", "negation"),
    ("mit Zucker", "ohne Zucker", "negation"),
    ("wolno", "nie wolno", "negation"),
    ("left hand", "right hand", "opposites: left/right"),
    ("possible", "impossible", "opposites: impossible/possible"),
    ("hypertension", "hypotension", "opposites: hypertension/hypotension"),
    ("sodium nitrate", "sodium nitrite", "opposites: nitrate/nitrite"),
    ("John Smith Jr.", "John Smith Sr.", "opposites: jr/sr"),
    ("linke Seite links", "linke Seite rechts", "opposites: links/rechts"),
]
FREE = [
    ("Henry II", "Henry the Second"),
    ("twenty-five", "25"),
    ("the 25th", "the twenty-fifth"),
    ("£50m", "£50 million"),
    ("10%", "10 percent"),
    ("35 yrs", "35 years"),
    ("1,000 people", "1000 people"),
    ("two thousand", "2000"),
    ("1.50 m", "1.5 metres"),
    ("No. 5", "number 5"),
    ("a second time", "again"),
    ("the one", "him"),
    ("Xi Jinping", "Jinping Xi"),
    ("red car", "crimson automobile"),
]


@pytest.mark.parametrize(("left", "right", "reason"), GUARDED)
def test_similarity_is_not_trusted_with_this_difference(left: str, right: str, reason: str) -> None:
    assert guard_against(normal_form(left), normal_form(right)) == reason
    assert guard_against(normal_form(right), normal_form(left)) == reason


@pytest.mark.parametrize(("left", "right"), FREE)
def test_the_same_facts_in_other_words_are_not_guarded(left: str, right: str) -> None:
    assert guard_against(normal_form(left), normal_form(right)) is None
    assert guard_against(normal_form(right), normal_form(left)) is None


def test_a_number_that_the_field_itself_names_is_a_repetition() -> None:
    context = normal_form("Who won the 1980 World Series?")
    answer = normal_form("The Phillies won the 1980 World Series")
    assert guard_against("phillies", answer) == "numbers differ"
    assert guard_against("phillies", answer, context) is None


def test_the_field_cannot_excuse_two_different_numbers() -> None:
    assert guard_against("5 apples", "6 apples", "were there 5 or 6 apples") == "numbers differ"


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_the_guard_is_symmetric_and_never_stops_a_text_against_itself(left: str, right: str, context: str) -> None:
    one, other, said = normal_form(left), normal_form(right), normal_form(context)
    assert guard_against(one, other, said) == guard_against(other, one, said)
    assert guard_against(one, one, said) is None
