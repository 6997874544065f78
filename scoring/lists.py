"""Pairs the items of two lists and sums up how the list fared (SPEC 4)."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.attempt import Attempt
from scoring.pairing import Pairing, candidates_of, duplicates_among, pair_set, reference_keys
from scoring.records import Json, ListOrder, ListScore
from scoring.schema import Node
from scoring.sequences import pair_positions, pair_sequence
from scoring.spots import Spot

_FAR = 1 << 30


def pair_items(attempt: Attempt, spot: Spot, held: Sequence[tuple[int, Json]]) -> Pairing:
    """The pairing of the reference's list at `spot` with the candidate's items (position and value, none empty).

    A set is paired by content (`scoring.pairing`), a sequence in order, a tuple (`prefixItems`) position by position.
    """
    candidates = candidates_of(spot.node, held)
    if spot.node.order is ListOrder.SET:
        return pair_set(attempt, spot, candidates)
    pairing = (pair_positions if _is_tuple(spot.node) else pair_sequence)(attempt, spot, candidates)
    pairing.duplicates = duplicates_among(reference_keys(spot), pairing)
    return pairing


def _is_tuple(node: Node) -> bool:
    return node.item(0) is not node.item(_FAR)


def add_list_score(attempt: Attempt, node: Node, path: str, pairing: Pairing, confirmed: Sequence[int]) -> None:
    """Leaves the row of one list. Extra items that a judge confirmed count as found on both sides of the ratios."""
    right = len(pairing.pairs) + len(confirmed)
    wanted, given = right + len(pairing.missed), len(pairing.pairs) + len(pairing.extra)
    precision, recall = _ratio(right, given, wanted), _ratio(right, wanted, given)
    attempt.lists.append(
        ListScore(
            path=path,
            order=node.order,
            matched=len(pairing.pairs),
            missed=tuple(item.value for item in pairing.missed),
            extra=tuple(item.value for item in pairing.extra),
            hallucinated=tuple(item.value for item in pairing.extra if item.index not in confirmed),
            duplicates=len(pairing.duplicates),
            precision=precision,
            recall=recall,
            f1=2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0,
        )
    )


def add_whole_list_score(attempt: Attempt, node: Node, path: str, count: int) -> None:
    """Leaves the row of a list all of whose `count` items are right."""
    attempt.lists.append(
        ListScore(
            path=path,
            order=node.order,
            matched=count,
            missed=(),
            extra=(),
            hallucinated=(),
            duplicates=0,
            precision=1.0,
            recall=1.0,
            f1=1.0,
        )
    )


def _ratio(part: int, whole: int, other: int) -> float:
    """`part / whole`; with nothing to divide by, 1 where the other side is empty too, else 0."""
    if whole:
        return part / whole
    return 0.0 if other else 1.0
