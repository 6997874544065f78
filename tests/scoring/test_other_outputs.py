"""What other models say about the items of a list (SPEC 3, contested values)."""

from __future__ import annotations

from typing import Any

import pytest

from scoring import other_outputs
from scoring.records import Context, FieldScore, Json, ScoringConfig, Verdict
from scoring.task import Task, prepare
from tests.solver import config_with, says, scored

JUDGED = config_with(has_judge=True)


def leg(start: str, end: str, day: str) -> dict[str, Json]:
    return {"from": start, "to": end, "on": day}


LEGS: list[Json] = [leg("Gdansk", "Turku", "2020-05-01"), leg("Oslo", "Bergen", "2020-06-02")]
WRONG: list[Json] = [leg("Gdansk", "Turku", "2020-05-01"), leg("Oslo", "Malmo", "2020-06-02")]


def schema_of(items: Json, **annotation: Json) -> Json:
    return {"type": "object", "properties": {"legs": {"type": "array", "items": items, "x-assay": annotation}}}


TEXTS: dict[str, Json] = {name: {"type": "string", "x-assay": {"kind": "text"}} for name in ("from", "to", "on")}
SCHEMA = schema_of({"type": "object", "properties": TEXTS})


def differing(
    reference: Json, candidate: Json, others: list[Json], schema: Json = SCHEMA, config: ScoringConfig = JUDGED
) -> list[FieldScore]:
    """The rows that earn no full credit, where every question is answered with both wrong."""
    context = Context(other_outputs=tuple({"legs": other} for other in others))
    card = scored(
        schema,
        {"legs": reference},
        {"legs": candidate},
        config=config,
        judge=says(Verdict.BOTH_WRONG),
        context=context,
    )
    return [row for row in card.fields if row.credit < 1.0]


@pytest.mark.parametrize(
    ("others", "is_contested"),
    [
        ([LEGS, LEGS], True),
        ([LEGS[::-1], LEGS, WRONG], True),
        ([LEGS, WRONG], False),
        ([LEGS], False),
        ([LEGS, LEGS[:1], []], False),
        (["none", LEGS, LEGS], True),
    ],
)
def test_an_item_without_a_name_has_the_counterparts_that_lists_pair(others: list[Json], is_contested: bool) -> None:
    (row,) = differing(WRONG, LEGS, others)
    assert (row.path, row.is_contested) == ("/legs/1/to", is_contested)


def test_items_with_a_key_answer_each_other_whatever_else_they_hold() -> None:
    reference: list[Json] = [{"code": "a1", "to": "Malmo"}, {"code": "a2", "to": "Turku"}]
    right: list[Json] = [{"code": "a2", "to": "Turku"}, {"code": "a1", "to": "Rotterdam Centraal"}]
    schema = schema_of({"type": "object", "properties": {"code": {"type": "string"}, "to": TEXTS["to"]}})
    (row,) = differing(reference, right, [right, right], schema)
    assert (row.path, row.is_contested) == ("/legs/0/to", True)


def test_a_list_inside_a_list_is_paired_inside_the_paired_item() -> None:
    schema = schema_of({"type": "object", "properties": {"to": TEXTS["to"], "stops": SCHEMA["properties"]["legs"]}})
    wrong: list[Json] = [{"to": "Turku", "stops": LEGS}, {"to": "Bergen", "stops": WRONG}]
    right: list[Json] = [{"to": "Bergen", "stops": LEGS}, {"to": "Turku", "stops": LEGS}]
    (row,) = differing(wrong, right, [right, right[::-1]], schema)
    assert (row.path, row.is_contested) == ("/legs/1/stops/1/to", True)


def test_lists_of_too_many_pairs_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_outputs, "MOST_CELLS", 3)
    (row,) = differing(WRONG, LEGS, [LEGS, LEGS])
    assert not row.is_contested


def test_a_list_is_paired_once_with_each_output_and_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    pair_items = other_outputs.pair_items
    monkeypatch.setattr(other_outputs, "pair_items", lambda *given: calls.append(given) or pair_items(*given))
    task: Task = prepare(schema=SCHEMA, reference={"legs": WRONG}, config=JUDGED)
    item = task.root.fields["legs"].items[1]
    outputs: list[Json] = [{"legs": LEGS[:]} for _ in range(other_outputs.MOST_KEPT + 1)]
    said = [other_outputs.said_at(task, item.fields[name], one) for one in outputs for name in ("from", "to")]
    assert said == ["Oslo", "Bergen"] * len(outputs)
    assert len(calls) == len(outputs)
    assert len(task.root.fields["legs"].cache["other_outputs"]) == 1
