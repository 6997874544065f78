"""Several right answers (`accepted`) for a whole object or list.

Where the candidate's object or list equals one that the owner accepts at its path (by the free rungs, field by field, a
set in any order), it earns the whole place in one row, and none of its fields or items is compared by itself. A part
that equals none of them is compared with the reference's own. An accepted item also answers the reference's item when
lists are paired.
"""

from __future__ import annotations

from scoring.attempt import Attempt
from scoring.item_keys import item_key
from scoring.lists import add_whole_list_score
from scoring.records import FieldScore, Json, Origin, Outcome, Rung, Setting, Side
from scoring.spots import Spot, holds_nothing

_SETTING = Setting(text="an accepted value", origin=Origin.SCENARIO)


def accept_whole(attempt: Attempt, spot: Spot, value: Json) -> bool:
    """Whether the owner accepts this object or list in place of the reference's; then its row is there."""
    accepted = attempt.task.config.accepted.get(spot.path)
    if not accepted or spot.is_blank or holds_nothing(spot.node, value, attempt.task.config.empty_values):
        return False
    key = item_key(spot.node.for_value(value), value)
    if key is None or all(item_key(spot.node.for_value(one), one) != key for one in accepted):
        return False
    attempt.rows.append(_row(spot, value, Rung.EXACT if value in accepted else Rung.NORMALIZED))
    if isinstance(spot.value, list) and not spot.is_opaque:
        add_whole_list_score(attempt, spot.node, spot.path, len(value) if isinstance(value, list) else 1)
    return True


def _row(spot: Spot, value: Json, rung: Rung) -> FieldScore:
    return FieldScore(
        path=spot.path,
        side=Side.REFERENCE,
        kind="list" if isinstance(spot.value, list) else "object",
        outcome=Outcome.MATCH,
        rung=rung,
        credit=1.0,
        similarity=None,
        reference=spot.value,
        candidate=value,
        reference_weight=spot.filled,
        candidate_weight=spot.filled,
        shared_weight=spot.filled,
        setting=_SETTING,
        list_path=spot.list_path,
    )
