-- Views. Comments are added from the catalogue in columns.py, one per view and column.
-- The views of schema assay are the only place that says what is latest and what is stale (SPEC 7).
-- What a query does not ask for must cost nothing: descriptions are left joins by a key, which the planner leaves out, and
-- counts are subqueries in the list of columns.

create or replace view assay.owner_references as
select c.scenario_id, v.reference_version_id, v.number, v.owner_hash as content_hash
from assay.scenarios c
cross join lateral (
    select r.reference_version_id, r.number, r.owner_hash from assay.reference_versions r
    where r.scenario_id = c.scenario_id order by r.number desc limit 1
) v;

-- One look into the index a cell, however long the history is.
create or replace view assay.score_heads as
select c.scenario_id, m.model_id, h.model_score_id
from assay.scenarios c
cross join assay.models m
cross join lateral (
    select s.model_score_id from assay.model_scores s
    where s.scenario_id = c.scenario_id and s.model_id = m.model_id
    order by s.model_score_id desc limit 1
) h;

-- The cases keep each state one condition for the planner, which would multiply the odds of its parts and expect no rows.
create or replace view assay.score_changes as
select p.*,
       case when p.is_reference_changed or p.is_config_changed or p.is_edit_rejected then true else false end as is_stale
from (
    select s.*,
           c.scenario_type,
           c.title,
           c.config_changed_at,
           v.number as saved_reference_version,
           case when s.owner_reference_hash is distinct from v.owner_hash then true else false
           end as is_reference_changed,
           case when s.config_hash <> c.config_hash then true else false end as is_config_changed,
           case when exists (select from assay.rejected_versions v
                             join assay.reference_rejections r using (reference_rejection_id)
                             where v.reference_version_id = s.reference_version_id and r.released_at is null)
                then true else false end as is_edit_rejected
    from assay.model_scores s
    join assay.scenarios c using (scenario_id)
    left join lateral (
        select r.number, r.owner_hash from assay.reference_versions r
        where r.scenario_id = c.scenario_id order by r.number desc limit 1
    ) v on true
) p;

-- The head's scenario is compared as well, so that a filter by scenario reaches into the heads; its model is not, since
-- the planner would then expect a single row.
create or replace view assay.score_states as
select s.*, h.model_score_id is not null as is_latest
from assay.score_changes s
left join assay.score_heads h on h.model_score_id = s.model_score_id and h.scenario_id = s.scenario_id;

-- Families as the newest call of each judge recorded them, else as models.yaml says now.
create or replace view assay.judge_kin as
select d.model_score_id
from assay.scoring_records d
join assay.models m using (model_id)
cross join lateral unnest(string_to_array(d.judge_models, E'\n')) as one (judge_model)
cross join lateral (
    select coalesce(nullif(k.judge_family, ''), j.family) as family
    from assay.judge_calls k
    left join assay.models j on j.model_id = k.judge_model
    where k.scenario_id = d.scenario_id and k.judge_model = one.judge_model
    order by k.called_at desc limit 1
) judges
where m.family <> '' and lower(judges.family) = lower(m.family);

create or replace view bi.scenarios as
select c.scenario_id,
       c.scenario_type,
       c.title,
       c.entity,
       c.prompt,
       c.expected_repetitions,
       v.number as reference_version,
       v.is_verified as is_reference_verified,
       c.quality_weight,
       c.speed_weight,
       c.cost_weight,
       c.config_hash,
       c.config_changed_at,
       c.created_at,
       c.updated_at
from assay.scenarios c
left join lateral (
    select number, is_verified from assay.reference_versions
    where scenario_id = c.scenario_id order by number desc limit 1
) v on true;

create or replace view bi.models as
select model_id, provider, model_name, family, input_usd_per_million, output_usd_per_million, created_at, updated_at
from assay.models;

create or replace view bi.rounds as
select r.round_id,
       r.trigger,
       r.status,
       r.planned_models,
       (select count(*) from assay.model_scores s where s.round_id = r.round_id) as scored_models,
       r.problem,
       r.dagster_run_id,
       extract(epoch from r.closed_at - r.opened_at)::double precision as duration_seconds,
       r.opened_at,
       r.closed_at
