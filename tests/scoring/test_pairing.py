"""Which item answers which (SPEC 4)."""

from __future__ import annotations

import hashlib
import itertools
import random

import numpy as np
import pytest

from scoring.records import Json, ListScore, Outcome, Vector
from tests.checker import check
from tests.solver import Cosine, config_with, cosine_from, scored

WORDS = ("aurora", "basalt", "cedar", "delta", "falcon", "granite", "harbor", "indigo", "juniper", "kestrel", "lagoon")
FIELDS = ("name", "role", "city", "company", "street", "note")


def phrase(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(WORDS).capitalize() for _ in range(count))


def person(chance: random.Random) -> dict[str, Json]:
    return {name: phrase(chance, count) for name, count in zip(FIELDS, (2, 2, 1, 3, 3, 6), strict=True)}


def edited(chance: random.Random, text: str) -> str:
    kind = chance.random()
    if kind < 0.34:
        return text.upper()
    first, _, rest = text.partition(" ")
    return f"{first[0]}. {rest}" if kind < 0.67 and rest else text + "s"


def planted(seed: int) -> tuple[list[Json], list[Json], int, int]:
    """A list, the same list with items dropped, invented, edited and shuffled, and how many of each."""
    chance = random.Random(seed)
    count = chance.randint(4, 30)
    dropped, invented = chance.randint(0, count // 4), chance.randint(0, count // 4)
    reference = [person(chance) for _ in range(count)]
    candidate = [dict(item) for item in chance.sample(reference, count - dropped)]
    for item in candidate:
        for name in FIELDS:
            if chance.random() < 0.15:
                item[name] = edited(chance, str(item[name]))
    candidate += [person(chance) for _ in range(invented)]
    return list(reference), list(candidate), dropped, invented


def list_of(item: Json, **annotation: Json) -> Json:
    return {"type": "object", "properties": {"list": {"type": "array", "items": item, "x-assay": annotation or {}}}}


TEXT: Json = {"type": "string"}
PERSON: Json = {"type": "object", "properties": dict.fromkeys(FIELDS, TEXT)}


def paired(schema: Json, reference: Json, candidate: Json, *, cosine: Cosine | None = None) -> ListScore:
    config = config_with(same=0.9, undecided=0.8) if cosine else config_with()
    card = scored(schema, {"list": reference}, {"list": candidate}, config=config, cosine=cosine)
    check(card)
    return next(row for row in card.lists if row.path == "/list")


def trigrams(text: str) -> Vector:
    vector = np.zeros(128, dtype=np.float32)
    for at in range(len(text)):
        vector[hashlib.sha256(f"  {text}"[at : at + 3].encode()).digest()[0] % 128] += 1
    return vector / np.linalg.norm(vector)


def spelling(left: str, right: str) -> float:
    return 1.0 if left == right else float(trigrams(left) @ trigrams(right))


@pytest.mark.parametrize("seed", range(60))
def test_dropped_and_invented_items_are_counted_exactly(seed: int) -> None:
    reference, candidate, dropped, invented = planted(seed)
    found = paired(list_of(PERSON), reference, candidate)
    assert (len(found.missed), len(found.extra)) == (dropped, invented)


@pytest.mark.parametrize("seed", range(100, 110))
def test_they_are_counted_exactly_with_an_embedding_model_too(seed: int) -> None:
    reference, candidate, dropped, invented = planted(seed)
    found = paired(list_of(PERSON), reference, candidate, cosine=spelling)
    assert (len(found.missed), len(found.extra)) == (dropped, invented)


@pytest.mark.parametrize("seed", range(20))
def test_the_pairing_is_the_best_of_all(seed: int) -> None:
    chance = random.Random(seed)
    item: Json = {"type": "object", "properties": {name: {"type": "integer"} for name in "abc"}}
    reference: list[Json] = [{name: chance.randint(0, 2) for name in "abc"} for _ in range(4)]
    candidate: list[Json] = [{name: chance.randint(0, 2) for name in "abc"} for _ in range(4)]
    card = scored(list_of(item), {"list": reference}, {"list": candidate})
    right = sum(row.outcome is Outcome.MATCH for row in card.fields)
    assert right == best_total(reference, candidate)


def best_total(reference: list[Json], candidate: list[Json]) -> int:
    """Equal fields of the best pairing: equal items meet first, and one equal field of three makes no pair."""
    ours, theirs = list(reference), list(candidate)
    equal = 0
    for item in reference:
        if item in theirs:
            ours.remove(item)
            theirs.remove(item)
            equal += 3
    return equal + max(
        sum(
            same
            for item, other in zip(ours, order, strict=False)
            if (same := sum(item[n] == other[n] for n in "abc")) >= 2  # type: ignore[index, call-overload]
        )
        for order in itertools.permutations(theirs)
    )


@pytest.mark.parametrize(
    ("reference", "candidate", "matched", "missed", "extra", "duplicates"),
    [
        (["a", "a", "b"], ["a", "b", "b"], 2, ["a"], ["b"], 1),
        (["a"], ["a", "a", "a"], 1, [], ["a", "a"], 2),
        (["a", "a"], ["a"], 1, ["a"], [], 0),
        ([], ["z", "z"], 0, [], ["z", "z"], 1),
        (["a", None, ""], ["a"], 1, [], [], 0),
        (["a"], [None, "a", "n/a"], 1, [], [], 0),
        ([["a", "b"], ["c"]], [["c"], ["b", "a"]], 2, [], [], 0),
        ([["a", "b", "c"]], [["a", "b", "x"]], 1, [], [], 0),
        ([["a", "b", "c"]], [["x", "y", "z"]], 0, [["a", "b", "c"]], [["x", "y", "z"]], 0),
        (["a", {"k": "a"}, ["a"], 4], [["A"], 4.0, {"k": "A "}, "a"], 4, [], [], 0),
        ([{"k": "a"}], ["a"], 0, [{"k": "a"}], ["a"], 0),
        (["Lyon", "Ghent"], ["Lyon, France", "Ghent"], 1, ["Lyon"], ["Lyon, France"], 0),
    ],
)
def test_lists_of_every_shape_are_defined(
    reference: Json, candidate: Json, matched: int, missed: list[Json], extra: list[Json], duplicates: int
) -> None:
    found = paired(list_of({}), reference, candidate)
    assert (found.matched, list(found.missed), list(found.extra)) == (matched, missed, extra)
    assert found.duplicates == duplicates


def test_a_surplus_copy_is_labelled_a_duplicate() -> None:
    card = scored(list_of(TEXT), {"list": ["a", "b"]}, {"list": ["b", "a", "A"]})
    extra = [row for row in card.fields if row.outcome is Outcome.EXTRA]
    assert [(row.candidate, row.reason.startswith("duplicate")) for row in extra] == [("A", True)]


def test_equal_keys_meet_whatever_else_they_say() -> None:
    item: Json = {"type": "object", "properties": dict.fromkeys("kabcd", TEXT)}
    first, second = {"k": "one", "a": "p", "b": "q", "c": "r"}, {"k": "two", "a": "t", "b": "u", "c": "v"}
    reference: Json = [first, second]
    candidate: Json = [first | {"k": "TWO"}]
    found = paired(list_of(item, key="k"), reference, candidate)
    assert found.matched == 1
    assert found.missed == (first,)


def test_people_who_share_everything_but_their_names_are_two_people() -> None:
    item: Json = {"type": "object", "properties": {"name": TEXT, "role": TEXT, "year": {"type": "integer"}}}
    ours: Json = [{"name": "Kim Vos", "role": "editor", "year": 2001}]
    theirs: Json = [{"name": "Ola Berg", "role": "editor", "year": 2001}]
    found = paired(list_of(item), ours, theirs)
    assert (found.matched, len(found.missed), len(found.extra)) == (0, 1, 1)


def test_items_left_over_meet_by_similarity() -> None:
    item: Json = {"type": "object", "properties": {"name": TEXT}}
    cosine = cosine_from([("science fiction", "sci-fi", 0.95), ("love story", "sci-fi", 0.3)])
    reference: Json = [{"name": "science fiction"}, {"name": "love story"}]
    found = paired(list_of(item), reference, [{"name": "Sci-Fi"}], cosine=cosine)
    assert (found.matched, found.missed) == (1, ({"name": "love story"},))


def test_scalars_pair_by_similarity_but_never_by_force() -> None:
    cosine = cosine_from([("automobile", "car", 0.93), ("ship", "car", 0.85), ("ship", "automobile", 0.8)])
    found = paired(list_of(TEXT), ["ship", "automobile"], ["car", "boot"], cosine=cosine)
    assert (found.matched, found.missed, found.extra) == (1, ("ship",), ("boot",))


def test_long_lists_are_cut_and_still_counted_exactly() -> None:
    chance = random.Random(3)
    reference = [{"a": f"alpha {chance.random()}", "b": f"beta {n}"} for n in range(2600)]
    candidate = [{"a": item["a"], "b": "gamma"} for item in reference[100:]]
    chance.shuffle(candidate)
    item: Json = {"type": "object", "properties": {"a": TEXT, "b": TEXT}}
    found = paired(list_of(item), list(reference), list(candidate))
    assert (found.matched, len(found.missed), len(found.extra)) == (2500, 100, 0)


def test_what_only_one_side_says_does_not_part_items_of_one_name() -> None:
    item: Json = {"type": "object", "properties": dict.fromkeys(("name", "city", "mail", "role", "club"), TEXT)}
    reference: Json = [{"name": "Ann Lee", "city": "Ghent", "mail": "a@b.c"}, {"name": "Bo Berg", "city": "Lyon"}]
    candidate: Json = [{"name": "Bo Berg", "role": "cook", "club": "AC"}, {"name": "ann lee", "role": "poet"}]
    assert paired(list_of(item), reference, candidate).matched == 2


def test_one_name_for_two_who_share_nothing_else_does_not_make_them_one() -> None:
    item: Json = {"type": "object", "properties": dict.fromkeys(("name", "city", "mail", "role"), TEXT)}
    reference: Json = [{"name": "Ann Lee", "city": "Ghent", "mail": "a@b.c", "role": "poet"}]
    candidate: Json = [{"name": "Ann Lee", "city": "Oslo", "mail": "xyz@q.r", "role": "smith"}]
    assert paired(list_of(item), reference, candidate).matched == 0
