"""Lists in which order counts."""

from __future__ import annotations

import pytest

from scoring.records import Json, ListOrder, Outcome, Scorecard
from tests.checker import check
from tests.solver import scored


def compared(properties: Json, reference: Json, candidate: Json) -> Scorecard:
    card = scored({"type": "object", "properties": {"list": properties}}, {"list": reference}, {"list": candidate})
    check(card)
    return card


SEQUENCE: Json = {"type": "array", "items": {"type": "string"}, "x-assay": {"list": "sequence"}}


@pytest.mark.parametrize(
    ("candidate", "matched", "missed", "extra"),
    [
        (["a", "b", "c", "d"], 4, [], []),
        (["b", "c", "d"], 3, ["a"], []),
        (["a", "x", "b", "c", "d"], 4, [], ["x"]),
        (["d", "a", "b", "c"], 3, ["d"], ["d"]),
        (["d", "c", "b", "a"], 1, ["a", "b", "d"], ["d", "c", "b"]),
        ([], 0, ["a", "b", "c", "d"], []),
        (["x", "y"], 0, ["a", "b", "c", "d"], ["x", "y"]),
    ],
)
def test_order_counts_and_a_gap_does_not_shift_the_rest(
    candidate: list[Json], matched: int, missed: list[Json], extra: list[Json]
) -> None:
    found = compared(SEQUENCE, ["a", "b", "c", "d"], candidate).lists[0]
    assert found.order is ListOrder.SEQUENCE
    assert (found.matched, len(found.missed), len(found.extra)) == (matched, len(missed), len(extra))


def test_objects_of_a_sequence_align_by_likeness() -> None:
    step: Json = {"type": "object", "properties": {"do": {"type": "string"}, "minutes": {"type": "integer"}}}
    place: Json = {"type": "array", "items": step, "x-assay": {"list": "sequence"}}
    reference: Json = [{"do": "chop", "minutes": 5}, {"do": "boil", "minutes": 20}, {"do": "serve", "minutes": 1}]
    found = compared(place, reference, [{"do": "chop", "minutes": 5}, {"do": "serve", "minutes": 2}])
    assert found.lists[0].missed == ({"do": "boil", "minutes": 20},)
    assert [row.path for row in found.fields if row.outcome is Outcome.MISMATCH] == ["/list/2/minutes"]


def test_a_tuple_is_compared_position_by_position() -> None:
    place: Json = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}, {"type": "string"}]}
    card = compared(place, [52.1, 4.3, "Delft"], [4.3, 52.1, "delft"])
    assert [(row.path, row.outcome) for row in card.fields] == [
        ("/list/0", Outcome.MISMATCH),
        ("/list/1", Outcome.MISMATCH),
        ("/list/2", Outcome.MATCH),
    ]


def test_a_hole_in_a_tuple_stays_a_hole() -> None:
    place: Json = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}, {"type": "string"}]}
    found = compared(place, ["a", "b", "c"], ["a", None, "c"]).lists[0]
    assert (found.matched, found.missed, found.extra) == (2, ("b",), ())


def test_long_sequences_are_cut_at_their_equal_items() -> None:
    reference: list[Json] = [f"step {n}" for n in range(3000)]
    candidate: list[Json] = [*reference[1:1500], "odd one", *reference[1502:], "last"]
    found = compared(SEQUENCE, reference, candidate).lists[0]
    assert (found.matched, found.missed) == (2997, ("step 0", "step 1500", "step 1501"))
    assert found.extra == ("odd one", "last")


def test_long_sequences_with_nothing_in_common_have_a_score() -> None:
    found = compared(SEQUENCE, [f"a{n}" for n in range(3000)], [f"b{n}" for n in range(3000)]).lists[0]
    assert (found.matched, len(found.missed), len(found.extra)) == (0, 3000, 3000)
