"""A draft of a reference, made of what several strong models answer to the scenario's own prompt (SPEC 7)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from resources.models import HostedModel, ModelAnswer, ModelError, ModelRequest, task_of
from scoring.consensus import Draft, consensus
from scoring.errors import InputError
from scoring.reading import read_output
from scoring.records import Json, Known, Open, Unreadable

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.scenarios import Scenario
    from resources.workspace import Workspace

MOST_MODELS = 3
"""So many are asked where nobody names any: a majority of three outvotes one that errs."""
AT_ONCE = 8

OnAnswer = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How one model answered. `error` says why its answer does not count; None where it does."""

    model_id: str
    answer: ModelAnswer | None
    value: Json
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """The draft, and every model that was asked for it."""

    draft: Draft
    asked: tuple[Asked, ...]


def strong_models(workspace: Workspace, named: Sequence[str]) -> tuple[str, ...]:
    """The ids of the models to ask: those named, else the dearest of those that can be called, three at most.

    Raises InputError for an unknown model, and for one that models.yaml gives no base_url.
    """
    for model_id in named:
        workspace.model(model_id)
    callable_ = [model for model in workspace.models if model.model_id in workspace.endpoints]
    if missing := [model_id for model_id in named if model_id not in workspace.endpoints]:
        raise InputError(f"{missing[0]!r} cannot be called", where="models.yaml", remedy="Give it a base_url there")
    if not callable_:
        raise InputError("no model can be called", where="models.yaml", remedy="Give strong models a base_url there")
    dearest = sorted(callable_, key=lambda model: -(model.output_usd_per_million or 0))
    return tuple(dict.fromkeys(named)) or tuple(model.model_id for model in dearest[:MOST_MODELS])


def generate_reference(
    session: Session,
    scenario: Scenario,
    model_ids: Sequence[str],
    *,
    wants_web_search: bool = True,
    on_answer: OnAnswer | None = None,
    environment: Mapping[str, str] | None = None,
) -> Generated:
    """The draft that the models' answers make together; nothing is saved.

    A model that gives no usable answer is reported and left out. Raises InputError where none gives one, or where a key
    is not set.
    """
    request = replace(task_of(scenario), examples=scenario.examples, wants_web_search=wants_web_search)
    models = [
        HostedModel(
            model=session.workspace.model(model_id),
            endpoint=session.workspace.endpoints[model_id],
            environment=os.environ if environment is None else environment,
        )
        for model_id in model_ids
    ]
    asked = _ask(models, request, on_answer)
    usable = {one.model_id: one.value for one in asked if one.error is None}
    if not usable:
        raise InputError(
            "no model gave an answer that can be used: " + "; ".join(str(one.error) for one in asked),
            where=scenario.scenario_id,
        )
    return Generated(draft=_draft(session, scenario, usable), asked=asked)


def _ask(models: Sequence[HostedModel], request: ModelRequest, on_answer: OnAnswer | None) -> tuple[Asked, ...]:
    """Every model's answer, in the order of the models; all are asked at once."""
    found: dict[str, Asked] = {}
    with ThreadPoolExecutor(min(AT_ONCE, len(models))) as pool:
        waiting = [pool.submit(_asked, model, request) for model in models]
        for done in as_completed(waiting):
            one = done.result()
            found[one.model_id] = one
            if on_answer:
                on_answer(len(found), len(models), one.model_id)
    return tuple(found[model.model_id] for model in models)


def _asked(model: HostedModel, request: ModelRequest) -> Asked:
    try:
        answer = model.answer(request)
    except ModelError as error:
        return Asked(model_id=model.model_id, answer=None, value=None, error=str(error))
    reading = read_output(answer.text)
    if isinstance(reading, Unreadable):
        error_text = f"{model.model_id} gave no JSON: {reading.reason}"
        return Asked(model_id=model.model_id, answer=answer, value=None, error=error_text)
    return Asked(model_id=model.model_id, answer=answer, value=reading.value, error=None)


def _draft(session: Session, scenario: Scenario, answers: Mapping[str, Json]) -> Draft:
    from resources.scoring_configs import scoring_config_of

    config, known = scoring_config_of(scenario.scoring), Known()
    while isinstance(found := consensus(schema=scenario.schema, config=config, answers=answers, known=known), Open):
        vectors = session.embeddings(scenario.scoring.embedding.value).vectors(found.texts)
        known = Known(vectors={**known.vectors, **vectors})
    return found
