-- Frozen: a later change of the tables is a later migration.

CREATE TABLE assay.models (
    model_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    model_name TEXT NOT NULL,
    family TEXT NOT NULL,
    input_usd_per_million DOUBLE PRECISION,
    output_usd_per_million DOUBLE PRECISION,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT models_pkey PRIMARY KEY (model_id)
);
COMMENT ON TABLE assay.models IS 'One row a candidate model: what models.yaml says now.';
COMMENT ON COLUMN assay.models.model_id IS 'The model''s id in models.yaml.';
COMMENT ON COLUMN assay.models.provider IS 'Who serves the model.';
COMMENT ON COLUMN assay.models.model_name IS 'The model''s name at its provider.';
COMMENT ON COLUMN assay.models.family IS 'The model''s family, to tell a judge''s kin.';
COMMENT ON COLUMN assay.models.input_usd_per_million IS 'Price of a million input tokens in USD; null where unknown.';
COMMENT ON COLUMN assay.models.output_usd_per_million IS 'Price of a million output tokens in USD; null where unknown.';
COMMENT ON COLUMN assay.models.created_at IS 'When the row was made, UTC.';
COMMENT ON COLUMN assay.models.updated_at IS 'When the row last changed, UTC.';

CREATE TABLE assay.rounds (
    round_id BIGINT GENERATED ALWAYS AS IDENTITY,
    trigger TEXT NOT NULL,
    status TEXT NOT NULL,
    dagster_run_id TEXT,
    planned_models INTEGER NOT NULL,
    problem TEXT NOT NULL,
    opened_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    closed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT rounds_pkey PRIMARY KEY (round_id),
    CONSTRAINT rounds_status_check CHECK (status in ('open', 'done', 'failed'))
);
COMMENT ON TABLE assay.rounds IS 'One row a scoring round.';
COMMENT ON COLUMN assay.rounds.round_id IS 'Identity of the round; null for a score outside any.';
COMMENT ON COLUMN assay.rounds.trigger IS 'What began the round: command, sensor, schedule or test.';
COMMENT ON COLUMN assay.rounds.status IS 'open, done or failed.';
COMMENT ON COLUMN assay.rounds.dagster_run_id IS 'The Dagster run that ran the round; null outside Dagster.';
COMMENT ON COLUMN assay.rounds.planned_models IS 'Models of scenarios that the round set out to score.';
COMMENT ON COLUMN assay.rounds.problem IS 'What went wrong; empty where nothing did.';
COMMENT ON COLUMN assay.rounds.opened_at IS 'When the round began, UTC.';
COMMENT ON COLUMN assay.rounds.closed_at IS 'When the round ended, UTC; null while it runs or where its process was killed.';

CREATE TABLE assay.scenarios (
    scenario_id TEXT NOT NULL,
    scenario_type TEXT NOT NULL,
    title TEXT NOT NULL,
    entity TEXT NOT NULL,
    prompt TEXT NOT NULL,
    expected_repetitions INTEGER NOT NULL,
    config_hash TEXT NOT NULL,
    config_changed_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    quality_weight DOUBLE PRECISION NOT NULL,
    speed_weight DOUBLE PRECISION NOT NULL,
    cost_weight DOUBLE PRECISION NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT scenarios_pkey PRIMARY KEY (scenario_id)
);
COMMENT ON TABLE assay.scenarios IS 'One row a scenario: what its files say now.';
COMMENT ON COLUMN assay.scenarios.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.scenarios.scenario_type IS 'The scenario''s type, e.g. enrichment.';
COMMENT ON COLUMN assay.scenarios.title IS 'The scenario''s title.';
COMMENT ON COLUMN assay.scenarios.entity IS 'What the scenario is about.';
COMMENT ON COLUMN assay.scenarios.prompt IS 'The scenario''s prompt.';
COMMENT ON COLUMN assay.scenarios.expected_repetitions IS 'How many runs of each model the scenario asks for.';
COMMENT ON COLUMN assay.scenarios.config_hash IS 'Hash of schema and scoring config.';
COMMENT ON COLUMN assay.scenarios.config_changed_at IS 'When the scenario''s schema or scoring config last changed, UTC.';
COMMENT ON COLUMN assay.scenarios.quality_weight IS 'What quality counts in the ranking, in hundredths.';
COMMENT ON COLUMN assay.scenarios.speed_weight IS 'What speed counts in the ranking, in hundredths.';
COMMENT ON COLUMN assay.scenarios.cost_weight IS 'What cost counts in the ranking, in hundredths.';
COMMENT ON COLUMN assay.scenarios.created_at IS 'When the row was made, UTC.';
COMMENT ON COLUMN assay.scenarios.updated_at IS 'When the row last changed, UTC.';