from assay.rounds r;

create or replace view bi.runs as
select u.run_id,
       u.scenario_id,
       c.scenario_type,
       c.title,
       u.model_id,
       m.provider,
       m.family,
       u.repetition,
       u.status,
       u.duration_seconds,
       u.cost_usd,
       u.input_tokens,
       u.output_tokens,
       u.output_bytes,
       u.output_sha256,
       u.error,
       u.lake_file,
       u.imported_at
from assay.runs u
left join assay.scenarios c using (scenario_id)
left join assay.models m using (model_id);

create or replace view bi.model_scores as
select s.model_score_id,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       m.provider,
       m.family,
       s.round_id,
       v.number as reference_version,
       s.config_hash,
       s.mode,
       s.embedding_model,
       s.run_count,
       s.ok_run_count,
       s.scored_run_count,
       s.ok_run_count::double precision / nullif(s.run_count, 0) as success_rate,
       s.quality,
       s.lowest_quality,
       s.highest_quality,
       s.interval_low,
       s.interval_high,
       s.median_repetition,
       s.completeness,
       s.correctness,
       s.hallucination,
       s.mean_duration_seconds,
       (select count(u.duration_seconds) from assay.run_scores r join assay.runs u using (run_id)
        where r.model_score_id = s.model_score_id) as timed_run_count,
       s.mean_cost_usd,
       (select count(u.cost_usd) from assay.run_scores r join assay.runs u using (run_id)
        where r.model_score_id = s.model_score_id) as priced_run_count,
       s.is_latest,
       s.is_stale,
       exists (select from assay.judge_kin k where k.model_score_id = s.model_score_id) as is_judge_family,
       d.scoring_record_id,
       (select count(k.scoring_record_id) from assay.judge_calls k where k.scoring_record_id = d.scoring_record_id)
         + case when d.scoring_record_id is null then null else 0 end as judge_calls,
       (select case when count(*) = count(k.cost_usd) then coalesce(sum(k.cost_usd), 0) end
        from assay.judge_calls k where k.scoring_record_id = d.scoring_record_id)
         + case when d.scoring_record_id is null then null else 0 end as judge_cost_usd,
       d.duration_seconds as scoring_duration_seconds,
       s.scored_at
from assay.score_states s
left join assay.models m using (model_id)
left join assay.reference_versions v using (reference_version_id)
left join assay.scoring_records d using (model_score_id);

-- What every row below a model score says of it.
create or replace view assay.described_scores as
select s.model_score_id,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       m.provider,
       m.family,
       s.round_id,
       v.number as reference_version,
       s.mode,
       s.median_repetition,
       s.is_latest,
       s.is_stale,
       s.scored_at
from assay.score_states s
left join assay.models m using (model_id)
left join assay.reference_versions v using (reference_version_id);

create or replace view bi.run_scores as
select s.model_score_id,
       r.run_id,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       s.provider,
       s.family,
       u.repetition,
       s.round_id,
       s.reference_version,
       s.mode,
       r.quality,
       r.completeness,
       r.correctness,
       r.hallucination,
       r.reference_weight,
       r.candidate_weight,
       r.shared_weight,
       r.earned_weight,
       r.field_count,
       r.problems,
       r.unreadable_kind,
       r.unreadable_reason,
       u.duration_seconds,
       u.cost_usd,
       u.input_tokens,
       u.output_tokens,
       u.output_bytes,
       u.output_sha256,
       u.repetition = s.median_repetition as is_median,
       s.is_latest,
       s.is_stale,
       s.scored_at
from assay.run_scores r
join assay.described_scores s using (model_score_id)
left join assay.runs u using (run_id);

create or replace view bi.field_scores as
select s.model_score_id,
       f.run_id,
       f.field_position,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       s.provider,
       s.family,
       u.repetition,
       s.round_id,
       s.reference_version,
       s.mode,
       f.path,
       f.stable_path,
       f.list_path,
       f.side,
       f.kind,
       f.outcome,
       f.rung,
       f.credit,
       f.similarity,
       f.reference_text,
       f.candidate_text,
       f.is_shortened,
       f.reference_weight,
       f.candidate_weight,
       f.shared_weight,
       f.shared_weight * f.credit as earned_weight,
       f.reason,
       f.setting,
       f.setting_origin,
       f.question_id,
       f.is_contested,
       s.is_latest,
       s.is_stale,
       s.scored_at
