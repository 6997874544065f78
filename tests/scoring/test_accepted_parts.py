"""Accepted values for whole objects and lists (SPEC 3, several right answers)."""

from __future__ import annotations

import pytest

from scoring.records import FieldScore, Json, Outcome, Rung, Scorecard, Side
from tests.checker import check
from tests.solver import config_with, scored

REFERENCE: Json = {
    "title": "Dune",
    "maker": {"name": "Frank Herbert", "born": "1920-10-08"},
    "places": ["Arrakis", "Caladan", "Giedi Prime"],
    "cast": [{"name": "Paul", "age": 15}, {"name": "Jessica", "age": 36}],
}
NAMES: dict[str, Json] = {name: {"type": "string"} for name in ("title", "name", "born")}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "title": NAMES["title"],
        "maker": {"type": "object", "properties": NAMES},
        "places": {"type": "array", "items": {"type": "string"}},
        "cast": {"type": "array", "items": {"type": "object"}},
    },
}


def card_of(accepted: dict[str, list[Json]], **changed: Json) -> Scorecard:
    assert isinstance(REFERENCE, dict)
    card = scored(SCHEMA, REFERENCE, {**REFERENCE, **changed}, config=config_with(accepted=accepted))
    check(card)
    return card


def row_at(card: Scorecard, path: str) -> FieldScore:
    (row,) = [row for row in card.fields if row.path == path and row.side is Side.REFERENCE]
    return row


MAKER: Json = {"name": "F. P. Herbert Jr", "born": "8 October 1920"}


@pytest.mark.parametrize(
    ("path", "accepted", "changed", "rung"),
    [
        ("/maker", MAKER, {"maker": MAKER}, Rung.EXACT),
        ("/maker", MAKER, {"maker": {"born": "8 october 1920", "name": "f. p. herbert jr "}}, Rung.NORMALIZED),
        ("/places", ["Dune", "Caladan"], {"places": ["caladan", "Dune"]}, Rung.NORMALIZED),
        ("/places", "Arrakis", {"places": "Arrakis"}, Rung.EXACT),
        ("/cast", [{"name": "Chani"}], {"cast": [{"name": "Chani"}]}, Rung.EXACT),
        (
            "/cast/1",
            {"name": "Lady J.", "age": 37},
            {"cast": [{"name": "Lady J.", "age": 37}, {"name": "Paul", "age": 15}]},
            Rung.EXACT,
        ),
    ],
)
def test_an_accepted_whole_earns_the_whole_place(
    path: str, accepted: Json, changed: dict[str, Json], rung: Rung
) -> None:
    card = card_of({path: [accepted]}, **changed)
    row = row_at(card, path)
    assert (row.outcome, row.rung, card.scores.quality) == (Outcome.MATCH, rung, 100)
    assert card.scores.reference_weight == pytest.approx(card_of({}).scores.reference_weight)
    assert card_of({}, **changed).scores.quality < 100


def test_the_reference_itself_still_counts_and_field_by_field() -> None:
    card = card_of({"/maker": [MAKER], "/places": [["Dune"]]})
    assert card.scores.quality == 100
    assert row_at(card, "/maker/born").outcome is Outcome.MATCH


@pytest.mark.parametrize("wrong", [{"name": "F. P. Herbert Jr"}, {"name": "Somebody Else", "born": "1999-01-01"}, {}])
def test_what_equals_no_accepted_whole_is_compared_with_the_reference(wrong: Json) -> None:
    assert card_of({"/maker": [MAKER, {}]}, maker=wrong).scores == card_of({}, maker=wrong).scores


def test_an_accepted_list_is_a_list_without_faults() -> None:
    (found,) = [one for one in card_of({"/places": [["Dune"]]}, places=["dune"]).lists if one.path == "/places"]
    assert (found.matched, found.missed, found.extra, found.f1) == (1, (), (), 1.0)
