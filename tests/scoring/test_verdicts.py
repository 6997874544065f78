"""From the judge's verdict to credit and finding: the table of SPEC 6, row by row, from both places."""

from __future__ import annotations

import pytest

from scoring.records import Answer, Evidence, Verdict
from scoring.verdicts import worth_of

ROWS = [
    (Verdict.BOTH_CORRECT, Verdict.BOTH_CORRECT, 0.1, 1.0, None, True),
    (Verdict.B_BETTER, Verdict.A_BETTER, 0.1, 1.0, Evidence.BETTER, True),
    (Verdict.A_WRONG, Verdict.B_WRONG, 0.1, 1.0, Evidence.REFERENCE_WRONG, True),
    (Verdict.A_BETTER, Verdict.B_BETTER, 0.6, 0.6, None, True),
    (Verdict.A_BETTER, Verdict.B_BETTER, 0.0, 0.25, None, True),
    (Verdict.A_BETTER, Verdict.B_BETTER, 1.0, 0.9, None, True),
    (Verdict.B_WRONG, Verdict.A_WRONG, 0.1, 0.1, None, True),
    (Verdict.B_WRONG, Verdict.A_WRONG, 0.8, 0.25, None, True),
    (Verdict.BOTH_WRONG, Verdict.BOTH_WRONG, 0.2, 0.2, Evidence.REFERENCE_WRONG, False),
    (Verdict.BOTH_WRONG, Verdict.BOTH_WRONG, 0.8, 0.25, Evidence.REFERENCE_WRONG, False),
]
"""Verdict with the reference as A, as B, credit given, credit that counts, evidence, whether there is a proposal."""


@pytest.mark.parametrize(("as_a", "as_b", "given", "counts", "evidence", "has_proposal"), ROWS)
def test_a_verdict_is_worth_the_same_whichever_side_is_a(
    as_a: Verdict, as_b: Verdict, given: float, counts: float, evidence: Evidence | None, has_proposal: bool
) -> None:
    for verdict, is_reference_a in ((as_a, True), (as_b, False)):
        worth = worth_of(
            Answer(verdict=verdict, credit=given, basis="document", reason="r"), is_reference_a=is_reference_a
        )
        assert (worth.credit, worth.evidence, worth.has_proposal) == (counts, evidence, has_proposal)


@pytest.mark.parametrize("verdict", [Verdict.CORRECT, Verdict.WRONG, Verdict.UNSURE])
def test_a_verdict_on_one_value_does_not_answer_a_comparison(verdict: Verdict) -> None:
    with pytest.raises(ValueError, match="does not answer"):
        worth_of(Answer(verdict=verdict, credit=1, basis="document", reason="r"), is_reference_a=True)
