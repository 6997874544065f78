"""A small workspace whose one scenario has a judge, and what its three models said there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring.records import Json, Run
from tests.small_workspace import run_of, write_workspace

KEY_VARIABLE = "ASSAY_TEST_JUDGE_KEY"
SCENARIO = "alpha"
MODELS = ("lab/one", "lab/two", "lab/three")
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "summary": {"type": "string", "description": "a free-text summary"},
        "notes": {"type": "string", "description": "free-text notes"},
        "mass": {"type": "number"},
        "year": {"type": "integer"},
        "field": {"enum": ["poetry", "mathematics", "music"]},
        "nickname": {"type": "string"},
    },
}
REFERENCE: dict[str, Json] = {
    "summary": "She wrote the first program for a machine.",
    "notes": "Her notes were longer than the article.",
    "mass": 273.35,
    "year": 1815,
    "field": "mathematics",
    "nickname": None,
}
OUTPUTS: Mapping[str, dict[str, Json]] = {
    "lab/one": {**REFERENCE, "summary": "The first program was hers.", "mass": 273.37},
    "lab/two": {**REFERENCE, "summary": "The first program was hers.", "year": 1816, "nickname": "Ada"},
    "lab/three": {**REFERENCE, "notes": "The notes outgrew the article.", "mass": 273.37},
}
QUESTIONS = 5
"""Distinct questions of all three: the summary, the mass, the year, the nickname, the notes."""
PRICES = {"input_usd_per_million": 0.37, "output_usd_per_million": 1.93}


def write_judged(
    folder: Path,
    base_url: str,
    *,
    judge: Mapping[str, Any] | None = None,
    budget_usd: float | None = None,
    prices: Mapping[str, float] | None = PRICES,
    reference: Json = REFERENCE,
    models: Sequence[str] = MODELS,
    **scoring: Any,
) -> Path:
    """The folder, which holds a valid workspace of one scenario with a judge and no embedding model."""
    settings = {"base_url": base_url, "model": "judge-1", "api_key_env": KEY_VARIABLE, **(judge or {})}
    given = {"embedding": None, "judge": settings, **scoring}
    write_workspace(folder, scenarios=[SCENARIO], models=models, scoring=given, reference=reference)
    (folder / "scenarios" / "s0" / "schema.json").write_text(json.dumps(SCHEMA))
    entries: list[dict[str, Any]] = [{"id": id_, "provider": "lab", "family": "lab"} for id_ in models]
    entries.append({"id": "judge/one", "name": "judge-1", "family": "court", **(prices or {})})
    (folder / "models.yaml").write_text(json.dumps(entries))
    if budget_usd is not None:
        (folder / "assay.yaml").write_text(json.dumps({"budgets": {"judge_usd": budget_usd}}))
    return folder


def judged_runs(outputs: Mapping[str, Json] = OUTPUTS) -> list[Run]:
    """A recorded run of each model."""
    return [run_of(SCENARIO, model_id, output) for model_id, output in outputs.items()]
