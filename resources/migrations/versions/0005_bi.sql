CREATE INDEX judge_calls_scenario_id_judge_model_called_at_idx ON assay.judge_calls (scenario_id, judge_model, called_at);
