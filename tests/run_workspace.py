"""A small workspace whose models can be called, and a server that answers for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scoring.records import Json
from tests.judge_server import Asked, Reply, completion
from tests.small_workspace import REFERENCE, SCENARIOS, write_workspace

KEY_VARIABLE = "ASSAY_TEST_MODEL_KEY"
KEY = "sk-run-secret-4711"
PRICES = {"input_usd_per_million": 1.0, "output_usd_per_million": 10.0}
MODELS = ("lab/one:free", "lab/two")
PRICE_OF_A_RUN = 0.0015
"""1,000 tokens in and 50 out, as the server says of every answer."""


def write_callable(
    folder: Path,
    base_url: str,
    *,
    models: Sequence[str] = MODELS,
    scenarios: Sequence[str] = SCENARIOS,
    repetitions: int = 3,
    budget_usd: float | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """The folder: every model is called at `base_url` under its own id, with `settings` beside."""
    write_workspace(folder, scenarios=scenarios, models=models, repetitions=repetitions)
    entry = {"base_url": base_url, "api_key_env": KEY_VARIABLE, **PRICES, **(settings or {})}
    (folder / "models.yaml").write_text(json.dumps([{"id": id_, **entry} for id_ in models]))
    budgets = {} if budget_usd is None else {"budgets": {"runs_usd": budget_usd}}
    (folder / "assay.yaml").write_text(json.dumps({"embedding": None, **budgets}))
    return folder


def right(asked: Asked) -> Reply:
    """The reference, whoever is asked."""
    del asked
    return answered(REFERENCE)


def answered(output: Json, **options: Any) -> Reply:
    """A completion that says this JSON."""
    return completion(json.dumps(output), **options)
