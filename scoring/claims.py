"""What the rounds say about one path of a reference: answers, and how much stands behind each (SPEC 7)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from scoring.records import Evidence, Json

VERDICT_WEIGHT = 2
"""How many models one verdict of the judge outweighs. A verdict is one opinion of one judge: it beats what one or two
models agree on, never what many do, or else the reference would follow the model that is scored last.
"""

Standing = tuple[bool, int]
"""How strong an answer is: whether an example proves it; then models behind it, less the verdicts that it is wrong."""

_RANKS = {evidence: rank for rank, evidence in enumerate(reversed(Evidence))}


def rank_of(evidence: Evidence) -> int:
    """The rank of a kind of evidence; stronger kinds have greater ranks."""
    return _RANKS[evidence]


@dataclass(slots=True, kw_only=True, eq=False)
class Answer:
    """One answer at one path: all values that are equal by the free rungs. `value` is the spelling that is written.

    `givers` are the models that proposed it, `models` these and those that gave it where the reference held it.
    `called_wrong_by` are the keys of answers that the judge found right where it found this one wrong. `is_owners`
    marks the owner's own value.
    """

    key: Hashable
    value: Json
    text: str
    first_round: int
    is_owners: bool = False
    givers: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    finding_ids: set[int] = field(default_factory=set)
    evidence: set[Evidence] = field(default_factory=set)
    called_wrong_by: set[Hashable] = field(default_factory=set)

    @property
    def standing(self) -> Standing:
        """How strong the answer is, over all rounds so far.

        The owner's value that no verdict speaks for is up against one verdict at least: a finding prefers another.
        """
        is_proven = Evidence.EXAMPLE in self.evidence
        if self.is_owners and not self.givers and not self.called_wrong_by:
            return is_proven, len(self.models) - VERDICT_WEIGHT
        return standing_of(is_proven, self.models, self.called_wrong_by)

    @property
    def strongest(self) -> Evidence:
        """The strongest evidence behind the answer; `filled_gap`, the weakest, where models only gave it again."""
        return max(self.evidence, key=rank_of, default=Evidence.FILLED_GAP)

    @property
    def place_in_line(self) -> tuple[bool, int, bool, int, int, str]:
        """The least goes first: the stronger, the found, the earlier, the better evidence; else the content decides."""
        is_proven, models = self.standing
        return not is_proven, -models, self.is_owners, self.first_round, -rank_of(self.strongest), self.text


def standing_of(is_proven: bool, models: set[str], called_wrong_by: set[Hashable]) -> Standing:
    """The standing of a value with these models behind it and these other answers that were found right against it."""
    return is_proven, len(models) - VERDICT_WEIGHT * len(called_wrong_by)


@dataclass(slots=True, kw_only=True, eq=False)
class Claim:
    """All answers at one stable path, by key. `list_path` is set where the path is that of a new item of this list."""

    path: str
    list_path: str | None = None
    answers: dict[Hashable, Answer] = field(default_factory=dict)

    def best_but(self, key: Hashable | None) -> Answer | None:
        """The answer that goes before all others except the one of this key; None where no model gave another."""
        rivals = [answer for answer in self.answers.values() if answer.models and answer.key != key]
        return min(rivals, key=lambda answer: answer.place_in_line, default=None)
