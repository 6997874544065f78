"""The ladder of one leaf (SPEC 3)."""

from __future__ import annotations

import pytest

from scoring.records import Context, Document, FieldScore, Json, Kind, Origin, Outcome, Rung, ScoringConfig, Verdict
from tests.checker import check
from tests.solver import Cosine, Judge, config_with, cosine_from, no_judge, says, scored


def leaf(
    kind: str,
    reference: Json,
    candidate: Json,
    *,
    config: ScoringConfig | None = None,
    cosine: Cosine | None = None,
    judge: Judge = no_judge,
    context: Context | None = None,
    **annotation: Json,
) -> FieldScore:
    schema: Json = {"type": "object", "properties": {"x": {"x-assay": {"kind": kind, **annotation}}}}
    card = scored(
        schema, {"x": reference}, {"x": candidate}, config=config, cosine=cosine, judge=judge, context=context
    )
    check(card)
    return card.fields[0]


def near(similarity: float) -> Cosine:
    return cosine_from([], default=similarity)


SIMILAR = config_with(same=0.9, undecided=0.8)
JUDGED = config_with(same=0.9, undecided=0.8, has_judge=True)
BLIND = config_with(has_judge=True)


@pytest.mark.parametrize(
    ("kind", "reference", "candidate", "rung"),
    [
        ("text", "Ada", "Ada", Rung.EXACT),
        ("text", "Ada", " ADA ", Rung.NORMALIZED),
        ("number", 4, 4, Rung.EXACT),
        ("number", 4, "4.0", Rung.NORMALIZED),
        ("date", "1972-03-14", "14 March 1972", Rung.CALENDAR),
        ("boolean", True, "TRUE", Rung.NORMALIZED),
        ("enum", "red", "Red", Rung.NORMALIZED),
        ("identifier", "A-17", "a-17", Rung.NORMALIZED),
        ("prose", "All is well.", "all is  well", Rung.NORMALIZED),
    ],
)
def test_a_free_rung_matches_without_any_model(kind: str, reference: Json, candidate: Json, rung: Rung) -> None:
    row = leaf(kind, reference, candidate)
    assert (row.outcome, row.rung, row.credit, row.kind) == (Outcome.MATCH, rung, 1, kind)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.TEXT])
def test_only_text_and_prose_ask_for_vectors(kind: Kind) -> None:
    pairs: dict[Kind, tuple[Json, Json]] = {Kind.NUMBER: (4, 5), Kind.BOOLEAN: (True, False)}
    reference, candidate = pairs.get(kind, ("one thing", "another"))
    cosine = near(0.95) if kind is Kind.PROSE else None
    row = leaf(kind, reference, candidate, config=SIMILAR, cosine=cosine)
    assert row.outcome is (Outcome.PARTIAL if kind is Kind.PROSE else Outcome.MISMATCH)
    assert row.reason


@pytest.mark.parametrize(
    ("similarity", "outcome", "rung"),
    [(0.95, Outcome.MATCH, Rung.EMBEDDING), (0.9, Outcome.MATCH, Rung.EMBEDDING), (0.85, Outcome.MISMATCH, None)],
)
def test_similar_text_matches_from_the_limit_on(similarity: float, outcome: Outcome, rung: Rung | None) -> None:
    row = leaf("text", "the old mill", "a windmill", config=SIMILAR, cosine=near(similarity))
    assert (row.outcome, row.rung, row.similarity) == (outcome, rung, similarity)
    assert row.setting is not None
    assert row.setting.origin is Origin.SCENARIO


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [("iPhone 12", "iPhone 13"), ("500 mg", "500 g"), ("safe for children", "not safe for children")],
)
def test_a_guard_stops_similarity_and_leaves_the_rest_to_the_judge(reference: str, candidate: str) -> None:
    alone = leaf("text", reference, candidate, config=SIMILAR, cosine=near(0.99))
    assert (alone.outcome, alone.rung) == (Outcome.MISMATCH, None)
    judged = leaf("text", reference, candidate, config=JUDGED, cosine=near(0.99), judge=says(Verdict.BOTH_CORRECT))
    assert (judged.outcome, judged.rung) == (Outcome.MATCH, Rung.JUDGE)


