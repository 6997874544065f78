"""The tables of schema `assay`, every table and column with its comment."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Text,
    UniqueConstraint,
)

import resources.reference_tables  # noqa: F401 - its tables belong to the same metadata
from resources.table_parts import SCHEMA, count, flag, identity, key, metadata, number, table, text, time, to

__all__ = ["SCHEMA", "metadata"]

scenarios = table(
    "scenarios",
    key("scenario_id"),
    text("scenario_type"),
    text("title"),
    text("entity"),
    text("prompt"),
    count("expected_repetitions"),
    text("config_hash"),
    time("config_changed_at"),
    number("quality_weight"),
    number("speed_weight"),
    number("cost_weight"),
    time("created_at"),
    time("updated_at"),
)

models = table(
    "models",
    key("model_id"),
    text("provider"),
    text("model_name"),
    text("family"),
    number("input_usd_per_million", nullable=True),
    number("output_usd_per_million", nullable=True),
    time("created_at"),
    time("updated_at"),
)

scenario_configs = table(
    "scenario_configs",
    Column("scenario_id", Text, ForeignKey(f"{SCHEMA}.scenarios.scenario_id"), primary_key=True),
    key("config_hash"),
    text("schema_json"),
    text("scoring_json"),
    time("first_seen_at"),
)

reference_versions = table(
    "reference_versions",
    identity("reference_version_id"),
    to("scenario_id", "scenarios.scenario_id"),
    count("number"),
    text("content_json"),
    text("item_ids_json"),
    text("content_hash"),
    text("author"),
    text("origin"),
    flag("is_verified"),
    to("parent_id", "reference_versions.reference_version_id", BigInteger(), nullable=True),
    text("lake_file"),
    time("created_at"),
    text("owner_json"),
    text("owner_item_ids_json"),
    text("owner_hash"),
    Column("after_round", BigInteger, nullable=False),
    text("saved_paths_json"),
    text("note"),
    UniqueConstraint("scenario_id", "number"),
    CheckConstraint("origin in ('import', 'owner_save', 'generated', 'round', 'rejection', 'release')", name="origin"),
)

runs = table(
    "runs",
    identity("run_id"),
    to("scenario_id", "scenarios.scenario_id"),
    to("model_id", "models.model_id", index=True),
    count("repetition"),
    text("status"),
    text("output_sha256", nullable=True),
    Column("output_bytes", BigInteger, nullable=True),
    text("lake_file"),
    number("duration_seconds", nullable=True),
    number("cost_usd", nullable=True),
    Column("input_tokens", BigInteger, nullable=True),
    Column("output_tokens", BigInteger, nullable=True),
    text("error", nullable=True),
    text("content_hash"),
    time("imported_at"),
    UniqueConstraint("scenario_id", "model_id", "repetition"),
    CheckConstraint("status in ('ok', 'failed')", name="status"),
    CheckConstraint("repetition >= 1", name="repetition"),
)

rounds = table(
    "rounds",
    identity("round_id"),
    text("trigger"),
    text("status"),
    text("dagster_run_id", nullable=True),
    count("planned_models"),
    text("problem"),
    time("opened_at"),
    time("closed_at", nullable=True),
    CheckConstraint("status in ('open', 'done', 'failed')", name="status"),
)

model_scores = table(
    "model_scores",
    identity("model_score_id"),
    to("scenario_id", "scenarios.scenario_id"),
    to("model_id", "models.model_id", index=True),
    to("round_id", "rounds.round_id", BigInteger(), nullable=True, index=True),
    to("reference_version_id", "reference_versions.reference_version_id", BigInteger()),
    text("owner_reference_hash"),
    text("config_hash"),
    text("runs_hash"),
    text("mode"),
    text("embedding_model", nullable=True),
    count("run_count"),
    count("ok_run_count"),
    count("scored_run_count"),
    number("quality", nullable=True),
    number("lowest_quality", nullable=True),
    number("highest_quality", nullable=True),
    number("interval_low", nullable=True),
    number("interval_high", nullable=True),
    count("median_repetition", nullable=True),
    number("completeness", nullable=True),
    number("correctness", nullable=True),
    number("hallucination", nullable=True),
    number("mean_duration_seconds", nullable=True),
    number("mean_cost_usd", nullable=True),
    text("field_scores_file"),
    text("findings_file", nullable=True),
    time("scored_at"),
    CheckConstraint("mode in ('full', 'exact_only')", name="mode"),
)
Index(
    "model_scores_head_idx", model_scores.c.scenario_id, model_scores.c.model_id, model_scores.c.model_score_id.desc()
)


_RUN_SCORE = ("model_score_id", "run_id")


def _of_run_score() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(_RUN_SCORE, [f"{SCHEMA}.run_scores.{name}" for name in _RUN_SCORE])


run_scores = table(
    "run_scores",
    Column("model_score_id", BigInteger, ForeignKey(f"{SCHEMA}.model_scores.model_score_id"), primary_key=True),
    Column("run_id", BigInteger, ForeignKey(f"{SCHEMA}.runs.run_id"), primary_key=True, index=True),
    number("quality"),
    number("completeness"),
    number("correctness"),
    number("hallucination"),
    number("reference_weight"),
    number("candidate_weight"),
    number("shared_weight"),
    number("earned_weight"),
    count("field_count"),
    text("problems"),
    text("unreadable_kind", nullable=True),
    text("unreadable_reason", nullable=True),
)

field_scores = table(
    "field_scores",
    key("model_score_id", BigInteger()),
    key("run_id", BigInteger()),
    key("field_position", Integer()),
    text("path"),
    text("side"),
    text("kind"),
    text("outcome"),
    text("rung", nullable=True),
    number("credit"),
    number("similarity", nullable=True),
    text("reference_text", nullable=True),
    text("candidate_text", nullable=True),
    flag("is_shortened"),
    number("reference_weight"),
    number("candidate_weight"),
    number("shared_weight"),
    text("reason"),
    text("setting", nullable=True),
    text("setting_origin", nullable=True),
    text("question_id", nullable=True),
    flag("is_contested"),
    text("list_path", nullable=True),
    text("stable_path"),
    _of_run_score(),
)

list_scores = table(
    "list_scores",
    key("model_score_id", BigInteger()),
    key("run_id", BigInteger()),
    key("field_position", Integer()),
    text("path"),
    text("list_order"),
    count("matched_count"),
    count("missed_count"),
    count("extra_count"),
    count("hallucinated_count"),
    count("duplicate_count"),
    number("precision"),
    number("recall"),
    number("f1"),
    text("missed_items"),
    text("extra_items"),
    text("hallucinated_items"),
    _of_run_score(),
)

findings = table(
    "findings",
    identity("finding_id"),
    Column("model_score_id", BigInteger, nullable=False),
    Column("run_id", BigInteger, nullable=False),
    to("scenario_id", "scenarios.scenario_id", index=True),
    to("model_id", "models.model_id"),
    text("path"),
    text("evidence"),
    flag("has_proposal"),
    text("proposal_json", nullable=True),
    text("question_id", nullable=True),
    time("found_at"),
    text("stable_path"),
    flag("is_addition"),
    text("reference_json", nullable=True),
    _of_run_score(),
    Index(None, *_RUN_SCORE),
)

vectors = table(
    "vectors",
    key("embedding_model"),
    key("text_sha256", LargeBinary()),
    Column("vector", LargeBinary, nullable=False),
)

scoring_records = table(
    "scoring_records",
    identity("scoring_record_id"),
    to("scenario_id", "scenarios.scenario_id"),
    to("model_id", "models.model_id"),
    to("round_id", "rounds.round_id", BigInteger()),
    to("model_score_id", "model_scores.model_score_id", BigInteger(), nullable=True),
    text("judge_models"),
    count("question_count"),
    count("cached_count"),
    count("position_conflict_count"),
    text("error", nullable=True),
    number("duration_seconds", nullable=True),
    time("started_at"),
    time("ended_at", nullable=True),
    UniqueConstraint("round_id", "scenario_id", "model_id"),
)
Index("scoring_records_scenario_id_model_id_idx", scoring_records.c.scenario_id, scoring_records.c.model_id)
Index("scoring_records_model_score_id_idx", scoring_records.c.model_score_id, unique=True)

judge_questions = table(
    "judge_questions",
    Column("scenario_id", Text, ForeignKey(f"{SCHEMA}.scenarios.scenario_id"), primary_key=True),
    key("question_id"),
    text("question_kind"),
    text("path"),
    text("prompt"),
    text("prompt_version"),
    time("asked_at"),
    CheckConstraint("question_kind in ('compare', 'verify')", name="question_kind"),
)


def _of_question() -> ForeignKeyConstraint:
    names = ("scenario_id", "question_id")
    return ForeignKeyConstraint(names, [f"{SCHEMA}.judge_questions.{name}" for name in names])


judge_calls = table(
    "judge_calls",
    identity("judge_call_id"),
    text("scenario_id"),
    text("question_id"),
    to("scoring_record_id", "scoring_records.scoring_record_id", BigInteger(), nullable=True, index=True),
    text("judge_model"),
    text("judge_family"),
    flag("is_swapped"),
    count("attempt"),
    flag("is_repair"),
    text("sent_text", nullable=True),
    text("answer_text", nullable=True),
    text("finish_reason", nullable=True),
    Column("input_tokens", BigInteger, nullable=True),
    Column("output_tokens", BigInteger, nullable=True),
    number("cost_usd", nullable=True),
    number("duration_seconds"),
    text("error_kind", nullable=True),
    text("error", nullable=True),
    time("called_at"),
    _of_question(),
    Index(None, "scenario_id", "question_id"),
    Index(None, "scenario_id", "judge_model", "called_at"),
)

judge_answers = table(
    "judge_answers",
    key("scenario_id"),
    key("question_id"),
    key("judge_model"),
    key("is_swapped", Boolean()),
    text("verdict"),
    number("credit"),
    text("basis"),
    text("reason"),
    time("answered_at"),
    _of_question(),
)

judge_claims = table(
    "judge_claims",
    key("scenario_id"),
    key("question_id"),
    text("worker_id"),
    time("expires_at"),
    Index(None, "worker_id"),
)

run_claims = table(
    "run_claims",
    key("scenario_id"),
    key("model_id"),
    Column("repetition", Integer, primary_key=True, autoincrement=False),
    text("worker_id"),
    time("expires_at"),
    Index(None, "worker_id"),
)
