"""Which scenario and which model a run in another tool's log belongs to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resources.jsonl import Member
from resources.recording_folders import MAPPING_FILE, NAME_KEYS, FolderMapping, mapping_in
from scoring.errors import InputError
from scoring.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNames:
    """How the names in a log become ids of the workspace: the ids it has, and the mapping that applies to the log."""

    scenario_ids: frozenset[str]
    model_ids: frozenset[str]
    mapping: FolderMapping

    def beside(self, path: Path) -> LogNames:
        """The same for one log, with the assay-import.yaml beside it; keys of flags go before the file's.

        Raises `InputError` for keys of an envelope, which a log does not have.
        """
        found = mapping_in(path.parent)
        mapping = self.mapping if found is None else replace(found, keys={**found.keys, **self.mapping.keys})
        if others := [key for key in mapping.keys if key not in NAME_KEYS]:
            remedy = f"Of a log only {', '.join(NAME_KEYS)} are named; the rest has its place."
            raise InputError(f"the key {others[0]!r} is for plain folders", where=str(path), remedy=remedy)
        return replace(self, mapping=mapping)

    def scenario(self, record: Mapping[str, Json], usual: Sequence[str], place: str) -> tuple[str, int]:
        """The scenario's id, and which of the usual names it came from (-1 where the mapping says where it stands)."""
        return self._name("scenario", record, usual, place)

    def model(self, record: Mapping[str, Json], usual: Sequence[str], place: str) -> str:
        """The model's id, as known to the workspace or as found where it is not."""
        return self._name("model", record, usual, place)[0]

    def is_model(self, name: str) -> bool:
        """Whether the name is a model of the workspace, by the mapping or by itself."""
        return self.mapping.models.get(name, name) in self.model_ids

    def repetition(self, record: Mapping[str, Json], place: str) -> Member | None:
        """The number of the repetition where the mapping says where it stands, else None."""
        if "repetition" not in self.mapping.keys:
            return None
        value = self._at("repetition", record, place)
        return Member(value=value, text=json.dumps(value))

    def hints(self, record: Mapping[str, Json], scenario_id: str, model_id: str) -> dict[str, str]:
        """What can be done about each of the two that the workspace does not know."""
        found = (("scenario", scenario_id, self.scenario_ids), ("model", model_id, self.model_ids))
        return {kind: _hint(kind, record) for kind, name, known in found if name not in known}

    def _name(self, kind: str, record: Mapping[str, Json], usual: Sequence[str], place: str) -> tuple[str, int]:
        """The first usual name that is an id, after the mapping's words for it; else the first one."""
        renamed, known = self._table(kind)
        if kind in self.mapping.keys:
            found = str(self._at(kind, record, place))
            return renamed.get(found, found), -1
        ids = [renamed.get(name, name) for name in usual]
        for position, name in enumerate(ids):
            if name in known:
                return name, position
        if not ids:
            raise InputError(f"nothing names the {kind}", where=place, remedy=_hint(kind, record))
        return ids[0], 0

    def _table(self, kind: str) -> tuple[Mapping[str, str], frozenset[str]]:
        if kind == "model":
            return self.mapping.models, self.model_ids
        return self.mapping.scenarios, self.scenario_ids

    def _at(self, key: str, record: Mapping[str, Json], place: str) -> Json:
        paths = self.mapping.keys[key]
        for path in paths:
            value: Json = at_path(record, path)
            if _is_name(value):
                return value
        message = f"no text or number under {' or '.join(paths)} for the {key}"
        raise InputError(message, where=place, remedy=f"There are {', '.join(_paths(record)) or 'no names'}.")


def _hint(kind: str, record: Mapping[str, Json]) -> str:
    places = ", ".join(_paths(record))
    return (
        f"Where the log has another word for it, write `{kind}s: {{its word: id}}` into {MAPPING_FILE} beside the log, "
        f"or say where the id stands: --key {kind}=PATH with PATH one of {places}."
    )


def at_path(record: Mapping[str, Json], path: str) -> Any:
    """The value under a dotted path whose keys may hold dots themselves; None where there is none."""
    if path in record:
        return record[path]
    for key, value in record.items():
        if path.startswith(f"{key}.") and isinstance(value, dict):
            found = at_path(value, path[len(key) + 1 :])
            if found is not None:
                return found
    return None


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _paths(record: Mapping[str, Json], before: str = "") -> list[str]:
    """The dotted paths to texts and numbers that could be names, the nearest first, a dozen at most."""
    here = [f"{before}{key}" for key, value in record.items() if _is_name(value) and len(str(value)) <= 200]
    inner = [(f"{before}{key}.", value) for key, value in record.items() if isinstance(value, dict)]
    if before.count(".") < 3:
        here += [path for start, value in inner for path in _paths(value, start)]
    return here[:12]
