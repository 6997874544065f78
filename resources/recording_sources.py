"""Where recorded runs come from: the files behind paths, folders and patterns, each read as what it is."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from resources.complaints import Complaints
from resources.inspect_logs import inspect_recordings
from resources.jsonl import Recording, lines_of, members_of
from resources.log_names import LogNames
from resources.promptfoo_results import promptfoo_recordings
from resources.recording_folders import NAME_KEYS, FolderMapping, folder_recordings, mapping_in
from resources.recording_formats import FileFormat, file_format
from scoring.errors import InputError

FORMATS = ("jsonl", "folders", "inspect", "promptfoo")

_SUFFIXES = {"jsonl": (".jsonl",), "inspect": (".eval", ".json"), "promptfoo": (".json", ".jsonl")}
_ALL_SUFFIXES = (".eval", ".json", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Reads files as recordings. `format` is one of `FORMATS`, or None: then the content of each file tells it.

    What is wrong goes to `complaints`, file by file, what is to be known to `notes`.
    """

    names: LogNames
    mapping: FolderMapping | None
    complaints: Complaints
    format: str | None
    notes: list[str]

    def recordings(self, paths: Sequence[Path | str]) -> Iterator[Recording]:
        """All recordings, in the order of the paths. Raises `InputError` for an unknown format and a missing path."""
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"unknown format {self.format!r}", remedy=f"Use one of {', '.join(FORMATS)}.")
        for path in _expanded(paths):
            for found in self._parts_of(path):
                yield from self._until_wrong(found)

    def _parts_of(self, path: Path) -> Iterator[Iterator[Recording]]:
        """The recordings of each file behind the path, or those of a folder that is read as a whole."""
        if not path.is_dir():
            yield self._of_file(path)
            return
        mapping = self.mapping or mapping_in(path)
        files = [] if self._is_surely_layout(mapping) else self._files_in(path)
        if files or (self.format is not None and self.format != "folders"):
            yield from (self._of_file(file) for file in files)
        else:
            yield folder_recordings(path, mapping or FolderMapping())

    def _is_surely_layout(self, mapping: FolderMapping | None) -> bool:
        if self.format is not None or mapping is None:
            return self.format == "folders"
        return mapping.layout != FolderMapping().layout or not set(mapping.keys) <= set(NAME_KEYS)

    def _files_in(self, folder: Path) -> list[Path]:
        """The folder's files of the format; without one its logs and lines, or none where only a layout is left."""
        suffixes = _ALL_SUFFIXES if self.format is None else _SUFFIXES[self.format]
        files = [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes and path.is_file()]
        if self.format is not None:
            return files
        logs = {path for path in files if path.suffix == ".eval" or file_format(path) is not FileFormat.JSONL}
        if not logs and (self.mapping or mapping_in(folder)):
            return []
        return [path for path in files if path in logs or path.suffix == ".jsonl"]

    def _of_file(self, path: Path) -> Iterator[Recording]:
        kind = self.format or file_format(path)
        if kind == "inspect":
            yield from inspect_recordings(path, self.names.beside(path), self.complaints, self.notes)
        elif kind in (FileFormat.PROMPTFOO, FileFormat.PROMPTFOO_LINES):
            yield from promptfoo_recordings(path, self.names.beside(path), self.complaints)
        else:
            yield from self._in_lines(path)

    def _in_lines(self, path: Path) -> Iterator[Recording]:
        for place, line in lines_of(path, str(path)):
            members = self.complaints.attempt(partial(members_of, line, place))
            if members is not None:
                yield Recording(place=place, members=members)

    def _until_wrong(self, recordings: Iterator[Recording]) -> Iterator[Recording]:
        try:
            yield from recordings
        except InputError as error:
            self.complaints.found.append(error)


def _expanded(paths: Sequence[Path | str]) -> list[Path]:
    found: dict[Path, None] = {}
    for path in paths:
        if Path(path).exists():
            found[Path(path)] = None
            continue
        matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - Path.glob knows no absolute patterns
        if not matches:
            raise InputError("no such file or folder", where=str(path), remedy="Give files, folders or glob patterns.")
        found.update((Path(match), None) for match in matches)
    return list(found)
