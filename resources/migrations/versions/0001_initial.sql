-- Frozen: a later change of the tables is a later migration. Comments come from the catalogue (migrate.py).

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

CREATE TABLE assay.vectors (
    embedding_model TEXT NOT NULL,
    text_sha256 BYTEA NOT NULL,
    vector BYTEA NOT NULL,
    CONSTRAINT vectors_pkey PRIMARY KEY (embedding_model, text_sha256)
);

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

CREATE TABLE assay.scenario_configs (
    scenario_id TEXT NOT NULL,
    config_hash TEXT NOT NULL,
    schema_json TEXT NOT NULL,
    scoring_json TEXT NOT NULL,
    first_seen_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT scenario_configs_pkey PRIMARY KEY (scenario_id, config_hash),
    CONSTRAINT scenario_configs_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id)
);

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
    CONSTRAINT field_scores_model_score_id_run_id_fkey FOREIGN KEY(model_score_id, run_id) REFERENCES assay.run_scores (model_score_id, run_id)
);

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
    CONSTRAINT findings_model_score_id_run_id_fkey FOREIGN KEY(model_score_id, run_id) REFERENCES assay.run_scores (model_score_id, run_id),
    CONSTRAINT findings_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT findings_model_id_fkey FOREIGN KEY(model_id) REFERENCES assay.models (model_id)
);
CREATE INDEX findings_model_score_id_run_id_idx ON assay.findings (model_score_id, run_id);
CREATE INDEX findings_scenario_id_idx ON assay.findings (scenario_id);

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
    CONSTRAINT list_scores_model_score_id_run_id_fkey FOREIGN KEY(model_score_id, run_id) REFERENCES assay.run_scores (model_score_id, run_id)
);
