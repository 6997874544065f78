"""Walks the reference beside a candidate's value and leaves a row for every leaf, list item and structural fault.

- Empty against empty leaves a row `empty` without weight. A key of the candidate that the reference does not hold and
  the schema does not declare is one `extra` row, which weighs what one field of weight 1 weighs in that object.
- A value of another shape than the reference's (an object for a text, say) is one `mismatch` row with the whole weight
  on both sides. A bare value where the reference has a list earns nothing either: each reference item is missed and
  the value is extra. A root of another shape leaves all of the reference missing, and itself as one extra row.
- A missing object or list leaves a row for each of its leaves or items; so does one that nobody expected.
- Fields and items that are annotated to be ignored leave no rows.
"""

from __future__ import annotations

from collections.abc import Sequence

from scoring.accepted_parts import accept_whole
from scoring.attempt import Attempt
from scoring.emptiness import is_empty
from scoring.ladder import decide
from scoring.lists import add_list_score, pair_items
from scoring.pairing import Candidate, Pairing, extra_only
from scoring.paths import extend
from scoring.records import Json, Side
from scoring.rows import clash_row, compared_row, empty_row, extra_row, missing_row
from scoring.schema import Node, Shape
from scoring.spots import MAX_DEPTH, Spot, child_of, counted_fields, filled_weight, holds_nothing


def compare_root(attempt: Attempt, value: Json) -> None:
    """Leaves the rows of a whole output."""
    root = attempt.task.root
    if root.is_blank or _is_blank(attempt, root, value) or _shape_of(root.value) is _shape_of(value):
        compare(attempt, root, value)
        return
    attempt.problems.append("the root of the output is not what the schema asks for")
    _missing(attempt, root)
    extra_row(attempt, root.node, "", value, 1.0, side=Side.CANDIDATE, list_path=None, is_asked=False)


def compare(attempt: Attempt, spot: Spot, value: Json) -> None:
    """Leaves the rows of one place of the reference and all below it."""
    if spot.node.is_ignored or (isinstance(spot.value, dict | list) and accept_whole(attempt, spot, value)):
        return
    if isinstance(spot.value, dict) and isinstance(value, dict) and not spot.is_opaque:
        _object(attempt, spot, value)
    elif _is_blank(attempt, spot, value):
        _nothing(attempt, spot, value)
    elif spot.is_blank:
        _unexpected(attempt, spot.node, spot.path, value, spot.weight, Side.REFERENCE, spot.list_path)
    elif isinstance(spot.value, list) and not spot.is_opaque:
        _list(attempt, spot, value)
    elif _shape_of(spot.value) is _shape_of(value):
        compared_row(attempt, spot, value, decide(attempt, spot, value))
    else:
        clash_row(attempt, spot, value)


def _shape_of(value: Json) -> type | None:
    return type(value) if isinstance(value, dict | list) else None


def _is_blank(attempt: Attempt, spot: Spot, value: Json) -> bool:
    if value is None:
        return True
    if isinstance(value, str | list | dict):
        return holds_nothing(spot.node, value, attempt.task.config.empty_values, spot.protected)
    return False


def _nothing(attempt: Attempt, spot: Spot, value: Json) -> None:
    if not spot.is_blank:
        _missing(attempt, spot)
        return
    empty_row(attempt, spot, value)
    if spot.node.shape is Shape.LIST or isinstance(spot.value, list):
        add_list_score(attempt, spot.node, spot.path, Pairing(), [])


def _object(attempt: Attempt, spot: Spot, value: dict[str, Json]) -> None:
    rows = attempt.rows
    for name, child in spot.fields.items():
        held = value.get(name)
        if child.exact_row is not None and held == child.value and type(held) is type(child.value):
            rows.append(child.exact_row)
        else:
            compare(attempt, child, held)
    if value.keys() <= spot.fields.keys():
        return
    for name, held in value.items():
        if name not in spot.fields:
            place = child_of(spot.node, name)
            if not place.is_ignored:
                weight = spot.unit * place.weight
                _unexpected_key(attempt, place, extend(spot.path, name), held, weight, spot.list_path)


def _unexpected_key(attempt: Attempt, node: Node, path: str, value: Json, weight: float, list_path: str | None) -> None:
    if is_empty(value, attempt.task.config.empty_values):
        return
    if node.is_outside_schema:  # the node itself will do: an output may hold any number of such keys
        extra_row(attempt, node, path, value, weight, side=Side.REFERENCE, list_path=list_path)
    else:
        _unexpected(attempt, node, path, value, weight, Side.REFERENCE, list_path)


