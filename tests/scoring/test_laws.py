"""Laws that hold for every document, found false by hypothesis if they are."""

from __future__ import annotations

import copy
import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.records import Json, Outcome, Scorecard, Scores
from tests.checker import check
from tests.solver import scored

WORDS = (
    "amber",
    "birch",
    "cobalt",
    "dune",
    "ember",
    "fjord",
    "garnet",
    "harbor",
    "indigo",
    "juniper",
    "krill",
    "lotus",
)
FREE: Json = {"type": "object"}
MANY = settings(max_examples=60, deadline=None)

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
scalars = st.one_of(
    texts, st.integers(-50, 50), st.floats(-5, 5).map(lambda x: round(x, 2)), st.booleans(), st.none(), st.just("")
)
values = st.recursive(
    scalars,
    lambda below: st.one_of(st.lists(below, max_size=4), st.dictionaries(st.sampled_from(WORDS), below, max_size=4)),
    max_leaves=14,
)
documents = st.dictionaries(st.sampled_from(WORDS), values, max_size=5)
items = st.fixed_dictionaries({"name": texts, "role": texts, "year": st.integers(1990, 2020)})


def moved(value: Json, chance: random.Random) -> Json:
    """The same content: keys and lists in another order, other case and white space."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: moved(value[name], chance) for name in names}
    if isinstance(value, list):
        held = [moved(item, chance) for item in value]
        chance.shuffle(held)
        return held
    if isinstance(value, str) and value:
        return f"  {value.upper()} ".replace(" ", "\u00a0 ") if chance.random() < 0.5 else value.title()
    return value


def totals(card: Scorecard) -> tuple[float, ...]:
    found = card.scores
    return tuple(round(x, 6) for x in (found.quality, found.completeness, found.correctness, found.hallucination))


@MANY
@given(documents)
def test_a_document_against_itself_is_perfect(document: Json) -> None:
    card = scored(FREE, document, copy.deepcopy(document))
    check(card)
    assert totals(card) == (100, 100, 100, 0)
    assert all(not found.missed and not found.extra for found in card.lists)
    assert all(row.outcome in (Outcome.MATCH, Outcome.EMPTY) for row in card.fields)


@MANY
@given(documents, st.randoms(use_true_random=False))
def test_order_case_and_white_space_never_matter_against_itself(document: Json, chance: random.Random) -> None:
    assert totals(scored(FREE, document, moved(document, chance))) == (100, 100, 100, 0)


@MANY
@given(documents, documents, st.randoms(use_true_random=False))
def test_order_case_and_white_space_never_matter(reference: Json, candidate: Json, chance: random.Random) -> None:
    plain = scored(FREE, reference, candidate)
    assert totals(plain) == totals(scored(FREE, reference, moved(candidate, chance)))
    assert totals(plain) == totals(scored(FREE, moved(reference, chance), candidate))


@MANY
@given(documents, values)
def test_any_two_documents_have_scores_that_add_up(reference: Json, candidate: Json) -> None:
    card = scored(FREE, reference, candidate)
    check(card)
    assert all(math.isfinite(x) for x in totals(card))


@MANY
@given(documents, documents)
def test_what_the_reference_fills_does_not_depend_on_the_output(reference: Json, candidate: Json) -> None:
    weight = scored(FREE, reference, candidate).scores.reference_weight
    assert math.isclose(weight, scored(FREE, reference, {}).scores.reference_weight, abs_tol=1e-9)


ITEM: Json = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "role": {"type": "string"}, "year": {"type": "integer"}},
}
LIST: Json = {"type": "object", "properties": {"people": {"type": "array", "items": ITEM}}}
STRANGER: Json = {"name": "zzyzx qoph", "role": "xystus", "year": 1066}


def people(reference: list[Json], candidate: list[Json]) -> Scores:
    card = scored(LIST, {"people": reference}, {"people": candidate})
    check(card)
    return card.scores


@MANY
@given(st.lists(items, min_size=2, max_size=7), st.data())
def test_swapping_a_right_item_for_a_wrong_one_raises_no_score(reference: list[Json], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.sampled_from(reference), min_size=1, max_size=len(reference)))
    kept = [item for item in reference if item in kept]
    at = data.draw(st.integers(0, len(kept) - 1))
    before = people(reference, kept)
    after = people(reference, [*kept[:at], STRANGER, *kept[at + 1 :]])
    assert after.quality <= before.quality + 1e-9
    assert after.completeness <= before.completeness + 1e-9
    assert after.correctness <= before.correctness + 1e-9
    assert after.hallucination >= before.hallucination - 1e-9


@MANY
@given(st.lists(items, min_size=1, max_size=7), st.lists(items, max_size=5), st.data())
def test_adding_a_missing_item_never_lowers_quality(
    reference: list[Json], candidate: list[Json], data: st.DataObject
) -> None:
    card = scored(LIST, {"people": reference}, {"people": candidate})
    missed = list(card.lists[0].missed)
    if missed:
        added = data.draw(st.sampled_from(missed))
        assert people(reference, [*candidate, added]).quality >= card.scores.quality - 1e-9


@MANY
@given(st.lists(items, min_size=1, max_size=7), st.lists(items, max_size=5))
def test_adding_a_wrong_item_never_raises_quality(reference: list[Json], candidate: list[Json]) -> None:
    before = people(reference, candidate)
    assert people(reference, [*candidate, STRANGER]).quality <= before.quality + 1e-9


@MANY
@given(st.lists(texts, max_size=8), st.lists(texts, max_size=8))
def test_every_scalar_item_counts_once(reference: list[Json], candidate: list[Json]) -> None:
    schema: Json = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}
    card = scored(schema, {"tags": reference}, {"tags": candidate})
    check(card)
    found = card.lists[0]
    common = sum(min(reference.count(text), candidate.count(text)) for text in set(reference))
    assert found.matched == common
    assert len(found.missed) == len(reference) - common
    assert len(found.extra) == len(candidate) - common
