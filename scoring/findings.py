"""What scoring one output says about the reference: findings, the raw material of its improvement (SPEC 7).

A finding arises where the judge finds the reference wrong, weaker or incomplete; and, without any judge, where an
example of the scenario holds the candidate's value at this place and not the reference's, which is the strongest
evidence. One place of one run leaves one finding, the strongest.
"""

from __future__ import annotations

from scoring.attempt import Attempt
from scoring.counterparts import counterparts_of, is_same_value
from scoring.decisions import Decision
from scoring.records import Evidence, Finding, Json
from scoring.spots import Spot


def note_finding(attempt: Attempt, path: str, candidate: Json, decision: Decision, spot: Spot | None = None) -> None:
    """Leaves the finding of one row, if there is one. `spot` is the reference's place, None where it has no value."""
    if spot is not None and _is_proven(attempt, spot, candidate):
        evidence, has_proposal = Evidence.EXAMPLE, True
    elif decision.evidence is not None:
        evidence, has_proposal = decision.evidence, decision.has_proposal
    else:
        return
    attempt.findings.append(
        Finding(
            path=path,
            evidence=evidence,
            has_proposal=has_proposal,
            proposal=candidate if has_proposal else None,
            question_id=decision.question_id,
        )
    )


def _is_proven(attempt: Attempt, spot: Spot, candidate: Json) -> bool:
    """Whether an example holds the candidate's value here and no example holds the reference's."""
    said = [value for example in attempt.task.context.examples for value in counterparts_of(spot, example)]
    if not said or any(is_same_value(spot, value, spot.value) for value in said):
        return False
    return any(is_same_value(spot, value, candidate) for value in said)
