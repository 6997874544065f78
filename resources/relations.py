"""What one row of each table and view is; of a view of schema `bi` also its key, which no two rows share."""

from __future__ import annotations

from collections.abc import Mapping

_NOW = "Filter is_latest and not is_stale for what holds now."

TABLES: Mapping[str, str] = {
    "assay.scenarios": "One row a scenario: what its files say now.",
    "assay.models": "One row a candidate model: what models.yaml says now.",
    "assay.scenario_configs": "One row a distinct schema and scoring config of a scenario, for good.",
    "assay.reference_versions": "One row a version of a reference. Append-only.",
    "assay.runs": "One row a repetition of a model on a scenario, recorded for good. Its output lies in the lake.",
    "assay.rounds": "One row a scoring round.",
    "assay.model_scores": (
        "One row a scoring of a model on a scenario. The row is the commit: without it nothing of that scoring exists."
    ),
    "assay.run_scores": "One row a scored run of a model score.",
    "assay.field_scores": "One row a compared field of a scored run.",
    "assay.list_scores": "One row a compared list of a scored run.",
    "assay.findings": "One row a piece of evidence that the reference should change at one path. Append-only.",
    "assay.scoring_records": "One row a scoring of a model on a scenario in a round, whether it ended well or not.",
    "assay.judge_questions": "One row a question that a judge was asked in a scenario: its content, never its answer.",
    "assay.judge_calls": "One row a request to a judge, failed ones included. Append-only.",
    "assay.judge_answers": (
        "Cache of answers: one row a question, judge model and order of the two values. Failed calls are never here."
    ),
    "assay.judge_claims": "One row a question that some process is asking right now, until it is answered or expires.",
    "assay.run_claims": "One row a repetition that some process is making right now, until it is recorded or expires.",
    "assay.reference_edits": "One row a change of a reference at one path, with the version that it made. Append-only.",
    "assay.reference_edit_models": "One row a model behind an automatic edit.",
    "assay.reference_rejections": "One row a rejected automatic edit; its path is locked until released.",
    "assay.rejected_versions": "One row a version of a reference that held the rejected value.",
    "assay.merged_scores": "One row a model score whose findings went into a merge of its scenario's reference.",
    "assay.reference_provenance": "One row a value of a generated draft: the models that gave it, and other answers.",
    "assay.vectors": "Cache of embeddings: one row a text and embedding model.",
    "assay.alembic_version": "One row: the migration that the tables are at.",
    "assay.owner_references": "One row a scenario: the version its owner last saved.",
    "assay.judge_kin": "One row a model score and judge of the model's own family.",
    "assay.score_heads": "One row a scenario and model that is scored: its newest score.",
    "assay.score_changes": "One row a model score, with what its scenario's owner changed since.",
    "assay.score_states": "One row a model score: whether it is the latest, and what its owner changed since.",
    "assay.described_scores": "One row a model score, with what the views of its parts say of it.",
}

VIEWS: Mapping[str, str] = {
    "bi.leaderboard": (
        "a model in a scope. Scope 'scenario' ranks the models of one scenario, scope 'overall' the means of their "
        "scenario scores. Latest scores that are not stale only."
    ),
    "bi.scenarios": "a scenario, as its files say now. A dimension.",
    "bi.models": "a candidate model, as models.yaml says now. A dimension.",
    "bi.rounds": "a scoring round. A dimension.",
    "bi.runs": "a recorded run, failed ones and those without a score included.",
    "bi.model_scores": f"a scoring of a model on a scenario. {_NOW}",
    "bi.run_scores": f"a scored run of a model score. {_NOW}",
    "bi.field_scores": f"a compared field of a scored run. {_NOW}",
    "bi.list_scores": f"a compared list of a scored run. {_NOW}",
    "bi.findings": f"a piece of evidence that the reference should change at one path. {_NOW}",
    "bi.reference_versions": "a version of a scenario's reference.",
    "bi.reference_edits": (
        "a change of a reference at one path, automatic or its owner's. Filter is_in_place for the automatic edits "
        "that count now."
    ),
    "bi.reference_rejections": "an automatic edit that its owner rejected. Filter is_locked for now.",
    "bi.stale_scores": "a latest model score that is stale, with what changed since.",
    "bi.judge_calls": "a request to a judge, failed ones included. Filter is_latest for those of the latest scores.",
    "bi.scoring_records": "a scoring of a model on a scenario in a round, failed ones included.",
    "bi.lake_files": "a Parquet file of the lake that a row names. A file that is not here does not exist.",
}

KEYS: Mapping[str, tuple[str, ...]] = {
    "bi.leaderboard": ("scope", "scenario_id", "model_id"),
    "bi.scenarios": ("scenario_id",),
    "bi.models": ("model_id",),
    "bi.rounds": ("round_id",),
    "bi.runs": ("run_id",),
    "bi.model_scores": ("model_score_id",),
    "bi.run_scores": ("model_score_id", "run_id"),
    "bi.field_scores": ("model_score_id", "run_id", "field_position"),
    "bi.list_scores": ("model_score_id", "run_id", "field_position"),
    "bi.findings": ("finding_id",),
    "bi.reference_versions": ("reference_version_id",),
    "bi.reference_edits": ("reference_edit_id",),
    "bi.reference_rejections": ("reference_rejection_id",),
    "bi.stale_scores": ("model_score_id",),
    "bi.judge_calls": ("judge_call_id",),
    "bi.scoring_records": ("scoring_record_id",),
    "bi.lake_files": ("lake_file",),
}


def grain_of(relation: str) -> str:
    """What one row of a relation is, of a view for people also its key. Raises KeyError for one not in here."""
    if relation in VIEWS:
        return f"Grain: one row {VIEWS[relation]} Key: {', '.join(KEYS[relation])}."
    return TABLES[relation]
