"""What `assay compare --config` may say: how to score, and what surrounds the values (SPEC 13)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from resources.complaints import Complaints
from resources.resolution import resolved_scoring
from resources.scoring_configs import scoring_config_of
from resources.settings import ScoringSettings
from resources.shapes import shaped
from resources.sources import Source, json_value, read_text, yaml_source
from resources.workspace_files import ScenarioScoringShape, ScoringShape, Shape
from scoring.errors import InputError
from scoring.records import Context, Document, Json, ScoringConfig

if TYPE_CHECKING:
    from resources.embeddings import Embeddings
    from resources.judge import Judge

MAX_CONFIG_BYTES = 64_000_000
LONGEST_PATH = 1000


class DocumentShape(Shape):
    """A source document written out in the config."""

    name: str = ""
    text: str


class CompareShape(ScenarioScoringShape):
    """The keys of the config: those of a scenario's `scoring`, and what surrounds the values."""

    documents: list[str | DocumentShape] = Field(default_factory=list)
    other_outputs: list[Any] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareConfig:
    """How to compare: the scoring config, the surroundings, and the settings behind the config."""

    settings: ScoringSettings = field(default_factory=ScoringSettings)
    scoring: ScoringConfig
    context: Context = field(default_factory=Context)

    def embeddings(self) -> Embeddings:
        """The embedding model. Raises InputError where none is configured."""
        from resources.embeddings import embeddings_from

        settings = self.settings.embedding.value
        model = embeddings_from(None if settings is None else settings.written)
        if model is None:
            raise InputError("the scoring asks for similarities, and no embedding model is configured")
        return model

    def judge(self) -> Judge:
        """The judge, which remembers its answers for the length of the command. Raises InputError where none is."""
        from resources.judge import Judge
        from resources.judge_memory import MemoryAnswers

        settings = self.settings.judge.value
        if settings is None:
            raise InputError("the scoring asks a judge, and none is configured")
        return Judge(settings, store=MemoryAnswers())


def read_config(name: str | None) -> CompareConfig:
    """The config in this file, the defaults without one (local embeddings, no judge, `normal`).

    Raises InputError with the line where known for a key or a value that is not allowed.
    """
    shape, folder = (CompareShape(), Path()) if name is None else (_shape_of(Path(name)), Path(name).parent)
    settings = resolved_scoring(ScoringShape(), shape)
    return CompareConfig(settings=settings, scoring=scoring_config_of(settings), context=_context(shape, folder))


def _shape_of(path: Path) -> CompareShape:
    source = _source_of(path)
    complaints = Complaints()
    shape = complaints.unless(shaped(CompareShape, source, {} if source.value is None else source.value))
    complaints.raise_any(str(path))
    return shape or CompareShape()


def _source_of(path: Path) -> Source:
    text = read_text(path, str(path), max_bytes=MAX_CONFIG_BYTES)
    if text.lstrip().startswith("{"):
        return Source(name=str(path), value=json_value(text, str(path)))
    return yaml_source(text, str(path))


def _context(shape: CompareShape, folder: Path) -> Context:
    return Context(
        documents=tuple(_document(given, number, folder) for number, given in enumerate(shape.documents, 1)),
        other_outputs=tuple(_other_output(given, folder) for given in shape.other_outputs),
    )


def _document(given: str | DocumentShape, number: int, folder: Path) -> Document:
    """A document by its path (from the config's folder), or as the text itself."""
    from resources.documents import read_document

    if isinstance(given, DocumentShape):
        return Document(name=given.name or f"document {number}", text=given.text)
    path = _file_named(given, folder)
    return Document(name=f"document {number}", text=given) if path is None else read_document(path, given)


def _other_output(given: Json, folder: Path) -> Json:
    """Another model's output: its JSON value, or the path of a file that holds it."""
    from scoring.reading import read_output
    from scoring.records import Unreadable

    path = _file_named(given, folder) if isinstance(given, str) else None
    if path is None:
        return given
    reading = read_output(read_text(path, str(given), max_bytes=MAX_CONFIG_BYTES))
    if isinstance(reading, Unreadable):
        raise InputError(reading.reason, where=str(given))
    return reading.value


def _file_named(text: str, folder: Path) -> Path | None:
    if not text or len(text) > LONGEST_PATH or "\n" in text or "\x00" in text:
        return None
    path = folder / text
    return path if path.is_file() else None