CREATE TABLE assay.vectors (
    embedding_model TEXT NOT NULL,
    text_sha256 BYTEA NOT NULL,
    vector BYTEA NOT NULL,
    CONSTRAINT vectors_pkey PRIMARY KEY (embedding_model, text_sha256)
);
COMMENT ON TABLE assay.vectors IS 'Cache of embeddings: one row a text and embedding model.';
COMMENT ON COLUMN assay.vectors.embedding_model IS 'The embedding model; null where none was configured (exact_only).';
COMMENT ON COLUMN assay.vectors.text_sha256 IS 'SHA-256 of the text.';
COMMENT ON COLUMN assay.vectors.vector IS 'The vector: 32-bit little-endian floats.';

CREATE TABLE assay.reference_versions (
    reference_version_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    content_json TEXT NOT NULL,
    item_ids_json TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    author TEXT NOT NULL,
    origin TEXT NOT NULL,
    is_verified BOOLEAN NOT NULL,
    parent_id BIGINT,
    lake_file TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT reference_versions_pkey PRIMARY KEY (reference_version_id),
    CONSTRAINT reference_versions_scenario_id_number_key UNIQUE (scenario_id, number),
    CONSTRAINT reference_versions_origin_check CHECK (origin in ('import', 'owner_save', 'round', 'rejection')),
    CONSTRAINT reference_versions_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT reference_versions_parent_id_fkey FOREIGN KEY(parent_id) REFERENCES assay.reference_versions (reference_version_id)
);
COMMENT ON TABLE assay.reference_versions IS 'One row a version of a reference. Append-only.';
COMMENT ON COLUMN assay.reference_versions.reference_version_id IS 'Identity of the reference version.';
COMMENT ON COLUMN assay.reference_versions.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.reference_versions.number IS 'Version number, from 1 in each scenario.';
COMMENT ON COLUMN assay.reference_versions.content_json IS 'The whole reference as ASCII JSON text.';
COMMENT ON COLUMN assay.reference_versions.item_ids_json IS 'Stable ids of list items by path, as ASCII JSON text.';
COMMENT ON COLUMN assay.reference_versions.content_hash IS 'Hash of the content; equal content has an equal hash.';
COMMENT ON COLUMN assay.reference_versions.author IS 'Who made the version: a person, a command or a round.';
COMMENT ON COLUMN assay.reference_versions.origin IS 'What made the version: import, owner_save, round or rejection.';
COMMENT ON COLUMN assay.reference_versions.is_verified IS 'Whether its owner vouches for this version; only such a reference can be benchmarked.';
COMMENT ON COLUMN assay.reference_versions.parent_id IS 'The version this one was made from; null for the first.';
COMMENT ON COLUMN assay.reference_versions.lake_file IS 'The file in the lake that this row names, relative to the lake''s root.';
COMMENT ON COLUMN assay.reference_versions.created_at IS 'When the row was made, UTC.';

