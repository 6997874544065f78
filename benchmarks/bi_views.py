"""Whether the views of schema `bi` stay quick: 50 scenarios x 20 models x 30 rounds, 30,000 model scores made by SQL.

`python -m benchmarks.bi_views` fills a Postgres of its own and prints what a dashboard's queries take there, planning
and execution by the server's own clock, with the big tables that a query reads from end to end. Exits 1 where one that
filters by scenario, model or what is latest reads a big table whole. `--rounds 300` makes it ten times the history.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text

from resources.bulk import run_script

BIG = {"model_scores", "run_scores", "field_scores", "list_scores", "findings", "judge_calls", "scoring_records"}
"""What grows with every round."""

_FILL = """
insert into assay.scenarios select 's' || s, 'enrichment', 'Title ' || s, 'entity', 'prompt', 2, 'config', now(),
  34, 33, 33, now(), now() from generate_series(1, {scenarios}) s;
insert into assay.models select 'lab/m' || m, 'lab', 'm' || m, 'family ' || m % 5, 1, 2, now(), now()
  from generate_series(1, {models}) m;
insert into assay.reference_versions (scenario_id, number, content_json, item_ids_json, content_hash, author, origin,
  is_verified, lake_file, owner_json, owner_item_ids_json, owner_hash, after_round, saved_paths_json, note)
  select 's' || s, n, '{{}}', '{{}}', 'h' || n, 'x', case when n = 1 then 'import' else 'round' end, true,
  'reference_versions/' || s || '/' || n, '{{}}', '{{}}', 'owner', 0, '[]', ''
  from generate_series(1, {scenarios}) s, generate_series(1, {rounds}) n;
insert into assay.runs (scenario_id, model_id, repetition, status, output_sha256, output_bytes, lake_file,
  duration_seconds, cost_usd, input_tokens, output_tokens, content_hash)
  select 's' || s, 'lab/m' || m, r, 'ok', 'x', 1000, 'runs/' || s, 1 + m * 0.3, m * 0.01, 100, 100, 'c'
  from generate_series(1, {scenarios}) s, generate_series(1, {models}) m, generate_series(1, 2) r;
insert into assay.rounds (trigger, status, planned_models, problem)
  select 'command', 'done', {scenarios} * {models}, '' from generate_series(1, {rounds});
insert into assay.model_scores (scenario_id, model_id, round_id, reference_version_id, owner_reference_hash,
  config_hash, runs_hash, mode, embedding_model, run_count, ok_run_count, scored_run_count, quality, lowest_quality,
  highest_quality, median_repetition, completeness, correctness, hallucination, mean_duration_seconds,
  mean_cost_usd, field_scores_file)
  select 's' || s, 'lab/m' || m, n, v.reference_version_id, 'owner', 'config', 'runs', 'full', 'local', 2, 2, 2,
  m * 4 % 101, 0, 100, 1, 50, 50, 5, 1 + m * 0.3, m * 0.01, 'field_scores/' || s || '/' || m || '/' || n
  from generate_series(1, {rounds}) n, generate_series(1, {scenarios}) s, generate_series(1, {models}) m
  join assay.reference_versions v on true where v.scenario_id = 's' || s and v.number = n;
insert into assay.run_scores select s.model_score_id, r.run_id, 50, 50, 50, 5, 10, 10, 9, 8, 8, '', null, null
  from assay.model_scores s join assay.runs r using (scenario_id, model_id);
insert into assay.field_scores select r.model_score_id, r.run_id, f, '/field/' || f, 'reference', 'text',
  (array['match', 'partial', 'mismatch', 'missing'])[1 + (f + r.run_id) % 4], 'exact', 0.5, null, 'reference',
  'candidate', false, 1, 1, 1, 'why', null, null, null, false, null, '/field/' || f
  from assay.run_scores r, generate_series(0, 7) f;
insert into assay.list_scores select r.model_score_id, r.run_id, 3, '/list', 'set', 3, 1, 1, 1, 0, .75, .75, .75,
  '', '', ''
  from assay.run_scores r;
insert into assay.findings (model_score_id, run_id, scenario_id, model_id, path, evidence, has_proposal, proposal_json,
  stable_path, is_addition) select r.model_score_id, r.run_id, s.scenario_id, s.model_id, '/a', 'better', true, '1',
  '/a', false from assay.run_scores r join assay.model_scores s using (model_score_id);
insert into assay.scoring_records (scenario_id, model_id, round_id, model_score_id, judge_models, question_count,
  cached_count, position_conflict_count, duration_seconds, ended_at)
  select scenario_id, model_id, round_id, model_score_id, 'judge', 5, 2, 0, 10, now() from assay.model_scores;
insert into assay.judge_questions select 's' || s, 'q' || q, 'compare', '/a', repeat('p', 500), '1', now()
  from generate_series(1, {scenarios}) s, generate_series(1, 100) q;
