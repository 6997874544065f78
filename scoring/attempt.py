"""One pass over one output: what is known, what turned out to be open, and the rows so far."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from scoring.errors import EmbeddingError
from scoring.questions import item_label
from scoring.records import Answer, FieldScore, Finding, Json, Kind, Known, ListScore, Open, Question, Vector
from scoring.schema import Node
from scoring.spots import Spot
from scoring.task import Task
from scoring.text import normal_form

_ALMOST_ZERO = 1e-6


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt:
    """The working state of one pass. It belongs to one call of `score` and is never shared.

    `stack` holds the paired list items around the place at hand, the innermost last.
    """

    task: Task
    known: Known
    texts: dict[str, None] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    rows: list[FieldScore] = field(default_factory=list)
    lists: list[ListScore] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    stack: list[tuple[Spot, Json]] = field(default_factory=list)
    units: dict[str, Vector] = field(default_factory=dict)

    def unit_vector(self, text: str) -> Vector | None:
        """The unit vector of a normal form; None where it is not known yet, and then it is open after this call.

        Raises EmbeddingError for a vector that is missing its values, not finite or zero.
        """
        vector = self.units.get(text)
        if vector is None:
            if text not in self.known.vectors:
                self.texts[text] = None
                return None
            vector = self.units[text] = _unit(text, self.known.vectors[text])
        return vector

    def keep_units(self, texts: Iterable[str]) -> None:
        """Make the unit vectors of all these texts that are known at once, which is quicker than one by one."""
        vectors = self.known.vectors
        fresh = [text for text in dict.fromkeys(texts) if text in vectors and text not in self.units]
        if fresh:
            self.units.update(zip(fresh, _units(fresh, [vectors[text] for text in fresh]), strict=True))

    def cosine(self, left: str, right: str) -> float | None:
        """The cosine of two normal forms, rounded so that a limit means the same everywhere; None while it is open."""
        first, second = self.unit_vector(left), self.unit_vector(right)
        if first is None or second is None:
            return None
        return round(min(1.0, max(-1.0, float(np.dot(first, second)))), COSINE_DIGITS)

    def want_texts(self, values: Iterable[str]) -> bool:
        """Whether the vectors of all these texts are known; those that are not are open after this call."""
        missing = [text for text in map(normal_form, values) if text not in self.known.vectors]
        self.texts.update(dict.fromkeys(missing))
        return not missing

    def vectors_of(self, forms: Sequence[str]) -> Vector | None:
        """The unit vectors of normal forms as the rows of one matrix; None where one is open."""
        found = [self.unit_vector(form) for form in forms]
        known = [vector for vector in found if vector is not None]
        return np.stack(known) if known and len(known) == len(found) else None

    def is_embedded(self, node: Node) -> bool:
        """Whether text at this place may be compared by similarity at all."""
        config = self.task.config
        return config.cutoffs is not None and node.kind is Kind.TEXT and not node.is_exact and not node.is_ignored

    def is_continuous(self, node: Node) -> bool:
        """Whether text at this place is prose with vectors, whose similarity is its worth."""
        return self.task.config.cutoffs is not None and node.kind is Kind.PROSE and not node.is_exact

    def label_for(self, place: Node) -> Json:
        """What names the innermost paired list item around the place at hand, None outside lists."""
        if not self.stack:
            return None
        item, candidate = self.stack[-1]
        return item_label(item, candidate, place)

    def answer(self, question: Question) -> Answer | None:
        """The judge's answer; None where it is not known yet, and then the question is open after this call."""
        answer = self.known.answers.get(question.question_id)
        if answer is None:
            self.questions[question.question_id] = question
        return answer

    def still_open(self) -> Open | None:
        """What must be answered first: texts before questions, since vectors decide which questions arise."""
        if self.texts:
            return Open(texts=tuple(self.texts))
        if self.questions:
            return Open(questions=tuple(self.questions.values()))
        return None


COSINE_DIGITS = 6
"""Cosines are rounded to this many decimals: float32 products differ in the last bits with the order of the sums."""


def _unit(text: str, vector: Vector) -> Vector:
    try:
        numbers = np.asarray(vector, dtype=np.float32)
        length = math.sqrt(np.vdot(numbers, numbers))
    except (TypeError, ValueError) as error:
        raise EmbeddingError(_broken(text, "holds no numbers")) from error
    if numbers.ndim != 1 or not math.isfinite(length):
        raise EmbeddingError(_broken(text, "is not a list of finite numbers"))
    if length < _ALMOST_ZERO:
        raise EmbeddingError(_broken(text, "is zero"))
    return numbers / np.float32(length)


def _units(texts: Sequence[str], vectors: Sequence[Vector]) -> Iterable[Vector]:
    """`_unit` of many: in one matrix where the vectors are as long as each other and sound."""
    try:
        rows = np.array(vectors, dtype=np.float32)
        lengths = [math.sqrt(np.vdot(row, row)) for row in rows]
    except (TypeError, ValueError):
        lengths = []
    if lengths and rows.ndim == 2 and all(_ALMOST_ZERO <= length < math.inf for length in lengths):
        return rows / np.array(lengths, dtype=np.float32)[:, None]
    return map(_unit, texts, vectors)


def _broken(text: str, what: str) -> str:
    shown = text if len(text) <= 60 else text[:57] + "..."
    return f"the embedding model's vector for {shown!r} {what}"
