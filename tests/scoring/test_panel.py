from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.panel import (
    Ballot,
    Vote,
    ballots_for,
    combined,
    is_flipped,
    mapped_back,
    message_for,
    worths_of,
)
from scoring.questions import COMPARE_VERDICTS, VERIFY_VERDICTS
from scoring.records import Answer, Evidence, Question, QuestionKind, Verdict
from scoring.verdicts import worth_of

A_BETTER, B_BETTER, A_WRONG, B_WRONG = Verdict.A_BETTER, Verdict.B_BETTER, Verdict.A_WRONG, Verdict.B_WRONG
BOTH, NEITHER = Verdict.BOTH_CORRECT, Verdict.BOTH_WRONG
MIRROR = {A_BETTER: B_BETTER, B_BETTER: A_BETTER, A_WRONG: B_WRONG, B_WRONG: A_WRONG, BOTH: BOTH, NEITHER: NEITHER}


def answer(verdict: Verdict, credit: float = 0.5) -> Answer:
    return Answer(verdict=verdict, credit=credit, basis="knowledge", reason=f"Because {verdict}.")


def vote(verdict: Verdict, credit: float = 0.5, *, model: str = "one", swapped: bool = False) -> Vote:
    """A vote whose verdict is meant in the question's own order."""
    said = MIRROR[verdict] if swapped and verdict in MIRROR else verdict
    return Vote(ballot=Ballot(judge_model=model, is_swapped=swapped), answer=answer(said, credit))


def panel(*votes: tuple[Verdict, float]) -> list[Vote]:
    return [vote(verdict, credit, model=f"judge-{number}") for number, (verdict, credit) in enumerate(votes)]


def compare(votes: list[Vote]) -> Answer:
    return combined(QuestionKind.COMPARE, votes)


def test_one_vote_is_the_answer_itself() -> None:
    assert compare([vote(A_BETTER, 0.4)]) == answer(A_BETTER, 0.4)


def test_a_swapped_vote_is_mapped_back() -> None:
    assert mapped_back(vote(A_WRONG, 0.1, swapped=True)).verdict is A_WRONG
    assert compare([vote(B_BETTER, 0.4, swapped=True)]).verdict is B_BETTER


PANELS = [
    ([(BOTH, 1.0), (BOTH, 1.0), (B_WRONG, 0.0)], BOTH, (1.0, 1.0)),
    ([(A_BETTER, 0.3), (A_BETTER, 0.5), (A_BETTER, 0.8)], A_BETTER, (1.0, 0.5)),
    ([(B_WRONG, 0.0), (B_WRONG, 0.2), (A_BETTER, 0.8)], B_WRONG, (1.0, 0.2)),
    ([(A_BETTER, 0.6), (BOTH, 1.0)], A_BETTER, (1.0, 0.8)),
    ([(A_BETTER, 0.5), (B_BETTER, 0.5)], BOTH, (0.75, 0.75)),
    ([(NEITHER, 0.2), (NEITHER, 0.0), (BOTH, 1.0)], NEITHER, (0.2, 0.2)),
    ([(A_WRONG, 0.1), (NEITHER, 0.2)], A_WRONG, (0.15, 0.6)),
    ([(A_BETTER, 1.0), (A_BETTER, 1.0)], A_BETTER, (1.0, 0.9)),
    ([(B_WRONG, 1.0), (B_WRONG, 1.0)], B_WRONG, (1.0, 0.25)),
]


@pytest.mark.parametrize(("votes", "verdict", "worths"), PANELS)
def test_a_panel_takes_the_median_worth(
    votes: list[tuple[Verdict, float]], verdict: Verdict, worths: tuple[float, float]
) -> None:
    found = compare(panel(*votes))
    assert found.verdict is verdict
    assert found.worths == pytest.approx(worths)
    assert (found.votes, found.is_position_conflict) == (len(votes), False)


def test_a_verdict_that_flips_with_the_order_is_a_tie() -> None:
    always_first = [vote(A_BETTER, 0.3), vote(B_BETTER, 0.3, swapped=True)]
    found = compare(always_first)
    assert (found.verdict, found.worths, found.is_position_conflict) == (BOTH, (1.0, 1.0), True)


@pytest.mark.parametrize(
    ("first", "second", "flipped"),
    [
        (A_BETTER, B_BETTER, True),
        (A_BETTER, A_WRONG, True),
        (B_WRONG, A_WRONG, True),
        (A_BETTER, B_WRONG, False),
        (A_BETTER, BOTH, False),
        (BOTH, NEITHER, False),
        (NEITHER, A_WRONG, False),
    ],
)
def test_only_a_change_of_sides_is_a_flip(first: Verdict, second: Verdict, *, flipped: bool) -> None:
    assert is_flipped(answer(first), answer(second)) is flipped
    assert compare([vote(first), vote(second, swapped=True)]).is_position_conflict is flipped


def test_two_orders_that_agree_on_the_side_count_as_their_mean() -> None:
    found = compare([vote(A_BETTER, 0.4), vote(A_BETTER, 0.8, swapped=True)])
    assert found.verdict is A_BETTER
    assert found.worths == pytest.approx((1.0, 0.6))