insert into assay.judge_calls (scenario_id, question_id, scoring_record_id, judge_model, judge_family, is_swapped,
  attempt, is_repair, answer_text, input_tokens, output_tokens, cost_usd, duration_seconds)
  select scenario_id, 'q' || 1 + (scoring_record_id + k) % 100, scoring_record_id, 'judge', 'judges', false, 1, false,
  'a', 100, 10, 0.001, 0.5 from assay.scoring_records, generate_series(1, 3) k;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A query of a dashboard; one that `is_narrow` must read no big table whole."""

    name: str
    query: str
    is_narrow: bool = True


_CELL = "is_latest and not is_stale and scenario_id = 's3' and model_id = 'lab/m3'"
_ONE = "is_latest and not is_stale and scenario_id = 's3'"
_NOW = "is_latest and not is_stale"
_FIELDS = "select path, model_id, sum(earned_weight), sum(shared_weight) from bi.field_scores where {} group by 1, 2"
ASKS = (
    Ask(name="leaderboard overall", query="select * from bi.leaderboard where scope = 'overall'"),
    Ask(
        name="leaderboard of one", query="select * from bi.leaderboard where scope = 'scenario' and scenario_id = 's3'"
    ),
    *(
        Ask(name=f"{view}, {name}", query=f"select * from bi.{view} where {where}")  # noqa: S608 - views and columns of our own, named above
        for view in ("model_scores", "run_scores", "field_scores", "list_scores", "findings")
        for name, where in (("model and scenario", _CELL), ("scenario", _ONE))
    ),
    Ask(name="model_scores, now", query=f"select * from bi.model_scores where {_NOW}"),  # noqa: S608 - _NOW is a constant above
    Ask(name="fields of a scenario, summed", query=_FIELDS.format(_ONE)),
    Ask(name="fields now, summed", query=_FIELDS.format(_NOW)),
    Ask(name="scoring_records, scenario", query="select * from bi.scoring_records where scenario_id = 's3'"),
    Ask(name="stale_scores", query="select * from bi.stale_scores"),
    Ask(
        name="judging cost, all", query="select model_id, sum(cost_usd) from bi.judge_calls group by 1", is_narrow=False
    ),
    Ask(
        name="quality by round, all",
        query="select round_id, model_id, avg(quality) from bi.model_scores group by 1, 2",
        is_narrow=False,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How the server answered: milliseconds, rows, and the big tables that it read from end to end."""

    milliseconds: float
    rows: int
    read_whole: tuple[str, ...]


def fill(engine: Engine, *, scenarios: int, models: int, rounds: int) -> None:
    """A migrated, empty database holds so many scenarios and models, all scored in so many rounds, and is analysed."""
    with engine.begin() as connection:
        run_script(connection, _FILL.format(scenarios=scenarios, models=models, rounds=rounds))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("vacuum analyze")


def plan_of(connection: Connection, query: str) -> Plan:
    """How the server answers the query, which it does."""
    (found,) = connection.execute(text(f"explain (analyze, format json) {query}")).scalar_one()
    nodes = list(_nodes(found["Plan"]))
    whole = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
    return Plan(
        milliseconds=found["Planning Time"] + found["Execution Time"],
        rows=int(found["Plan"]["Actual Rows"]),
        read_whole=tuple(sorted(whole & BIG)),
    )


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


@contextmanager
def _postgres() -> Iterator[Engine]:
    from resources.database import engine_for
    from resources.home import Home
    from resources.migrate import upgrade
    from resources.postgres import EmbeddedPostgres

    folder = Path(tempfile.mkdtemp(prefix="assay-bench-"))
    folder.chmod(0o711)
    postgres = EmbeddedPostgres(Home(root=folder), is_durable=False)
    try:
        engine = engine_for(postgres.ensure().url)
        upgrade(engine)
        yield engine
        engine.dispose()
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """1 where a narrow query reads a big table whole."""
    parser = argparse.ArgumentParser()
    for name, default in (("scenarios", 50), ("models", 20), ("rounds", 30)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = vars(parser.parse_args())
    with _postgres() as engine:
        fill(engine, **given)
        missed, slowest = 0, 0.0
        with engine.connect() as connection:
            for ask in ASKS:
                plan = plan_of(connection, ask.query)
                whole = ", ".join(plan.read_whole)
                print(
                    f"{ask.name:38} {plan.milliseconds:9.1f} ms {plan.rows:7} rows  {whole and 'reads whole: ' + whole}"
                )
                missed += ask.is_narrow and bool(plan.read_whole)
                slowest = max(slowest, plan.milliseconds if ask.is_narrow else 0)
    scores = given["scenarios"] * given["models"] * given["rounds"]
    print(f"bi_views: {scores:,} model scores, slowest narrow query {slowest:.0f} ms, {missed} read a big table whole")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
