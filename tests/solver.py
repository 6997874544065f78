"""Answers what the core leaves open, from prescribed cosines and a scripted judge, until there is a scorecard."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scoring.records import (
    Answer,
    Context,
    Cutoffs,
    Json,
    Known,
    Open,
    Origin,
    Question,
    Reading,
    Scorecard,
    ScoringConfig,
    Setting,
    Unreadable,
    Vector,
    Verdict,
)
from scoring.scorecard import score
from scoring.task import Task, prepare
from scoring.text import normal_form

Cosine = Callable[[str, str], float]
Judge = Callable[[Question], Answer]

MOST_PASSES = 8


def config_with(
    *, same: float | None = None, undecided: float | None = None, has_judge: bool = False, **more: object
) -> ScoringConfig:
    """A scoring config; with `same` it has an embedding model, else it is exact_only."""
    cutoffs = None
    if same is not None:
        setting = Setting(text=f"threshold {same}", origin=Origin.SCENARIO)
        cutoffs = Cutoffs(same=same, undecided=same if undecided is None else undecided, setting=setting)
    return ScoringConfig(
        embedding_model=None if cutoffs is None else "stub",
        cutoffs=cutoffs,
        judge_models=("stub-judge",) if has_judge else (),
        **more,  # type: ignore[arg-type]  # the remaining fields of ScoringConfig
    )


def no_judge(question: Question) -> Answer:
    raise AssertionError(f"the judge was asked: {question.message}")


def cosine_from(pairs: Sequence[tuple[str, str, float]], default: float = 0.0) -> Cosine:
    """The cosine of any two texts from a table of pairs in either order; equal texts are 1."""
    table = {frozenset((normal_form(a), normal_form(b))): value for a, b, value in pairs}

    def cosine(left: str, right: str) -> float:
        return 1.0 if left == right else table.get(frozenset((left, right)), default)

    return cosine


def vectors_with(texts: Sequence[str], cosine: Cosine) -> dict[str, Vector]:
    """Unit vectors whose cosines are the prescribed ones: the Gram matrix taken apart into its eigenvectors."""
    gram = np.array([[cosine(a, b) for b in texts] for a in texts], dtype=np.float64).reshape(len(texts), len(texts))
    values, columns = np.linalg.eigh(gram)
    rows = columns * np.sqrt(np.clip(values, 0, None))
    return {text: row.astype(np.float32) for text, row in zip(texts, rows, strict=True)}


def solve(
    task: Task, reading: Reading | Unreadable, *, cosine: Cosine | None = None, judge: Judge = no_judge
) -> tuple[Scorecard, Known]:
    """The scorecard, and everything that had to be known for it."""
    texts: dict[str, None] = {}
    answers: dict[str, Answer] = {}
    vectors: Mapping[str, Vector] = {}
    for _ in range(MOST_PASSES):
        known = Known(vectors=vectors, answers=answers)
        found = score(task, reading, known)
        if isinstance(found, Scorecard):
            return found, known
        assert isinstance(found, Open)
        assert found.texts or found.questions
        assert not (found.texts and found.questions)
        if found.texts:
            assert cosine is not None, f"texts were wanted without an embedding model: {found.texts}"
            texts |= dict.fromkeys(found.texts)
            vectors = vectors_with(list(texts), cosine)
        answers |= {question.question_id: judge(question) for question in found.questions}
    raise AssertionError("the core never had enough")


def scored(
    schema: Json,
    reference: Json,
    candidate: Json,
    *,
    config: ScoringConfig | None = None,
    context: Context | None = None,
    cosine: Cosine | None = None,
    judge: Judge = no_judge,
) -> Scorecard:
    """The scorecard of one candidate value."""
    task = prepare(schema=schema, reference=reference, config=config or config_with(), context=context)
    return solve(task, Reading(value=candidate), cosine=cosine, judge=judge)[0]


def says(verdict: Verdict, credit: float = 0.0, basis: str = "knowledge", reason: str = "so it is") -> Judge:
    """A judge that always says the same."""
    return lambda question: Answer(verdict=verdict, credit=credit, basis=basis, reason=f"{reason} ({question.kind})")


def body_of(question: Question) -> dict[str, Json]:
    """The question's user message, read again."""
    body = json.loads(question.message)
    assert isinstance(body, dict)
    return body
