"""Whether all that rows name is there and agrees: lake files, their rows, and the parts of each score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, text

from resources.lake import Lake
from resources.orphans import named_files

MOST_SCORES = 2_000
"""The newest scores are counted through; older ones were when they were new, and never change."""

READERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that rows promise and that is not so, and where."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wholeness:
    """What was looked at and what is wrong with it; every named file was looked for, the newest scores were counted."""

    files: int
    counted_scores: int
    problems: tuple[Problem, ...]


_PARTS = text("""
with newest as (
    select * from assay.model_scores order by model_score_id desc limit :limit
), run_rows as (
    select model_score_id, count(*) as runs, sum(field_count) as fields
    from assay.run_scores where model_score_id in (select model_score_id from newest) group by model_score_id
), field_rows as (
    select model_score_id, count(*) as fields
    from assay.field_scores where model_score_id in (select model_score_id from newest) group by model_score_id
), finding_rows as (
    select model_score_id, count(*) as findings
    from assay.findings where model_score_id in (select model_score_id from newest) group by model_score_id
)
select s.scenario_id || ' / ' || s.model_id || ', score ' || s.model_score_id as name, s.scored_run_count,
       coalesce(r.runs, 0) as runs, coalesce(r.fields, 0) as promised_fields, coalesce(f.fields, 0) as fields,
       coalesce(g.findings, 0) as findings, s.field_scores_file, s.findings_file
from newest s
left join run_rows r using (model_score_id)
left join field_rows f using (model_score_id)
left join finding_rows g using (model_score_id)
order by s.model_score_id desc
""")

Files = dict[str, tuple[str, int]]
"""By file, the name of the score that names it and how many rows it must have."""


def wholeness(engine: Engine, lake: Lake, *, most_scores: int = MOST_SCORES) -> Wholeness:
    """How what is recorded stands: every named file is there, and the newest scores have all their parts."""
    named = named_files(engine)
    there = set(lake.files())
    missing = [Problem(where=file, problem="the lake has lost this file") for file in sorted(named - there)]
    with engine.connect() as connection:
        scores = connection.execute(_PARTS, {"limit": most_scores}).all()
    parts = [problem for score in scores for problem in _half(score)]
    short = _short(lake, {file: wanted for file, wanted in _files_of(scores).items() if file in there})
    return Wholeness(files=len(named), counted_scores=len(scores), problems=(*missing, *parts, *short))


def _half(score: Any) -> Iterator[Problem]:
    """What a score promises in one table and lacks in another."""
    for what, promised, held in (
        ("scored runs", score.scored_run_count, score.runs),
        ("field scores", score.promised_fields, score.fields),
    ):
        if promised != held:
            yield Problem(where=score.name, problem=f"{held} of {promised} {what} are there")


def _files_of(scores: Sequence[Any]) -> Files:
    fields = {score.field_scores_file: (score.name, int(score.fields)) for score in scores}
    findings = {score.findings_file: (score.name, int(score.findings)) for score in scores if score.findings_file}
    return fields | findings


def _short(lake: Lake, files: Files) -> list[Problem]:
    """Files whose number of rows is not that of the table."""
    with ThreadPoolExecutor(max_workers=READERS) as pool:
        counts = dict(zip(files, pool.map(lake.row_count, files), strict=True))
    return [
        Problem(where=f"{name}: {file}", problem=_difference(found, wanted))
        for file, (name, wanted) in files.items()
        if (found := counts[file]) != wanted
    ]


def _difference(found: int | None, wanted: int) -> str:
    return "it is no whole Parquet file" if found is None else f"it has {found} rows, Postgres has {wanted}"