CREATE TABLE assay.runs (
    run_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    status TEXT NOT NULL,
    output_sha256 TEXT,
    output_bytes BIGINT,
    lake_file TEXT NOT NULL,
    duration_seconds DOUBLE PRECISION,
    cost_usd DOUBLE PRECISION,
    input_tokens BIGINT,
    output_tokens BIGINT,
    error TEXT,
    content_hash TEXT NOT NULL,
    imported_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT runs_pkey PRIMARY KEY (run_id),
    CONSTRAINT runs_scenario_id_model_id_repetition_key UNIQUE (scenario_id, model_id, repetition),
    CONSTRAINT runs_status_check CHECK (status in ('ok', 'failed')),
    CONSTRAINT runs_repetition_check CHECK (repetition >= 1),
    CONSTRAINT runs_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT runs_model_id_fkey FOREIGN KEY(model_id) REFERENCES assay.models (model_id)
);
CREATE INDEX runs_model_id_idx ON assay.runs (model_id);
COMMENT ON TABLE assay.runs IS 'One row a repetition of a model on a scenario, recorded for good. Its output lies in the lake.';
COMMENT ON COLUMN assay.runs.run_id IS 'Identity of the run.';
COMMENT ON COLUMN assay.runs.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.runs.model_id IS 'The model''s id in models.yaml.';
COMMENT ON COLUMN assay.runs.repetition IS 'Which repetition of the model on the scenario, from 1.';
COMMENT ON COLUMN assay.runs.status IS 'ok or failed.';
COMMENT ON COLUMN assay.runs.output_sha256 IS 'SHA-256 of the recorded output; null for a failed run.';
COMMENT ON COLUMN assay.runs.output_bytes IS 'Size of the recorded output in bytes of UTF-8; null for a failed run.';
COMMENT ON COLUMN assay.runs.lake_file IS 'The file in the lake that this row names, relative to the lake''s root.';
COMMENT ON COLUMN assay.runs.duration_seconds IS 'Wall time of the run in seconds; null where nobody recorded it.';
COMMENT ON COLUMN assay.runs.cost_usd IS 'What the run cost in USD; null where nobody recorded it, 0 where it was free.';
COMMENT ON COLUMN assay.runs.input_tokens IS 'Tokens the model read; null where nobody recorded them.';
COMMENT ON COLUMN assay.runs.output_tokens IS 'Tokens the model wrote; null where nobody recorded them.';
COMMENT ON COLUMN assay.runs.error IS 'Why the run failed; null for one that did not.';
COMMENT ON COLUMN assay.runs.content_hash IS 'Hash of all that was recorded of the run; importing the same again changes nothing.';
COMMENT ON COLUMN assay.runs.imported_at IS 'When the run was recorded, UTC.';

CREATE TABLE assay.scenario_configs (
    scenario_id TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    schema_json TEXT NOT NULL,
    scoring_json TEXT NOT NULL,
    first_seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT scenario_configs_pkey PRIMARY KEY (scenario_id, config_hash),
    CONSTRAINT scenario_configs_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id)
);
COMMENT ON TABLE assay.scenario_configs IS 'One row a distinct schema and scoring config of a scenario, for good.';
COMMENT ON COLUMN assay.scenario_configs.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.scenario_configs.config_hash IS 'Hash of schema and scoring config.';
COMMENT ON COLUMN assay.scenario_configs.schema_json IS 'The scenario''s JSON Schema as ASCII JSON text.';
COMMENT ON COLUMN assay.scenario_configs.scoring_json IS 'The scoring config as ASCII JSON text.';
COMMENT ON COLUMN assay.scenario_configs.first_seen_at IS 'When this config was first seen, UTC.';

CREATE TABLE assay.model_scores (
    model_score_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    round_id BIGINT,
    reference_version_id BIGINT NOT NULL,
    owner_reference_hash TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    runs_hash TEXT NOT NULL,
    mode TEXT NOT NULL,
    embedding_model TEXT,
    run_count INTEGER NOT NULL,
    ok_run_count INTEGER NOT NULL,
    scored_run_count INTEGER NOT NULL,
    quality DOUBLE PRECISION,
    lowest_quality DOUBLE PRECISION,
    highest_quality DOUBLE PRECISION,
    interval_low DOUBLE PRECISION,
    interval_high DOUBLE PRECISION,
    median_repetition INTEGER,
    completeness DOUBLE PRECISION,
    correctness DOUBLE PRECISION,
    hallucination DOUBLE PRECISION,
    mean_duration_seconds DOUBLE PRECISION,
    mean_cost_usd DOUBLE PRECISION,
    field_scores_file TEXT NOT NULL,
    findings_file TEXT,
    scored_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT model_scores_pkey PRIMARY KEY (model_score_id),
    CONSTRAINT model_scores_mode_check CHECK (mode in ('full', 'exact_only')),
    CONSTRAINT model_scores_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT model_scores_model_id_fkey FOREIGN KEY(model_id) REFERENCES assay.models (model_id),
    CONSTRAINT model_scores_round_id_fkey FOREIGN KEY(round_id) REFERENCES assay.rounds (round_id),
    CONSTRAINT model_scores_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);
