"""What a score was made of, as hashes of content, and what has changed since (SPEC 7)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.records import Context, Json, ScoringConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredients:
    """The hashes of all that a score is made of: the owner's reference, the scoring config and the recorded runs.

    None stands for what there is none of.
    """

    reference_hash: str | None
    config_hash: str | None
    runs_hash: str | None


def content_hash(content: Json) -> str:
    """64 hex digits that depend on the JSON content alone.

    The order of an object's keys, white space and the spelling of a number (`1`, `1.0`, `1e0`) make no difference, so
    that a file that is edited back to the same content, or read back from a database, has the same hash.
    """
    text = json.dumps(_canonical(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def scoring_config_hash(*, schema: Json, config: ScoringConfig, context: Context | None = None) -> str:
    """The hash of how a scenario is scored: schema, strictness, embedding model, judge, empty and accepted values.

    Where a setting came from makes no difference. The context (task, entity, documents, examples) counts only where
    there is a judge, since nobody else reads it.
    """
    cutoffs = config.cutoffs
    content: dict[str, Json] = {
        "schema": schema,
        "embedding_model": config.embedding_model,
        "cutoffs": None if cutoffs is None else [cutoffs.same, cutoffs.undecided],
        "judge_models": [*config.judge_models],
        "is_judge_swapped": config.is_judge_swapped,
        "empty_values": [*sorted(config.empty_values)],
        "accepted": _lists_of(config.accepted),
        "context": _content_of(context) if config.judge_models and context is not None else None,
    }
    return content_hash(content)


def changes_since(scored: Ingredients, now: Ingredients) -> tuple[str, ...]:
    """What makes a score stale, in words: `reference`, `scoring config`, `runs`; empty for a fresh score."""
    pairs = (
        ("reference", scored.reference_hash, now.reference_hash),
        ("scoring config", scored.config_hash, now.config_hash),
        ("runs", scored.runs_hash, now.runs_hash),
    )
    return tuple(name for name, before, after in pairs if before != after)


def _lists_of(accepted: Mapping[str, Sequence[Json]]) -> Json:
    return {path: list(values) for path, values in accepted.items()}


def _content_of(context: Context) -> Json:
    return {
        "task": context.task,
        "entity": context.entity,
        "documents": [[document.name, _digest(document.text)] for document in context.documents],
        "examples": list(context.examples),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Json) -> Json:
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return value
