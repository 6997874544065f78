"""The checker after chaos: counts from the tables and files themselves what is lost, half, double, or stuck."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.content import MODELS, REPETITIONS, OwnerEdit, output_of
from tests.chaos.contents import Stored
from tests.chaos.watcher import GROWING

Problems = Iterator[str]


def lost(stored: Stored, seen: set[tuple[str, str]], scenarios: Sequence[str], edits: Sequence[Any]) -> Problems:
    """What was committed or acknowledged once and is not there, or not as it was."""
    for table, key in GROWING.items():
        now = set(stored.values(f"select {key} from assay.{table}"))  # noqa: S608 - our own words
        yield from (f"{table} {key} was there" for name, key in seen if name == table and key not in now)
    yield from _lost_runs(stored, scenarios)
    yield from _lost_edits(stored, edits)


def _lost_runs(stored: Stored, scenarios: Sequence[str]) -> Problems:
    files: dict[str, list[dict[str, Any]]] = {}
    found = {(row["scenario_id"], row["model_id"], row["repetition"]): row for row in stored.rows(
        "select * from assay.runs"
    )}  # fmt: skip
    for scenario in scenarios:
        for model in MODELS:
            for repetition in range(1, REPETITIONS + 1):
                row = found.pop((scenario, model, repetition), None)
                if row is None:
                    yield f"run {scenario} / {model} / {repetition} was imported"
                    continue
                rows = files.setdefault(row["lake_file"], stored.file(row["lake_file"]))
                outputs = [one["output"] for one in rows if (one["model_id"], one["repetition"]) == (model, repetition)]
                if [json.loads(one) for one in outputs] != [output_of(scenario, model, repetition)]:
                    yield f"run {scenario} / {model} / {repetition} has another output"
    yield from (f"run {identity} was never given" for identity in found)


def _lost_edits(stored: Stored, edits: Sequence[tuple[str, OwnerEdit]]) -> Problems:
    """An acknowledged edit stands in a version of the owner's, and in all versions after it."""
    for scenario, edit in edits:
        versions = stored.rows(
            "select number, owner_json, content_json from assay.reference_versions where scenario_id = %(id)s"
            " order by number",
            id=scenario,
        )
        name = edit.path.strip("/")
        held = [
            (json.loads(one["owner_json"])[name], json.loads(one["content_json"])[name]) == (edit.value, edit.value)
            for one in versions
        ]
        if not any(held) or not all(held[held.index(True) :]):
            yield f"edit {edit.path} of {scenario}, acknowledged, is gone"


def half(stored: Stored) -> Problems:
    """Scores without all their rows and files, files that rows name and nobody finds, versions that say two things."""
    counts = {
        table: Counter(
            (row["model_score_id"], row["run_id"])
            for row in stored.rows(f"select model_score_id, run_id from assay.{table}")  # noqa: S608 - our own words
        )
        for table in ("run_scores", "field_scores", "list_scores", "findings")
    }
    for score in stored.rows("select * from assay.model_scores"):
        yield from _half_score(stored, score, counts)
    yield from _half_versions(stored)
    yield from _missing_files(stored)


def _half_score(stored: Stored, score: dict[str, Any], counts: dict[str, Counter[Any]]) -> Problems:
    id_ = score["model_score_id"]
    runs = stored.rows("select run_id, field_count from assay.run_scores where model_score_id = %(id)s", id=id_)
    if len(runs) != score["scored_run_count"] or len(runs) != REPETITIONS:
        yield f"score {id_} has {len(runs)} runs"
    for run in runs:
        key = (id_, run["run_id"])
        if counts["field_scores"][key] != run["field_count"] or counts["list_scores"][key] != 1:
            yield f"score {id_} lacks fields of run {run['run_id']}"
    fields = sum(run["field_count"] for run in runs)
    found = sum(counts["findings"][(id_, run["run_id"])] for run in runs)
    for column, wanted in (("field_scores_file", fields), ("findings_file", found)):
        in_file = 0 if score[column] is None else len(stored.file(score[column]))
        if in_file != wanted:
            yield f"score {id_}: {column} holds {in_file} rows of {wanted}"
    ends = stored.values("select ended_at is not null from assay.scoring_records where model_score_id = %(id)s", id=id_)
    if ends != [True]:
        yield f"score {id_} has {len(ends)} scoring records that ended"