CREATE INDEX model_scores_head_idx ON assay.model_scores (scenario_id, model_id, model_score_id DESC);
CREATE INDEX model_scores_model_id_idx ON assay.model_scores (model_id);
CREATE INDEX model_scores_round_id_idx ON assay.model_scores (round_id);
COMMENT ON TABLE assay.model_scores IS 'One row a scoring of a model on a scenario. The row is the commit: without it nothing of that scoring exists.';
COMMENT ON COLUMN assay.model_scores.model_score_id IS 'Identity of the model score.';
COMMENT ON COLUMN assay.model_scores.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.model_scores.model_id IS 'The model''s id in models.yaml.';
COMMENT ON COLUMN assay.model_scores.round_id IS 'Identity of the round; null for a score outside any.';
COMMENT ON COLUMN assay.model_scores.reference_version_id IS 'Identity of the reference version.';
COMMENT ON COLUMN assay.model_scores.owner_reference_hash IS 'Content hash of what the owner had last saved when this was scored; staleness compares it.';
COMMENT ON COLUMN assay.model_scores.config_hash IS 'Hash of schema and scoring config.';
COMMENT ON COLUMN assay.model_scores.runs_hash IS 'Hash of the recorded runs; it changes when one is added.';
COMMENT ON COLUMN assay.model_scores.mode IS 'full, or exact_only where no embedding model was configured.';
COMMENT ON COLUMN assay.model_scores.embedding_model IS 'The embedding model; null where none was configured (exact_only).';
COMMENT ON COLUMN assay.model_scores.run_count IS 'Recorded runs, failed ones included.';
COMMENT ON COLUMN assay.model_scores.ok_run_count IS 'Runs that gave an output.';
COMMENT ON COLUMN assay.model_scores.scored_run_count IS 'Runs that have a score.';
COMMENT ON COLUMN assay.model_scores.quality IS 'Mean quality over the scored runs, 0..100; null where no run was scored.';
COMMENT ON COLUMN assay.model_scores.lowest_quality IS 'Lowest quality of a scored run, 0..100.';
COMMENT ON COLUMN assay.model_scores.highest_quality IS 'Highest quality of a scored run, 0..100.';
COMMENT ON COLUMN assay.model_scores.interval_low IS 'Lower end of the 95% interval of the mean quality; null below three scored runs.';
COMMENT ON COLUMN assay.model_scores.interval_high IS 'Upper end of the 95% interval of the mean quality; null below three scored runs.';
COMMENT ON COLUMN assay.model_scores.median_repetition IS 'The repetition of median quality, whose output stands for the model.';
COMMENT ON COLUMN assay.model_scores.completeness IS 'Mean completeness over the scored runs, 0..100.';
COMMENT ON COLUMN assay.model_scores.correctness IS 'Mean correctness over the scored runs, 0..100.';
COMMENT ON COLUMN assay.model_scores.hallucination IS 'Mean hallucination over the scored runs, 0..100.';
COMMENT ON COLUMN assay.model_scores.mean_duration_seconds IS 'Mean wall time of a successful run in seconds; null where unknown.';
COMMENT ON COLUMN assay.model_scores.mean_cost_usd IS 'Mean cost of a successful run in USD; null where unknown.';
COMMENT ON COLUMN assay.model_scores.field_scores_file IS 'The file of its field scores in the lake, whole values included, relative to the lake''s root.';
COMMENT ON COLUMN assay.model_scores.findings_file IS 'The file of its findings in the lake, relative to the lake''s root; null where there are none.';
COMMENT ON COLUMN assay.model_scores.scored_at IS 'When the score was committed, UTC.';

