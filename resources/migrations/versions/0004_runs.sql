CREATE TABLE assay.run_claims (
    scenario_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    worker_id TEXT NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT run_claims_pkey PRIMARY KEY (scenario_id, model_id, repetition)
);
CREATE INDEX run_claims_worker_id_idx ON assay.run_claims (worker_id);
