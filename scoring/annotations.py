"""What the owner of a schema says about scoring in `x-assay` (SPEC 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches

from scoring.errors import SchemaError
from scoring.paths import extend
from scoring.records import Json, Kind, ListOrder

KEYWORD = "x-assay"
_ALLOWED = ("kind", "weight", "key", "list", "exact", "ignore")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One `x-assay` object as read; None and the empty tuple mean that it does not say."""

    kind: Kind | None = None
    weight: float | None = None
    keys: tuple[str, ...] = ()
    order: ListOrder | None = None
    is_exact: bool | None = None
    is_ignored: bool | None = None


NOTHING = Annotation()


def annotation_of(schema: dict[str, Json], pointer: str) -> Annotation:
    """The annotation of the subschema at `pointer`; raises SchemaError for an unknown key or a value out of range."""
    if KEYWORD not in schema:
        return NOTHING
    place = extend(pointer, KEYWORD)
    found = schema[KEYWORD]
    if not isinstance(found, dict):
        raise SchemaError(
            f"found {_shown(found)}", where=place, remedy=f"Write an object with any of {_list(_ALLOWED)}."
        )
    for name in found:
        if name not in _ALLOWED:
            raise _unknown(name, _ALLOWED, place, "unknown key")
    return Annotation(
        kind=_kind(found, place),
        weight=_weight(found, place),
        keys=_keys(found, place),
        order=_order(found, place),
        is_exact=_flag(found, "exact", place),
        is_ignored=_flag(found, "ignore", place),
    )


def merged(far: Annotation, near: Annotation) -> Annotation:
    """What both say together; the nearer one wins where both say something."""
    return Annotation(
        kind=far.kind if near.kind is None else near.kind,
        weight=far.weight if near.weight is None else near.weight,
        keys=near.keys or far.keys,
        order=far.order if near.order is None else near.order,
        is_exact=far.is_exact if near.is_exact is None else near.is_exact,
        is_ignored=far.is_ignored if near.is_ignored is None else near.is_ignored,
    )


def _kind(found: dict[str, Json], place: str) -> Kind | None:
    return None if "kind" not in found else Kind(_choice(found["kind"], tuple(Kind), extend(place, "kind")))


def _order(found: dict[str, Json], place: str) -> ListOrder | None:
    return None if "list" not in found else ListOrder(_choice(found["list"], tuple(ListOrder), extend(place, "list")))


def _choice(value: Json, allowed: tuple[str, ...], place: str) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    raise _unknown(value, allowed, place, "unknown value")


def _weight(found: dict[str, Json], place: str) -> float | None:
    if "weight" not in found:
        return None
    weight = found["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight < 0:
        raise SchemaError(
            f"found {_shown(weight)}",
            where=extend(place, "weight"),
            remedy="Write a number of 0 or more; 1 is the default.",
        )
    return float(weight)


def _keys(found: dict[str, Json], place: str) -> tuple[str, ...]:
    if "key" not in found:
        return ()
    value = found["key"]
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise SchemaError(
            f"found {_shown(value)}",
            where=extend(place, "key"),
            remedy="Write the name of a property of the list's items, or a list of such names.",
        )
    return tuple(str(name) for name in names)


def _flag(found: dict[str, Json], name: str, place: str) -> bool | None:
    if name not in found:
        return None
    value = found[name]
    if not isinstance(value, bool):
        raise SchemaError(f"found {_shown(value)}", where=extend(place, name), remedy="Write true or false.")
    return value


def _unknown(value: Json, allowed: tuple[str, ...], place: str, what: str) -> SchemaError:
    near = get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
    remedy = f"Did you mean {str(near[0])!r}? " if near else ""
    return SchemaError(f"{what} {_shown(value)}", where=place, remedy=f"{remedy}Allowed are {_list(allowed)}.")


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
