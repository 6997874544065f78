"""How alike many values are to many others, as a matrix: used only to find out which items belong together.

For leaves the ladder's free rungs give 1. Unequal text gets what its characters share: the rapidfuzz ratio, of which
everything up to 0.5 is noise between unrelated texts and counts 0. Where vectors are given, texts that the embedding
rung would match get 1, and texts in the undecided band at least a half. Unequal numbers, dates, booleans, enums and
identifiers get 0. An object's likeness is the weighted mean over the fields that one of the two fills, a list's that
of its items; what identifies an object or names it counts for more. No judge is asked for a pairing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from scoring.alike import FEW_CELLS, places_of, similarities, similarity
from scoring.attempt import Attempt
from scoring.guards import guard_against
from scoring.item_keys import item_key
from scoring.records import Cutoffs, Json, Kind
from scoring.schema import Node
from scoring.spots import child_of, context_of, counted_fields
from scoring.text import normal_form
from scoring.values import key_of, text_of

Matrix = npt.NDArray[np.float32]

TEXT_CHARACTERS = 160
"""Texts are compared by their first characters: enough to tell items apart, and no quadratic cost for long prose."""
NOISE = 50.0
"""A character ratio (0..100) up to which two texts are as good as unrelated."""
MOST_CELLS = 4_000_000
"""Nested lists whose items make more cells than this are alike by the share of equal items only."""
UNDECIDED_LIKENESS = 0.5
DEEPEST = 30
"""Objects and lists this many levels below the root are alike when they are equal, and else not."""


def likeness(attempt: Attempt, node: Node, left: Sequence[Json], right: Sequence[Json], vectors: bool) -> Matrix:
    """A float32 matrix, 0..1, with a row for each left value and a column for each right one."""
    if _are_texts(left) and _are_texts(right):  # by far the most common case
        return _leaves_likeness(attempt, node.for_value(left[0]), left, right, vectors)
    result = np.zeros((len(left), len(right)), dtype=np.float32)
    for shape in (dict, list, None):
        rows = [i for i, value in enumerate(left) if _is_shape(value, shape)]
        columns = [i for i, value in enumerate(right) if _is_shape(value, shape)]
        if rows and columns:
            part = _same_shape(attempt, node, shape, [left[i] for i in rows], [right[i] for i in columns], vectors)
            if len(rows) == len(left) and len(columns) == len(right):
                return part
            result[np.ix_(rows, columns)] = part
    return result


def _are_texts(values: Sequence[Json]) -> bool:
    return set(map(type, values)) == {str} and "" not in values


def _is_shape(value: Json, shape: type | None) -> bool:
    if shape is not None:
        return isinstance(value, shape)
    return value is not None and value != "" and not isinstance(value, dict | list)


def _same_shape(
    attempt: Attempt, node: Node, shape: type | None, left: Sequence[Json], right: Sequence[Json], vectors: bool
) -> Matrix:
    place = node.for_value(left[0])
    if shape is not None and node.place.count("/") >= DEEPEST:
        return _equal_or_not([item_key(place, value) for value in left], [item_key(place, value) for value in right])
    if shape is dict:
        return objects_likeness(attempt, place, NAMELESS, left, right, vectors)  # type: ignore[arg-type]  # all are objects
    if shape is list:
        return _lists_likeness(attempt, place, left, right)  # type: ignore[arg-type]  # all are lists
    return _leaves_likeness(attempt, place, left, right, vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What identifies the items of a list: properties that decide, and the one that names an item to people."""

    keys: tuple[str, ...] = ()
    label: str | None = None


NAMELESS = Names()
KEY_SHARE = 2 / 3
"""How much of an object's likeness its identifying properties decide, where it has some."""
LABEL_PENALTY = 0.25
"""What objects lose whose names differ wholly: two people of one role and year are two people."""
HALF_SAID = 0.5
"""How much a field weighs that only one of two objects fills: what is not said is less of a difference than what is.
Between two objects that share a name which no other object has, it weighs nothing.
"""
SAME_NAME = 0.999