def _half_versions(stored: Stored) -> Problems:
    """Each version stands on the one before, its lake file says the same, and a merge's edits explain its content."""
    before: dict[str, dict[str, Any]] = {}
    for version in stored.rows("select * from assay.reference_versions order by scenario_id, number"):
        where = f"version {version['number']} of {version['scenario_id']}"
        parent = before.get(version["scenario_id"])
        if (version["number"], version["parent_id"]) != (
            (1, None) if parent is None else (parent["number"] + 1, parent["reference_version_id"])
        ):
            yield f"{where} does not follow the one before"
        in_file = stored.file(version["lake_file"])
        if [row["content_json"] for row in in_file] != [version["content_json"]]:
            yield f"{where} and its lake file differ"
        if version["origin"] == "round" and parent is not None:
            yield from _half_merge(stored, version, parent, where)
        before[version["scenario_id"]] = version


def _half_merge(stored: Stored, version: dict[str, Any], parent: dict[str, Any], where: str) -> Problems:
    content = json.loads(parent["content_json"])
    edits = stored.rows(
        "select path, after_json, evidence from assay.reference_edits where reference_version_id = %(id)s",
        id=version["reference_version_id"],
    )
    for edit in edits:
        content[edit["path"].strip("/")] = json.loads(edit["after_json"])
    if content != json.loads(version["content_json"]) or not edits:
        yield f"{where} is not the version before with its {len(edits)} edits"
    if version["owner_json"] != parent["owner_json"]:
        yield f"{where}, made by a merge, changes the owner's part"


def _missing_files(stored: Stored) -> Problems:
    named = set(
        stored.values("""
        select lake_file from assay.runs union select lake_file from assay.reference_versions
        union select field_scores_file from assay.model_scores
        union select findings_file from assay.model_scores where findings_file is not null""")
    )
    yield from (f"lake file {name} is named and missing" for name in named if not Path(stored.lake, name).is_file())


def doubled(stored: Stored, *, rescored_kind: str) -> Problems:
    """Cells scored twice in one state, runs recorded twice, reference versions made twice, scores with two records.

    The newest scores of scenarios of `rescored_kind` do not count: they were asked for once more.
    """
    scored = stored.rows(
        "select scenario_id, model_id, count(*) as scores from ("
        " select *, max(model_score_id) over (partition by scenario_id, model_id) as newest from assay.model_scores"
        ") s where not starts_with(scenario_id, %(kind)s) or model_score_id < newest"
        " group by scenario_id, model_id, owner_reference_hash, config_hash, runs_hash having count(*) > 1",
        kind=f"{rescored_kind}-",
    )
    yield from (
        f"{row['scenario_id']} / {row['model_id']} is scored {row['scores']} times in one state" for row in scored
    )
    runs = stored.rows("select 1 from assay.runs group by scenario_id, model_id, repetition having count(*) > 1")
    yield from ("a run is recorded twice" for _ in runs)
    versions = stored.rows("""
        select v.scenario_id, v.number from assay.reference_versions v
        join assay.reference_versions p on p.reference_version_id = v.parent_id
        where (v.content_json, v.owner_json, v.is_verified) = (p.content_json, p.owner_json, p.is_verified)
          and not exists (select 1 from assay.reference_edits e where e.reference_version_id = v.reference_version_id)
    """)
    yield from (f"version {row['number']} of {row['scenario_id']} says nothing new" for row in versions)
    records = stored.rows("select 1 from assay.scoring_records where model_score_id is not null"
                          " group by model_score_id having count(*) > 1")  # fmt: skip
    yield from ("a score has two records" for _ in records)


def stuck(stored: Stored, dagster: Stored) -> Problems:
    """Claims, locks, transactions, runs and pool slots that somebody killed still holds."""
    claims = stored.values("select count(*) from assay.judge_claims")[0]
    if claims:
        yield f"{claims} questions are still claimed"
    held = stored.values("select count(*) from pg_locks where locktype = 'advisory'")[0]
    if held:
        yield f"{held} advisory locks are held"
    unmerged = stored.values("""select count(*) from assay.model_scores s left join assay.merged_scores m
        using (model_score_id) where m.model_score_id is null""")[0]
    if unmerged:
        yield f"{unmerged} scores are in no merge"
    yield from (f"a Dagster run is {row['status']} {row['count']} times" for row in dagster.rows(UNFINISHED_RUNS))
    for table in ("concurrency_slots", "pending_steps"):
        slots = dagster.values(SLOTS[table])[0]
        if slots:
            yield f"{slots} rows of {table} are held"


UNFINISHED_RUNS = """
select status, count(*) from runs where status not in ('SUCCESS', 'FAILURE', 'CANCELED') group by status
"""
SLOTS = {
    "concurrency_slots": "select count(*) from concurrency_slots where run_id is not null",
    "pending_steps": "select count(*) from pending_steps",
}


def digest_of(texts: Iterable[str]) -> str:
    """The first hexadecimal digits of a hash over all of them."""
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:16]
