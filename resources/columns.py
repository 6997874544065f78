"""The one catalogue of what columns mean.

A column of the same name means the same wherever it stands; the few that do not are entered as `relation.column`. It
feeds the comments in Postgres (tables and views), the Parquet field metadata, Dagster's column schemas and the data
dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping

from resources.relations import grain_of

__all__ = ["grain_of", "meaning_of"]

_COLUMNS: Mapping[str, str] = {
    "added_at": "When the model was first seen behind the edit, UTC.",
    "after_json": "The value after the change as ASCII JSON text; null where nothing stands there.",
    "after_round": "The newest round when this was done: what earlier rounds found is settled by it.",
    "answer_text": "What the judge wrote, as it wrote it; null where nothing came.",
    "answered_at": "When the answer was kept, UTC.",
    "asked_at": "When the question was first asked, UTC.",
    "attempt": "Which try of this question and order in its round, from 1.",
    "author": "Who made the version: a person, a command or a round.",
    "basis": "What decided for the judge: document, example or knowledge.",
    "before_json": "The value before the change as ASCII JSON text; null where nothing stood there.",
    "cached_count": (
        "Questions of the scoring that cost it no call: answered before, or asked for another model of the round."
    ),
    "call_count": "Requests to judges that this scoring made, failed ones included.",
    "called_at": "When the request was sent, UTC.",
    "candidate_json": "The model's value as ASCII JSON text.",
    "candidate_text": (
        "The model's value as text for people: at most 10,000 characters, the whole value is in the lake."
    ),
    "candidate_weight": "Weight the candidate fills (G).",
    "changed": "What its owner changed since the scoring: reference, scoring config, rejected edit.",
    "closed_at": "When the round ended, UTC; null while it runs or where its process was killed.",
    "committed_at": "When the row that names the file was committed, UTC.",
    "completeness": "How much of what the reference holds was filled, 0..100: shared_weight / reference_weight.",
    "config_changed_at": "When the scenario's schema or scoring config last changed, UTC.",
    "config_hash": "Hash of schema and scoring config.",
    "content_hash": "Hash of the content; equal content has an equal hash.",
    "content_json": "The whole reference as ASCII JSON text.",
    "correctness": "How right the filled values are, 0..100: earned_weight / shared_weight.",
    "cost_known_count": "Scenarios behind the row for which the cost is known.",
    "cost_score": (
        "Cost on a log scale, 0..100: the cheapest paid result 100, ten times dearer 0, free 100; null where unknown."
    ),
    "cost_usd": "What the run cost in USD; null where nobody recorded it, 0 where it was free.",
    "cost_weight": "What cost counts in the ranking, in hundredths.",
    "created_at": "When the row was made, UTC.",
    "credit": "How much of the field's worth the value earned, 0..1.",
    "dagster_run_id": "The Dagster run that ran the round; null outside Dagster.",
    "dataset": "The dataset of the lake: runs, field_scores, findings or reference_versions.",
    "duplicate_count": "Extra items that are surplus copies of another item.",
    "duration_seconds": "Wall time of the run in seconds; null where nobody recorded it.",
    "earned_weight": "Credit earned over the shared weight (C).",
    "edit_count": "Changes that the version made, rows of reference_edits.",
    "embedding_model": "The embedding model; null where none was configured (exact_only).",
    "ended_at": "When the scoring of the model ended, UTC; null while it runs or where its process was killed.",
    "entity": "What the scenario is about.",
    "error": "Why the run failed; null for one that did not.",
    "error_kind": "What kind of failure the request was; null for one that was answered.",
    "evidence": "Why the reference should change: example, reference_wrong, better or filled_gap.",
    "exact_only_count": "Scenarios behind the row that were scored without an embedding model.",
    "expected_repetitions": "How many runs of each model the scenario asks for.",
    "expires_at": "When another process may take the question over, UTC.",
    "extra_count": "Candidate items without partner.",
    "extra_items": "The extra items as text for people, a line each, at most 10,000 characters.",
    "f1": (
        "Harmonic mean of precision and recall, 0..1: "
        "2 x matched_count / (2 x matched_count + missed_count + extra_count)."
    ),
    "failed_call_count": "Requests to judges that gave no answer.",
    "family": "The model's family, to tell a judge's kin.",
    "field_count": "Compared fields, rows of field_scores.",
    "field_position": "Place of the row among those of its run, from 0.",
    "field_scores_file": (
        "The file of its field scores in the lake, whole values included, relative to the lake's root."
    ),
    "filter": "The filter that picked the edit, in words.",
    "finding_id": "Identity of the finding.",
    "findings_file": "The file of its findings in the lake, relative to the lake's root; null where there are none.",
    "finish_reason": "Why the judge stopped writing, as its server says; null where it does not say.",
    "first_seen_at": "When this config was first seen, UTC.",
    "found_at": "When the finding was committed, UTC.",
    "hallucinated_count": "Extra items that no judge confirmed.",
    "hallucinated_items": "The hallucinated items as text for people, a line each, at most 10,000 characters.",
    "hallucination": (
        "How much of the output has no basis, 0..100: (candidate_weight - shared_weight) / candidate_weight."
    ),
    "has_proposal": "False where a value was found wrong without a right one.",
    "highest_quality": "Highest quality of a scored run, 0..100.",
    "imported_at": "When the run was recorded, UTC.",
    "input_tokens": "Tokens the model read; null where nobody recorded them.",
    "input_usd_per_million": "Price of a million input tokens in USD; null where unknown.",
    "interval_high": "Upper end of the 95% interval of the mean quality; null below three scored runs.",
    "interval_low": "Lower end of the 95% interval of the mean quality; null below three scored runs.",
    "is_addition": "Whether this is about a new item of a list.",
    "is_config_changed": "Whether the scenario's schema or scoring config changed since.",
    "is_contested": "Whether the value went to the judge as contested.",
    "is_in_place": "Whether this automatic edit stands in the newest version.",
    "is_edit_rejected": "Whether it was made against a value that its owner rejected since.",
    "is_judge_family": "Whether a judge of the scoring is known to be of the model's own family, which it may prefer.",
    "is_latest": "Whether this is the model's newest score on the scenario.",
    "is_locked": "Whether the rejection keeps rounds from the path now.",
    "is_median": "Whether this is the run of median quality, whose output stands for the model.",
    "is_reference_changed": "Whether the owner saved another reference since.",
    "is_reference_verified": "Whether the newest version of its reference is verified; only then is it scored.",
    "is_rejected": "Whether the owner rejected it, and has not released its path.",
    "is_repair": "Whether the request asks again after a reply that was no answer.",
    "is_scored": "Whether the scoring was committed.",
    "is_shortened": "Whether reference_text or candidate_text leaves something out.",
    "is_stale": "Whether the scenario's owner changed reference or scoring config since.",
    "is_swapped": "Whether the judge saw A and B exchanged.",
    "is_verified": "Whether its owner vouches for this version; only such a reference can be benchmarked.",
    "item_ids_json": "Stable ids of list items by path, as ASCII JSON text.",
    "judge_call_id": "Identity of the request.",
    "judge_calls": "Requests to judges that the scoring made, failed ones included; null where it was not recorded.",
    "judge_cost_usd": (
        "What the scoring's requests to judges cost in USD; null where the price or the tokens of one are unknown."
    ),
    "judge_family": "The judge's family.",
    "judge_model": "The judge's name at its provider.",
    "judge_models": "The judges of the scoring, a line each; empty without a judge.",
    "judge_seconds": "Seconds that the requests to judges took, one after the other.",
    "kind": "What the field holds: text, prose, number, date, boolean, enum, identifier, or list or object.",
    "known_cost_usd": (
        "What the requests cost in USD as far as it is known; unpriced_call_count says how many are left out."
    ),
    "lake_file": "The file in the lake that this row names, relative to the lake's root.",
    "list_order": "set (order does not matter) or sequence.",
    "list_path": "JSON Pointer of the innermost list the field belongs to; null outside lists.",
    "lowest_quality": "Lowest quality of a scored run, 0..100.",
    "matched_count": "Pairs of a reference and a candidate item.",
    "mean_cost_usd": "Mean cost of a successful run in USD; null where unknown.",
    "mean_duration_seconds": "Mean wall time of a successful run in seconds; null where unknown.",
    "median_repetition": "The repetition of median quality, whose output stands for the model.",
    "merged_at": "When its findings were merged, UTC.",
    "missed_count": "Reference items without partner.",
    "missed_items": "The missed items as text for people, a line each, at most 10,000 characters.",
    "mode": "full, or exact_only where no embedding model was configured.",
    "model_count": "Distinct models behind the edit.",
    "model_id": "The model's id in models.yaml.",
    "model_ids": "Models that gave the value, a line each.",
    "model_name": "The model's name at its provider.",
    "model_score_id": "Identity of the model score.",
    "models": "The models behind the edit, a line each.",
    "note": "What was done, in words; empty where the origin says it all.",
    "number": "Version number, from 1 in each scenario.",
    "ok_run_count": "Runs that gave an output.",
    "opened_at": "When the round began, UTC.",
    "origin": "What made the version: import, owner_save, generated, round, rejection or release.",
    "other_answers": "What other models gave instead, as ASCII JSON text: a list of value and model ids.",
    "outcome": "match, partial, mismatch, missing, extra or empty.",
    "output": "The recorded output as it was given, in UTF-8; null for a failed run.",
    "output_bytes": "Size of the recorded output in bytes of UTF-8; null for a failed run.",
    "output_sha256": "SHA-256 of the recorded output; null for a failed run.",
    "output_tokens": "Tokens the model wrote; null where nobody recorded them.",
    "output_usd_per_million": "Price of a million output tokens in USD; null where unknown.",
    "owner_hash": "Hash of the owner's part of the content, automatic edits left out; staleness compares it.",
    "owner_item_ids_json": "Stable ids of the list items of the owner's part by path, as ASCII JSON text.",
    "owner_json": "The owner's part of the content, automatic edits left out, as ASCII JSON text.",
    "owner_reference_hash": (
        "Content hash of what the owner had last saved when this was scored; staleness compares it."
    ),
    "parent_id": "The version this one was made from; null for the first.",
    "path": "JSON Pointer of the place, in the document of its side.",
    "planned_models": "Models of scenarios that the round set out to score.",
    "position": "Place in the scope, from 1; equal scores share a place.",
    "position_conflict_count": "Questions whose verdict flipped with the order of the two values and counted as a tie.",
    "precision": "matched_count / (matched_count + extra_count), 0..1.",
    "priced_run_count": "Scored runs whose cost is known: as many as mean_cost_usd is the mean of.",
    "problem": "What went wrong; empty where nothing did.",
    "problems": "What a person should know about the run: repairs, schema violations; a line each.",
    "prompt": "The scenario's prompt.",
    "prompt_version": "The version of the instructions to the judge.",
    "proposal_json": "The proposed value as ASCII JSON text; null without a proposal.",
    "provider": "Who serves the model.",
    "quality": "Harmonic mean of earned_weight / reference_weight and earned_weight / candidate_weight, 0..100.",
    "quality_weight": "What quality counts in the ranking, in hundredths.",
    "question_count": "Distinct questions that the scoring needed answered.",
    "question_id": "The judge question that decided; null where none did.",
    "question_kind": "compare or verify.",
    "reason": "Why the outcome is not better; empty for a match.",
    "recall": "matched_count / (matched_count + missed_count), 0..1.",
    "reference_edit_id": "Identity of the edit.",
    "reference_json": "The reference's value as ASCII JSON text.",
    "reference_rejection_id": "Identity of the rejection.",
    "reference_text": (
        "The reference's value as text for people: at most 10,000 characters, the whole value is in the lake."
    ),
    "reference_version": "Number of the reference version it was scored against.",
    "reference_version_id": "Identity of the reference version.",
    "reference_weight": "Weight the reference fills (E).",
    "rejected_at": "When the edit was rejected, UTC.",
    "released_after_round": "The newest round when the path was released; null while it is locked.",
    "released_at": "When the path was released, UTC; null while it is locked.",
    "released_by": "Who released the path; null while it is locked.",
    "repetition": "Which repetition of the model on the scenario, from 1.",
    "round_id": "Identity of the round; null for a score outside any.",
    "run_count": "Recorded runs, failed ones included.",
    "run_id": "Identity of the run.",
    "rung": "The step of the ladder that decided; null where none did.",
    "runs_hash": "Hash of the recorded runs; it changes when one is added.",
    "saved_paths_json": "Stable paths that the owner's save changed, as ASCII JSON text.",
    "saved_reference_version": "Number of the reference version that its owner last saved.",
    "scenario_count": "Scenarios that stand behind the row.",
    "scenario_id": "The scenario's id, its folder's name.",
    "scenario_type": "The scenario's type, e.g. enrichment.",
    "schema_json": "The scenario's JSON Schema as ASCII JSON text.",
    "scope": "scenario or overall.",
    "score": (
        "Quality, speed and cost mixed by the scenario's weights, 0..100; an unknown part's weight goes to "
        "the others in proportion."
    ),
    "scored_at": "When the score was committed, UTC.",
    "scored_models": "Model scores that the round committed.",
    "scored_run_count": "Runs that have a score.",
    "scoring_duration_seconds": (
        "Wall time of the scoring in seconds, work shared with other models of the round included."
    ),
    "scoring_json": "The scoring config as ASCII JSON text.",
    "scoring_record_id": "Identity of the scoring record.",
    "sent_text": (
        "What was sent where it is not the question's own prompt: A and B exchanged, or a conversation; else null."
    ),
    "setting": "The setting that decided, in words; null where none did.",
    "setting_origin": "Where that setting came from.",
    "shared_weight": "Weight both fill (B).",
    "side": "Whose document the path points into: reference or candidate.",
    "similarity": "Cosine of the two values where one was computed, -1..1.",
    "speed_known_count": "Scenarios behind the row for which the duration is known.",
    "speed_score": "Duration on a log scale, 0..100: the fastest result 100, ten times slower 0; null where unknown.",
    "speed_weight": "What speed counts in the ranking, in hundredths.",
    "stable_path": (
        "The place with list items named by id (`@id`) instead of position, so that it outlives reordering."
    ),
    "started_at": "When the scoring of the model began, UTC.",
    "status": "How it ended.",
    "success_rate": "ok_run_count / run_count, 0..1.",
    "text_sha256": "SHA-256 of the text.",
    "timed_run_count": "Scored runs whose duration is known: as many as mean_duration_seconds is the mean of.",
    "title": "The scenario's title.",
    "trigger": "What began the round: command, sensor, schedule or test.",
    "unpriced_call_count": "Requests whose cost is unknown.",
    "unreadable_kind": "What kind of unreadable the output is; null for one that could be read.",
    "unreadable_reason": "Why the output could not be read; null for one that could.",
    "updated_at": "When the row last changed, UTC.",
    "value_json": "The value as ASCII JSON text.",
    "vector": "The vector: 32-bit little-endian floats.",
    "verdict": "What the judge said, in the order in which it saw the values.",
    "version_num": "The migration's number.",
    "worker_id": "The process that asks.",
}

_EXCEPTIONS: Mapping[str, str] = {
    "bi.leaderboard.scenario_id": "The scenario of scope 'scenario'; null in scope 'overall'.",
    "bi.leaderboard.quality": "Mean quality over scored runs, 0..100 (overall: mean over scenarios).",
    "bi.leaderboard.mean_cost_usd": (
        "Mean cost of a successful run in USD (overall: mean over scenarios); null where unknown."
    ),
    "bi.leaderboard.mean_duration_seconds": (
        "Mean wall time of a successful run in seconds (overall: mean over scenarios); null where unknown."
    ),
    "bi.leaderboard.scored_at": "When the newest of the scores behind the row was committed, UTC.",
    "judge_calls.input_tokens": "Tokens the judge read; null where its server did not say.",
    "judge_calls.output_tokens": "Tokens the judge wrote; null where its server did not say.",
    "judge_calls.cost_usd": "What the request cost in USD; null where its price or its tokens are unknown.",
    "judge_calls.duration_seconds": "Wall time of the request in seconds.",
    "judge_calls.error": "Why the request gave no answer; null for one that did.",
    "judge_calls.model_score_id": "The score that the request was made for; null where there is none.",
    "judge_calls.path": "JSON Pointer of the place where the question first arose.",
    "judge_calls.model_id": "The model whose scoring first raised the question, and which bears the cost.",
    "judge_calls.scenario_id": "The scenario whose cache the answer belongs to.",
    "judge_calls.prompt": (
        "The user message as it was sent: one JSON object; after a reply that was no answer, the conversation so far."
    ),
    "judge_questions.path": "JSON Pointer of the place where the question first arose.",
    "judge_questions.prompt": "The user message: one JSON object.",
    "judge_questions.question_id": "Hash of what the judge is shown, of its models and of its instructions.",
    "judge_answers.credit": "What the weaker value is worth to the judge, 0..1.",
    "judge_answers.reason": "Why, in the judge's words.",
    "judge_answers.question_id": "The question.",
    "judge_calls.question_id": "The question.",
    "judge_claims.question_id": "The question.",
    "run_claims.worker_id": "The process that makes the run.",
    "run_claims.expires_at": "When another process may take the repetition over, UTC.",
    "scoring_records.cost_usd": (
        "What the scoring's requests to judges cost in USD; null where the price or the tokens of one are unknown."
    ),
    "scoring_records.input_tokens": "Tokens that judges read for this scoring, as far as their servers say.",
    "scoring_records.output_tokens": "Tokens that judges wrote for this scoring, as far as their servers say.",
    "scoring_records.duration_seconds": (
        "Wall time of the scoring in seconds, work shared with other models of the round included; null until it ended."
    ),
    "scoring_records.error": "Why the scoring gave no score; null where it did, or has not ended.",
    "scoring_records.model_score_id": "The score that was committed; null where there is none.",
    "reference_provenance.position": "Place of the value in the document, from 0.",
    "reference_edits.path": "Stable path of the place, list items named by id (`@id`); of a new item, its own.",
    "reference_edits.evidence": (
        "Why a round changed it: example, reference_wrong, better or filled_gap; null for the owner's own changes and "
        "where an automatic edit was taken back."
    ),
    "reference_edits.reason": "The judge's sentence, or what its owner did; empty where there is neither.",
    "reference_edits.round_id": "The round that made the edit; null for the owner's doing.",
    "reference_rejections.path": "Stable path that is locked, list items named by id (`@id`).",
    "reference_provenance.path": "Stable path of the value, list items named by id (`@id`).",
    "findings.reference_json": "What the reference held there when scored, as ASCII JSON text; null for nothing.",
    "findings.stable_path": (
        "The place with list items named by id (`@id`) instead of position; for a new item the path of its list."
    ),
    "bi.judge_calls.is_latest": "Whether it was made for the model's newest score on the scenario.",
    "bi.lake_files.is_latest": "Whether its rows are of the newest score or version; always so for runs.",
    "bi.lake_files.is_stale": "Whether its rows are of a stale score.",
    "bi.lake_files.model_id": "The model whose rows it holds; null where it holds those of many or of none.",
    "bi.lake_files.model_score_id": "The model score whose rows it holds; null for runs and reference versions.",
    "bi.lake_files.reference_version": (
        "Number of the reference version that it holds, or that its rows were scored against; null for runs."
    ),
    "bi.leaderboard.scenario_type": "The type of the scenario of scope 'scenario'; null in scope 'overall'.",
    "bi.leaderboard.title": "The title of the scenario of scope 'scenario'; null in scope 'overall'.",
    "bi.reference_edits.reference_version": "Number of the version that the edit made.",
    "bi.reference_versions.reference_version": "Version number, from 1 in each scenario.",
    "bi.rounds.duration_seconds": (
        "Wall time of the round in seconds; null while it runs or where its process was killed."
    ),
    "bi.scenarios.reference_version": "Number of the newest version of its reference; null where there is none.",
    "bi.scoring_records.is_latest": "Whether its score is the model's newest on the scenario.",
    "bi.scoring_records.is_stale": "Whether its score is stale; false where it gave none.",
    "bi.scoring_records.reference_version": "Number of the reference version of its score; null where it gave none.",
    "bi.stale_scores.quality": "Mean quality over the scored runs, 0..100; null where no run was scored.",
    "bi.reference_versions.is_latest": "Whether this is the scenario's newest version.",
    "model_scores.quality": "Mean quality over the scored runs (scored_run_count), 0..100; null where there is none.",
    "model_scores.completeness": "Mean completeness over the scored runs, 0..100.",
    "model_scores.correctness": "Mean correctness over the scored runs, 0..100.",
    "model_scores.hallucination": "Mean hallucination over the scored runs, 0..100.",
    "runs.content_hash": "Hash of all that was recorded of the run; importing the same again changes nothing.",
    "runs.status": "ok or failed.",
    "rounds.status": "open, done or failed.",
    "ranking.cost": "Mean of the cost scores that are known, 0..100; null where none is.",
    "ranking.cost_scenarios": "Scenarios for which the cost is known.",
    "ranking.mean_cost_usd": "Mean over scenarios of the cost of a successful run in USD; null where unknown.",
    "ranking.mean_duration_seconds": "Mean over scenarios of a successful run's wall time; null where unknown.",
    "ranking.quality": "Mean quality over its scenarios, 0..100.",
    "ranking.scenarios": "Scenarios that stand behind the row.",
    "ranking.speed": "Mean of the speed scores that are known, 0..100; null where none is.",
    "ranking.speed_scenarios": "Scenarios for which the duration is known.",
    "ranking.tied_with": "Models that cannot be told apart from this one, as a JSON list.",
    "ranking.total": "Quality, speed and cost mixed by weights, mean over scenarios, 0..100.",
    "ranking.unknown_parts": "Parts whose weight went to the others on a scenario, as a JSON list.",
}


_LIKE: Mapping[str, str] = dict.fromkeys(("assay.score_changes", "assay.score_states"), "model_scores")


def meaning_of(column: str, relation: str = "") -> str:
    """What a column of a relation (`assay.runs`, `bi.leaderboard`, or a dataset of the lake) means.

    Raises KeyError for one that is not in the catalogue.
    """
    table = _LIKE.get(relation, relation.rpartition(".")[2])
    for key in (f"{relation}.{column}", f"{table}.{column}"):
        if key in _EXCEPTIONS:
            return _EXCEPTIONS[key]
    return _COLUMNS[column]
