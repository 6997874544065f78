import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scoring.text import clean, folded_form, normal_form

SAME = [
    ("Acme  Corp", " ACME Corp ", "case and white space"),
    ("Acme\u00a0Corp", "Acme\tCorp\n", "no-break space"),
    ("Acme\u3000Corp", "Acme\u202fCorp", "ideographic and narrow space"),
    ("Café", "Cafe\u0301", "composition"),
    ("Don't Look Up - Part 2", "Don’t Look Up – Part 2", "typographic quote and dash"),
    ("“quoted”", '"quoted"', "double quotes"),
    ("« Le Monde »", '"Le Monde"', "guillemets with their inner spaces"),
    ("„Der Spiegel“", '"Der Spiegel"', "German quotes"),
    ("O`Brien", "O´Brien", "accents used as apostrophes"),
    ("Hawaiʻi", "Hawai'i", "modifier letter apostrophe"),
    ("−5 °C", "-5 °C", "minus sign"),
    ("wait…", "wait...", "ellipsis"),
    ("org.example:\u200bcore-utils", "\ufefforg.example:core\u2060-utils", "zero-width space, mark, joiner"),
    ("\u200fחיפה\u200f", "חיפה", "direction marks"),
    ("co\u00adoperate", "cooperate", "soft hyphen"),
    ("a\x00b\x07", "ab", "control characters"),
    ("❤\ufe0f", "❤", "emoji presentation"),
    ("ＡＢＣ１２３", "abc123", "full-width forms"),
    ("ﾃﾞｰﾀ", "データ", "half-width katakana"),
    ("ﬁnal oﬃce", "final office", "ligatures"),
    ("ﻣﺮﺣﺒﺎ", "مرحبا", "Arabic presentation forms"),
    ("Elizabeth Ⅱ", "Elizabeth II", "Roman numeral"),
    ("paraŀlel", "paral·lel", "Catalan digraph"),
    ("5 ℃", "5 °C", "degree sign"),
    ("1⁄2", "1/2", "fraction slash"),
    ("Straße", "STRASSE", "sharp s"),
    ("ΟΔΥΣΣΕΥΣ", "Οδυσσεύς".replace("ύ", "υ"), "final sigma"),
    ("İpsala", "İPSALA", "dotted capital I"),
    ("İpsala", " ipsala ", "dotted capital I against i"),
    ("IĞDIR", "Iğdır", "dotless i"),
    ("Ilgaz", "ılgaz", "dotless i in front"),
    ("Berlin", "Berlin.", "closing full stop"),
    ("Acme Inc", "Acme Inc.", "full stop of an abbreviation"),
    ("U.S.", "U.S", "full stop of initials"),
    ("東京", "東京。", "ideographic full stop"),
    ("can\u200dnot", "cannot", "joiner between Latin letters"),
    ("خانه\u200c", "خانه", "non-joiner at the end of a word"),
]

DIFFERENT = [
    ("Panama", "Pnm", "letters"),
    ("C++", "C", "symbols"),
    ("C#", "C", "symbols"),
    ("-5 °C", "5 °C", "sign"),
    ("1.5", "15", "inner point"),
    ("10⁵", "105", "superscript"),
    ("m²", "m2", "superscript"),
    ("½", "1/2", "fraction"),
    ("①", "1", "circled digit"),
    ("™", "tm", "trade mark"),
    ("The Beatles", "Beatles", "article"),
    ("resume", "résumé", "accent"),
    ("wait...", "wait", "ellipsis"),
    ("Who", "Who?", "question mark"),
    ("Yahoo!", "Yahoo", "exclamation mark"),
    ("می\u200cخواهم", "میخواهم", "non-joiner between Persian letters"),
    ("क्\u200dष", "क्ष", "joiner between Devanagari letters"),
    ("👩\u200d💻", "👩💻", "joiner between emoji"),
    ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🏴", "tags that say which flag"),
    ("in_progress", "in progress", "underscore"),
    ("data base", "database", "inner space"),
]

TEXTS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\u0345")
    | st.sampled_from("iıİI\u0307.。… \u200d\u200c\u00ad«»"),
    max_size=12,
)


@pytest.mark.parametrize(("one", "other"), [(one, other) for one, other, _ in SAME], ids=[why for _, _, why in SAME])
def test_texts_that_differ_in_form_only_have_one_normal_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"), [(one, other) for one, other, _ in DIFFERENT], ids=[f"{why} {one}" for one, _, why in DIFFERENT]
)
def test_texts_that_differ_in_content_have_different_normal_forms(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\u200b", "\ufeff \u2060", "\u200d", "\x00", "\u3000\n"])
def test_nothing_visible_has_an_empty_normal_form(blank: str) -> None:
    assert normal_form(blank) == ""


@pytest.mark.parametrize("text", [".", "..", "...", " .", "。"])
def test_full_stops_alone_do_not_become_empty(text: str) -> None:
    assert normal_form(text)


def test_a_folded_form_keeps_the_closing_full_stop() -> None:
    assert folded_form(" AB. ") == "ab."


def test_a_clean_text_keeps_its_case() -> None:
    assert clean(" İstanbul\u200b  “Ａ” ") == 'İstanbul "A"'


def test_lone_surrogates_become_the_replacement_character() -> None:
    assert normal_form("a\ud800b") == "a\ufffdb"
    assert clean("\udfff").encode()


def test_long_texts_follow_the_same_rules() -> None:
    assert normal_form("Ａ  B " * 1000 + "end.") == normal_form("a b " * 1000 + "END")


@given(TEXTS)
@example("a. .")
@example("ab..")
@example("i\u0307\u0307")
@example("İ\u0300")
@example("\u1fef")
def test_normal_and_clean_forms_are_idempotent(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)
    assert clean(clean(text)) == clean(text)
    assert folded_form(folded_form(text)) == folded_form(text)


# A Greek iota subscript under further marks is left out: Unicode itself orders the two differently in each case.
@given(TEXTS.filter(lambda text: "\u0345" not in unicodedata.normalize("NFD", text)))
def test_case_never_matters(text: str) -> None:
    assert normal_form(text.upper()) == normal_form(text.lower()) == normal_form(text)


@given(TEXTS)
def test_composition_never_matters(text: str) -> None:
    assert normal_form(unicodedata.normalize("NFD", text)) == normal_form(unicodedata.normalize("NFC", text))


@given(TEXTS, st.sampled_from([" ", "\t", "\u00a0", "\n\n", "\u3000"]))
def test_outer_and_repeated_white_space_never_matters(text: str, space: str) -> None:
    assert normal_form(space + text.replace(" ", space * 2) + space) == normal_form(text)
