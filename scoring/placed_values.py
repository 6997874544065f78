"""A document with one value set or taken away, as its owner does by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.edits import Snapshot
from scoring.paths import extend, holds, position_path, steps_of
from scoring.records import Json

END = "-"
"""The step of a pointer that means the place behind a list's last item (RFC 6901)."""

_Change = Callable[[dict[str, Json] | list[Json], str | int], None]


def with_value(snapshot: Snapshot, path: str, value: Json) -> Json:
    """The content with `value` at a pointer or stable path; objects on the way are made, and `-` adds to a list.

    Raises KeyError, naming the place, where nothing can stand there.
    """

    def put(above: dict[str, Json] | list[Json], step: str | int) -> None:
        if isinstance(above, list) and step == len(above):
            above.append(value)
        else:
            above[step] = value  # type: ignore[index]  # the step fits the container

    steps = steps_of(pointer_in(snapshot, path))
    return _changed(snapshot.content, steps, "", put, is_growing=True) if steps else value


def without_value(snapshot: Snapshot, path: str) -> Json:
    """The content without what stands at a pointer or stable path. Raises KeyError where nothing does."""
    pointer = pointer_in(snapshot, path)
    if not holds(snapshot.content, pointer):
        raise KeyError(f"nothing stands at {pointer}")

    def take(above: dict[str, Json] | list[Json], step: str | int) -> None:
        del above[step]  # type: ignore[arg-type]  # the step fits the container

    steps = steps_of(pointer)
    return _changed(snapshot.content, steps, "", take, is_growing=False) if steps else None


def pointer_in(snapshot: Snapshot, path: str) -> str:
    """The JSON Pointer that a path names here, a stable one or a pointer already."""
    if "/@" in path and not holds(snapshot.content, path):
        return position_path(path, snapshot.item_ids) or path
    return path


def _changed(value: Json, steps: Sequence[str], walked: str, change: _Change, *, is_growing: bool) -> Json:
    copied: dict[str, Json] | list[Json]
    if isinstance(value, list):
        copied = list(value)
    elif isinstance(value, dict):
        copied = dict(value)
    elif value is None and is_growing:
        copied = [] if steps[0] == END else {}
    else:
        raise KeyError(f"{walked or 'the root'} holds a single value")
    step = _step_in(copied, steps[0], walked, is_growing=is_growing)
    if len(steps) == 1:
        change(copied, step)
        return copied
    below = (
        copied.get(str(step)) if isinstance(copied, dict) else copied[int(step)] if int(step) < len(copied) else None
    )
    made = _changed(below, steps[1:], extend(walked, steps[0]), change, is_growing=is_growing)
    if isinstance(copied, dict):
        copied[str(step)] = made
    else:
        copied[int(step) : int(step) + 1] = [made]
    return copied


def _step_in(above: dict[str, Json] | list[Json], step: str, walked: str, *, is_growing: bool) -> str | int:
    if isinstance(above, dict):
        return step
    if step == END and is_growing:
        return len(above)
    if holds(above, extend("", step)):
        return int(step)
    raise KeyError(f"{walked or 'the root'} is a list of {len(above)} items, and {step!r} names none of them")
