"""What a scored run says about the reference, as rows: findings and stable paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from resources.stored_text import json_text, storable
from scoring.finding_log import logged_findings
from scoring.paths import stable_end
from scoring.records import FieldScore, Scorecard, Side

if TYPE_CHECKING:
    from resources.recorded_runs import RecordedRun
    from resources.reference_versions import ReferenceVersion
    from resources.score_commits import ModelScoring

Scored = tuple["RecordedRun", Scorecard]

FINDING_COLUMNS = (
    "model_score_id",
    "run_id",
    "scenario_id",
    "model_id",
    "path",
    "evidence",
    "has_proposal",
    "proposal_json",
    "question_id",
    "stable_path",
    "is_addition",
    "reference_json",
)


def finding_rows(scoring: ModelScoring, scored: Sequence[Scored]) -> list[tuple[Any, ...]]:
    """The findings of all runs, each with its run first, as `FINDING_COLUMNS` has them from `path` on."""
    rows: list[tuple[Any, ...]] = []
    for recorded, card in scored:
        logged = logged_findings(
            card,
            scoring.reference.snapshot,
            model_id=scoring.model_id,
            run_id=recorded.run_id,
            round_id=scoring.round_id or 0,
        )
        for found, entry in zip(card.findings, logged, strict=True):
            proposal = json_text(found.proposal) if found.has_proposal else None
            before = None if entry.reference_value is None else json_text(entry.reference_value)
            stable = (storable(entry.path), entry.is_addition, before)
            said = (storable(found.path), found.evidence.value, found.has_proposal, proposal, found.question_id)
            rows.append((recorded, *said, *stable))
    return rows


class StablePaths:
    """Stable paths of the rows of one scoring; each distinct path is worked out once, from that of its parent."""

    def __init__(self, version: ReferenceVersion) -> None:
        self._item_ids = version.item_ids
        self._known: dict[str, str] = {"": ""}

    def of(self, row: FieldScore) -> str:
        """The row's stable path; for an extra item of a list that of the list."""
        is_extra_item = row.side is Side.CANDIDATE and row.list_path is not None
        return self._stable(row.list_path if is_extra_item and row.list_path is not None else row.path)

    def _stable(self, pointer: str) -> str:
        waiting = []
        while pointer not in self._known:
            waiting.append(pointer)
            pointer = pointer.rpartition("/")[0]
        stable = self._known[pointer]
        for pointer in reversed(waiting):
            stable = self._known[pointer] = stable + storable(stable_end(pointer, self._item_ids))
        return stable
