"""The records of a reference that improves itself: what was found, what it changed, what its owner said (SPEC 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.records import Evidence, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The content of one version of a reference, and the id of each list item by its JSON Pointer."""

    content: Json
    item_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedFinding:
    """One finding in the log of a scenario.

    `path` is stable (list items by id); for a new item of a list it is the path of the list, `is_addition` is True and
    `proposal` the whole item. `reference_value` is what the reference held at the path when it was scored, automatic
    edits included; None where it held nothing. Rounds are in the order of their ids. `finding_id` is 0 until stored.
    """

    finding_id: int = 0
    path: str
    is_addition: bool = False
    evidence: Evidence
    has_proposal: bool
    proposal: Json
    reference_value: Json
    model_id: str
    run_id: int
    round_id: int
    question_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A model gave, where something was found, the automatic value or the owner's, which leaves no finding.

    `path` is stable: that of a finding or an automatic edit, or of a leaf below one. `value` is what the reference held
    there where the model matched it, else what the model gave. A value that is neither automatic at that time nor the
    owner's is not counted.
    """

    path: str
    value: Json
    model_id: str
    run_id: int
    round_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """The owner's no to an automatic edit: the path keeps the value before it until the rejection is released.

    It holds in the merges of rounds after `after_round`, up to and including `released_after_round`; None while it is
    not released.
    """

    path: str
    after_round: int = 0
    released_after_round: int | None = None

    def holds_in(self, round_id: int) -> bool:
        """Whether the path was locked in the merge of this round."""
        return self.after_round < round_id and (
            self.released_after_round is None or round_id <= self.released_after_round
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """What one save of the owner changed: the evidence of rounds up to `after_round` about these paths is settled."""

    after_round: int
    paths: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One automatic change of the reference.

    `path` is stable; for a new list item (`is_addition`) it ends in the item's id and `before` is None. `evidence` is
    the strongest behind the new value, `model_ids` the distinct models that gave it (sorted), `round_id` the round that
    wrote it, `finding_ids` what it rests on (sorted).
    """

    path: str
    before: Json
    after: Json
    evidence: Evidence
    model_ids: tuple[str, ...]
    round_id: int
    finding_ids: tuple[int, ...]
    is_addition: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What a merge makes of the owner's version.

    `edits` are the tracked changes in place, each against what stood there without it. `log` is every change that the
    rounds made, the oldest first, also those that later gave way.
    """

    content: Json
    item_ids: Mapping[str, str]
    edits: tuple[Edit, ...] = ()
    log: tuple[Edit, ...] = ()
