"""The ladder: how one leaf of the reference compares with one value of a candidate (SPEC 3).

Rungs are climbed cheapest first, and the first that decides ends the climb:

1. `exact`, `normalized`, `calendar` for every kind: the free rungs.
2. An `exact` annotation stops here. So do booleans, enums, identifiers and dates, but for contested values.
3. `variant` and `embedding` for text, only with an embedding model. A guard (numbers, units, negation, opposites) keeps
   similarity from matching; a guarded text that is similar is as undecided as one in the undecided band.
4. `judge`, where there is one: all unequal prose, all unequal numbers, undecided text, and contested values of any
   kind but booleans (`scoring.contested`).
5. Without a judge, prose earns its cosine (negative cosines earn nothing); everything else is a mismatch.

Several right answers (`accepted`): the best counts. The judge is only asked about the reference's own value, and only
once no accepted value matched without it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.attempt import Attempt
from scoring.contested import contested_by
from scoring.decisions import PENDING, Decision, mismatch, outcome_of
from scoring.guards import guard_against
from scoring.questions import compare_question
from scoring.records import Cutoffs, Json, Kind, Origin, Outcome, Rung, Setting
from scoring.similarity import combined_similarity
from scoring.spots import Spot, context_of
from scoring.text import normal_form
from scoring.values import free_match, text_of
from scoring.variants import is_variant
from scoring.verdicts import compared, worth_of

_EXACT_ONLY = Setting(text="exact_only: no embedding model is configured", origin=Origin.DEFAULT)


def decide(attempt: Attempt, spot: Spot, candidate: Json) -> Decision:
    """How the candidate's value compares with the reference's leaf at `spot`, both not empty.

    While a text or question is open the decision is `PENDING`, and the attempt knows what is open.
    """
    kind = spot.node.kind
    values = (spot.value, *attempt.task.config.accepted.get(spot.path, ()))
    for value in values:
        match = free_match(kind, value, candidate)
        if match is not None:
            setting = Setting(text=match.note, origin=Origin.DEFAULT) if match.note else None
            return Decision(outcome=Outcome.MATCH, credit=1.0, rung=match.rung, setting=setting)
    if spot.node.is_exact:
        return mismatch("different, and the field is annotated exact", setting=spot.node.kind_setting)
    return _unequal(attempt, spot, values, candidate)


def _unequal(attempt: Attempt, spot: Spot, values: Sequence[Json], candidate: Json) -> Decision:
    match spot.node.kind:
        case Kind.TEXT:
            return _best([_text(attempt, spot, value, candidate) for value in values], attempt, spot, candidate)
        case Kind.PROSE:
            return _prose(attempt, spot, values, candidate)
        case Kind.NUMBER:
            if attempt.task.has_judge:
                return ask(attempt, spot, candidate)
            return mismatch("numbers differ", setting=spot.node.kind_setting)
        case Kind.BOOLEAN:
            return mismatch("booleans differ", setting=spot.node.kind_setting)
        case Kind.DATE | Kind.ENUM | Kind.IDENTIFIER:
            differs = mismatch(f"different {spot.node.kind} values", setting=spot.node.kind_setting)
            return _unless_contested(attempt, spot, candidate, differs)


def ask(
    attempt: Attempt, spot: Spot, candidate: Json, similarity: float | None = None, contested: str = ""
) -> Decision:
    """The judge's decision on the two values; `PENDING` while it has not answered."""
    question, is_reference_a = compare_question(attempt.task, spot, candidate, attempt.label_for(spot.node))
    answer = attempt.answer(question)
    if answer is None:
        return PENDING
    worth = worth_of(answer, is_reference_a=is_reference_a)
    return compared(worth, answer, question.question_id, similarity=similarity, contested=bool(contested))


