-- Views. Comments are added from the catalogue in columns.py, one per view and column.
-- The two views of schema assay are the only place that says what is latest and what is stale (SPEC 7).

create or replace view assay.owner_references as
select distinct on (scenario_id) scenario_id, reference_version_id, number, owner_hash as content_hash
from assay.reference_versions
order by scenario_id, number desc;

-- All of model_scores and its state in one pass: a join back to model_scores would be planned as one row and take minutes.
-- The cases keep each state one condition for the planner, which would multiply the odds of its parts and expect no rows.
create or replace view assay.score_states as
select p.*,
       case when p.is_reference_changed or p.is_config_changed or p.is_edit_rejected then true else false end as is_stale
from (
    select s.*,
           case when exists (select from assay.model_scores n
                             where n.scenario_id = s.scenario_id and n.model_id = s.model_id
                               and n.model_score_id > s.model_score_id) then false else true end as is_latest,
           case when s.owner_reference_hash is distinct from o.content_hash then true else false
           end as is_reference_changed,
           case when s.config_hash <> c.config_hash then true else false end as is_config_changed,
           case when exists (select from assay.rejected_versions v
                             join assay.reference_rejections r using (reference_rejection_id)
                             where v.reference_version_id = s.reference_version_id and r.released_at is null)
                then true else false end as is_edit_rejected
    from assay.model_scores s
    join assay.scenarios c using (scenario_id)
    left join assay.owner_references o using (scenario_id)
) p;

-- Families as the newest call of each judge recorded them, else as models.yaml says now. Asked for as a whole, with `in`.
create or replace view assay.judge_kin as
with newest as (
    select max(judge_call_id) as judge_call_id from assay.judge_calls group by scenario_id, judge_model
), judges as (
    select k.scenario_id, k.judge_model, coalesce(nullif(k.judge_family, ''), m.family) as family
    from newest
    join assay.judge_calls k using (judge_call_id)
    left join assay.models m on m.model_id = k.judge_model
)
select distinct d.model_score_id
from assay.scoring_records d
join assay.models m using (model_id)
cross join lateral unnest(string_to_array(d.judge_models, E'\n')) as one (judge_model)
join judges j on j.scenario_id = d.scenario_id and j.judge_model = one.judge_model and lower(j.family) = lower(m.family)
where d.model_score_id is not null and m.family <> '';

create or replace view bi.model_scores as
select s.model_score_id,
       s.scenario_id,
       c.scenario_type,
       c.title,
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
       s.mean_cost_usd,
       s.is_latest,
       s.is_stale,
       s.scored_at,
       (select count(k.scoring_record_id) from assay.judge_calls k where k.scoring_record_id = d.scoring_record_id)
         + case when d.scoring_record_id is null then null else 0 end as judge_calls,
       (select case when count(*) = count(k.cost_usd) then coalesce(sum(k.cost_usd), 0) end
        from assay.judge_calls k where k.scoring_record_id = d.scoring_record_id)
         + case when d.scoring_record_id is null then null else 0 end as judge_cost_usd,
       d.duration_seconds as scoring_duration_seconds,
       d.scoring_record_id,
       s.model_score_id in (select model_score_id from assay.judge_kin) as is_judge_family
from assay.score_states s
join assay.scenarios c using (scenario_id)
join assay.models m using (model_id)
join assay.reference_versions v using (reference_version_id)
left join assay.scoring_records d using (model_score_id);

create or replace view bi.run_scores as
select s.model_score_id,
       r.run_id,
       s.scenario_id,
       s.model_id,
       u.repetition,
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
join bi.model_scores s using (model_score_id)
join assay.runs u using (run_id);

create or replace view bi.field_scores as
select s.model_score_id,
       f.run_id,
       f.field_position,
       s.scenario_id,
       s.model_id,
       u.repetition,
       s.reference_version,
       s.mode,
       f.path,
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
       f.list_path,
       s.is_latest,
       s.is_stale,
       s.scored_at,
       f.stable_path