CREATE TABLE assay.field_scores (
    model_score_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    field_position INTEGER NOT NULL,
    path TEXT NOT NULL,
    side TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rung TEXT,
    credit DOUBLE PRECISION NOT NULL,
    similarity DOUBLE PRECISION,
    reference_text TEXT,
    candidate_text TEXT,
    is_shortened BOOLEAN NOT NULL,
    reference_weight DOUBLE PRECISION NOT NULL,
    candidate_weight DOUBLE PRECISION NOT NULL,
    shared_weight DOUBLE PRECISION NOT NULL,
    reason TEXT NOT NULL,
    setting TEXT,
    setting_origin TEXT,
    question_id TEXT,
    is_contested BOOLEAN NOT NULL,
    list_path TEXT,
    CONSTRAINT field_scores_pkey PRIMARY KEY (model_score_id, run_id, field_position),
    CONSTRAINT field_scores_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id),
    CONSTRAINT field_scores_run_id_fkey FOREIGN KEY(run_id) REFERENCES assay.runs (run_id)
);
COMMENT ON TABLE assay.field_scores IS 'One row a compared field of a scored run.';
COMMENT ON COLUMN assay.field_scores.model_score_id IS 'Identity of the model score.';
COMMENT ON COLUMN assay.field_scores.run_id IS 'Identity of the run.';
COMMENT ON COLUMN assay.field_scores.field_position IS 'Place of the row among those of its run, from 0.';
COMMENT ON COLUMN assay.field_scores.path IS 'JSON Pointer of the place, in the document of its side.';
COMMENT ON COLUMN assay.field_scores.side IS 'Whose document the path points into: reference or candidate.';
COMMENT ON COLUMN assay.field_scores.kind IS 'What the field holds: text, prose, number, date, boolean, enum, identifier, or list or object.';
COMMENT ON COLUMN assay.field_scores.outcome IS 'match, partial, mismatch, missing, extra or empty.';
COMMENT ON COLUMN assay.field_scores.rung IS 'The step of the ladder that decided; null where none did.';
COMMENT ON COLUMN assay.field_scores.credit IS 'How much of the field''s worth the value earned, 0..1.';
COMMENT ON COLUMN assay.field_scores.similarity IS 'Cosine of the two values where one was computed, -1..1.';
COMMENT ON COLUMN assay.field_scores.reference_text IS 'The reference''s value as text for people: at most 10,000 characters, the whole value is in the lake.';
COMMENT ON COLUMN assay.field_scores.candidate_text IS 'The model''s value as text for people: at most 10,000 characters, the whole value is in the lake.';
COMMENT ON COLUMN assay.field_scores.is_shortened IS 'Whether reference_text or candidate_text leaves something out.';
COMMENT ON COLUMN assay.field_scores.reference_weight IS 'Weight the reference fills (E).';
COMMENT ON COLUMN assay.field_scores.candidate_weight IS 'Weight the candidate fills (G).';
COMMENT ON COLUMN assay.field_scores.shared_weight IS 'Weight both fill (B).';
COMMENT ON COLUMN assay.field_scores.reason IS 'Why the outcome is not better; empty for a match.';
COMMENT ON COLUMN assay.field_scores.setting IS 'The setting that decided, in words; null where none did.';
COMMENT ON COLUMN assay.field_scores.setting_origin IS 'Where that setting came from.';
COMMENT ON COLUMN assay.field_scores.question_id IS 'The judge question that decided; null where none did.';
COMMENT ON COLUMN assay.field_scores.is_contested IS 'Whether the value went to the judge as contested.';
COMMENT ON COLUMN assay.field_scores.list_path IS 'JSON Pointer of the innermost list the field belongs to; null outside lists.';

