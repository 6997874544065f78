"""Rows of single places: a decided leaf, a missing one, an extra one, a structural fault."""

from __future__ import annotations

from scoring.attempt import Attempt
from scoring.decisions import Decision
from scoring.findings import note_finding
from scoring.questions import verify_question
from scoring.records import FieldScore, Json, Outcome, Rung, Side
from scoring.schema import Node, Shape
from scoring.spots import Spot
from scoring.verdicts import verified

_MISSING = "the candidate has nothing here"
_OUTSIDE = "the schema has no such key"
_UNCONFIRMED = "the reference has nothing here, and there is no judge to confirm it"
_STRUCTURE = "a value of this shape does not belong here"
_DUPLICATE = "duplicate: a surplus copy of an item"
_EXACT = "the reference has nothing here, and the place is annotated exact"


def kind_text(node: Node, value: Json) -> str:
    """The kind of a row: `object` or `list` for a whole subtree, else the leaf's kind."""
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, list) else node.kind


def compared_row(attempt: Attempt, spot: Spot, candidate: Json, decision: Decision) -> None:
    """Leaves the row of a leaf that both sides fill, and the finding, if the judge found one."""
    weight = spot.weight
    row = FieldScore(
        path=spot.path,
        side=Side.REFERENCE,
        kind=kind_text(spot.node, spot.value),
        outcome=decision.outcome,
        rung=decision.rung,
        credit=decision.credit,
        similarity=decision.similarity,
        reference=spot.value,
        candidate=candidate,
        reference_weight=weight,
        candidate_weight=weight,
        shared_weight=weight,
        reason=decision.reason,
        setting=decision.setting,
        question_id=decision.question_id,
        is_contested=decision.is_contested,
        list_path=spot.list_path,
    )
    attempt.rows.append(row)
    if decision.rung is Rung.EXACT and isinstance(spot.value, str | int) and candidate == spot.value:
        spot.exact_row = row  # the next candidate with the very same leaf gets the very same row
    if decision.credit < 1.0 or decision.evidence is not None:
        note_finding(attempt, spot.path, candidate, decision, spot)


def clash_row(attempt: Attempt, spot: Spot, candidate: Json) -> None:
    """Leaves the row of a value of another shape: the whole weight on both sides, and no credit."""
    wanted, found = kind_text(spot.node, spot.value), _shape_text(candidate)
    reason = f"{found} where the reference has {_with_article(wanted)}"
    attempt.problems.append(f"{spot.path or 'the root'}: {reason}")
    attempt.rows.append(
        FieldScore(
            path=spot.path,
            side=Side.REFERENCE,
            kind=wanted,
            outcome=Outcome.MISMATCH,
            rung=None,
            credit=0.0,
            similarity=None,
            reference=spot.value,
            candidate=candidate,
            reference_weight=spot.filled,
            candidate_weight=spot.filled,
            shared_weight=spot.filled,
            reason=reason,
            list_path=spot.list_path,
        )
    )


def missing_row(attempt: Attempt, spot: Spot) -> None:
    """Leaves the row of a leaf or a whole item that the candidate does not have."""
    attempt.rows.append(
        FieldScore(
            path=spot.path,
            side=Side.REFERENCE,
            kind=kind_text(spot.node, spot.value),
            outcome=Outcome.MISSING,
            rung=Rung.MISSING,
            credit=0.0,
            similarity=None,
            reference=spot.value,
            candidate=None,
            reference_weight=spot.filled,
            candidate_weight=0.0,
            shared_weight=0.0,
            reason=_MISSING,
            list_path=spot.list_path,
        )
    )


def empty_row(attempt: Attempt, spot: Spot, candidate: Json) -> None:
    """Leaves the row of a declared place that neither side fills; it has no weight."""
    attempt.rows.append(
        FieldScore(
            path=spot.path,
            side=Side.REFERENCE,
            kind=_declared_kind(spot.node),
            outcome=Outcome.EMPTY,
            rung=None,
            credit=0.0,
            similarity=None,
            reference=spot.value,
            candidate=candidate,
            reference_weight=0.0,
            candidate_weight=0.0,
            shared_weight=0.0,
            list_path=spot.list_path,
        )
    )


def extra_row(
    attempt: Attempt,
    node: Node,
    path: str,
    value: Json,
    weight: float,
    *,
    side: Side,
    list_path: str | None,
    is_duplicate: bool = False,
    is_asked: bool = True,
) -> bool:
    """Leaves the row of a value that the reference does not have; whether a judge confirmed it.

    A confirmed value enters all four totals; any other one weighs on the candidate's side alone. A duplicate, a key
    that the schema does not have and a place annotated `exact` are not asked about.
    """
    decision = _extra_decision(attempt, node, path, value, _spared(node, is_duplicate, is_asked))
    confirmed = weight if decision.credit >= 1.0 else 0.0
    attempt.rows.append(
        FieldScore(
            path=path,
            side=side,
            kind=kind_text(node, value),
            outcome=Outcome.EXTRA,
            rung=decision.rung,
            credit=decision.credit,
            similarity=None,
            reference=None,
            candidate=value,
            reference_weight=confirmed,
            candidate_weight=weight,
            shared_weight=confirmed,
            reason=decision.reason,
            question_id=decision.question_id,
            list_path=list_path,
        )
    )
    if decision.evidence is not None:
        note_finding(attempt, path, value, decision)
    return confirmed > 0.0


def _spared(node: Node, is_duplicate: bool, is_asked: bool) -> str:
    """Why the judge is not asked about an extra value; empty where it is."""
    if not is_asked:
        return _STRUCTURE
    if is_duplicate:
        return _DUPLICATE
    return _OUTSIDE if node.is_outside_schema else _EXACT if node.is_exact else ""


def _extra_decision(attempt: Attempt, node: Node, path: str, value: Json, spared: str) -> Decision:
    if spared or not attempt.task.has_judge:
        return Decision(outcome=Outcome.EXTRA, credit=0.0, rung=Rung.EXTRA, reason=spared or _UNCONFIRMED)
    question = verify_question(attempt.task, node, path, value, attempt.label_for(node))
    answer = attempt.answer(question)
    if answer is None:
        return Decision(outcome=Outcome.EXTRA, credit=0.0, rung=Rung.EXTRA, reason="not answered yet")
    return verified(answer, question.question_id)


def _declared_kind(node: Node) -> str:
    if node.shape is Shape.OBJECT or node.shape is Shape.LIST:
        return node.shape.value
    return node.kind


def _shape_text(value: Json) -> str:
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a single value"


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
