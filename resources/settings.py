"""How scenarios are scored and weighted, resolved from defaults, assay.yaml and the scenario's own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from scoring.records import DEFAULT_EMPTY_VALUES, Json, Origin
from scoring.strictness import StrictnessTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved(Generic[T]):
    """A setting's value and the place that decided it."""

    value: T
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A model behind an OpenAI-compatible API. `api_key_env` names the environment variable that holds the key.

    `max_prompt_tokens` is the longest prompt that may be sent to it; None leaves that to the server. `web_search` is
    the dialect in which the provider is asked to search the web; None where none is named.
    """

    model: str
    base_url: str
    api_key_env: str | None = None
    family: str = ""
    max_prompt_tokens: int | None = None
    web_search: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How a model of models.yaml is called: what its server bears, and what belongs to each request.

    `at_once` requests are in flight and `requests_per_minute` go out at most; models of one server share both. A
    request may take `timeout_seconds`. `max_answer_tokens` is the longest answer, None for the server's own limit;
    `parameters` are further fields of the request, sent as they are.
    """

    at_once: int | None = None
    requests_per_minute: float | None = None
    timeout_seconds: float = 600.0
    max_answer_tokens: int | None = None
    parameters: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSettings:
    """Which embedding model compares texts: the embedded one where `endpoint` is None, else a hosted one."""

    endpoint: Endpoint | None = None

    @property
    def is_local(self) -> bool:
        """Whether the model runs in this process and needs no network."""
        return self.endpoint is None

    @property
    def written(self) -> Literal["local"] | dict[str, str | None]:
        """The setting as it is written in files and as `embeddings_from` takes it."""
        if self.endpoint is None:
            return "local"
        endpoint = self.endpoint
        return {"base_url": endpoint.base_url, "model": endpoint.model, "api_key_env": endpoint.api_key_env}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """The judge: one model, or a panel of two or more. `is_swapped` asks every question in both orders.

    The rest says how it is asked and never what a score means: requests in flight at once and in a minute, for each
    server; how long one may take; how many tokens an answer may have.
    """

    models: tuple[Endpoint, ...]
    is_swapped: bool = False
    at_once: int = 32
    requests_per_minute: float | None = None
    timeout_seconds: float = 120.0
    max_answer_tokens: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What quality, speed and cost count in the ranking; they sum to 100 (SPEC 8)."""

    quality: float = 100 / 3
    speed: float = 100 / 3
    cost: float = 100 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Upper limits of what a round may spend, in USD; None is no limit."""

    judge_usd: float | None = None
    runs_usd: float | None = None


class ScheduledWork(StrEnum):
    """What a scheduled round scores: models without a score, models whose score is stale, or both."""

    BOTH = "unscored_and_stale"
    UNSCORED = "unscored"
    STALE = "stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSchedule:
    """When scoring rounds begin by themselves: a cron expression of five fields, read in the time zone."""

    cron: str
    timezone: str = "UTC"
    what: ScheduledWork = ScheduledWork.BOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How many days Dagster keeps its records of ended runs; what Assay itself records is kept for good."""

    dagster_run_days: int = 30


def _default(value: T) -> Resolved[T]:
    return Resolved(value=value, origin=Origin.DEFAULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSettings:
    """How a scenario is scored, each setting with its origin.

    `embedding` is None for `exact_only` rounds. `threshold` and `undecided_from` are None unless a cosine was written
    down; a written threshold stands above `strictness`. `accepted` maps JSON Pointers to values that are as right as
    the reference's own. `tables` are the workspace's own strictness tables, which stand before the shipped ones.
    """

    embedding: Resolved[EmbeddingSettings | None] = field(default_factory=lambda: _default(EmbeddingSettings()))
    judge: Resolved[JudgeSettings | None] = field(default_factory=lambda: _default(None))
    strictness: Resolved[str | float] = field(default_factory=lambda: _default("normal"))
    threshold: Resolved[float | None] = field(default_factory=lambda: _default(None))
    undecided_from: Resolved[float | None] = field(default_factory=lambda: _default(None))
    empty_values: Resolved[tuple[str, ...]] = field(default_factory=lambda: _default(DEFAULT_EMPTY_VALUES))
    accepted: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    tables: tuple[StrictnessTable, ...] = ()
