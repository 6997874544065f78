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


def changed_settings(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[str, ...]:
    """What differs between two scoring configs with their schemas, in the words of the workspace's files.

    Each is one setting, with both values where they are short. Where both are the same, what a judge reads has changed:
    task, documents or examples.
    """
    pairs = [(_WORDS.get(key, key), before.get(key), after.get(key)) for key in {**before, **after}]
    found = [_change(*pair) for pair in pairs if _canonical(pair[1]) != _canonical(pair[2])]
    return tuple(found) or ("task, entity, documents or examples",)


_WORDS = {
    "embedding_model": "embedding",
    "cutoffs": "strictness",
    "judge_models": "judge",
    "is_judge_swapped": "judge.swap",
}
_SHORT = 80


def _change(name: str, before: Json, after: Json) -> str:
    if name == "strictness":
        before, after = _limits(before), _limits(after)
    shown = [json.dumps(value, ensure_ascii=False) for value in (before, after)]
    if all(len(one) <= _SHORT for one in shown):
        return f"{name} {' -> '.join(shown)}"
    return f"{name} at {', '.join(_places(before, after))}" if name in ("schema", "accepted") else name


def _limits(cutoffs: Json) -> Json:
    return [cutoffs.get("undecided"), cutoffs.get("same")] if isinstance(cutoffs, dict) else cutoffs


def _places(before: Json, after: Json, path: str = "") -> list[str]:
    """The first few JSON Pointers at which two values differ."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return [] if _canonical(before) == _canonical(after) else [path or "/"]
    keys = sorted({*before, *after})
    return [place for key in keys for place in _places(before.get(key), after.get(key), f"{path}/{key}")][:3]


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
