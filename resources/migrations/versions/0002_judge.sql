-- Frozen: a later change of the tables is a later migration. Comments come from the catalogue (migrate.py).

CREATE TABLE assay.scoring_records (
    scoring_record_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    round_id BIGINT NOT NULL,
    model_score_id BIGINT,
    judge_models TEXT NOT NULL,
    question_count INTEGER NOT NULL,
    cached_count INTEGER NOT NULL,
    position_conflict_count INTEGER NOT NULL,
    error TEXT,
    duration_seconds DOUBLE PRECISION,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT scoring_records_pkey PRIMARY KEY (scoring_record_id),
    CONSTRAINT scoring_records_round_id_scenario_id_model_id_key UNIQUE (round_id, scenario_id, model_id),
    CONSTRAINT scoring_records_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT scoring_records_model_id_fkey FOREIGN KEY(model_id) REFERENCES assay.models (model_id),
    CONSTRAINT scoring_records_round_id_fkey FOREIGN KEY(round_id) REFERENCES assay.rounds (round_id),
    CONSTRAINT scoring_records_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id)
);
CREATE UNIQUE INDEX scoring_records_model_score_id_idx ON assay.scoring_records (model_score_id);
CREATE INDEX scoring_records_scenario_id_model_id_idx ON assay.scoring_records (scenario_id, model_id);

CREATE TABLE assay.judge_questions (
    scenario_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    question_kind TEXT NOT NULL,
    path TEXT NOT NULL,
    prompt TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    asked_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT judge_questions_pkey PRIMARY KEY (scenario_id, question_id),
    CONSTRAINT judge_questions_question_kind_check CHECK (question_kind in ('compare', 'verify')),
    CONSTRAINT judge_questions_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id)
);

CREATE TABLE assay.judge_calls (
    judge_call_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    scoring_record_id BIGINT,
    judge_model TEXT NOT NULL,
    judge_family TEXT NOT NULL,
    is_swapped BOOLEAN NOT NULL,
    attempt INTEGER NOT NULL,
    is_repair BOOLEAN NOT NULL,
    sent_text TEXT,
    answer_text TEXT,
    finish_reason TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost_usd DOUBLE PRECISION,
    duration_seconds DOUBLE PRECISION NOT NULL,
    error_kind TEXT,
    error TEXT,
    called_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT judge_calls_pkey PRIMARY KEY (judge_call_id),
    CONSTRAINT judge_calls_scenario_id_question_id_fkey FOREIGN KEY(scenario_id, question_id) REFERENCES assay.judge_questions (scenario_id, question_id),
    CONSTRAINT judge_calls_scoring_record_id_fkey FOREIGN KEY(scoring_record_id) REFERENCES assay.scoring_records (scoring_record_id)
);
CREATE INDEX judge_calls_scenario_id_question_id_idx ON assay.judge_calls (scenario_id, question_id);
CREATE INDEX judge_calls_scoring_record_id_idx ON assay.judge_calls (scoring_record_id);

CREATE TABLE assay.judge_answers (
    scenario_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    judge_model TEXT NOT NULL,
    is_swapped BOOLEAN NOT NULL,
    verdict TEXT NOT NULL,
    credit DOUBLE PRECISION NOT NULL,
    basis TEXT NOT NULL,
    reason TEXT NOT NULL,
    answered_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT judge_answers_pkey PRIMARY KEY (scenario_id, question_id, judge_model, is_swapped),
    CONSTRAINT judge_answers_scenario_id_question_id_fkey FOREIGN KEY(scenario_id, question_id) REFERENCES assay.judge_questions (scenario_id, question_id)
);

CREATE TABLE assay.judge_claims (
    scenario_id TEXT NOT NULL,
    question_id TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT judge_claims_pkey PRIMARY KEY (scenario_id, question_id)
);
CREATE INDEX judge_claims_worker_id_idx ON assay.judge_claims (worker_id);
