"""The shapes of assay.yaml, models.yaml and scenario.yaml, and what is said about a file that does not fit."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from resources.sources import KeyPath, Source
from scoring.errors import InputError
from scoring.keys import safe_key
from scoring.records import Json

MAX_ID_LENGTH = 200
MAX_KEY_BYTES = 240
MAX_REPETITIONS = 1000
SCENARIO_TYPES = ("enrichment", "example_generation", "schema_generation", "artifact")

_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_TOLERANCE = 0.01
_SHOWN = 60


class Shape(BaseModel):
    """What one mapping of a workspace file may hold: nothing unknown, and no value bent into another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


Text = Annotated[str, Field(min_length=1)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
BaseUrl = Annotated[str, Field(pattern=r"^https?://[^\s@/]+(/[^\s@]*)?$")]
Share = Annotated[float, Field(ge=0, le=1)]
Cosine = Annotated[float, Field(ge=-1, le=1)]
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


class JudgeShape(Shape):
    """The judge: one model, or a panel of two or more."""

    base_url: BaseUrl
    model: Text | None = None
    api_key_env: VariableName | None = None
    family: str = ""
    swap: bool = False
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


class OrganisationShape(ScoringShape):
    """assay.yaml."""

    weights: TypeWeightsShape = TypeWeightsShape()
    budgets: BudgetsShape = BudgetsShape()


class ModelShape(Shape):
    """One entry of models.yaml."""

    id: Text
    provider: str = ""
    name: str = ""
    family: str = ""
    base_url: BaseUrl | None = None
    api_key_env: VariableName | None = None
    input_usd_per_million: Annotated[float, Field(ge=0)] | None = None
    output_usd_per_million: Annotated[float, Field(ge=0)] | None = None


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


S = TypeVar("S", bound=BaseModel)


def shaped(shape: type[S], source: Source, value: Json, path: KeyPath = ()) -> S | list[InputError]:
    """The value at `path` of the source as the shape, or everything that is wrong with it."""
    if value is None:
        value = {}
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        complaints = (_complaint(shape, source, value, path, detail) for detail in error.errors(include_url=False))
        unique = {str(complaint): complaint for complaint in complaints}
        return list(unique.values())


def _complaint(shape: type[BaseModel], source: Source, value: Json, path: KeyPath, detail: ErrorDetails) -> InputError:
    keys = _existing(value, detail["loc"])
    where = source.place((*path, *keys))
    label = _label((*path, *keys))
    if detail["type"] == "extra_forbidden":
        allowed = sorted(_allowed_keys(shape, keys[:-1]))
        return InputError(f"unknown key {label}", where=where, remedy=_choices(str(keys[-1]), allowed))
    if detail["type"] == "missing":
        return InputError(f"the key {label} is missing", where=where)
    found = "" if _is_secret(keys) or not keys else f", found {_shown(detail['input'])}"
    return InputError(f"{label or 'the file'}: {_expected(detail)}{found}", where=where, remedy=_nearest_word(detail))


def _existing(value: Any, loc: Sequence[str | int]) -> KeyPath:
    """The error's path without the names that pydantic puts in for members of a union."""
    keys: list[str | int] = []
    for position, part in enumerate(loc):
        is_there = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        )
        if is_there:
            value = value[part]
            keys.append(part)
        elif position == len(loc) - 1 and isinstance(value, dict) and not _is_union_name(part):
            keys.append(part)
    return tuple(keys)


def _is_union_name(part: str | int) -> bool:
    return not isinstance(part, str) or not part.isidentifier() or part.endswith("Shape") or part in _UNION_NAMES


_UNION_NAMES = {"float", "int", "str", "bool", "none"}


def _label(path: KeyPath) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _expected(detail: ErrorDetails) -> str:
    match detail["type"]:
        case "literal_error":
            return f"must be {detail['ctx']['expected']}"
        case "string_pattern_mismatch" if "https" in detail["ctx"]["pattern"]:
            return "must be a base URL like https://host/v1, without a user name or key in it"
        case "string_pattern_mismatch":
            return "must be the name of an environment variable, like PROVIDER_API_KEY (never the key itself)"
        case "model_type" | "model_attributes_type" | "dict_type":
            return "must be a mapping (`key: value` lines)"
        case _:
            return detail["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _is_secret(keys: KeyPath) -> bool:
    return any("key" in str(part) or "url" in str(part) for part in keys)


def _shown(value: Any) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "nothing (null)"
        case bool():
            return str(value).lower()
        case _:
            text = repr(value)
            return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _nearest_word(detail: ErrorDetails) -> str:
    if detail["type"] != "literal_error" or not isinstance(detail["input"], str):
        return ""
    words = re.findall(r"'([^']+)'", detail["ctx"]["expected"])
    near = difflib.get_close_matches(detail["input"].casefold(), words, n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def _choices(found: str, allowed: Sequence[str]) -> str:
    near = difflib.get_close_matches(found.casefold(), allowed, n=1, cutoff=0.6)
    if found.casefold() in ("api_key", "key", "token"):
        return "Keys come from the environment only: name the variable with api_key_env."
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}Allowed here: {', '.join(allowed)}."


def _allowed_keys(shape: type[BaseModel], keys: KeyPath) -> set[str]:
    shapes = [shape]
    for key in keys:
        if isinstance(key, str):
            shapes = [inner for outer in shapes for inner in _shapes_in_field(outer, key)]
    return {name for found in shapes for name in found.model_fields}


def _shapes_in_field(shape: type[BaseModel], key: str) -> Iterator[type[BaseModel]]:
    field = shape.model_fields.get(key)
    return _shapes_in(field.annotation) if field else iter(())


def _shapes_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _shapes_in(inner)


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
