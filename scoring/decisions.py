"""How one leaf ended, before it becomes a row."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.records import Evidence, Outcome, Rung, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How one leaf ended; the fields mean what they mean in `FieldScore`. `evidence` is what the judge found, if so."""

    outcome: Outcome
    credit: float
    rung: Rung | None = None
    similarity: float | None = None
    reason: str = ""
    setting: Setting | None = None
    question_id: str | None = None
    is_contested: bool = False
    evidence: Evidence | None = None
    has_proposal: bool = True


def outcome_of(credit: float) -> Outcome:
    """`match` for full credit, `mismatch` for none, `partial` between."""
    if credit >= 1.0:
        return Outcome.MATCH
    return Outcome.PARTIAL if credit > 0.0 else Outcome.MISMATCH


def mismatch(reason: str, *, similarity: float | None = None, setting: Setting | None = None) -> Decision:
    """A value that differs, and why it does not count as the same."""
    return Decision(outcome=Outcome.MISMATCH, credit=0.0, reason=reason, similarity=similarity, setting=setting)


PENDING = Decision(outcome=Outcome.MISMATCH, credit=0.0, reason="not answered yet")
"""Stands in while a text or question is open; no scorecard ever holds it."""
