"""The core entry: what is asked when, sub-scores, outputs that cannot be read, and sameness across processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.records import Json, Known, Mode, Open, Reading, Scorecard, Unreadable, Verdict
from scoring.scorecard import score, scores_from
from scoring.task import prepare
from tests.checker import check
from tests.solver import config_with, cosine_from, says, scored, solve

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("e", "g", "b", "c", "expected"),
    [
        (0, 0, 0, 0, (100, 100, 100, 0)),
        (4, 0, 0, 0, (0, 0, 0, 0)),
        (0, 4, 0, 0, (0, 0, 0, 100)),
        (4, 4, 4, 4, (100, 100, 100, 0)),
        (4, 2, 2, 2, (200 / 3, 50, 100, 0)),
        (4, 8, 4, 2, (100 / 3, 100, 50, 50)),
    ],
)
def test_sub_scores_follow_from_four_weights(
    e: float, g: float, b: float, c: float, expected: tuple[float, ...]
) -> None:
    found = scores_from(reference_weight=e, candidate_weight=g, shared_weight=b, earned_weight=c)
    shown = (found.quality, found.completeness, found.correctness, found.hallucination)
    assert shown == pytest.approx(expected)


def test_an_output_that_cannot_be_read_scores_nothing_and_says_why() -> None:
    task = prepare(schema={"type": "object"}, reference={"a": "x", "b": "y"}, config=config_with())
    card = score(task, Unreadable(kind="truncated", reason="the text ends inside a string"), Known())
    assert isinstance(card, Scorecard)
    check(card)
    assert (card.scores.quality, card.scores.completeness, card.scores.reference_weight) == (0, 0, 2)
    assert card.unreadable is not None
    assert any("truncated" in problem for problem in card.problems)


def test_an_unreadable_output_is_worse_than_nothing_even_where_nothing_was_wanted() -> None:
    task = prepare(schema={"type": "object"}, reference={}, config=config_with())
    card = score(task, Unreadable(kind="invalid", reason="prose"), Known())
    assert isinstance(card, Scorecard)
    assert card.scores.quality == 0


def test_repairs_and_breaches_of_the_schema_are_told() -> None:
    schema: Json = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}
    task = prepare(schema=schema, reference={"a": 1}, config=config_with())
    card = score(task, Reading(value={"a": "one"}, repairs=("a code fence was taken off",)), Known())
    assert isinstance(card, Scorecard)
    assert "repaired: a code fence was taken off" in card.problems
    assert any("the output breaks the schema: /a" in problem for problem in card.problems)


def test_without_an_embedding_model_the_card_says_exact_only() -> None:
    assert scored({}, {"a": "x"}, {"a": "y"}).mode is Mode.EXACT_ONLY
    config = config_with(same=0.9)
    assert scored({}, {"a": "x"}, {"a": "y"}, config=config, cosine=cosine_from([])).mode is Mode.FULL


def test_only_texts_that_the_free_rungs_leave_open_are_wanted() -> None:
    task = prepare(
        schema={"type": "object", "properties": {name: {"type": "string"} for name in "abcd"}},
        reference={"a": "Same", "b": "Beethoven, Ludwig van", "c": "old mill", "d": "gone"},
        config=config_with(same=0.9),
    )
    found = score(task, Reading(value={"a": "same", "b": "Ludwig van Beethoven", "c": "Old Windmill"}), Known())
    assert isinstance(found, Open)
    assert set(found.texts) == {"old mill", "old windmill"}
    assert not found.questions


def test_texts_come_before_questions_and_then_all_questions_at_once() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "n": {"type": "number"}, "s": {"x-assay": {"kind": "prose"}}},
    }
    config = config_with(same=0.9, undecided=0.5, has_judge=True)
    task = prepare(schema=schema, reference={"name": "mill", "n": 1, "s": "One."}, config=config)
    reading = Reading(value={"name": "factory", "n": 2, "s": "Two.", "name2": "x"})
    first = score(task, reading, Known())
    assert isinstance(first, Open)
    assert (set(first.texts), first.questions) == ({"mill", "factory"}, ())
    card, known = solve(task, reading, cosine=cosine_from([], default=0.7), judge=says(Verdict.BOTH_CORRECT))
    check(card)
    assert len(known.answers) == 3
    assert score(task, reading, known) == card


SAMPLE = """
import hashlib, json, random
from scoring.questions import SYSTEM_MESSAGE
from scoring.records import Known, Reading
from scoring.scorecard import score
from scoring.task import prepare
from tests.scoring.test_pairing import PERSON, list_of, planted
from tests.solver import config_with
digest = hashlib.sha256()
for seed in range(4):
    reference, candidate, _, _ = planted(seed)
    reference += [{"name": "a", "tags": ["x", "y", "z"]}, {"name": "b", "tags": ["€ 4", "$ 4"]}]
    candidate += [{"name": "a", "tags": ["z", "q", "x"], "new": 1}, {"name": "c", "other": {"k": "v"}}]
    for config in (config_with(), config_with(has_judge=True), config_with(same=0.9)):
        task = prepare(schema=list_of(PERSON), reference={"list": reference}, config=config)
        digest.update(repr(score(task, Reading(value={"list": candidate}), Known())).encode())
print(digest.hexdigest())
"""


def test_every_process_and_hash_seed_gives_the_same_result() -> None:
    digests = set()
    for seed in ("0", "1", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run(
            [sys.executable, "-c", SAMPLE], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
        )
        digests.add(ran.stdout.strip())
    assert len(digests) == 1
