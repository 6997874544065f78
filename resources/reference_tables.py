"""The tables of the reference that improves itself: edits, rejections, and what is merged already."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer

from resources.table_parts import SCHEMA, flag, identity, key, table, text, time, to

_VERSION = "reference_versions.reference_version_id"

reference_edits = table(
    "reference_edits",
    identity("reference_edit_id"),
    to("scenario_id", "scenarios.scenario_id"),
    to("reference_version_id", _VERSION, BigInteger(), index=True),
    text("path"),
    flag("is_addition"),
    text("before_json", nullable=True),
    text("after_json", nullable=True),
    text("evidence", nullable=True),
    Column("round_id", BigInteger, nullable=True),
    text("question_id", nullable=True),
    text("reason"),
    Index(None, "scenario_id", "path"),
)

reference_edit_models = table(
    "reference_edit_models",
    Column(
        "reference_edit_id", BigInteger, ForeignKey(f"{SCHEMA}.reference_edits.reference_edit_id"), primary_key=True
    ),
    key("model_id"),
    time("added_at"),
)

reference_rejections = table(
    "reference_rejections",
    identity("reference_rejection_id"),
    to("scenario_id", "scenarios.scenario_id"),
    text("path"),
    to("reference_edit_id", "reference_edits.reference_edit_id", BigInteger()),
    to("reference_version_id", _VERSION, BigInteger()),
    text("filter"),
    text("author"),
    Column("after_round", BigInteger, nullable=False),
    time("rejected_at"),
    Column("released_after_round", BigInteger, nullable=True),
    text("released_by", nullable=True),
    time("released_at", nullable=True),
    Index(None, "scenario_id", "path"),
)

rejected_versions = table(
    "rejected_versions",
    Column(
        "reference_rejection_id",
        BigInteger,
        ForeignKey(f"{SCHEMA}.reference_rejections.reference_rejection_id"),
        primary_key=True,
    ),
    Column("reference_version_id", BigInteger, ForeignKey(f"{SCHEMA}.{_VERSION}"), primary_key=True, index=True),
)

merged_scores = table(
    "merged_scores",
    Column("model_score_id", BigInteger, ForeignKey(f"{SCHEMA}.model_scores.model_score_id"), primary_key=True),
    to("reference_version_id", _VERSION, BigInteger()),
    time("merged_at"),
)

reference_provenance = table(
    "reference_provenance",
    Column("reference_version_id", BigInteger, ForeignKey(f"{SCHEMA}.{_VERSION}"), primary_key=True),
    Column("position", Integer, primary_key=True),
    text("path"),
    text("value_json"),
    text("model_ids"),
    text("other_answers"),
)