from assay.field_scores f
join assay.described_scores s using (model_score_id)
left join assay.runs u using (run_id);

create or replace view bi.list_scores as
select s.model_score_id,
       l.run_id,
       l.field_position,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       s.provider,
       s.family,
       u.repetition,
       s.round_id,
       s.reference_version,
       s.mode,
       l.path,
       l.list_order,
       l.matched_count,
       l.missed_count,
       l.extra_count,
       l.hallucinated_count,
       l.duplicate_count,
       l.precision,
       l.recall,
       l.f1,
       l.missed_items,
       l.extra_items,
       l.hallucinated_items,
       s.is_latest,
       s.is_stale,
       s.scored_at
from assay.list_scores l
join assay.described_scores s using (model_score_id)
left join assay.runs u using (run_id);

create or replace view bi.findings as
select f.finding_id,
       f.model_score_id,
       f.run_id,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       s.provider,
       s.family,
       u.repetition,
       s.round_id,
       s.reference_version,
       f.path,
       f.stable_path,
       f.evidence,
       f.is_addition,
       f.has_proposal,
       f.proposal_json,
       f.reference_json,
       f.question_id,
       s.is_latest,
       s.is_stale,
       f.found_at
from assay.findings f
join assay.described_scores s using (model_score_id)
left join assay.runs u using (run_id);

create or replace view bi.reference_versions as
select v.reference_version_id,
       v.scenario_id,
       c.scenario_type,
       c.title,
       v.number as reference_version,
       v.content_json,
       v.content_hash,
       v.owner_hash,
       v.author,
       v.origin,
       v.note,
       v.is_verified,
       v.number = max(v.number) over (partition by v.scenario_id) as is_latest,
       v.parent_id,
       (select count(*) from assay.reference_edits e where e.reference_version_id = v.reference_version_id)
         as edit_count,
       v.lake_file,
       v.created_at
from assay.reference_versions v
left join assay.scenarios c using (scenario_id);

create or replace view bi.reference_edits as
select e.reference_edit_id,
       e.scenario_id,
       c.title,
       e.reference_version_id,
       v.number as reference_version,
       v.origin,
       v.author,
       e.path,
       e.is_addition,
       e.before_json,
       e.after_json,
       e.evidence,
       e.reason,
       e.question_id,
       e.round_id,
       (select count(*) from assay.reference_edit_models m where m.reference_edit_id = e.reference_edit_id)
         as model_count,
       (select coalesce(string_agg(m.model_id, E'\n' order by m.model_id collate "C"), '')
        from assay.reference_edit_models m where m.reference_edit_id = e.reference_edit_id) as models,
       e.evidence is not null
         and e.reference_edit_id = max(e.reference_edit_id) over (partition by e.scenario_id, e.path) as is_in_place,
       exists (select 1 from assay.reference_rejections r
               where r.reference_edit_id = e.reference_edit_id and r.released_at is null) as is_rejected,
       v.created_at
from assay.reference_edits e
join assay.reference_versions v using (reference_version_id)
left join assay.scenarios c on c.scenario_id = e.scenario_id;

create or replace view bi.reference_rejections as
select r.reference_rejection_id,
       r.scenario_id,
       c.title,
       r.path,
       r.reference_edit_id,
       e.before_json,
       e.after_json,
       e.evidence,
       r.filter,
       r.author,
       r.rejected_at,
       r.released_at is null as is_locked,
       r.released_by,
       r.released_at
from assay.reference_rejections r
join assay.reference_edits e using (reference_edit_id)
left join assay.scenarios c on c.scenario_id = r.scenario_id;

