"""Recorded runs in plain folders: a folder per system, a file per task, in whatever envelope the files came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from resources.complaints import Complaints
from resources.jsonl import Member, Recording, members_of
from resources.shapes import shaped
from resources.sources import MAX_JSON_BYTES, read_text, read_yaml
from resources.workspace_files import Shape, id_of_name
from scoring.errors import InputError
from scoring.records import Json

MAPPING_FILE = "assay-import.yaml"
LAYOUTS = {"system/task": "{model}/{scenario}.json", "task/system": "{scenario}/{model}.json"}
NAME_KEYS = ("scenario", "model", "repetition")
ENVELOPE_KEYS = ("output", "seconds", "cost", "status", "error", "input_tokens", "output_tokens", *NAME_KEYS)

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_PLACEHOLDERS = {"model": r"[^/]+", "scenario": r"[^/]+", "repetition": r"[0-9]+"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMapping:
    """How a folder of outputs is read, and how another tool's log names things.

    `layout` is a path with `{model}`, `{scenario}` and perhaps `{repetition}` in it. `keys` says where an envelope
    holds what: for each of `ENVELOPE_KEYS` one or more dotted paths, of which the first that is there counts. Without
    keys each file is the bare output. In a log only `NAME_KEYS` are looked up; in a folder they go before the names in
    the path. `models` and `scenarios` map names of folders and files, or in logs, to ids.
    """

    layout: str = LAYOUTS["system/task"]
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    scenarios: Mapping[str, str] = field(default_factory=dict)


DottedPath = Annotated[str, Field(min_length=1)]
DottedPaths = DottedPath | Annotated[list[DottedPath], Field(min_length=1)]


class KeysShape(Shape):
    """Where the envelope holds what."""

    output: DottedPaths | None = None
    seconds: DottedPaths | None = None
    cost: DottedPaths | None = None
    status: DottedPaths | None = None
    error: DottedPaths | None = None
    input_tokens: DottedPaths | None = None
    output_tokens: DottedPaths | None = None
    scenario: DottedPaths | None = None
    model: DottedPaths | None = None
    repetition: DottedPaths | None = None


class MappingShape(Shape):
    """assay-import.yaml."""

    layout: str = "system/task"
    keys: KeysShape = KeysShape()
    models: dict[str, str] = Field(default_factory=dict)
    scenarios: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _layout_is_readable(self) -> MappingShape:
        if (problem := layout_problem(LAYOUTS.get(self.layout, self.layout))) is not None:
            raise PydanticCustomError("layout", "{problem}", {"problem": problem})
        return self


def read_mapping(path: Path) -> FolderMapping:
    """The mapping in an assay-import.yaml. Raises `InputError` with everything that is wrong with it."""
    source = read_yaml(path, path.name)
    complaints = Complaints()
    shape = complaints.unless(shaped(MappingShape, source, source.value))
    complaints.raise_any(str(path))
    return FolderMapping() if shape is None else _mapping_of(shape)


def mapping_from_flags(layout: str = "system/task", keys: Sequence[str] = ()) -> FolderMapping:
    """The mapping that flags describe: `keys` like `output=data` or `input_tokens=meta.usage.input_tokens`.

    A key named twice has alternatives. Raises `InputError` for an unknown key or layout.
    """
    named: dict[str, tuple[str, ...]] = {}
    for flag in keys:
        key, mark, path = flag.partition("=")
        if not mark or not path or key not in ENVELOPE_KEYS:
            remedy = f"Write KEY=DOTTED.PATH with KEY one of {', '.join(ENVELOPE_KEYS)}."
            raise InputError(f"cannot read the key {flag!r}", remedy=remedy)
        named[key] = (*named.get(key, ()), path)
    pattern = LAYOUTS.get(layout, layout)
    if (problem := layout_problem(pattern)) is not None:
        raise InputError(problem, where=f"layout {layout!r}")
    return FolderMapping(layout=pattern, keys=named)


def mapping_in(folder: Path) -> FolderMapping | None:
    """The mapping that stands in the folder or beside it, else None."""
    for path in (folder / MAPPING_FILE, folder.parent / MAPPING_FILE):
        if path.is_file():
            return read_mapping(path)
    return None


def layout_problem(layout: str) -> str | None:
    """Why the layout cannot be read; None when it can."""
    names = _PLACEHOLDER.findall(layout)
    if unknown := [name for name in names if name not in _PLACEHOLDERS]:
        return f"unknown placeholder {{{unknown[0]}}}, allowed are {{model}}, {{scenario}} and {{repetition}}"
    if names.count("model") != 1 or names.count("scenario") != 1 or names.count("repetition") > 1:
        return f"a layout is one of {', '.join(LAYOUTS)} or a path with {{model}} and {{scenario}} once each"
    return None


def folder_recordings(folder: Path, mapping: FolderMapping) -> Iterator[Recording]:
    """The recordings in the folder, in the order of their paths.

    Raises `InputError` for a file with the layout's ending that does not fit it, and for a folder where none does.
    """
    pattern = _pattern_of(mapping.layout)
    ending = Path(mapping.layout).suffix
    paths = [path for path in sorted(folder.rglob(f"*{ending}")) if path.is_file() and path.name != MAPPING_FILE]
    if not paths:
        raise InputError(f"no file fits the layout {mapping.layout}", where=str(folder))
    for path in paths:
        place = path.relative_to(folder).as_posix()
        fit = pattern.fullmatch(place)
        if fit is None:
            remedy = f"Name the layout with --layout, or in {MAPPING_FILE}."
            raise InputError(f"does not fit the layout {mapping.layout}", where=str(path), remedy=remedy)
        yield Recording(place=str(path), members=_members_of(path, fit.groupdict(), mapping))


def _pattern_of(layout: str) -> re.Pattern[str]:
    pieces = _PLACEHOLDER.split(layout)
    parts = [
        f"(?P<{piece}>{_PLACEHOLDERS[piece]})" if position % 2 else re.escape(piece)
        for position, piece in enumerate(pieces)
    ]
    return re.compile("".join(parts))


def _members_of(path: Path, names: Mapping[str, str], mapping: FolderMapping) -> dict[str, Member]:
    text = read_text(path, str(path), max_bytes=MAX_JSON_BYTES)
    members = envelope_members(text, str(path), mapping.keys) if mapping.keys else {"output": output_member(text)}
    for key, renamed in (("model", mapping.models), ("scenario", mapping.scenarios)):
        name = str(members[key].value) if key in members else names[key]
        members[key] = _text_member(renamed.get(name, name if key in members else id_of_name(name)))
    if "repetition" in names and "repetition" not in members:
        members["repetition"] = Member(value=int(names["repetition"]), text=names["repetition"])
    return members


def envelope_members(text: str, place: str, keys: Mapping[str, tuple[str, ...]]) -> dict[str, Member]:
    """What the envelope holds under the dotted paths; `input_tokens` and `output_tokens` stay apart."""
    envelope = members_of(text.strip(), place)
    found: dict[str, Member] = {}
    for key, paths in keys.items():
        members = (_at(envelope, path) for path in paths)
        member = next((member for member in members if member is not None), None)
        if member is not None:
            found[key] = member
    if "output" in keys and "output" not in found and not {"error", "status"} & set(found):
        wanted = " or ".join(keys["output"])
        raise InputError(f"no output under {wanted}, the file has {', '.join(list(envelope)[:8])}", where=place)
    return found


def output_member(text: str) -> Member:
    """A file that is nothing but the output, JSON or not."""
    return Member(value=text, text=text)


def _text_member(text: str) -> Member:
    return Member(value=text, text=json.dumps(text))


def _at(envelope: Mapping[str, Member], path: str) -> Member | None:
    if path in envelope:
        return envelope[path]
    first, *rest = path.split(".")
    if first not in envelope:
        return None
    value: Any = envelope[first].value
    for key in rest:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return Member(value=value, text=json.dumps(value))


def _mapping_of(shape: MappingShape) -> FolderMapping:
    written: dict[str, Json] = shape.keys.model_dump(exclude_none=True)
    keys = {
        key: (paths,) if isinstance(paths, str) else tuple(map(str, _listed(paths))) for key, paths in written.items()
    }
    return FolderMapping(
        layout=LAYOUTS.get(shape.layout, shape.layout), keys=keys, models=shape.models, scenarios=shape.scenarios
    )


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
