from __future__ import annotations

import pytest

from scoring.words import collapsed, with_digits, with_one_region, without_accents, words_of


@pytest.mark.parametrize(
    ("normal", "words"),
    [
        ("c++ and c#", ("c++", "and", "c#")),
        ("-5 °c", ("-5", "°", "c")),
        ("1648-51", ("1648", "51")),
        ("u.s.a", ("u", "s", "a")),
        ("o'brien", ("obrien",)),
        ("1,000 (foo)", ("1000", "foo")),
        ("1.5", ("1.5",)),
        ("£50m", ("£", "50", "m")),
        ("a-", ("a", "-")),
        ("মোহাম্মদ সাহাবুদ্দিন", ("মোহাম্মদ", "সাহাবুদ্দিন")),
        ("...", ()),
    ],
)
def test_words_are_letters_numbers_and_telling_symbols(normal: str, words: tuple[str, ...]) -> None:
    assert words_of(normal) == words


@pytest.mark.parametrize(
    ("normal", "words"),
    [
        ("twenty-five", ("25",)),
        ("twenty-fifth", ("25th",)),
        ("the 2nd of may", ("the", "2th", "of", "may")),
        ("henry the second", ("henry", "2")),
        ("pius xii", ("pius", "12")),
        ("50 million", ("50000000",)),
        ("1.5 million", ("1500000",)),
        ("£50m", ("£", "50000000")),
        ("50 m", ("50", "m")),
        ("xi jinping", ("xi", "jinping")),
    ],
)
def test_numbers_come_in_digits(normal: str, words: tuple[str, ...]) -> None:
    assert with_digits(words_of(normal)) == words


def test_accents_go_from_latin_and_stay_in_other_scripts() -> None:
    assert without_accents(("erdoğan", "ørsted", "йотова", "مُحَمَّد")) == ("erdogan", "orsted", "йотова", "مُحَمَّد")


def test_single_letters_in_a_row_are_one_word() -> None:
    assert collapsed(("the", "u", "s", "a", "today")) == ("the", "usa", "today")


def test_british_endings_become_american_ones() -> None:
    assert with_one_region(("labour", "organisation", "theatre", "four")) == (
        "labor",
        "organization",
        "theater",
        "four",
    )
