"""From a scenario's settings to what the core is given."""

from __future__ import annotations

from resources.hosted_embeddings import host_of
from resources.settings import EmbeddingSettings, ScoringSettings
from scoring.records import ScoringConfig
from scoring.strictness import LOCAL_MODEL, cutoffs_of


def scoring_config_of(settings: ScoringSettings) -> ScoringConfig:
    """The core's scoring config for these settings. Raises InputError for limits that do not fit together."""
    name = _embedding_name(settings.embedding.value)
    judge = settings.judge.value
    decisive = settings.strictness if settings.threshold.value is None else settings.threshold
    return ScoringConfig(
        embedding_model=name,
        cutoffs=cutoffs_of(
            embedding_model=name,
            strictness=settings.strictness.value,
            threshold=settings.threshold.value,
            undecided_from=settings.undecided_from.value,
            tables=settings.tables,
            origin=decisive.origin,
        ),
        judge_models=() if judge is None else tuple(endpoint.model for endpoint in judge.models),
        is_judge_swapped=judge is not None and judge.is_swapped,
        empty_values=settings.empty_values.value,
        accepted=settings.accepted,
    )


def _embedding_name(settings: EmbeddingSettings | None) -> str | None:
    if settings is None:
        return None
    endpoint = settings.endpoint
    return LOCAL_MODEL if endpoint is None else f"{host_of(endpoint.base_url)}/{endpoint.model}"
