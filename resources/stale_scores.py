"""Why scores are stale: which version or setting they were made with, which one holds now, and since when."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Row, text

from resources.owner_changes import written_settings
from scoring.staleness import changed_settings

SHORT_HASH = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleScores:
    """The latest scores of one scenario that are stale for the same reason.

    `changes` says each thing that changed, with what it was and what it is; `changed_at` is when the newest of them
    did, UTC; `see` is the command or the files that show it.
    """

    scenario_id: str
    model_ids: tuple[str, ...]
    changes: tuple[str, ...]
    changed_at: datetime
    see: str


_STALE = text("""
select s.scenario_id, array_agg(s.model_id order by s.model_id collate "C") as model_ids,
       s.is_reference_changed, s.is_config_changed, s.is_edit_rejected,
       v.number as scored_version, n.number as owner_version, n.author, n.created_at as saved_at,
       s.config_hash as scored_config_hash, c.config_hash, c.config_changed_at,
       b.schema_json as scored_schema, b.scoring_json as scored_settings, a.schema_json, a.scoring_json,
       r.paths, r.rejected_at
from assay.score_states s
join assay.scenarios c on c.scenario_id = s.scenario_id
join assay.reference_versions v on v.reference_version_id = s.reference_version_id
left join assay.owner_references o on o.scenario_id = s.scenario_id
left join assay.reference_versions n on n.reference_version_id = o.reference_version_id
left join assay.scenario_configs b on b.scenario_id = s.scenario_id and b.config_hash = s.config_hash
left join assay.scenario_configs a on a.scenario_id = c.scenario_id and a.config_hash = c.config_hash
left join lateral (
    select string_agg(distinct j.path, ', ') as paths, max(j.rejected_at) as rejected_at
    from assay.rejected_versions x
    join assay.reference_rejections j using (reference_rejection_id)
    where x.reference_version_id = s.reference_version_id and j.released_at is null
) r on true
where s.is_latest and s.is_stale
group by s.scenario_id, s.is_reference_changed, s.is_config_changed, s.is_edit_rejected, v.number, n.number, n.author,
         n.created_at, s.config_hash, c.config_hash, c.config_changed_at, b.schema_json, b.scoring_json, a.schema_json,
         a.scoring_json, r.paths, r.rejected_at
order by s.scenario_id collate "C", v.number
""")


def stale_scores(engine: Engine) -> list[StaleScores]:
    """Every stale latest score, grouped by scenario and reason."""
    with engine.connect() as connection:
        return [_stale(row) for row in connection.execute(_STALE)]


def _stale(row: Row[Any]) -> StaleScores:
    found = [one for one in (_reference(row), _config(row), _rejection(row)) if one is not None]
    return StaleScores(
        scenario_id=row.scenario_id,
        model_ids=tuple(row.model_ids),
        changes=tuple(what for what, _ in found),
        changed_at=max(when for _, when in found),
        see=_see(row),
    )


def _see(row: Row[Any]) -> str:
    name = shlex.quote(row.scenario_id)
    if row.is_reference_changed:
        return f"assay reference diff {name} --from {row.scored_version} --to {row.owner_version}"
    return (
        f"assay reference log {name}" if row.is_edit_rejected else "its scenario.yaml and schema.json, and assay.yaml"
    )


def _reference(row: Row[Any]) -> tuple[str, datetime] | None:
    if not row.is_reference_changed:
        return None
    return f"reference: version {row.scored_version} -> {row.owner_version}, saved by {row.author}", row.saved_at


def _config(row: Row[Any]) -> tuple[str, datetime] | None:
    if not row.is_config_changed:
        return None
    before, after = (
        written_settings(row.scored_schema, row.scored_settings),
        written_settings(row.schema_json, row.scoring_json),
    )
    hashes = f"{row.scored_config_hash[:SHORT_HASH]} -> {row.config_hash[:SHORT_HASH]}"
    return f"scoring config: {hashes} ({', '.join(changed_settings(before, after))})", row.config_changed_at


def _rejection(row: Row[Any]) -> tuple[str, datetime] | None:
    return (f"rejected edit: {row.paths}", row.rejected_at) if row.is_edit_rejected else None
