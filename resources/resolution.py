"""Which setting holds where: the scenario's own, else the organisation's, else the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resources.settings import (
    Budgets,
    EmbeddingSettings,
    Endpoint,
    JudgeSettings,
    Resolved,
    Retention,
    RoundSchedule,
    ScheduledWork,
    ScoringSettings,
    Weights,
)
from resources.workspace_files import (
    EndpointShape,
    JudgeShape,
    OrganisationShape,
    PanelMemberShape,
    ScenarioScoringShape,
    ScenarioShape,
    ScoringShape,
    WeightsShape,
)
from scoring.records import Origin

_CUTOFF_KEYS = ("strictness", "threshold", "undecided_from")


def resolved_scoring(organisation: ScoringShape, scenario: ScenarioScoringShape) -> ScoringSettings:
    """The scenario's scoring settings, each with its origin.

    Cosines belong together and to one embedding model: a scenario that sets its own strictness, threshold or embedding
    model no longer inherits the threshold and band of assay.yaml.
    """
    layers = [(scenario, Origin.SCENARIO), (_inherited(organisation, scenario), Origin.ORGANISATION)]
    written: dict[str, Any] = {}
    for shape, origin in layers:
        for key, value in _written(shape).items():
            written.setdefault(key, Resolved(value=value, origin=origin))
    accepted = {pointer: tuple(values) for pointer, values in scenario.accepted.items()}
    return ScoringSettings(**written, accepted=accepted)


def _inherited(organisation: ScoringShape, scenario: ScenarioScoringShape) -> ScoringShape:
    own = scenario.model_fields_set
    dropped: set[str] = set()
    if "embedding" in own or "threshold" in own or "strictness" in own:
        dropped |= {"threshold", "undecided_from"}
    kept = {key: getattr(organisation, key) for key in organisation.model_fields_set & _KEYS if key not in dropped}
    return ScoringShape.model_construct(_fields_set=set(kept), **kept)


_KEYS = set(ScoringShape.model_fields)


def _written(shape: ScoringShape) -> Mapping[str, Any]:
    written = {key: getattr(shape, key) for key in shape.model_fields_set & _KEYS}
    if "embedding" in written:
        written["embedding"] = _embedding_of(shape.embedding)
    if "judge" in written:
        written["judge"] = _judge_of(shape.judge)
    if "empty_values" in written and shape.empty_values is not None:
        written["empty_values"] = tuple(shape.empty_values)
    nothing = {key for key in ("strictness", "empty_values") if written.get(key, "") is None}
    return {key: value for key, value in written.items() if key not in nothing}


def _embedding_of(shape: str | EndpointShape | None) -> EmbeddingSettings | None:
    match shape:
        case None:
            return None
        case EndpointShape():
            endpoint = Endpoint(model=shape.model, base_url=shape.base_url, api_key_env=shape.api_key_env)
            return EmbeddingSettings(endpoint=endpoint)
        case _:
            return EmbeddingSettings()


def _judge_of(shape: JudgeShape | None) -> JudgeSettings | None:
    if shape is None:
        return None
    members = shape.panel or [PanelMemberShape(model=shape.model or "", family=shape.family)]
    return JudgeSettings(
        models=tuple(_judge_model(shape, member) for member in members),
        is_swapped=shape.swap,
        at_once=shape.at_once,
        requests_per_minute=shape.requests_per_minute,
        timeout_seconds=shape.timeout_seconds,
        max_answer_tokens=shape.max_answer_tokens,
    )


def _judge_model(judge: JudgeShape, member: str | PanelMemberShape) -> Endpoint:
    if isinstance(member, str):
        member = PanelMemberShape(model=member)
    return Endpoint(
        model=member.model,
        base_url=member.base_url or judge.base_url,
        api_key_env=member.api_key_env or (judge.api_key_env if member.base_url is None else None),
        family=member.family or judge.family,
        max_prompt_tokens=member.max_prompt_tokens or judge.max_prompt_tokens,
    )


def resolved_weights(organisation: OrganisationShape, scenario: ScenarioShape) -> Resolved[Weights]:
    """What quality, speed and cost count for the scenario, and where that was decided."""
    for_type = getattr(organisation.weights, scenario.type)
    if scenario.weights is not None:
        return Resolved(value=_weights_of(scenario.weights), origin=Origin.SCENARIO)
    if for_type is not None:
        return Resolved(value=_weights_of(for_type), origin=Origin.ORGANISATION)
    return Resolved(value=Weights(), origin=Origin.DEFAULT)


def _weights_of(shape: WeightsShape) -> Weights:
    return Weights(quality=shape.quality, speed=shape.speed, cost=shape.cost)


def budgets_of(organisation: OrganisationShape) -> Budgets:
    """The upper limits of what a round may spend."""
    return Budgets(judge_usd=organisation.budgets.judge_usd, runs_usd=organisation.budgets.runs_usd)


def schedule_of(organisation: OrganisationShape) -> RoundSchedule | None:
    """When scoring rounds begin by themselves; None where nothing says so."""
    written = organisation.schedule
    if written is None:
        return None
    return RoundSchedule(cron=written.rounds, timezone=written.timezone, what=ScheduledWork(written.what))


def retention_of(organisation: OrganisationShape) -> Retention:
    """How long Dagster's records of ended runs are kept."""
    return Retention(dagster_run_days=organisation.retention.dagster_run_days)
