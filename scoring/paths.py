"""JSON Pointers (RFC 6901), and stable paths that name list items by id instead of position (SPEC 1, *field*)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scoring.records import Json

_ID_MARK = "@"


def pointer_of(steps: Iterable[str | int]) -> str:
    """The pointer that names these keys and list positions; no steps name the whole document as the empty string."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def steps_of(pointer: str) -> tuple[str, ...]:
    """The unescaped steps of a pointer; raises ValueError where it is neither empty nor begins with a slash."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON Pointer: it must be empty or begin with '/'")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))


def extend(pointer: str, step: str | int) -> str:
    """The pointer one step below `pointer`."""
    if isinstance(step, int):
        return f"{pointer}/{step}"
    if "~" in step or "/" in step:
        step = step.replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{step}"


def resolve(document: Json, pointer: str) -> Json:
    """The value at the pointer; raises KeyError naming the first step that leads nowhere."""
    value = document
    walked = ""
    for step in steps_of(pointer):
        walked = extend(walked, step)
        value = _step(value, step, walked)
    return value


def holds(document: Json, pointer: str) -> bool:
    """Whether the pointer leads to a value of the document, null included."""
    try:
        resolve(document, pointer)
    except KeyError:
        return False
    return True


def _step(value: Json, step: str, walked: str) -> Json:
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list) and _is_index(step) and int(step) < len(value):
        return value[int(step)]
    raise KeyError(walked)


def _is_index(step: str) -> bool:
    return step == "0" or (step.isascii() and step.isdigit() and step[0] != "0" and len(step) < 19)


def stable_path(pointer: str, item_ids: Mapping[str, str]) -> str:
    """The pointer with each list position replaced by `@` and the item's id.

    `item_ids` maps the pointer of a list item to its id, unique among its siblings. Items without an id keep their
    position; a key that itself begins with `@` is written with a second one, so that `position_path` reads it back.
    """
    walked = ""
    stable: list[str] = []
    for step in steps_of(pointer):
        walked = extend(walked, step)
        stable.append(stable_end(walked, item_ids))
    return "".join(stable)


def stable_end(pointer: str, item_ids: Mapping[str, str]) -> str:
    """The last step of `stable_path(pointer, item_ids)` with the slash before it; the pointer has at least one step."""
    known = item_ids.get(pointer)
    if known is not None:
        return extend("", _ID_MARK + known)
    step = pointer.rpartition("/")[2]
    return f"/{_ID_MARK}{step}" if step.startswith(_ID_MARK) else f"/{step}"


def position_path(stable: str, item_ids: Mapping[str, str]) -> str | None:
    """The pointer that a stable path names in the document that `item_ids` belongs to; None where an item is gone."""
    places = {(_parent(pointer), item_id): pointer for pointer, item_id in item_ids.items()}
    walked = ""
    for step in steps_of(stable):
        if not step.startswith(_ID_MARK) or step.startswith(_ID_MARK * 2):
            walked = extend(walked, step[1:] if step.startswith(_ID_MARK) else step)
            continue
        place = places.get((walked, step[1:]))
        if place is None:
            return None
        walked = place
    return walked


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]
