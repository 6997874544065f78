"""One sample of an Inspect log: what of it says how a run went."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.json_stream import JsonStream
from resources.jsonl import Member
from scoring.records import Json

_TIMES = ("working_time", "total_time")
_KEPT = frozenset(
    ("id", "epoch", "error", "invalidation", "limit", "metadata", "model_usage", "turn_count", "uuid", *_TIMES),
)


@dataclass(slots=True)
class Parts:
    """What was kept of a sample: some values, the completion, how often the model spoke, and whose answers were cached.

    `cached_models` names the models that answered from Inspect's cache outside a role such as a grader's.
    """

    values: dict[str, Json] = field(default_factory=dict)
    output: Mapping[str, Json] = field(default_factory=dict)
    completion: str | None = None
    answers: int = 0
    cached_models: frozenset[str] = frozenset()
    attachments: Mapping[str, Json] = field(default_factory=dict)


def parts_of(stream: JsonStream) -> Parts:
    """The parts of the sample at the cursor; its history is walked and not kept. Raises `InputError` as the stream."""
    parts = Parts()
    for key in stream.each_key():
        if key in _KEPT:
            parts.values[key] = stream.value()
        elif key == "output":
            parts.output = _mapping(stream.value())
            parts.completion = completion_of(parts.output)
        elif key == "messages" and stream.is_at("["):
            parts.answers = _answers_in(stream)
        elif key == "transcript" and stream.is_at("{"):
            for inner in stream.each_key():
                _take_history(inner, stream, parts)
        else:
            _take_history(key, stream, parts)
    return parts


def _take_history(key: str, stream: JsonStream, parts: Parts) -> None:
    if key == "events" and stream.is_at("["):
        parts.cached_models = is_cached_in(stream)
    elif key == "attachments" and (parts.completion or "").startswith("attachment://"):
        parts.attachments = _mapping(stream.value())


def _answers_in(stream: JsonStream) -> int:
    count = 0
    for _ in stream.each_item():
        for key in stream.each_key():
            count += key == "source" and stream.value() == "generate"
    return count


def is_cached_in(stream: JsonStream) -> frozenset[str]:
    """The models that answered from the cache, by the array of events at the cursor."""
    models: set[str] = set()
    for _ in stream.each_item():
        event: dict[str, Json] = {}
        for key in stream.each_key():
            if key in ("event", "model", "role", "cache"):
                event[key] = stream.value()
        if event.get("event") == "model" and event.get("cache") == "read" and not event.get("role"):
            models.add(str(event.get("model")))
    return frozenset(models)


def completion_of(output: Mapping[str, Json]) -> str | None:
    """The model's answer: the completion Inspect scored, else the text of the last choice; None where there is none."""
    completion = output.get("completion")
    if isinstance(completion, str) and completion:
        return completion
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices:
        return None
    content = _mapping(_mapping(choices[-1]).get("message")).get("content")
    if isinstance(content, list):
        texts = [_mapping(part).get("text") for part in content if _mapping(part).get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def run_members(parts: Parts, model: str) -> dict[str, Member]:
    """Output or error, seconds, cost and tokens of the sample, as far as it has them; `model` is the one under test."""
    error = _error_of(parts)
    values: dict[str, Json] = {
        "status": "failed" if error else "ok",
        "error": error,
        "seconds": _seconds_of(parts, model),
        **_usage_of(parts, model),
    }
    members = {key: Member(value=value, text=json.dumps(value)) for key, value in values.items() if value is not None}
    if not error:
        members["output"] = Member(value=parts.completion, text=json.dumps(parts.completion))
    return members


def _error_of(parts: Parts) -> str | None:
    error = parts.values.get("error") or parts.output.get("error")
    if error:
        words = error.get("message") if isinstance(error, dict) else error
        return words if isinstance(words, str) and words else json.dumps(error)
    if parts.completion is not None:
        return None
    limit = _mapping(parts.values.get("limit")).get("type")
    return f"stopped by its {limit} limit without an answer" if limit else "the log has no answer of the model"


def _answered_once(parts: Parts) -> bool:
    turns = parts.values.get("turn_count")
    return (turns if isinstance(turns, int) else parts.answers) == 1


def _seconds_of(parts: Parts, model: str) -> float | None:
    """The time of the one call to the model, else that of the whole sample without its waits; unknown where cached."""
    if model in parts.cached_models:
        return None
    times = [parts.values.get(key) for key in _TIMES]
    if _answered_once(parts):
        times.insert(0, parts.output.get("time"))
    numbers = (time for time in times if isinstance(time, int | float) and not isinstance(time, bool) and time >= 0)
    return next(numbers, None)


def _usage_of(parts: Parts, model: str) -> dict[str, Json]:
    by_model = _mapping(parts.values.get("model_usage"))
    usage = _mapping(by_model.get(model))
    if not by_model and _answered_once(parts):
        usage = _mapping(parts.output.get("usage"))
    return {
        "cost": usage.get("total_cost"),
        "input_tokens": _input_tokens(usage),
        "output_tokens": usage.get("output_tokens"),
    }


def _input_tokens(usage: Mapping[str, Json]) -> Json:
    """All tokens of the prompt: providers that count cached ones apart show it in a total that has room for them."""
    counts = [usage.get(f"input_tokens{part}") for part in ("", "_cache_write", "_cache_read")]
    fresh, *cached = (count if isinstance(count, int) else 0 for count in counts)
    rest, total = usage.get("output_tokens"), usage.get("total_tokens")
    if not isinstance(rest, int) or not isinstance(total, int) or fresh + sum(cached) + rest > total:
        return counts[0]
    return None if counts[0] is None else fresh + sum(cached)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