from assay.field_scores f
join bi.model_scores s using (model_score_id)
join assay.runs u using (run_id);

create or replace view bi.list_scores as
select s.model_score_id,
       l.run_id,
       l.field_position,
       s.scenario_id,
       s.model_id,
       u.repetition,
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
join bi.model_scores s using (model_score_id)
join assay.runs u using (run_id);

create or replace view bi.findings as
select f.finding_id,
       f.model_score_id,
       f.run_id,
       f.scenario_id,
       f.model_id,
       u.repetition,
       s.reference_version,
       f.path,
       f.evidence,
       f.has_proposal,
       f.proposal_json,
       f.question_id,
       s.is_latest,
       s.is_stale,
       f.found_at,
       s.round_id,
       f.stable_path,
       f.is_addition,
       f.reference_json
from assay.findings f
join bi.model_scores s using (model_score_id)
join assay.runs u using (run_id);

create or replace view bi.reference_versions as
select v.reference_version_id,
       v.scenario_id,
       v.number,
       v.content_json,
       v.content_hash,
       v.author,
       v.origin,
       v.is_verified,
       v.number = max(v.number) over (partition by v.scenario_id) as is_latest,
       v.parent_id,
       v.created_at,
       v.owner_hash,
       v.note
from assay.reference_versions v;

create or replace view bi.reference_edits as
select e.reference_edit_id,
       e.scenario_id,
       e.reference_version_id,
       v.number,
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
       e.evidence is not null
         and e.reference_edit_id = max(e.reference_edit_id) over (partition by e.scenario_id, e.path) as is_in_place,
       exists (select 1 from assay.reference_rejections r
               where r.reference_edit_id = e.reference_edit_id and r.released_at is null) as is_rejected,
       v.created_at
from assay.reference_edits e
join assay.reference_versions v using (reference_version_id);

create or replace view bi.reference_rejections as
select r.reference_rejection_id,
       r.scenario_id,
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
join assay.reference_edits e using (reference_edit_id);

create or replace view bi.stale_scores as
select s.model_score_id,
       s.scenario_id,
       s.model_id,
       v.number as reference_version,
       s.quality,
       concat_ws(', ', case when s.is_reference_changed then 'reference' end,
                       case when s.is_config_changed then 'scoring config' end,
                       case when s.is_edit_rejected then 'rejected edit' end) as changed,
       s.scored_at
from assay.score_states s
join assay.reference_versions v using (reference_version_id)
where s.is_latest and s.is_stale;

create or replace view bi.judge_calls as
select k.judge_call_id,
       k.scoring_record_id,
       d.round_id,
       k.scenario_id,
       d.model_id,
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
       k.called_at
from assay.judge_calls k
join assay.judge_questions q using (scenario_id, question_id)
left join assay.scoring_records d using (scoring_record_id);

create or replace view bi.scoring_records as
select d.scoring_record_id,
       d.round_id,
       d.scenario_id,
       d.model_id,
       d.model_score_id,
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
       d.started_at,
       d.ended_at
from assay.scoring_records d
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

-- SPEC 8. The twin of scoring/ranking.py: best = 100, ten times worse = 0 on a log scale; free is best and the others are
-- measured against the cheapest that costs something; an unknown part's weight goes to the known ones in proportion.
create or replace view bi.leaderboard as
with results as (
    select s.scenario_id, s.model_id, s.mode, s.quality, s.mean_duration_seconds, s.mean_cost_usd, s.run_count,
           s.ok_run_count, s.scored_run_count, s.scored_at, c.quality_weight, c.speed_weight, c.cost_weight,
           min(s.mean_duration_seconds) filter (where s.mean_duration_seconds > 0) over peers as best_duration,
           min(s.mean_cost_usd) filter (where s.mean_cost_usd > 0) over peers as best_cost
    from bi.model_scores s
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
join assay.models m using (model_id);