def test_a_conflict_of_one_judge_is_a_tie_among_the_opinions_of_a_panel() -> None:
    votes = [vote(A_BETTER, 0.3), vote(B_BETTER, 0.3, swapped=True)]
    votes += [vote(B_WRONG, 0.0, model="two"), vote(B_WRONG, 0.0, model="two", swapped=True)]
    found = compare(votes)
    assert (found.worths, found.verdict, found.is_position_conflict, found.votes) == ((1.0, 0.5), A_BETTER, True, 4)


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ("correct correct wrong", "correct"),
        ("correct wrong", "unsure"),
        ("correct unsure wrong", "unsure"),
        ("correct correct wrong unsure", "unsure"),
        ("wrong wrong correct", "wrong"),
        ("unsure unsure correct", "unsure"),
    ],
)
def test_more_than_half_confirm_a_value_or_nobody_does(verdicts: str, wanted: str) -> None:
    votes = panel(*((Verdict(word), 0.0) for word in verdicts.split()))
    found = combined(QuestionKind.VERIFY, votes)
    assert (found.verdict, found.credit) == (Verdict(wanted), float(wanted == "correct"))


def test_the_words_are_those_of_a_vote_that_agrees_and_all_verdicts_are_told() -> None:
    found = compare(panel((A_WRONG, 0.0), (A_BETTER, 0.5), (A_BETTER, 0.5)))
    assert found.reason.startswith("Because a_better.")
    assert "judge-0 a_wrong, judge-1 a_better, judge-2 a_better" in found.reason


def test_ballots_are_one_a_judge_and_order() -> None:
    names = ["one", "two"]
    assert len(ballots_for(QuestionKind.COMPARE, names, is_swapped=True)) == 4
    assert len(ballots_for(QuestionKind.COMPARE, names, is_swapped=False)) == 2
    assert len(ballots_for(QuestionKind.VERIFY, names, is_swapped=True)) == 2


def test_a_swapped_message_differs_in_nothing_but_the_places() -> None:
    body = {"question": "compare", "A": "\ud800 é", "B": [1, None], "field": {"path": "/x"}}
    message = json.dumps(body, sort_keys=True, separators=(",", ":"))
    question = Question(question_id="q", kind=QuestionKind.COMPARE, path="/x", message=message)
    swapped = message_for(question, Ballot(judge_model="m", is_swapped=True))
    assert json.loads(swapped) == body | {"A": body["B"], "B": body["A"]}
    assert swapped.isascii()
    again = replace(question, message=swapped)
    assert message_for(again, Ballot(judge_model="m", is_swapped=True)) == message


@pytest.mark.parametrize("verdict", VERIFY_VERDICTS)
def test_a_verdict_on_one_value_has_no_worths_for_two(verdict: Verdict) -> None:
    with pytest.raises(ValueError, match="does not answer a comparison"):
        worths_of(answer(verdict))


credits_ = st.floats(0, 1)
verdicts = st.sampled_from(COMPARE_VERDICTS)
votes_of_panels = st.lists(st.tuples(verdicts, credits_), min_size=2, max_size=5)


@given(verdicts, credits_)
def test_the_worths_of_a_vote_are_what_the_candidate_earns_in_either_role(verdict: Verdict, credit: float) -> None:
    a, b = worths_of(answer(verdict, credit))
    assert worth_of(answer(verdict, credit), is_reference_a=True).credit == b
    assert worth_of(answer(verdict, credit), is_reference_a=False).credit == a


@given(votes_of_panels)
def test_a_panel_of_mirrored_votes_gives_the_mirrored_answer(votes: list[tuple[Verdict, float]]) -> None:
    found = compare(panel(*votes))
    mirrored = compare(panel(*((MIRROR[verdict], credit) for verdict, credit in votes)))
    assert found.worths is not None
    assert mirrored.worths == found.worths[::-1]
    assert mirrored.verdict is MIRROR[found.verdict]


@given(votes_of_panels, st.randoms(use_true_random=False))
def test_the_order_of_the_votes_makes_no_difference(votes: list[tuple[Verdict, float]], order: object) -> None:
    cast = panel(*votes)
    shuffled = list(cast)
    order.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert compare(shuffled) == compare(cast)


@given(verdicts, credits_, st.integers(2, 5))
def test_a_unanimous_panel_says_what_each_says(verdict: Verdict, credit: float, count: int) -> None:
    found = compare(panel(*[(verdict, credit)] * count))
    assert found.worths == pytest.approx(worths_of(answer(verdict, credit)))
    for is_reference_a in (True, False):
        alone = worth_of(answer(verdict, credit), is_reference_a=is_reference_a)
        together = worth_of(found, is_reference_a=is_reference_a)
        assert together.credit == pytest.approx(alone.credit)
        assert (together.evidence, together.has_proposal) == (alone.evidence, alone.has_proposal)


def test_a_median_that_finds_the_reference_wrong_is_a_finding() -> None:
    found = compare(panel((A_WRONG, 0.0), (A_WRONG, 0.1), (BOTH, 1.0)))
    worth = worth_of(found, is_reference_a=True)
    assert (worth.credit, worth.evidence) == (1.0, Evidence.REFERENCE_WRONG)
