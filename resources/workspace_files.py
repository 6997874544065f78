"""The shapes of assay.yaml, models.yaml and scenario.yaml."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from resources.cron import cron_of, timezone_problem
from scoring.keys import id_of, safe_key

MAX_ID_LENGTH = 200
MAX_KEY_BYTES = 240
MAX_REPETITIONS = 1000
MAX_AT_ONCE = 500
TAKEN_PARAMETERS = frozenset(
    {"model", "messages", "response_format", "max_tokens", "max_completion_tokens", "n", "stream"}
)
SCENARIO_TYPES = ("enrichment", "example_generation", "schema_generation", "artifact")

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_TOLERANCE = 0.01


class Shape(BaseModel):
    """What one mapping of a workspace file may hold: nothing unknown, and no value bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Text = Annotated[str, Field(min_length=1)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
BaseUrl = Annotated[str, Field(pattern=r"^https?://[^\s@/]+(/[^\s@]*)?$")]
Share = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
TokenCount = Annotated[int, Field(ge=1)]
Strictness = Literal["lenient", "normal", "strict"] | Share


class EndpointShape(Shape):
    """A hosted model."""

    base_url: BaseUrl
    model: Text
    api_key_env: VariableName | None = None


class PanelMemberShape(Shape):
    """One judge of a panel; what is left out is taken from the judge."""

    model: Text
    base_url: BaseUrl | None = None
    api_key_env: VariableName | None = None
    family: str = ""
    max_prompt_tokens: TokenCount | None = None


class JudgeShape(Shape):
    """The judge: one model, or a panel of two or more, and how it may be asked."""

    base_url: BaseUrl
    model: Text | None = None
    api_key_env: VariableName | None = None
    family: str = ""
    swap: bool = False
    at_once: Annotated[int, Field(ge=1, le=MAX_AT_ONCE)] = 32
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 120.0
    max_prompt_tokens: TokenCount | None = None
    max_answer_tokens: TokenCount = 2_000
    panel: Annotated[list[Text | PanelMemberShape], Field(min_length=2)] | None = None

    @model_validator(mode="after")
    def _names_a_model(self) -> JudgeShape:
        if (self.model is None) == (self.panel is None):
            raise PydanticCustomError("judge", "a judge has either `model` or `panel`")
        return self


class ScoringShape(Shape):
    """How scenarios are scored. A key that is left out is decided further out."""

    embedding: Literal["local"] | EndpointShape | None = None
    judge: JudgeShape | None = None
    strictness: Strictness | None = None
    threshold: Cosine | None = None
    undecided_from: Cosine | None = None
    empty_values: list[str] | None = None

    @model_validator(mode="after")
    def _cutoffs_are_in_order(self) -> ScoringShape:
        if self.threshold is not None and self.undecided_from is not None and self.undecided_from > self.threshold:
            raise PydanticCustomError("cutoffs", "undecided_from lies above threshold")
        return self


class WeightsShape(Shape):
    """What quality, speed and cost count."""

    quality: Annotated[float, Field(ge=0, le=100)]
    speed: Annotated[float, Field(ge=0, le=100)]
    cost: Annotated[float, Field(ge=0, le=100)]

    @model_validator(mode="after")
    def _sum_to_100(self) -> WeightsShape:
        total = self.quality + self.speed + self.cost
        if abs(total - 100) > _TOLERANCE:
            message = "quality, speed and cost sum to {total}, they must sum to 100"
            raise PydanticCustomError("weights", message, {"total": f"{total:g}"})
        return self


class TypeWeightsShape(Shape):
    """Weights per scenario type."""

    enrichment: WeightsShape | None = None
    example_generation: WeightsShape | None = None
    schema_generation: WeightsShape | None = None
    artifact: WeightsShape | None = None


class BudgetsShape(Shape):
    """What a round may spend."""

    judge_usd: Annotated[float, Field(ge=0)] | None = None
    runs_usd: Annotated[float, Field(ge=0)] | None = None


class ScheduleShape(Shape):
    """When scoring rounds begin by themselves, and over what."""

    rounds: Text
    timezone: Text = "UTC"
    what: Literal["unscored_and_stale", "unscored", "stale"] = "unscored_and_stale"

    @field_validator("rounds")
    @classmethod
    def _is_a_time(cls, written: str) -> str:
        try:
            return cron_of(written)
        except ValueError as error:
            raise PydanticCustomError("cron", "{problem}", {"problem": str(error)}) from None

    @field_validator("timezone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        if (problem := timezone_problem(name)) is not None:
            raise PydanticCustomError("timezone", "{problem}", {"problem": problem})
        return name


class RetentionShape(Shape):
    """How long what only Dagster needs is kept."""

    dagster_run_days: Annotated[int, Field(ge=1, le=3650)] = 30


class OrganisationShape(ScoringShape):
    """assay.yaml."""

    weights: TypeWeightsShape = TypeWeightsShape()
    budgets: BudgetsShape = BudgetsShape()
    schedule: ScheduleShape | None = None
    retention: RetentionShape = RetentionShape()


class ModelShape(Shape):
    """One entry of models.yaml."""

    id: Text
    provider: str = ""
    name: str = ""
    family: str = ""
    base_url: BaseUrl | None = None
    api_key_env: VariableName | None = None
    web_search: Literal["openai", "openrouter", "xai"] | None = None
    input_usd_per_million: Annotated[float, Field(ge=0)] | None = None
    output_usd_per_million: Annotated[float, Field(ge=0)] | None = None
    at_once: Annotated[int, Field(ge=1, le=MAX_AT_ONCE)] | None = None
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    timeout_seconds: Annotated[float, Field(gt=0)] = 600.0
    max_prompt_tokens: TokenCount | None = None
    max_answer_tokens: TokenCount | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _parameters_leave_the_request_alone(self) -> ModelShape:
        if taken := sorted(self.parameters.keys() & TAKEN_PARAMETERS):
            raise PydanticCustomError("parameters", "parameters: {name} is set by Assay itself", {"name": taken[0]})
        return self


class ScenarioScoringShape(ScoringShape):
    """The `scoring` part of scenario.yaml."""

    accepted: dict[str, list[Any]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _accepted_are_pointers(self) -> ScenarioScoringShape:
        for pointer in self.accepted:
            if pointer and not re.fullmatch(r"(/([^~/]|~[01])*)+", pointer):
                message = "accepted: {pointer} is no JSON Pointer; write it like /title or /cast/0/name"
                raise PydanticCustomError("pointer", message, {"pointer": repr(pointer)})
        return self


class ReferenceShape(Shape):
    """The `reference` part of scenario.yaml."""

    verified: bool = False
    author: str | None = None


class ScenarioShape(Shape):
    """scenario.yaml."""

    id: Text | None = None
    type: Literal["enrichment", "example_generation", "schema_generation", "artifact"] = "enrichment"
    title: str = ""
    prompt: str = ""
    entity: str = ""
    repetitions: Annotated[int, Field(ge=1, le=MAX_REPETITIONS)] = 1
    scoring: ScenarioScoringShape = ScenarioScoringShape()
    weights: WeightsShape | None = None
    reference: ReferenceShape = ReferenceShape()


def id_of_name(name: str) -> str:
    """The id that a folder or file stands for: what `safe_key` wrote so, else the name itself."""
    try:
        id_ = id_of(name)
    except ValueError:
        return name
    return id_ if safe_key(id_) == name else name


def id_problem(id_: str) -> str | None:
    """Why this may not be the id of a scenario or model; None when it may."""
    if not id_ or id_ != id_.strip():
        return "an id is not empty and has no white space around it"
    if _CONTROL.search(id_):
        return "an id holds no control characters"
    if len(id_) > MAX_ID_LENGTH:
        return f"an id has at most {MAX_ID_LENGTH} characters, this one has {len(id_)}"
    if len(safe_key(id_)) > MAX_KEY_BYTES:
        return f"the id takes {len(safe_key(id_))} characters as a file name, at most {MAX_KEY_BYTES} fit"
    return None
