"""What scoring says about the reference (SPEC 7)."""

from __future__ import annotations

import pytest

from scoring.records import Context, Evidence, Json, Verdict
from tests.solver import Judge, config_with, no_judge, says, scored

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "mass": {"type": "number"},
        "cast": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "number"}}},
        },
    },
}


def findings(
    reference: Json, candidate: Json, *, judge: Judge | None = None, examples: tuple[Json, ...] = ()
) -> list[tuple[str, Evidence, bool, Json]]:
    card = scored(
        SCHEMA,
        reference,
        candidate,
        config=config_with(has_judge=judge is not None),
        judge=judge or no_judge,
        context=Context(examples=examples),
    )
    return [(found.path, found.evidence, found.has_proposal, found.proposal) for found in card.findings]


def test_two_right_values_leave_nothing_and_two_wrong_ones_no_proposal() -> None:
    assert findings({"mass": 1}, {"mass": 2}, judge=says(Verdict.BOTH_CORRECT)) == []
    found = findings({"mass": 1}, {"mass": 2}, judge=says(Verdict.BOTH_WRONG))
    assert found == [("/mass", Evidence.REFERENCE_WRONG, False, None)]


@pytest.mark.parametrize(
    ("verdicts", "evidence"),
    [
        ((Verdict.A_BETTER, Verdict.B_BETTER), Evidence.BETTER),
        ((Verdict.A_WRONG, Verdict.B_WRONG), Evidence.REFERENCE_WRONG),
    ],
)
def test_one_of_the_two_sides_proposes_the_candidate_s_value(
    verdicts: tuple[Verdict, Verdict], evidence: Evidence
) -> None:
    found = [findings({"mass": 1}, {"mass": 2}, judge=says(verdict)) for verdict in verdicts]
    assert sorted(found) == [[], [("/mass", evidence, True, 2)]]


def test_a_confirmed_value_fills_a_gap() -> None:
    found = findings({"cast": [{"name": "Ann"}]}, {"cast": [{"name": "Ann", "age": 4}]}, judge=says(Verdict.CORRECT))
    assert found == [("/cast/0/age", Evidence.FILLED_GAP, True, 4)]


def test_an_example_that_holds_the_candidate_s_value_is_proof_without_a_judge() -> None:
    assert findings({"mass": 1}, {"mass": 2}, examples=({"mass": 2.0},)) == [("/mass", Evidence.EXAMPLE, True, 2)]
    assert findings({"mass": 1}, {"mass": 2}, examples=({"mass": 3},)) == []
    assert findings({"mass": 1}, {"mass": 2}, examples=({"mass": 2}, {"mass": 1})) == []


def test_an_example_outranks_the_judge() -> None:
    found = findings({"mass": 1}, {"mass": 2}, judge=says(Verdict.BOTH_WRONG), examples=({"mass": 2},))
    assert found == [("/mass", Evidence.EXAMPLE, True, 2)]


def test_in_a_list_the_item_of_the_same_name_counts() -> None:
    reference: Json = {"cast": [{"name": "Ann", "age": 3}, {"name": "Bo", "age": 5}]}
    candidate: Json = {"cast": [{"name": "Bo", "age": 6}, {"name": "Ann", "age": 3}]}
    example: Json = {"cast": [{"name": "Cy", "age": 6}, {"name": "BO", "age": 6}]}
    assert findings(reference, candidate, examples=(example,)) == [("/cast/1/age", Evidence.EXAMPLE, True, 6)]
    assert findings(reference, candidate, examples=({"cast": [{"name": "Cy", "age": 6}]},)) == []
