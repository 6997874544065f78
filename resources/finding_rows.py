"""What a scored run says about the reference, as rows: findings, supports of automatic edits, and stable paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, text

from resources.stored_text import json_text, storable
from scoring.finding_log import logged_findings, supports_in
from scoring.paths import stable_path
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
SUPPORT_COLUMNS = ("model_score_id", "run_id", "scenario_id", "model_id", "path", "value_json")

_EDITED = text("""
select path from (
    select distinct on (e.path) e.path, e.evidence
    from assay.reference_edits e join assay.reference_versions v using (reference_version_id)
    where e.scenario_id = :scenario_id and v.number <= :number
    order by e.path, e.reference_edit_id desc) newest
where evidence is not null
""")


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


def support_rows(
    connection: Connection, score_id: int, scoring: ModelScoring, scored: Sequence[Scored]
) -> Iterator[tuple[Any, ...]]:
    """Where the runs gave automatic values again."""
    edited = _edited_paths(connection, scoring.reference)
    for recorded, card in scored if edited else ():
        supports = supports_in(
            card,
            scoring.reference.snapshot,
            edited,
            model_id=scoring.model_id,
            run_id=recorded.run_id,
            round_id=scoring.round_id or 0,
        )
        for one in supports:
            place = (score_id, one.run_id, scoring.scenario_id, one.model_id)
            yield (*place, storable(one.path), json_text(one.value))


def _edited_paths(connection: Connection, version: ReferenceVersion) -> list[str]:
    """The stable paths of the automatic edits that a version holds."""
    if version.content_hash == version.owner_hash:
        return []
    given = {"scenario_id": version.scenario_id, "number": version.number}
    return list(connection.execute(_EDITED, given).scalars())


class StablePaths:
    """Stable paths of the rows of one scoring; each distinct path is worked out once."""

    def __init__(self, version: ReferenceVersion) -> None:
        self._item_ids = version.item_ids
        self._known: dict[str, str] = {}

    def of(self, row: FieldScore) -> str:
        """The row's stable path; for an extra item of a list that of the list."""
        is_extra_item = row.side is Side.CANDIDATE and row.list_path is not None
        pointer = row.list_path if is_extra_item and row.list_path is not None else row.path
        found = self._known.get(pointer)
        if found is None:
            found = self._known[pointer] = storable(stable_path(pointer, self._item_ids))
        return found
