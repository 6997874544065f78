"""The tables of schema `assay`, every table and column with its comment."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.types import TypeEngine

from resources.columns import grain_of, meaning_of

SCHEMA = "assay"
_NAMES = {
    "pk": "%(table_name)s_pkey",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "ck": "%(table_name)s_%(constraint_name)s_check",
}

metadata = MetaData(schema=SCHEMA, naming_convention=_NAMES)

_NOW = func.now()


def _table(name: str, *parts: Any) -> Table:
    table = Table(name, metadata, *parts, comment=grain_of(f"{SCHEMA}.{name}"))
    for column in table.columns:
        column.comment = meaning_of(column.name, f"{SCHEMA}.{name}")
    return table


def _key(name: str, type_: TypeEngine[Any] | None = None) -> Column[Any]:
    return Column(name, type_ or Text(), primary_key=True)


def _identity(name: str) -> Column[Any]:
    return Column(name, BigInteger, Identity(always=True), primary_key=True)


def _to(name: str, target: str, type_: TypeEngine[Any] | None = None, **options: Any) -> Column[Any]:
    options = {"nullable": False} | options
    return Column(name, type_ or Text(), ForeignKey(f"{SCHEMA}.{target}"), **options)


def _text(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Text, nullable=nullable)


def _number(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Double, nullable=nullable)


def _count(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, Integer, nullable=nullable)


def _flag(name: str) -> Column[Any]:
    return Column(name, Boolean, nullable=False)


def _time(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=None if nullable else _NOW)


scenarios = _table(
    "scenarios",
    _key("scenario_id"),
    _text("scenario_type"),
    _text("title"),
    _text("entity"),
    _text("prompt"),
    _count("expected_repetitions"),
    _text("config_hash"),
    _time("config_changed_at"),
    _number("quality_weight"),
    _number("speed_weight"),
    _number("cost_weight"),
    _time("created_at"),
    _time("updated_at"),
)

models = _table(
    "models",
    _key("model_id"),
    _text("provider"),
    _text("model_name"),
    _text("family"),
    _number("input_usd_per_million", nullable=True),
    _number("output_usd_per_million", nullable=True),
    _time("created_at"),
    _time("updated_at"),
)

scenario_configs = _table(
    "scenario_configs",
    Column("scenario_id", Text, ForeignKey(f"{SCHEMA}.scenarios.scenario_id"), primary_key=True),
    _key("config_hash"),
    _text("schema_json"),
    _text("scoring_json"),
    _time("first_seen_at"),
)

reference_versions = _table(
    "reference_versions",
    _identity("reference_version_id"),
    _to("scenario_id", "scenarios.scenario_id"),
    _count("number"),
    _text("content_json"),
    _text("item_ids_json"),
    _text("content_hash"),
    _text("author"),
    _text("origin"),
    _flag("is_verified"),
    _to("parent_id", "reference_versions.reference_version_id", BigInteger(), nullable=True),
    _text("lake_file"),
    _time("created_at"),
    UniqueConstraint("scenario_id", "number"),
    CheckConstraint("origin in ('import', 'owner_save', 'round', 'rejection')", name="origin"),
)

runs = _table(
    "runs",
    _identity("run_id"),
    _to("scenario_id", "scenarios.scenario_id"),
    _to("model_id", "models.model_id", index=True),
    _count("repetition"),
    _text("status"),
    _text("output_sha256", nullable=True),
    Column("output_bytes", BigInteger, nullable=True),
    _text("lake_file"),
    _number("duration_seconds", nullable=True),
    _number("cost_usd", nullable=True),
    Column("input_tokens", BigInteger, nullable=True),
    Column("output_tokens", BigInteger, nullable=True),
    _text("error", nullable=True),
    _text("content_hash"),
    _time("imported_at"),
    UniqueConstraint("scenario_id", "model_id", "repetition"),
    CheckConstraint("status in ('ok', 'failed')", name="status"),
    CheckConstraint("repetition >= 1", name="repetition"),
)

rounds = _table(
    "rounds",
    _identity("round_id"),
    _text("trigger"),
    _text("status"),
    _text("dagster_run_id", nullable=True),
    _count("planned_models"),
    _text("problem"),
    _time("opened_at"),
    _time("closed_at", nullable=True),
    CheckConstraint("status in ('open', 'done', 'failed')", name="status"),
)

model_scores = _table(
    "model_scores",
    _identity("model_score_id"),
    _to("scenario_id", "scenarios.scenario_id"),
    _to("model_id", "models.model_id", index=True),
    _to("round_id", "rounds.round_id", BigInteger(), nullable=True, index=True),
    _to("reference_version_id", "reference_versions.reference_version_id", BigInteger()),
    _text("owner_reference_hash"),
    _text("config_hash"),
    _text("runs_hash"),
    _text("mode"),
    _text("embedding_model", nullable=True),
    _count("run_count"),
    _count("ok_run_count"),
    _count("scored_run_count"),
    _number("quality", nullable=True),
    _number("lowest_quality", nullable=True),
    _number("highest_quality", nullable=True),
    _number("interval_low", nullable=True),
    _number("interval_high", nullable=True),
    _count("median_repetition", nullable=True),
    _number("completeness", nullable=True),
    _number("correctness", nullable=True),
    _number("hallucination", nullable=True),
    _number("mean_duration_seconds", nullable=True),
    _number("mean_cost_usd", nullable=True),
    _text("field_scores_file"),
    _text("findings_file", nullable=True),
    _time("scored_at"),
    CheckConstraint("mode in ('full', 'exact_only')", name="mode"),
)
Index(
    "model_scores_head_idx", model_scores.c.scenario_id, model_scores.c.model_id, model_scores.c.model_score_id.desc()
)


_RUN_SCORE = ("model_score_id", "run_id")


def _of_run_score() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(_RUN_SCORE, [f"{SCHEMA}.run_scores.{name}" for name in _RUN_SCORE])


run_scores = _table(
    "run_scores",
    Column("model_score_id", BigInteger, ForeignKey(f"{SCHEMA}.model_scores.model_score_id"), primary_key=True),
    Column("run_id", BigInteger, ForeignKey(f"{SCHEMA}.runs.run_id"), primary_key=True, index=True),
    _number("quality"),
    _number("completeness"),
    _number("correctness"),
    _number("hallucination"),
    _number("reference_weight"),
    _number("candidate_weight"),
    _number("shared_weight"),
    _number("earned_weight"),
    _count("field_count"),
    _text("problems"),
    _text("unreadable_kind", nullable=True),
    _text("unreadable_reason", nullable=True),
)

field_scores = _table(
    "field_scores",
    _key("model_score_id", BigInteger()),
    _key("run_id", BigInteger()),
    _key("field_position", Integer()),
    _text("path"),
    _text("side"),
    _text("kind"),
    _text("outcome"),
    _text("rung", nullable=True),
    _number("credit"),
    _number("similarity", nullable=True),
    _text("reference_text", nullable=True),
    _text("candidate_text", nullable=True),
    _flag("is_shortened"),
    _number("reference_weight"),
    _number("candidate_weight"),
    _number("shared_weight"),
    _text("reason"),
    _text("setting", nullable=True),
    _text("setting_origin", nullable=True),
    _text("question_id", nullable=True),
    _flag("is_contested"),
    _text("list_path", nullable=True),
    _of_run_score(),
)

list_scores = _table(
    "list_scores",
    _key("model_score_id", BigInteger()),
    _key("run_id", BigInteger()),
    _key("field_position", Integer()),
    _text("path"),
    _text("list_order"),
    _count("matched_count"),
    _count("missed_count"),
    _count("extra_count"),
    _count("hallucinated_count"),
    _count("duplicate_count"),
    _number("precision"),
    _number("recall"),
    _number("f1"),
    _text("missed_items"),
    _text("extra_items"),
    _text("hallucinated_items"),
    _of_run_score(),
)

findings = _table(
    "findings",
    _identity("finding_id"),
    Column("model_score_id", BigInteger, nullable=False),
    Column("run_id", BigInteger, nullable=False),
    _to("scenario_id", "scenarios.scenario_id", index=True),
    _to("model_id", "models.model_id"),
    _text("path"),
    _text("evidence"),
    _flag("has_proposal"),
    _text("proposal_json", nullable=True),
    _text("question_id", nullable=True),
    _time("found_at"),
    _of_run_score(),
    Index(None, *_RUN_SCORE),
)

vectors = _table(
    "vectors",
    _key("embedding_model"),
    _key("text_sha256", LargeBinary()),
    Column("vector", LargeBinary, nullable=False),
)

scoring_records = _table(
    "scoring_records",
    _identity("scoring_record_id"),
    _to("scenario_id", "scenarios.scenario_id"),
    _to("model_id", "models.model_id"),
    _to("round_id", "rounds.round_id", BigInteger()),
    _to("model_score_id", "model_scores.model_score_id", BigInteger(), nullable=True),
    _text("judge_models"),
    _count("question_count"),
    _count("cached_count"),
    _count("position_conflict_count"),
    _text("error", nullable=True),
    _number("duration_seconds", nullable=True),
    _time("started_at"),
    _time("ended_at", nullable=True),
    UniqueConstraint("round_id", "scenario_id", "model_id"),
)
Index("scoring_records_scenario_id_model_id_idx", scoring_records.c.scenario_id, scoring_records.c.model_id)
Index("scoring_records_model_score_id_idx", scoring_records.c.model_score_id, unique=True)

judge_questions = _table(
    "judge_questions",
    Column("scenario_id", Text, ForeignKey(f"{SCHEMA}.scenarios.scenario_id"), primary_key=True),
    _key("question_id"),
    _text("question_kind"),
    _text("path"),
    _text("prompt"),
    _text("prompt_version"),
    _time("asked_at"),
    CheckConstraint("question_kind in ('compare', 'verify')", name="question_kind"),
)


def _of_question() -> ForeignKeyConstraint:
    names = ("scenario_id", "question_id")
    return ForeignKeyConstraint(names, [f"{SCHEMA}.judge_questions.{name}" for name in names])


judge_calls = _table(
    "judge_calls",
    _identity("judge_call_id"),
    _text("scenario_id"),
    _text("question_id"),
    _to("scoring_record_id", "scoring_records.scoring_record_id", BigInteger(), nullable=True, index=True),
    _text("judge_model"),
    _text("judge_family"),
    _flag("is_swapped"),
    _count("attempt"),
    _flag("is_repair"),
    _text("sent_text", nullable=True),
    _text("answer_text", nullable=True),
    _text("finish_reason", nullable=True),
    Column("input_tokens", BigInteger, nullable=True),
    Column("output_tokens", BigInteger, nullable=True),
    _number("cost_usd", nullable=True),
    _number("duration_seconds"),
    _text("error_kind", nullable=True),
    _text("error", nullable=True),
    _time("called_at"),
    _of_question(),
    Index(None, "scenario_id", "question_id"),
)

judge_answers = _table(
    "judge_answers",
    _key("scenario_id"),
    _key("question_id"),
    _key("judge_model"),
    _key("is_swapped", Boolean()),
    _text("verdict"),
    _number("credit"),
    _text("basis"),
    _text("reason"),
    _time("answered_at"),
    _of_question(),
)

judge_claims = _table(
    "judge_claims",
    _key("scenario_id"),
    _key("question_id"),
    _text("worker_id"),
    _time("expires_at"),
    Index(None, "worker_id"),
)