def objects_likeness(
    attempt: Attempt,
    node: Node,
    names: Names,
    left: Sequence[dict[str, Json]],
    right: Sequence[dict[str, Json]],
    vectors: bool,
) -> Matrix:
    """The likeness of objects at a place. The left ones are the reference's; keys that they never hold do not count."""
    fields = dict.fromkeys(counted_fields(node, left[0]))
    for value in left:
        if not fields.keys() >= value.keys():
            fields |= dict.fromkeys(value)
    columns = [
        _Column(
            name=name, node=child, ours=[value.get(name) for value in left], theirs=[value.get(name) for value in right]
        )
        for name in fields
        for child in (child_of(node, name),)
        if not child.is_ignored and child.weight > 0
    ]
    few = _few_texts(attempt, columns, vectors) if len(left) * len(right) <= FEW_CELLS else {}
    tally = _Tally.empty(len(left), len(right))
    for column in columns:
        part = few.get(column.name)
        if part is None:
            part = likeness(attempt, column.node, column.ours, column.theirs, vectors)
        tally.add(column, names, part)
    return tally.result()


@dataclass(slots=True, kw_only=True)
class _Column:
    """One property of many objects on both sides."""

    name: str
    node: Node
    ours: list[Json]
    theirs: list[Json]
    are_texts: bool = False

    def __post_init__(self) -> None:
        self.are_texts = _are_texts(self.ours) and _are_texts(self.theirs)


@dataclass(slots=True, kw_only=True)
class _Tally:
    """Sums of likeness and of weight, apart for identifying properties and for the rest, and what the names say."""

    sums: Matrix
    weights: Matrix
    key_sums: Matrix
    key_weights: Matrix
    penalty: Matrix
    half_said: Matrix
    same_names: npt.NDArray[np.bool_] | None = None

    @staticmethod
    def empty(rows: int, columns: int) -> _Tally:
        """A tally of nothing."""
        sums, weights, key_sums, key_weights, penalty, half_said = np.zeros((6, rows, columns), dtype=np.float32)
        return _Tally(
            sums=sums,
            weights=weights,
            key_sums=key_sums,
            key_weights=key_weights,
            penalty=penalty,
            half_said=half_said,
        )

    def add(self, column: _Column, names: Names, part: Matrix) -> None:
        """Count one property: wholly where both fill it, by `HALF_SAID` where one does."""
        weight, is_key = column.node.weight, column.name in names.keys
        sums, weights = (self.key_sums, self.key_weights) if is_key else (self.sums, self.weights)
        sums += part if weight == 1 else part * np.float32(weight)
        if column.are_texts:
            weights += np.float32(weight)
            both: Matrix | np.float32 = np.float32(1)
        else:
            left, right = ([_is_filled(value) for value in values] for values in (column.ours, column.theirs))
            both = np.logical_and.outer(left, right).astype(np.float32)
            either = np.logical_or.outer(left, right).astype(np.float32)
            half = (either - both) * np.float32(HALF_SAID * weight)
            weights += both * np.float32(weight) + half
            if not is_key:
                self.half_said += half
        if column.name == names.label and not is_key:
            self.penalty += both * (1 - part) * np.float32(LABEL_PENALTY)
            self.same_names = part >= SAME_NAME

    def result(self) -> Matrix:
        """The likeness, 0..1; 0 where neither fills anything."""
        weights = self.weights
        if self.same_names is not None and self.half_said.any():
            weights = weights - self.half_said * _only_each_other(self.same_names)
        rest = np.divide(self.sums, weights, out=np.zeros_like(self.sums), where=weights > 0)
        if self.key_weights.any():
            keys = np.divide(self.key_sums, self.key_weights, out=np.zeros_like(rest), where=self.key_weights > 0)
            share = np.where(weights > 0, np.float32(KEY_SHARE), np.float32(1)) * (self.key_weights > 0)
            rest = keys * share + rest * (1 - share)
        alike = np.maximum(rest - self.penalty, 0)
        found: Matrix = alike.astype(np.float32)
        return found


