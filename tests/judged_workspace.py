"""A workspace with a judge: one scenario of numbers that no two models give alike, and what was recorded of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring.records import Json

SCENARIO = "tables"
JUDGE = "judge"
FAMILIES = {"kin/model": "judges", "other/model": "others"}


def write_judged_workspace(
    folder: Path,
    base_url: str,
    *,
    fields: int = 12,
    extras: int = 2,
    judge: Mapping[str, Any] | None = None,
    prices: tuple[float, float] | None = (1.0, 10.0),
    budget_usd: float | None = None,
) -> Path:
    """The folder: every model differs from the reference in `fields` numbers, and fills `extras` empty places.

    `judge` is added to the judge's settings; its family is `judges` in models.yaml, which also has its `prices`.
    """
    scenario = folder / "scenarios" / SCENARIO
    scenario.mkdir(parents=True)
    (folder / "runs").mkdir()
    settings = {"base_url": base_url, **({"model": JUDGE} if "panel" not in (judge or {}) else {}), **(judge or {})}
    budgets = {} if budget_usd is None else {"budgets": {"judge_usd": budget_usd}}
    (folder / "assay.yaml").write_text(json.dumps({"embedding": None, "judge": settings, **budgets}))
    (folder / "models.yaml").write_text(json.dumps(_models(prices)))
    (scenario / "scenario.yaml").write_text(
        json.dumps({"title": "Tables", "entity": "Tables", "repetitions": 1, "reference": {"verified": True}})
    )
    names = [f"n{number}" for number in range(fields)] + [f"x{number}" for number in range(extras)]
    (scenario / "schema.json").write_text(
        json.dumps({"type": "object", "properties": {name: {"type": "number"} for name in names}})
    )
    (scenario / "reference.json").write_text(json.dumps({f"n{number}": 10 * number for number in range(fields)}))
    rows = [_row(model, output_of(shift, fields, extras)) for shift, model in enumerate(FAMILIES, 1)]
    (folder / "runs" / "all.jsonl").write_text("".join(rows))
    return folder


def _models(prices: tuple[float, float] | None) -> Sequence[Json]:
    models: list[Json] = [{"id": model, "family": family} for model, family in FAMILIES.items()]
    judge: dict[str, Json] = {"id": "lab/judge", "name": JUDGE, "family": "Judges"}
    if prices is not None:
        judge |= {"input_usd_per_million": prices[0], "output_usd_per_million": prices[1]}
    return [*models, judge]


def output_of(shift: int, fields: int, extras: int) -> Json:
    """What a model says: every number is off by `shift`."""
    wrong: dict[str, Json] = {f"n{number}": 10 * number + shift for number in range(fields)}
    return wrong | {f"x{number}": 1_000 * shift + number for number in range(extras)}


def _row(model: str, output: Json) -> str:
    row = {"scenario": SCENARIO, "model": model, "repetition": 1, "output": output, "seconds": 1.0, "cost": 0.01}
    return json.dumps(row) + "\n"