CREATE TABLE assay.findings (
    finding_id BIGINT GENERATED ALWAYS AS IDENTITY,
    model_score_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    scenario_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    path TEXT NOT NULL,
    evidence TEXT NOT NULL,
    has_proposal BOOLEAN NOT NULL,
    proposal_json TEXT,
    question_id TEXT,
    found_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT findings_pkey PRIMARY KEY (finding_id),
    CONSTRAINT findings_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id),
    CONSTRAINT findings_run_id_fkey FOREIGN KEY(run_id) REFERENCES assay.runs (run_id),
    CONSTRAINT findings_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT findings_model_id_fkey FOREIGN KEY(model_id) REFERENCES assay.models (model_id)
);
CREATE INDEX findings_model_score_id_idx ON assay.findings (model_score_id);
CREATE INDEX findings_scenario_id_idx ON assay.findings (scenario_id);
COMMENT ON TABLE assay.findings IS 'One row a piece of evidence that the reference should change at one path. Append-only.';
COMMENT ON COLUMN assay.findings.finding_id IS 'Identity of the finding.';
COMMENT ON COLUMN assay.findings.model_score_id IS 'Identity of the model score.';
COMMENT ON COLUMN assay.findings.run_id IS 'Identity of the run.';
COMMENT ON COLUMN assay.findings.scenario_id IS 'The scenario''s id, its folder''s name.';
COMMENT ON COLUMN assay.findings.model_id IS 'The model''s id in models.yaml.';
COMMENT ON COLUMN assay.findings.path IS 'JSON Pointer of the place, in the document of its side.';
COMMENT ON COLUMN assay.findings.evidence IS 'Why the reference should change: example, reference_wrong, better or filled_gap.';
COMMENT ON COLUMN assay.findings.has_proposal IS 'False where a value was found wrong without a right one.';
COMMENT ON COLUMN assay.findings.proposal_json IS 'The proposed value as ASCII JSON text; null without a proposal.';
COMMENT ON COLUMN assay.findings.question_id IS 'The judge question that decided; null where none did.';
COMMENT ON COLUMN assay.findings.found_at IS 'When the finding was committed, UTC.';

CREATE TABLE assay.list_scores (
    model_score_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    field_position INTEGER NOT NULL,
    path TEXT NOT NULL,
    list_order TEXT NOT NULL,
    matched_count INTEGER NOT NULL,
    missed_count INTEGER NOT NULL,
    extra_count INTEGER NOT NULL,
    hallucinated_count INTEGER NOT NULL,
    duplicate_count INTEGER NOT NULL,
    precision DOUBLE PRECISION NOT NULL,
    recall DOUBLE PRECISION NOT NULL,
    f1 DOUBLE PRECISION NOT NULL,
    missed_items TEXT NOT NULL,
    extra_items TEXT NOT NULL,
    hallucinated_items TEXT NOT NULL,
    CONSTRAINT list_scores_pkey PRIMARY KEY (model_score_id, run_id, field_position),
    CONSTRAINT list_scores_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id),
    CONSTRAINT list_scores_run_id_fkey FOREIGN KEY(run_id) REFERENCES assay.runs (run_id)
);
COMMENT ON TABLE assay.list_scores IS 'One row a compared list of a scored run.';
COMMENT ON COLUMN assay.list_scores.model_score_id IS 'Identity of the model score.';
COMMENT ON COLUMN assay.list_scores.run_id IS 'Identity of the run.';
COMMENT ON COLUMN assay.list_scores.field_position IS 'Place of the row among those of its run, from 0.';
COMMENT ON COLUMN assay.list_scores.path IS 'JSON Pointer of the place, in the document of its side.';
COMMENT ON COLUMN assay.list_scores.list_order IS 'set (order does not matter) or sequence.';
COMMENT ON COLUMN assay.list_scores.matched_count IS 'Pairs of a reference and a candidate item.';
COMMENT ON COLUMN assay.list_scores.missed_count IS 'Reference items without partner.';
COMMENT ON COLUMN assay.list_scores.extra_count IS 'Candidate items without partner.';
COMMENT ON COLUMN assay.list_scores.hallucinated_count IS 'Extra items that no judge confirmed.';
COMMENT ON COLUMN assay.list_scores.duplicate_count IS 'Extra items that are surplus copies of another item.';
COMMENT ON COLUMN assay.list_scores.precision IS 'matched_count / (matched_count + extra_count), 0..1.';
COMMENT ON COLUMN assay.list_scores.recall IS 'matched_count / (matched_count + missed_count), 0..1.';
COMMENT ON COLUMN assay.list_scores.f1 IS 'Harmonic mean of precision and recall, 0..1.';
COMMENT ON COLUMN assay.list_scores.missed_items IS 'The missed items as text for people, a line each, at most 10,000 characters.';
COMMENT ON COLUMN assay.list_scores.extra_items IS 'The extra items as text for people, a line each, at most 10,000 characters.';
COMMENT ON COLUMN assay.list_scores.hallucinated_items IS 'The hallucinated items as text for people, a line each, at most 10,000 characters.';

