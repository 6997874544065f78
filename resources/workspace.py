"""A workspace: the folder of files that people keep in git, validated and resolved."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from resources.complaints import Complaints
from resources.resolution import budgets_of, retention_of, schedule_of
from resources.scenarios import Scenario, inside, read_scenario
from resources.settings import Budgets, CallSettings, Endpoint, Retention, RoundSchedule, ScoringSettings, Weights
from resources.shapes import shaped
from resources.sources import Source, read_yaml
from resources.strictness_tables import read_tables
from resources.workspace_files import ModelShape, OrganisationShape, id_problem
from scoring.errors import InputError
from scoring.records import Model

__all__ = ["Scenario", "ScoringSettings", "Weights", "Workspace", "find_workspace", "load_workspace"]

WORKSPACE_FILE = "assay.yaml"
MODELS_FILE = "models.yaml"
SCENARIOS_FOLDER = "scenarios"
WORKSPACE_VARIABLE = "ASSAY_WORKSPACE"
INIT_REMEDY = "Make a workspace with `assay init DIR`, or name one with --workspace or ASSAY_WORKSPACE."


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    """What assay.yaml decides for the whole workspace and no scenario changes."""

    budgets: Budgets = field(default_factory=Budgets)
    schedule: RoundSchedule | None = None
    retention: Retention = field(default_factory=Retention)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """A workspace as its files say.

    `models` keep the order of models.yaml, `scenarios` are ordered by id. `endpoints` maps ids of models that can be
    called to where they are called, `calls` to how.
    """

    root: Path
    config: Organisation
    models: tuple[Model, ...]
    scenarios: tuple[Scenario, ...]
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    calls: Mapping[str, CallSettings] = field(default_factory=dict)

    def scenario(self, scenario_id: str) -> Scenario:
        """The scenario of this id. Raises `InputError` that names the nearest ids."""
        for scenario in self.scenarios:
            if scenario.scenario_id == scenario_id:
                return scenario
        known = [scenario.scenario_id for scenario in self.scenarios]
        remedy = f"Write {SCENARIOS_FOLDER}/<id>/scenario.yaml for it."
        raise unknown_id("scenario", scenario_id, known, remedy=remedy)

    def model(self, model_id: str) -> Model:
        """The model of this id. Raises `InputError` that names the nearest ids."""
        for model in self.models:
            if model.model_id == model_id:
                return model
        known = [model.model_id for model in self.models]
        raise unknown_id("model", model_id, known, remedy=f"Add `- id: {model_id}` to {MODELS_FILE}.")


def unknown_id(kind: str, found: str, known: Iterable[str], *, where: str = "", remedy: str = "") -> InputError:
    """The error for an id that the workspace does not know, with the nearest known ids and the remedy."""
    ids = sorted(known)
    near = difflib.get_close_matches(found, ids, n=3, cutoff=0.5)
    hint = f"Nearest known: {', '.join(near)}. " if near else f"Known: {', '.join(ids[:5]) or 'none'}. "
    return InputError(f"unknown {kind} {found[:200]!r}", where=where, remedy=hint + remedy)


def find_workspace(path: Path | None = None) -> Path:
    """The absolute folder of the workspace: `path`, else `ASSAY_WORKSPACE`, else the nearest parent with assay.yaml.

    Raises `InputError` with the remedy where there is none.
    """
    named = path or os.environ.get(WORKSPACE_VARIABLE)
    if named:
        folder = Path(named).expanduser().absolute()
        if not (folder / WORKSPACE_FILE).is_file():
            raise InputError(f"no {WORKSPACE_FILE} in it", where=str(folder), remedy=INIT_REMEDY)
        return folder
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / WORKSPACE_FILE).is_file():
            return folder
    raise InputError(f"no {WORKSPACE_FILE} here or in any folder above", where=str(here), remedy=INIT_REMEDY)


def load_workspace(path: Path | None = None) -> Workspace:
    """The whole workspace, validated and resolved.

    Raises one `InputError` that tells everything that is wrong; nothing is half-loaded.
    """
    root = find_workspace(path).resolve()
    complaints = Complaints()
    organisation = _organisation(root, complaints)
    entries = _model_entries(root, complaints)
    scenarios = _scenarios(root, organisation or OrganisationShape(), complaints)
    tables = complaints.attempt(lambda: read_tables(root)) or ()
    complaints.raise_any(str(root))
    return Workspace(
        root=root,
        config=_decided(organisation or OrganisationShape()),
        models=tuple(_model(entry) for entry in entries),
        scenarios=tuple(replace(one, scoring=replace(one.scoring, tables=tables)) for one in scenarios),
        endpoints={entry.id: _endpoint(entry, entry.base_url) for entry in entries if entry.base_url},
        calls={entry.id: _call_settings(entry) for entry in entries if entry.base_url},
    )


def load_organisation(path: Path | None = None) -> Organisation:
    """What assay.yaml alone decides, without a look at the scenarios. Raises `InputError` that tells what is wrong."""
    root = find_workspace(path).resolve()
    complaints = Complaints()
    organisation = _organisation(root, complaints)
    complaints.raise_any(str(root))
    return _decided(organisation or OrganisationShape())


def _decided(shape: OrganisationShape) -> Organisation:
    return Organisation(budgets=budgets_of(shape), schedule=schedule_of(shape), retention=retention_of(shape))


def _organisation(root: Path, complaints: Complaints) -> OrganisationShape | None:
    source = complaints.attempt(lambda: read_yaml(inside(root / WORKSPACE_FILE, root), WORKSPACE_FILE))
    return None if source is None else complaints.unless(shaped(OrganisationShape, source, source.value))


def _model_entries(root: Path, complaints: Complaints) -> list[ModelShape]:
    if not (root / MODELS_FILE).is_file():
        return []
    source = complaints.attempt(lambda: read_yaml(inside(root / MODELS_FILE, root), MODELS_FILE))
    if source is None or source.value is None:
        return []
    if not isinstance(source.value, list):
        remedy = "Write one entry a model, like `- id: provider/name`."
        complaints.found.append(InputError("must be a list of models", where=source.place(()), remedy=remedy))
        return []
    results = [shaped(ModelShape, source, entry, (index,)) for index, entry in enumerate(source.value)]
    entries = [complaints.unless(result) for result in results]
    complaints.extend(_id_complaints(source, entries))
    return [entry for entry in entries if entry is not None]


def _id_complaints(source: Source, entries: list[ModelShape | None]) -> Iterable[InputError]:
    first: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if entry is None:
            continue
        where = source.place((index, "id"))
        if (problem := id_problem(entry.id)) is not None:
            yield InputError(f"{problem}; found {entry.id[:80]!r}", where=where)
        if entry.id in first:
            place = source.place((first[entry.id], "id"))
            yield InputError(f"the model {entry.id!r} stands twice, first at {place}", where=where)
        first.setdefault(entry.id, index)


def _model(entry: ModelShape) -> Model:
    return Model(
        model_id=entry.id,
        provider=entry.provider,
        name=entry.name,
        family=entry.family,
        input_usd_per_million=entry.input_usd_per_million,
        output_usd_per_million=entry.output_usd_per_million,
    )


def _endpoint(entry: ModelShape, base_url: str) -> Endpoint:
    return Endpoint(
        model=entry.name or entry.id,
        base_url=base_url,
        api_key_env=entry.api_key_env,
        family=entry.family,
        max_prompt_tokens=entry.max_prompt_tokens,
        web_search=entry.web_search,
    )


def _call_settings(entry: ModelShape) -> CallSettings:
    return CallSettings(
        at_once=entry.at_once,
        requests_per_minute=entry.requests_per_minute,
        timeout_seconds=entry.timeout_seconds,
        max_answer_tokens=entry.max_answer_tokens,
        parameters=entry.parameters,
    )


def _scenarios(root: Path, organisation: OrganisationShape, complaints: Complaints) -> tuple[Scenario, ...]:
    folder = root / SCENARIOS_FOLDER
    if not folder.is_dir():
        return ()
    found: dict[str, Scenario] = {}
    for path in sorted(folder.iterdir()):
        if not path.is_dir() or path.name.startswith("."):
            continue
        scenario = read_scenario(path, root, organisation, complaints)
        if scenario is None:
            continue
        if (other := found.get(scenario.scenario_id)) is not None:
            message = f"the id {scenario.scenario_id!r} is taken by {other.folder.relative_to(root).as_posix()}"
            where = path.relative_to(root).as_posix()
            complaints.found.append(InputError(message, where=where, remedy="Give one of them another id."))
        found.setdefault(scenario.scenario_id, scenario)
    return tuple(found[scenario_id] for scenario_id in sorted(found))