def _only_each_other(same: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Where two are the same and neither is the same as anybody else."""
    only: npt.NDArray[np.bool_] = same & (same.sum(axis=1) == 1)[:, None] & (same.sum(axis=0) == 1)[None, :]
    return only


def _is_filled(value: Json) -> bool:
    return value is not None and value != "" and value != [] and value != {}


def _leaves_likeness(
    attempt: Attempt, node: Node, left: Sequence[Json], right: Sequence[Json], vectors: bool
) -> Matrix:
    if node.kind in (Kind.TEXT, Kind.PROSE):
        return _texts_likeness(attempt, node, left, right, vectors)
    return _equal_or_not([key_of(node.kind, value) for value in left], [key_of(node.kind, value) for value in right])


def _equal_or_not(left: Sequence[Hashable | None], right: Sequence[Hashable | None]) -> Matrix:
    """1 where two keys are equal; what has no key equals nothing."""
    seen: dict[Hashable, int] = {}
    ours, theirs = (
        np.array([-1 if key is None else seen.setdefault(key, len(seen)) for key in keys]) for keys in (left, right)
    )
    alike: Matrix = (np.equal.outer(ours, theirs) & (ours >= 0)[:, None]).astype(np.float32)
    return alike


def _texts_likeness(attempt: Attempt, node: Node, left: Sequence[Json], right: Sequence[Json], vectors: bool) -> Matrix:
    ours, our_index = _distinct(left)
    theirs, their_index = _distinct(right)
    raw = process.cdist(_starts(ours), _starts(theirs), scorer=fuzz.ratio, score_cutoff=NOISE, dtype=np.float32)
    alike = _above_noise(raw)
    if vectors and _has_vectors(node):
        alike = np.maximum(alike, _by_vectors(attempt, node, ours, theirs))
    if len(ours) == len(left) and len(theirs) == len(right):
        return alike
    return alike[np.ix_(our_index, their_index)]


def _starts(forms: Sequence[str]) -> list[str]:
    return [form[:TEXT_CHARACTERS] for form in forms]


def _above_noise(ratios: Matrix) -> Matrix:
    """0..1 from the ratios 0..100 of rapidfuzz."""
    alike: Matrix = (np.maximum(ratios - NOISE, 0) / (100 - NOISE)).astype(np.float32, copy=False)
    return alike


def _has_vectors(node: Node) -> bool:
    return node.kind is Kind.TEXT and not node.is_exact


def _few_texts(attempt: Attempt, columns: Sequence[_Column], vectors: bool) -> dict[str, Matrix]:
    """`_texts_likeness` of every property that is text throughout, in one go: on few cells, calls are what costs."""
    nodes: dict[str, Node] = {}
    left: list[str] = []
    right: list[str] = []
    for column in columns:
        place = column.node.for_value(column.ours[0]) if column.are_texts else column.node
        if column.are_texts and place.kind in (Kind.TEXT, Kind.PROSE):
            nodes[column.name] = place
            ours, theirs = ([normal_form(text) for text in side] for side in (column.ours, column.theirs))  # type: ignore[arg-type]  # all are texts
            left += [text for text in ours for _ in theirs]
            right += theirs * len(ours)
    if not nodes:
        return {}
    raw = process.cpdist(_starts(left), _starts(right), scorer=fuzz.ratio, score_cutoff=NOISE, dtype=np.float32)
    alike = _above_noise(raw)
    if vectors:
        alike = np.maximum(alike, np.array(_few_by_vectors(attempt, list(nodes.values()), left, right), np.float32))
    shape = len(nodes), len(columns[0].ours), len(columns[0].theirs)
    return dict(zip(nodes, alike.reshape(shape), strict=True))


def _distinct(values: Sequence[Json]) -> tuple[list[str], list[int]]:
    seen: dict[str, int] = {}
    forms = [normal_form(value if isinstance(value, str) else text_of(value) or "") for value in values]
    index = [seen.setdefault(form, len(seen)) for form in forms]
    return list(seen), index


def _by_vectors(attempt: Attempt, node: Node, left: Sequence[str], right: Sequence[str]) -> Matrix:
    """What the embedding rung says: 1 for a match, a half where it is undecided, else 0; 0 while a vector is open."""
    cutoffs = attempt.task.config.cutoffs
    context = context_of(node)
    found = similarities(attempt, left, right, context)
    result = np.zeros((len(left), len(right)), dtype=np.float32)
    if cutoffs is None or found is None:
        return result
    result[found >= cutoffs.undecided] = UNDECIDED_LIKENESS
    for i, j in places_of(found >= cutoffs.same):
        if guard_against(left[i], right[j], context) is None:
            result[i, j] = 1.0
    return result


def _few_by_vectors(attempt: Attempt, nodes: Sequence[Node], left: Sequence[str], right: Sequence[str]) -> list[float]:
    """`_by_vectors` pair by pair; every node has as many pairs as the others, one node's after the other's."""
    cutoffs, count = attempt.task.config.cutoffs, len(left) // len(nodes)
    result = [0.0] * len(left)
    embedded = [(node, slice(at * count, (at + 1) * count)) for at, node in enumerate(nodes) if _has_vectors(node)]
    attempt.keep_units(text for _, part in embedded for text in (*left[part], *right[part]))
    for node, part in embedded:
        context, pairs = context_of(node), list(zip(left[part], right[part], strict=True))
        found = [similarity(attempt, *pair, context) for pair in pairs]
        if cutoffs is not None and None not in found:
            result[part] = [
                _rung(cutoffs, pair, context, value or 0.0) for pair, value in zip(pairs, found, strict=True)
            ]
    return result


def _rung(cutoffs: Cutoffs, pair: tuple[str, str], context: str, similarity: float) -> float:
    if similarity >= cutoffs.same and guard_against(*pair, context) is None:
        return 1.0
    return UNDECIDED_LIKENESS if similarity >= cutoffs.undecided else 0.0


def _lists_likeness(attempt: Attempt, node: Node, left: Sequence[list[Json]], right: Sequence[list[Json]]) -> Matrix:
    """The likeness of lists: how well the items of each find a partner in the other (a mean of best partners).

    That is an upper bound of the optimal assignment which takes one matrix for all lists together.
    """
    ours, our_starts = _flat(left)
    theirs, their_starts = _flat(right)
    result = np.zeros((len(left), len(right)), dtype=np.float32)
    if not ours or not theirs or len(ours) * len(theirs) > MOST_CELLS:
        return result
    cells = likeness(attempt, node.item(0), ours, theirs, vectors=False)
    rows, columns = np.flatnonzero(our_starts[1] > 0), np.flatnonzero(their_starts[1] > 0)
    row_starts, column_starts = our_starts[0][rows], their_starts[0][columns]
    best_of_ours = np.add.reduceat(np.maximum.reduceat(cells, column_starts, axis=1), row_starts, axis=0)
    best_of_theirs = np.add.reduceat(np.maximum.reduceat(cells, row_starts, axis=0), column_starts, axis=1)
    sizes = np.add.outer(our_starts[1][rows], their_starts[1][columns])
    result[np.ix_(rows, columns)] = (best_of_ours + best_of_theirs) / sizes
    return result


def _flat(lists: Sequence[list[Json]]) -> tuple[list[Json], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """All items that are not empty, with the start and the number of each list's items."""
    held = [[item for item in items if _is_filled(item)] for items in lists]
    sizes = np.array([len(items) for items in held])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return [item for items in held for item in items], (starts, sizes)