def _best(decisions: list[Decision], attempt: Attempt, spot: Spot, candidate: Json) -> Decision:
    """The best of what the accepted values gave; what only the judge can decide is asked once."""
    best = max(decisions, key=lambda decision: decision.credit)
    if best.credit >= 1.0 or any(decision is PENDING for decision in decisions):
        return best if best.credit >= 1.0 else PENDING
    undecided = next((decision for decision in decisions if decision.outcome is Outcome.PARTIAL), None)
    if undecided is not None:
        return ask(attempt, spot, candidate, undecided.similarity)
    return _unless_contested(attempt, spot, candidate, decisions[0])


def _unless_contested(attempt: Attempt, spot: Spot, candidate: Json, differs: Decision) -> Decision:
    if not attempt.task.has_judge:
        return differs
    contested = contested_by(attempt.task, spot, candidate)
    return ask(attempt, spot, candidate, differs.similarity, contested) if contested else differs


def _text(attempt: Attempt, spot: Spot, reference: Json, candidate: Json) -> Decision:
    """One text against another; `partial` stands for undecided, which only the judge can settle."""
    config = attempt.task.config
    left, right = text_of(reference), text_of(candidate)
    if left is None or right is None or config.cutoffs is None:
        return mismatch("different texts, and nothing but equality was available", setting=_EXACT_ONLY)
    left, right, context = normal_form(left), normal_form(right), context_of(spot.node)
    rule = is_variant(left, right, context)
    if rule is not None:
        setting = Setting(text=f"variant: {rule}", origin=Origin.DEFAULT)
        return Decision(outcome=Outcome.MATCH, credit=1.0, rung=Rung.VARIANT, setting=setting)
    guard = guard_against(left, right, context)
    if guard is not None and not attempt.task.has_judge:
        return mismatch(f"similarity cannot decide: {guard}")
    return _by_similarity(attempt, config.cutoffs, (left, right, context), guard)


def _by_similarity(attempt: Attempt, cutoffs: Cutoffs, texts: tuple[str, str, str], guard: str | None) -> Decision:
    left, right, context = texts
    cosine = attempt.cosine(left, right)
    if cosine is None:
        return PENDING
    name = attempt.task.config.embedding_model or ""
    similarity = combined_similarity(left, right, cosine, model_name=name, context_normal=context)
    setting = cutoffs.setting
    if similarity >= cutoffs.same and guard is None:
        return Decision(outcome=Outcome.MATCH, credit=1.0, rung=Rung.EMBEDDING, similarity=similarity, setting=setting)
    if similarity < cutoffs.undecided:
        return mismatch(f"similarity {similarity:.3f} is below the limit", similarity=similarity, setting=setting)
    why = f"similarity {similarity:.3f} cannot decide" + (f": {guard}" if guard else "")
    if not attempt.task.has_judge:
        return mismatch(f"{why}, and there is no judge", similarity=similarity, setting=setting)
    return Decision(outcome=Outcome.PARTIAL, credit=0.0, similarity=similarity, reason=why, setting=setting)


def _prose(attempt: Attempt, spot: Spot, values: Sequence[Json], candidate: Json) -> Decision:
    if attempt.task.has_judge:
        return ask(attempt, spot, candidate)
    if attempt.task.config.cutoffs is None:
        return mismatch("different texts, and nothing but equality was available", setting=_EXACT_ONLY)
    right = text_of(candidate)
    pairs = [(left, right) for left in map(text_of, values) if left is not None and right is not None]
    cosines = [attempt.cosine(normal_form(left), normal_form(right)) for left, right in pairs]
    known = [cosine for cosine in cosines if cosine is not None]
    if len(known) < len(cosines):
        return PENDING
    return _continuous(max(known, default=0.0))


def _continuous(cosine: float) -> Decision:
    """Prose without a judge: its cosine is its credit."""
    credit = max(0.0, cosine)
    setting = Setting(text="prose without a judge earns its similarity", origin=Origin.DEFAULT)
    return Decision(
        outcome=outcome_of(credit),
        credit=credit,
        rung=Rung.EMBEDDING,
        similarity=cosine,
        reason="" if credit >= 1.0 else f"prose differs, similarity {cosine:.3f}",
        setting=setting,
    )
