"""Where another model's output speaks of the same place as a leaf of the reference.

Objects are walked by key. In a list the item counts that the output's list pairs with the reference's item, as any
candidate's list is paired (equal items, keys, the likeness of all fields), but without vectors and without the judge.
So a scalar item has no counterpart but its equal. Two lists of more than `MOST_CELLS` possible pairs are not paired,
and then the output says nothing about their items.
"""

from __future__ import annotations

from dataclasses import replace

from scoring.attempt import Attempt
from scoring.lists import pair_items
from scoring.records import Json, Known
from scoring.spots import Spot, holds_nothing
from scoring.task import Task

MOST_CELLS = 250_000
MOST_KEPT = 64
"""So many pairings are kept for one list of the reference: the models of a round look at the same outputs."""

Pairs = dict[int, Json]
"""The items of another list by the index of the reference's item that they answer."""


def said_at(task: Task, spot: Spot, output: Json) -> Json:
    """The value that `output` has at the reference's place, None where it says nothing."""
    if spot.parent is None:
        return output
    if spot.index is not None:
        return _pairs_of(task, spot.parent, output).get(spot.index)
    above = said_at(task, spot.parent, output)
    name = spot.path.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    return above.get(name) if isinstance(above, dict) else None


def _pairs_of(task: Task, spot: Spot, output: Json) -> Pairs:
    """The pairing of the reference's list at `spot` with this output's. It is kept beside the output that it is of."""
    kept: dict[int, tuple[Json, Pairs]] = spot.cache.setdefault("other_outputs", {})
    found = kept.get(id(output))
    if found is None:
        if len(kept) >= MOST_KEPT:
            kept.clear()
        found = kept[id(output)] = output, _paired(task, spot, said_at(task, spot, output))
    return found[1]


def _paired(task: Task, spot: Spot, said: Json) -> Pairs:
    if not isinstance(said, list) or len(spot.items) * len(said) > MOST_CELLS:
        return {}
    config = replace(task.config, embedding_model=None, cutoffs=None, judge_models=())
    held = [
        (index, item)
        for index, item in enumerate(said)
        if item is not None and not holds_nothing(spot.node.item(index).for_value(item), item, config.empty_values)
    ]
    pairing = pair_items(Attempt(task=replace(task, config=config), known=Known()), spot, held)
    return {item.index: candidate.value for item, candidate in pairing.pairs if item.index is not None}
