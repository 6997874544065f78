"""A reference as lines for people, each automatic edit in its place with what stood there before (SPEC 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoring.paths import extend
from scoring.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedEdit:
    """One change of a reference as people see it.

    `edit_id` names it in commands, `number` is the version it came with. `path` is stable, `pointer` the place in the
    version at hand, None where that is gone. None for `before` and `after` is nothing at all. `models` are those behind
    it, `reason` is the judge's sentence, empty where none was asked.
    """

    edit_id: int
    number: int
    path: str
    pointer: str | None
    before: Json
    after: Json
    evidence: str
    origin: str
    author: str
    models: tuple[str, ...]
    reason: str
    round_id: int | None
    is_in_place: bool
    is_rejected: bool
    made_at: str

    @property
    def model_count(self) -> int:
        """How many models stand behind it."""
        return len(self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: a key or list position, and a value (None where a list or object begins).

    `edit` is the edit that the line belongs to; `is_first` marks its first line, which alone tells the old value.
    """

    depth: int
    label: str
    pointer: str
    text: Json
    is_container: bool
    edit: TrackedEdit | None
    is_first: bool


def tracked_lines(content: Json, edits: Sequence[TrackedEdit]) -> tuple[Line, ...]:
    """The whole document in its own order; `edits` are those in place, by their pointers."""
    by_pointer = {edit.pointer: edit for edit in edits if edit.pointer is not None}
    return tuple(_lines(content, "", "", 0, None, by_pointer))


def _lines(
    value: Json, pointer: str, label: str, depth: int, around: TrackedEdit | None, edits: Mapping[str, TrackedEdit]
) -> Iterator[Line]:
    own = edits.get(pointer)
    edit = own or around
    children = list(_children(value))
    if pointer or not children:
        yield Line(
            depth=depth,
            label=label,
            pointer=pointer,
            text=None if children else value,
            is_container=bool(children),
            edit=edit,
            is_first=own is not None,
        )
        depth += 1
    for key, child in children:
        name = str(key + 1) if isinstance(key, int) else key
        yield from _lines(child, extend(pointer, key), name, depth, edit, edits)


def _children(value: Json) -> Iterator[tuple[str | int, Json]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)