CREATE TABLE assay.run_scores (
    model_score_id BIGINT NOT NULL,
    run_id BIGINT NOT NULL,
    quality DOUBLE PRECISION NOT NULL,
    completeness DOUBLE PRECISION NOT NULL,
    correctness DOUBLE PRECISION NOT NULL,
    hallucination DOUBLE PRECISION NOT NULL,
    reference_weight DOUBLE PRECISION NOT NULL,
    candidate_weight DOUBLE PRECISION NOT NULL,
    shared_weight DOUBLE PRECISION NOT NULL,
    earned_weight DOUBLE PRECISION NOT NULL,
    field_count INTEGER NOT NULL,
    problems TEXT NOT NULL,
    unreadable_kind TEXT,
    unreadable_reason TEXT,
    CONSTRAINT run_scores_pkey PRIMARY KEY (model_score_id, run_id),
    CONSTRAINT run_scores_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id),
    CONSTRAINT run_scores_run_id_fkey FOREIGN KEY(run_id) REFERENCES assay.runs (run_id)
);
CREATE INDEX run_scores_run_id_idx ON assay.run_scores (run_id);
COMMENT ON TABLE assay.run_scores IS 'One row a scored run of a model score.';
COMMENT ON COLUMN assay.run_scores.model_score_id IS 'Identity of the model score.';
COMMENT ON COLUMN assay.run_scores.run_id IS 'Identity of the run.';
COMMENT ON COLUMN assay.run_scores.quality IS 'Harmonic mean of earned_weight / reference_weight and earned_weight / candidate_weight, 0..100.';
COMMENT ON COLUMN assay.run_scores.completeness IS 'How much of what the reference holds was filled, 0..100: shared_weight / reference_weight.';
COMMENT ON COLUMN assay.run_scores.correctness IS 'How right the filled values are, 0..100: earned_weight / shared_weight.';
COMMENT ON COLUMN assay.run_scores.hallucination IS 'How much of the output has no basis, 0..100: (candidate_weight - shared_weight) / candidate_weight.';
COMMENT ON COLUMN assay.run_scores.reference_weight IS 'Weight the reference fills (E).';
COMMENT ON COLUMN assay.run_scores.candidate_weight IS 'Weight the candidate fills (G).';
COMMENT ON COLUMN assay.run_scores.shared_weight IS 'Weight both fill (B).';
COMMENT ON COLUMN assay.run_scores.earned_weight IS 'Credit earned over the shared weight (C).';
COMMENT ON COLUMN assay.run_scores.field_count IS 'Compared fields, rows of field_scores.';
COMMENT ON COLUMN assay.run_scores.problems IS 'What a person should know about the run: repairs, schema violations; a line each.';
COMMENT ON COLUMN assay.run_scores.unreadable_kind IS 'What kind of unreadable the output is; null for one that could be read.';
COMMENT ON COLUMN assay.run_scores.unreadable_reason IS 'Why the output could not be read; null for one that could.';
