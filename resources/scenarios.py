"""One scenario's folder: scenario.yaml, schema.json, reference.json, documents and examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from resources.complaints import Complaints
from resources.documents import READABLE_ENDINGS, read_document
from resources.resolution import resolved_scoring, resolved_weights
from resources.settings import ScoringSettings, Weights
from resources.shapes import shaped
from resources.sources import json_value, read_json, read_text, read_yaml
from resources.workspace_files import OrganisationShape, ScenarioShape, id_of_name, id_problem
from scoring.errors import InputError, SchemaError
from scoring.records import Context, Document, Json
from scoring.schema import compile_schema, violations

SCENARIO_FILE = "scenario.yaml"
SCHEMA_FILE = "schema.json"
MAX_SCHEMA_BYTES = 4_000_000
SCORABLE_TYPES = ("enrichment",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One fixed task as its files say, with all settings resolved.

    `schema` is an empty schema for types that need none. `reference` is the content of reference.json, None without the
    file; `reference_is_verified` and `reference_author` are what scenario.yaml says of it.
    """

    scenario_id: str
    type: str
    title: str
    prompt: str
    entity: str
    repetitions: int
    schema: Json
    reference: Json
    reference_is_verified: bool
    reference_author: str | None
    documents: tuple[Document, ...]
    examples: tuple[Json, ...]
    scoring: ScoringSettings
    weights: Weights
    folder: Path

    @property
    def is_scorable(self) -> bool:
        """Whether this type of scenario is scored against a reference; the others are kept and shown as not scored."""
        return self.type in SCORABLE_TYPES

    def reference_problems(self) -> list[str]:
        """Where the reference breaks its own schema, in words; worth knowing, and no reason to refuse it."""
        return [] if self.reference is None else violations(self.schema, self.reference)

    @property
    def context(self) -> Context:
        """What surrounds the scenario's values, for the judge."""
        return Context(task=self.prompt, entity=self.entity, documents=self.documents, examples=self.examples)


def read_scenario(folder: Path, root: Path, organisation: OrganisationShape, complaints: Complaints) -> Scenario | None:
    """The scenario in the folder, or None with all that is wrong among the complaints."""
    before = len(complaints.found)
    name = _name(folder / SCENARIO_FILE, root)
    shape = _shape_of(folder, root, name, complaints)
    if shape is None:
        return None
    scenario_id = shape.id or id_of_name(folder.name)
    if (problem := id_problem(scenario_id)) is not None:
        complaints.found.append(InputError(f"{problem}; found {scenario_id[:80]!r}", where=name))
    schema = _schema_of(folder, root, shape, complaints)
    reference = _json_of(folder / "reference.json", root, complaints)
    documents = tuple(_documents(folder / "documents", root, complaints))
    examples = tuple(_examples(folder / "examples", root, complaints))
    if len(complaints.found) > before:
        return None
    return Scenario(
        scenario_id=scenario_id,
        type=shape.type,
        title=shape.title or scenario_id,
        prompt=shape.prompt,
        entity=shape.entity,
        repetitions=shape.repetitions,
        schema=schema,
        reference=reference,
        reference_is_verified=shape.reference.verified and reference is not None,
        reference_author=shape.reference.author,
        documents=documents,
        examples=examples,
        scoring=resolved_scoring(organisation, shape.scoring),
        weights=resolved_weights(organisation, shape).value,
        folder=folder,
    )


def _shape_of(folder: Path, root: Path, name: str, complaints: Complaints) -> ScenarioShape | None:
    path = folder / SCENARIO_FILE
    if not path.is_file():
        complaints.found.append(
            InputError(
                f"the folder has no {SCENARIO_FILE}", where=_name(folder, root), remedy="Write it, or move the folder."
            )
        )
        return None
    source = complaints.attempt(lambda: read_yaml(inside(path, root), name))
    return None if source is None else complaints.unless(shaped(ScenarioShape, source, source.value))


def _schema_of(folder: Path, root: Path, shape: ScenarioShape, complaints: Complaints) -> Json:
    path = folder / SCHEMA_FILE
    if not path.is_file():
        if shape.type in SCORABLE_TYPES:
            complaints.found.append(
                InputError(
                    f"the scenario has no {SCHEMA_FILE}",
                    where=_name(folder, root),
                    remedy="Put the JSON Schema of its output there.",
                )
            )
        return {}
    return complaints.attempt(partial(_read_schema, path, root))


def _read_schema(path: Path, root: Path) -> Json:
    text = read_text(inside(path, root), _name(path, root), max_bytes=MAX_SCHEMA_BYTES)
    try:
        return _schema_in(text)
    except InputError as error:
        where = f"{_name(path.parent, root)}/{error.where}"
        raise InputError(error.message, where=where, remedy=error.remedy) from error


@lru_cache(maxsize=4096)
def _schema_in(text: str) -> Json:
    """The schema in the text. Many scenarios share one, and checking it is the dearest part of loading a workspace."""
    schema = json_value(text, SCHEMA_FILE)
    try:
        compile_schema(schema, None)
    except SchemaError as error:
        place = f"{SCHEMA_FILE}, {error.where}" if error.where else SCHEMA_FILE
        raise InputError(error.message, where=place, remedy=error.remedy) from error
    return schema


def _json_of(path: Path, root: Path, complaints: Complaints) -> Json:
    if not path.is_file():
        return None
    return complaints.attempt(lambda: read_json(inside(path, root), _name(path, root)))


def _documents(folder: Path, root: Path, complaints: Complaints) -> Iterator[Document]:
    for path in _files(folder):
        has_text_beside = any(path.with_suffix(ending).is_file() for ending in READABLE_ENDINGS)
        if path.suffix.casefold() == ".pdf" and has_text_beside:
            continue
        document = complaints.attempt(partial(_document, path, root))
        if document is not None:
            yield document


def _document(path: Path, root: Path) -> Document:
    return read_document(inside(path, root), _name(path, root))


def _examples(folder: Path, root: Path, complaints: Complaints) -> Iterator[Json]:
    for path in _files(folder):
        if path.suffix.casefold() != ".json":
            remedy = "Examples are outputs known to be right, as .json."
            complaints.found.append(InputError("not a .json file", where=_name(path, root), remedy=remedy))
            continue
        before = len(complaints.found)
        example = _json_of(path, root, complaints)
        if len(complaints.found) == before:
            yield example


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def inside(path: Path, root: Path) -> Path:
    """The path itself. Raises `InputError` where it leads out of the workspace through a link."""
    if path.resolve().is_relative_to(root):
        return path
    raise InputError(
        "leads out of the workspace",
        where=_name(path, root),
        remedy="Copy the file into the workspace instead of linking it.",
    )