create or replace view bi.stale_scores as
select s.model_score_id,
       s.scenario_id,
       s.scenario_type,
       s.title,
       s.model_id,
       m.provider,
       m.family,
       v.number as reference_version,
       s.saved_reference_version,
       s.quality,
       concat_ws(', ', case when s.is_reference_changed then 'reference' end,
                       case when s.is_config_changed then 'scoring config' end,
                       case when s.is_edit_rejected then 'rejected edit' end) as changed,
       s.is_reference_changed,
       s.is_config_changed,
       s.is_edit_rejected,
       s.config_changed_at,
       s.scored_at
from assay.score_states s
left join assay.models m using (model_id)
left join assay.reference_versions v using (reference_version_id)
where s.is_latest and s.is_stale;

create or replace view bi.judge_calls as
select k.judge_call_id,
       k.scoring_record_id,
       d.model_score_id,
       d.round_id,
       k.scenario_id,
       c.scenario_type,
       c.title,
       d.model_id,
       m.provider,
       m.family,
       k.question_id,
       q.question_kind,
       q.path,
       k.judge_model,
       k.judge_family,
       k.is_swapped,
       k.attempt,
       k.is_repair,
       coalesce(k.sent_text, q.prompt) as prompt,
       k.answer_text,
       k.finish_reason,
       k.input_tokens,
       k.output_tokens,
       k.cost_usd,
       k.duration_seconds,
       k.error_kind,
       k.error,
       coalesce(d.model_score_id = (select max(n.model_score_id) from assay.model_scores n
                                    where n.scenario_id = d.scenario_id and n.model_id = d.model_id), false) as is_latest,
       k.called_at
from assay.judge_calls k
left join assay.judge_questions q using (scenario_id, question_id)
left join assay.scoring_records d using (scoring_record_id)
left join assay.scenarios c on c.scenario_id = k.scenario_id
left join assay.models m on m.model_id = d.model_id;

create or replace view bi.scoring_records as
select d.scoring_record_id,
       d.round_id,
       d.scenario_id,
       c.scenario_type,
       c.title,
       d.model_id,
       m.provider,
       m.family,
       d.model_score_id,
       (select v.number from assay.model_scores n join assay.reference_versions v using (reference_version_id)
        where n.model_score_id = d.model_score_id) as reference_version,
       d.model_score_id is not null as is_scored,
       d.error,
       d.judge_models,
       d.question_count,
       d.cached_count,
       d.position_conflict_count,
       k.call_count,
       k.failed_call_count,
       k.unpriced_call_count,
       k.input_tokens,
       k.output_tokens,
       case when k.unpriced_call_count = 0 then k.known_cost_usd end as cost_usd,
       k.known_cost_usd,
       k.judge_seconds,
       d.duration_seconds,
       coalesce(d.model_score_id = (select max(n.model_score_id) from assay.model_scores n
                                    where n.scenario_id = d.scenario_id and n.model_id = d.model_id), false) as is_latest,
       coalesce((select n.is_stale from assay.score_changes n where n.model_score_id = d.model_score_id), false)
         as is_stale,
       d.started_at,
       d.ended_at
from assay.scoring_records d
left join assay.scenarios c using (scenario_id)
left join assay.models m using (model_id)
cross join lateral (
    select count(*) as call_count,
           count(error_kind) as failed_call_count,
           count(*) - count(cost_usd) as unpriced_call_count,
           coalesce(sum(input_tokens), 0)::bigint as input_tokens,
           coalesce(sum(output_tokens), 0)::bigint as output_tokens,
           coalesce(sum(cost_usd), 0) as known_cost_usd,
           coalesce(sum(duration_seconds), 0) as judge_seconds
    from assay.judge_calls where scoring_record_id = d.scoring_record_id
) k;

-- Parquet files that a row names: the lake holds no other (SPEC 12).
create or replace view bi.lake_files as
select 'runs' as dataset, u.lake_file, u.scenario_id, null as model_id, null::bigint as model_score_id,
       null::integer as reference_version, true as is_latest, false as is_stale, min(u.imported_at) as committed_at
from assay.runs u
group by u.lake_file, u.scenario_id
union all
select 'reference_versions', v.lake_file, v.scenario_id, null, null, v.number,
       v.number = max(v.number) over (partition by v.scenario_id), false, v.created_at
