"""What a merge is made of, read from the warehouse: findings, supports, rejections, saves, and the merge itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, text

from resources.reference_edits import edits_in_place
from resources.reference_versions import saves_of, snapshots_of
from resources.stored_text import json_value
from scoring.edits import LoggedFinding, Merged, Rejection, Save, Snapshot, Support
from scoring.finding_log import claimed_paths
from scoring.ledger import above
from scoring.merge import merge
from scoring.owners_part import value_at
from scoring.records import Evidence, Json
from scoring.schema import Node, compile_schema

_FINDINGS = text("""
select f.finding_id, f.stable_path, f.is_addition, f.evidence, f.has_proposal, f.proposal_json, f.reference_json,
       f.model_id, f.run_id, coalesce(s.round_id, 0) as round_id, f.question_id
from assay.findings f join assay.model_scores s using (model_score_id)
left join assay.merged_scores m using (model_score_id)
where f.scenario_id = :scenario_id and (:with_new or m.model_score_id is not null)
order by f.finding_id
""")
_GIVEN = text("""
select f.stable_path, f.outcome = 'match' and f.rung is distinct from 'judge' as is_same, f.candidate_text,
       s.reference_version_id, s.model_id, f.run_id, s.model_score_id, coalesce(s.round_id, 0) as round_id
from assay.field_scores f join assay.model_scores s using (model_score_id)
left join assay.merged_scores m using (model_score_id)
where s.scenario_id = :scenario_id and (:with_new or m.model_score_id is not null) and f.side = 'reference'
  and f.outcome in ('match', 'partial', 'mismatch')
  and (f.outcome = 'match' and f.rung is distinct from 'judge' or not f.is_shortened)
  and (f.stable_path = any(:claimed)
       or exists (select 1 from unnest(cast(:claimed as text[])) c where starts_with(f.stable_path, c || '/')))
order by f.model_score_id, f.run_id, f.field_position
""")
_REJECTIONS = text("""
select path, after_round, released_after_round from assay.reference_rejections
where scenario_id = :scenario_id order by reference_rejection_id
""")
_SCHEMA = text("""
select k.schema_json from assay.scenario_configs k join assay.scenarios c using (scenario_id, config_hash)
where c.scenario_id = :scenario_id
""")
_COUNTS = text("""
select scenario_id, evidence, count(*)::int as findings, count(distinct stable_path)::int as paths,
       count(distinct model_id)::int as models
from assay.findings where model_score_id = any(:model_score_ids)
group by scenario_id, evidence order by scenario_id collate "C", evidence collate "C"
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInputs:
    """All that a merge looks at beside the owner's part."""

    findings: Sequence[LoggedFinding]
    supports: Sequence[Support]
    rejections: Sequence[Rejection]
    saves: Sequence[Save]


def inputs_of(connection: Connection, scenario_id: str, *, with_new: bool) -> MergeInputs:
    """What a merge of this scenario looks at; `with_new` takes in scores whose findings went into no merge yet."""
    given = {"scenario_id": scenario_id, "with_new": with_new}
    findings = _findings(connection, given)
    edited = [stored.edit for stored in edits_in_place(connection, scenario_id)]
    return MergeInputs(
        findings=findings,
        supports=_supports(connection, given, claimed_paths(findings, edited)),
        rejections=rejections_of(connection, scenario_id),
        saves=saves_of(connection, scenario_id),
    )


def rejections_of(connection: Connection, scenario_id: str) -> list[Rejection]:
    """Every rejection, released ones included, the oldest first."""
    return [
        Rejection(path=row.path, after_round=row.after_round, released_after_round=row.released_after_round)
        for row in connection.execute(_REJECTIONS, {"scenario_id": scenario_id})
    ]


def root_of(connection: Connection, scenario_id: str, content: Json) -> Node | None:
    """The scenario's schema compiled with this content, None where none is stored."""
    schema = connection.execute(_SCHEMA, {"scenario_id": scenario_id}).scalar()
    return None if schema is None else compile_schema(json_value(schema), content)


def merged_of(connection: Connection, scenario_id: str, owner: Snapshot, inputs: MergeInputs) -> Merged:
    """The merge of the owner's part with these inputs."""
    return merge(
        owner,
        inputs.findings,
        supports=inputs.supports,
        rejections=inputs.rejections,
        saves=inputs.saves,
        root=root_of(connection, scenario_id, owner.content),
    )


def finding_counts(engine: Engine, model_score_ids: Sequence[int]) -> list[dict[str, Any]]:
    """How many findings these scores left, a row a scenario and kind of evidence."""
    with engine.connect() as connection:
        rows = connection.execute(_COUNTS, {"model_score_ids": list(model_score_ids)})
        return [dict(row) for row in rows.mappings()]


def _supports(connection: Connection, given: dict[str, object], claimed: frozenset[str]) -> list[Support]:
    """What the models of all scorings gave at the claimed paths and below them, whenever they were scored.

    The twin of `scoring.finding_log.supports_in`, over the stored rows.
    """
    if not claimed:
        return []
    rows = connection.execute(_GIVEN, given | {"claimed": sorted(claimed)}).all()
    snapshots = snapshots_of(connection, {row.reference_version_id for row in rows})
    found: dict[tuple[int, int, str], Support] = {}
    for row in rows:
        held = value_at(snapshots[row.reference_version_id], row.stable_path) if row.is_same else row.candidate_text
        found[row.model_score_id, row.run_id, row.stable_path] = _support(row, row.stable_path, held)
        for path in above(row.stable_path) if row.is_same else ():
            if path in claimed:
                found.setdefault((row.model_score_id, row.run_id, path), _support(row, path, None))
    return list(found.values())


def _support(row: Row[Any], path: str, value: Json) -> Support:
    return Support(path=path, value=value, model_id=row.model_id, run_id=row.run_id, round_id=row.round_id)


def _findings(connection: Connection, given: dict[str, object]) -> list[LoggedFinding]:
    return [
        LoggedFinding(
            finding_id=row.finding_id,
            path=row.stable_path,
            is_addition=row.is_addition,
            evidence=Evidence(row.evidence),
            has_proposal=row.has_proposal,
            proposal=None if row.proposal_json is None else json_value(row.proposal_json),
            reference_value=None if row.reference_json is None else json_value(row.reference_json),
            model_id=row.model_id,
            run_id=row.run_id,
            round_id=row.round_id,
            question_id=row.question_id,
        )
        for row in connection.execute(_FINDINGS, given)
    ]
