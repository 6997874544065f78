-- Frozen: a later change of the tables is a later migration. Comments come from the catalogue (migrate.py).

ALTER TABLE assay.reference_versions
    ADD COLUMN owner_json TEXT,
    ADD COLUMN owner_item_ids_json TEXT,
    ADD COLUMN owner_hash TEXT,
    ADD COLUMN after_round BIGINT,
    ADD COLUMN saved_paths_json TEXT,
    ADD COLUMN note TEXT;
UPDATE assay.reference_versions
    SET owner_json = content_json, owner_item_ids_json = item_ids_json, owner_hash = content_hash, after_round = 0,
        saved_paths_json = '[]', note = '';
ALTER TABLE assay.reference_versions
    ALTER COLUMN owner_json SET NOT NULL,
    ALTER COLUMN owner_item_ids_json SET NOT NULL,
    ALTER COLUMN owner_hash SET NOT NULL,
    ALTER COLUMN after_round SET NOT NULL,
    ALTER COLUMN saved_paths_json SET NOT NULL,
    ALTER COLUMN note SET NOT NULL,
    DROP CONSTRAINT reference_versions_origin_check,
    ADD CONSTRAINT reference_versions_origin_check
        CHECK (origin in ('import', 'owner_save', 'generated', 'round', 'rejection', 'release'));

ALTER TABLE assay.findings
    ADD COLUMN stable_path TEXT,
    ADD COLUMN is_addition BOOLEAN,
    ADD COLUMN reference_json TEXT;
UPDATE assay.findings SET stable_path = path, is_addition = false;
ALTER TABLE assay.findings
    ALTER COLUMN stable_path SET NOT NULL,
    ALTER COLUMN is_addition SET NOT NULL;

ALTER TABLE assay.field_scores ADD COLUMN stable_path TEXT;
UPDATE assay.field_scores SET stable_path = path;
ALTER TABLE assay.field_scores ALTER COLUMN stable_path SET NOT NULL;

CREATE TABLE assay.reference_edits (
    reference_edit_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    reference_version_id BIGINT NOT NULL,
    path TEXT NOT NULL,
    is_addition BOOLEAN NOT NULL,
    before_json TEXT,
    after_json TEXT,
    evidence TEXT,
    round_id BIGINT,
    question_id TEXT,
    reason TEXT NOT NULL,
    CONSTRAINT reference_edits_pkey PRIMARY KEY (reference_edit_id),
    CONSTRAINT reference_edits_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT reference_edits_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);
CREATE INDEX reference_edits_scenario_id_path_idx ON assay.reference_edits (scenario_id, path);
CREATE INDEX reference_edits_reference_version_id_idx ON assay.reference_edits (reference_version_id);

CREATE TABLE assay.reference_edit_models (
    reference_edit_id BIGINT NOT NULL,
    model_id TEXT NOT NULL,
    added_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT reference_edit_models_pkey PRIMARY KEY (reference_edit_id, model_id),
    CONSTRAINT reference_edit_models_reference_edit_id_fkey FOREIGN KEY(reference_edit_id) REFERENCES assay.reference_edits (reference_edit_id)
);

CREATE TABLE assay.reference_rejections (
    reference_rejection_id BIGINT GENERATED ALWAYS AS IDENTITY,
    scenario_id TEXT NOT NULL,
    path TEXT NOT NULL,
    reference_edit_id BIGINT NOT NULL,
    reference_version_id BIGINT NOT NULL,
    filter TEXT NOT NULL,
    author TEXT NOT NULL,
    after_round BIGINT NOT NULL,
    rejected_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    released_after_round BIGINT,
    released_by TEXT,
    released_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT reference_rejections_pkey PRIMARY KEY (reference_rejection_id),
    CONSTRAINT reference_rejections_scenario_id_fkey FOREIGN KEY(scenario_id) REFERENCES assay.scenarios (scenario_id),
    CONSTRAINT reference_rejections_reference_edit_id_fkey FOREIGN KEY(reference_edit_id) REFERENCES assay.reference_edits (reference_edit_id),
    CONSTRAINT reference_rejections_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);
CREATE INDEX reference_rejections_scenario_id_path_idx ON assay.reference_rejections (scenario_id, path);

CREATE TABLE assay.rejected_versions (
    reference_rejection_id BIGINT NOT NULL,
    reference_version_id BIGINT NOT NULL,
    CONSTRAINT rejected_versions_pkey PRIMARY KEY (reference_rejection_id, reference_version_id),
    CONSTRAINT rejected_versions_reference_rejection_id_fkey FOREIGN KEY(reference_rejection_id) REFERENCES assay.reference_rejections (reference_rejection_id),
    CONSTRAINT rejected_versions_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);
CREATE INDEX rejected_versions_reference_version_id_idx ON assay.rejected_versions (reference_version_id);

CREATE TABLE assay.merged_scores (
    model_score_id BIGINT NOT NULL,
    reference_version_id BIGINT NOT NULL,
    merged_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT merged_scores_pkey PRIMARY KEY (model_score_id),
    CONSTRAINT merged_scores_model_score_id_fkey FOREIGN KEY(model_score_id) REFERENCES assay.model_scores (model_score_id),
    CONSTRAINT merged_scores_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);

CREATE TABLE assay.reference_provenance (
    reference_version_id BIGINT NOT NULL,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    value_json TEXT NOT NULL,
    model_ids TEXT NOT NULL,
    other_answers TEXT NOT NULL,
    CONSTRAINT reference_provenance_pkey PRIMARY KEY (reference_version_id, position),
    CONSTRAINT reference_provenance_reference_version_id_fkey FOREIGN KEY(reference_version_id) REFERENCES assay.reference_versions (reference_version_id)
);