def _list(attempt: Attempt, spot: Spot, value: Json) -> None:
    if not isinstance(value, list):
        _bare_value(attempt, spot, value)
        return
    held = _held_items(attempt, spot.node, value)
    pairing = pair_items(attempt, spot, held)
    for item, candidate in pairing.pairs:
        attempt.stack.append((item, candidate.value))
        compare(attempt, item, candidate.value)
        attempt.stack.pop()
    for item in pairing.missed:
        missing_row(attempt, item)
    confirmed = [
        candidate.index
        for candidate in pairing.extra
        if _extra_item(attempt, spot.node, spot.path, candidate, spot.unit, candidate.index in pairing.duplicates)
    ]
    add_list_score(attempt, spot.node, spot.path, pairing, confirmed)


def _held_items(attempt: Attempt, node: Node, value: list[Json]) -> list[tuple[int, Json]]:
    empty_values = attempt.task.config.empty_values
    return [
        (index, item)
        for index, item in enumerate(value)
        if item is not None and not holds_nothing(node.item(index).for_value(item), item, empty_values)
    ]


def _extra_item(
    attempt: Attempt, node: Node, path: str, candidate: Candidate, weight: float, is_duplicate: bool
) -> bool:
    place = node.item(candidate.index).for_value(candidate.value)
    return extra_row(
        attempt,
        place,
        f"{path}/{candidate.index}",
        candidate.value,
        filled_weight(place, candidate.value, weight, attempt.task.config.empty_values),
        side=Side.CANDIDATE,
        list_path=path,
        is_duplicate=is_duplicate,
    )


def _bare_value(attempt: Attempt, spot: Spot, value: Json) -> None:
    """A value that is no list where the reference has one: a fault of structure, which earns nothing."""
    attempt.problems.append(f"{spot.path or 'the root'}: a single value where the reference has a list")
    for item in spot.items:
        missing_row(attempt, item)
    extra_row(
        attempt,
        spot.node.item(0).for_value(value),
        spot.path,
        value,
        spot.unit,
        side=Side.CANDIDATE,
        list_path=spot.path,
        is_asked=False,
    )
    bare = Candidate(index=0, value=value, key=None)
    add_list_score(attempt, spot.node, spot.path, Pairing(missed=list(spot.items), extra=[bare]), [])


def _missing(attempt: Attempt, spot: Spot) -> None:
    """The rows of a place that the candidate leaves empty: one a leaf, and one an item of a list."""
    if spot.is_blank or spot.node.is_ignored:
        return
    if isinstance(spot.value, list) and not spot.is_opaque:
        for item in spot.items:
            missing_row(attempt, item)
        add_list_score(attempt, spot.node, spot.path, Pairing(missed=list(spot.items)), [])
    elif isinstance(spot.value, dict) and not spot.is_opaque:
        for child in spot.fields.values():
            _missing(attempt, child)
    else:
        missing_row(attempt, spot)


def _unexpected(
    attempt: Attempt, node: Node, path: str, value: Json, weight: float, side: Side, list_path: str | None
) -> None:
    """The rows of a value where the reference has nothing: one a leaf, and one an item of a list."""
    node = node.for_value(value)
    if isinstance(value, dict) and path.count("/") < MAX_DEPTH:
        fields = counted_fields(node, value)
        total = sum(child.weight for child in fields.values()) or 1.0
        for name, child in fields.items():
            held = value.get(name)
            if held is not None and not holds_nothing(child.for_value(held), held, attempt.task.config.empty_values):
                share = weight * child.weight / total
                _unexpected(attempt, child, extend(path, name), held, share, side, list_path)
    elif isinstance(value, list) and path.count("/") < MAX_DEPTH:
        _unexpected_list(attempt, node, path, value, weight)
    else:
        extra_row(attempt, node, path, value, weight, side=side, list_path=list_path)


def _unexpected_list(attempt: Attempt, node: Node, path: str, value: Sequence[Json], weight: float) -> None:
    held = _held_items(attempt, node, list(value))
    pairing = extra_only(node, held)
    confirmed = [
        candidate.index
        for candidate in pairing.extra
        if _extra_item(attempt, node, path, candidate, weight / len(held), candidate.index in pairing.duplicates)
    ]
    add_list_score(attempt, node, path, pairing, confirmed)