from assay.reference_versions v
union all
select d.dataset, d.lake_file, s.scenario_id, s.model_id, s.model_score_id, v.number, s.is_latest, s.is_stale, s.scored_at
from assay.score_states s
join assay.reference_versions v using (reference_version_id)
cross join lateral (values ('field_scores', s.field_scores_file), ('findings', s.findings_file)) as d (dataset, lake_file)
where d.lake_file is not null;

-- SPEC 8. The twin of scoring/ranking.py: best = 100, ten times worse = 0 on a log scale; free is best and the others are
-- measured against the cheapest that costs something; an unknown part's weight goes to the known ones in proportion.
create or replace view bi.leaderboard as
with results as (
    select s.scenario_id, s.model_id, s.mode, s.quality, s.mean_duration_seconds, s.mean_cost_usd, s.run_count,
           s.ok_run_count, s.scored_run_count, s.scored_at, c.quality_weight, c.speed_weight, c.cost_weight,
           min(s.mean_duration_seconds) filter (where s.mean_duration_seconds > 0) over peers as best_duration,
           min(s.mean_cost_usd) filter (where s.mean_cost_usd > 0) over peers as best_cost
    from assay.score_states s
    join assay.scenarios c using (scenario_id)
    where s.is_latest and not s.is_stale and s.quality is not null
    window peers as (partition by s.scenario_id)
), parts as (
    select r.*,
           case when mean_duration_seconds is null then null
                when mean_duration_seconds <= 0 or mean_duration_seconds <= best_duration then 100
                else least(100, greatest(0, 100 * (1 - (log(mean_duration_seconds) - log(best_duration)))))
           end as speed_score,
           case when mean_cost_usd is null then null
                when mean_cost_usd <= 0 or mean_cost_usd <= best_cost then 100
                else least(100, greatest(0, 100 * (1 - (log(mean_cost_usd) - log(best_cost)))))
           end as cost_score
    from results r
), weighed as (
    select p.*,
           quality_weight
             + case when speed_score is null then 0 else speed_weight end
             + case when cost_score is null then 0 else cost_weight end as known_weight,
           quality * quality_weight + coalesce(speed_score * speed_weight, 0) + coalesce(cost_score * cost_weight, 0)
             as weighed_sum
    from parts p
), scored as (
    select w.*,
           case when known_weight <= 0 then quality else least(100, greatest(0, weighed_sum / known_weight)) end as score
    from weighed w
), ranked as (
    select 'scenario' as scope, scenario_id, model_id, score, quality, speed_score, cost_score, mean_duration_seconds,
           mean_cost_usd, 1::bigint as scenario_count,
           count(speed_score) over one as speed_known_count, count(cost_score) over one as cost_known_count,
           case when mode = 'exact_only' then 1 else 0 end::bigint as exact_only_count,
           run_count::bigint, ok_run_count::bigint, scored_run_count::bigint, scored_at
    from scored
    window one as (partition by scenario_id, model_id)
    union all
    select 'overall', null, model_id, avg(score), avg(quality), avg(speed_score), avg(cost_score),
           avg(mean_duration_seconds), avg(mean_cost_usd), count(*), count(speed_score), count(cost_score),
           count(*) filter (where mode = 'exact_only'),
           sum(run_count), sum(ok_run_count), sum(scored_run_count), max(scored_at)
    from scored
    group by model_id
)
select r.scope,
       r.scenario_id,
       c.scenario_type,
       c.title,
       rank() over (partition by r.scope, r.scenario_id order by r.score desc) as position,
       r.model_id,
       m.provider,
       m.family,
       r.score,
       r.quality,
       r.speed_score,
       r.cost_score,
       r.mean_duration_seconds,
       r.mean_cost_usd,
       r.scenario_count,
       r.speed_known_count,
       r.cost_known_count,
       r.exact_only_count,
       r.run_count,
       r.ok_run_count,
       r.scored_run_count,
       r.ok_run_count::double precision / nullif(r.run_count, 0) as success_rate,
       r.scored_at
from ranked r
left join assay.models m using (model_id)
left join assay.scenarios c using (scenario_id);