def test_undecided_text_goes_to_the_judge_and_different_text_does_not() -> None:
    asked = leaf("text", "mill", "factory", config=JUDGED, cosine=near(0.85), judge=says(Verdict.BOTH_CORRECT))
    assert (asked.outcome, asked.rung, asked.similarity, asked.is_contested) == (Outcome.MATCH, Rung.JUDGE, 0.85, False)
    assert leaf("text", "mill", "factory", config=JUDGED, cosine=near(0.3)).outcome is Outcome.MISMATCH


@pytest.mark.parametrize(("similarity", "credit"), [(0.7, 0.7), (-0.4, 0.0), (1.0, 1.0)])
def test_prose_without_a_judge_earns_its_similarity(similarity: float, credit: float) -> None:
    row = leaf("prose", "One long story.", "Another story.", config=SIMILAR, cosine=near(similarity))
    assert row.credit == pytest.approx(credit, abs=1e-5)
    assert row.rung is Rung.EMBEDDING


def test_prose_without_any_model_is_a_mismatch() -> None:
    assert leaf("prose", "One long story.", "Another story.").outcome is Outcome.MISMATCH


@pytest.mark.parametrize(("kind", "reference", "candidate"), [("prose", "One.", "Two."), ("number", 4, 5)])
def test_all_unequal_prose_and_numbers_go_to_the_judge(kind: str, reference: Json, candidate: Json) -> None:
    row = leaf(kind, reference, candidate, config=BLIND, judge=says(Verdict.BOTH_WRONG, 0.1))
    assert (row.outcome, row.rung, row.credit) == (Outcome.PARTIAL, Rung.JUDGE, 0.1)


@pytest.mark.parametrize("kind", ["text", "prose", "number", "date"])
def test_an_exact_annotation_stops_after_the_free_rungs(kind: str) -> None:
    assert leaf(kind, "1", "2", config=JUDGED, exact=True).outcome is Outcome.MISMATCH
    assert leaf("text", "Ada", "ADA", exact=True).outcome is Outcome.MATCH


def test_the_best_of_several_right_answers_counts() -> None:
    config = config_with(accepted={"/x": ["Holland", "The Netherlands"]})
    assert leaf("text", "Nederland", "holland", config=config).outcome is Outcome.MATCH
    assert leaf("text", "Nederland", "Belgium", config=config).outcome is Outcome.MISMATCH
    assert leaf("text", "Nederland", "Nederland", config=config).outcome is Outcome.MATCH


def test_accepted_values_are_compared_by_similarity_too() -> None:
    config = config_with(same=0.9, accepted={"/x": ["factory"]})
    cosine = cosine_from([("factory", "plant", 0.95), ("mill", "plant", 0.2)])
    assert leaf("text", "mill", "plant", config=config, cosine=cosine).outcome is Outcome.MATCH


@pytest.mark.parametrize(
    ("kind", "candidate"), [("text", "Paris Nord"), ("date", "2 May 1999"), ("identifier", "X-1234")]
)
def test_a_different_value_that_a_document_holds_is_contested(kind: str, candidate: str) -> None:
    text = "It left from paris  nord on 2 May 1999 with number x-1234."
    context = Context(documents=(Document(name="note.txt", text=text),))
    row = leaf(
        kind, "1888-01-01", candidate, config=JUDGED, cosine=near(0.1), judge=says(Verdict.A_WRONG), context=context
    )
    assert row.is_contested
    assert row.rung is Rung.JUDGE


def test_a_value_inside_a_longer_word_of_a_document_is_not_contested() -> None:
    context = Context(documents=(Document(name="note.txt", text="The parishes of Paris-Nordheim"),))
    assert not leaf("text", "Lyon", "Pari", config=JUDGED, cosine=near(0.1), context=context).is_contested


def test_what_most_other_models_say_is_contested() -> None:
    others: tuple[Json, ...] = ({"x": "Lyon"}, {"x": "lyon "}, {"x": "Ghent"}, {})
    context = Context(other_outputs=others)
    judge = says(Verdict.BOTH_WRONG)
    assert leaf("text", "Paris", "Lyon", config=JUDGED, cosine=near(0.1), judge=judge, context=context).is_contested
    assert not leaf("text", "Paris", "Ghent", config=JUDGED, cosine=near(0.1), context=context).is_contested
