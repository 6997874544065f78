"""A small workspace in files and a session on it, for tests of rounds, sensors and Dagster."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoring.records import Json, Run, RunStatus, Vector

SCENARIOS = ("alpha", "beta / b")
MODELS = ("lab/one:free", "lab/two")
CELLS = [(scenario_id, model_id) for scenario_id in SCENARIOS for model_id in MODELS]
SCHEMA: Json = {"type": "object", "properties": {"name": {"type": "string"}, "year": {"type": "integer"}}}
REFERENCE: Json = {"name": "Ada Lovelace", "year": 1815}


class FakeEmbeddings:
    """Unit vectors by the first letter of a text; `breaks_on` makes a text refuse."""

    name = "fake"

    def __init__(self, breaks_on: Sequence[str] = (), *, is_down: bool = False) -> None:
        self.breaks_on = breaks_on
        self.is_down = is_down
        self.calls: list[tuple[str, ...]] = []

    def vectors(self, texts: Sequence[str], on_progress: Any = None) -> dict[str, Vector]:
        from resources.vectors import EmbeddingError

        self.calls.append(tuple(texts))
        if self.is_down or any(text in self.breaks_on for text in texts):
            raise EmbeddingError("the embedding service refuses")
        if on_progress:
            on_progress(len(texts), len(texts))
        return {text: _vector(text) for text in texts}


def _vector(text: str) -> Vector:
    vector = np.zeros(256, dtype=np.float32)
    vector[ord(text[0]) % 256] = 1.0
    return vector


def write_workspace(
    folder: Path,
    *,
    scenarios: Sequence[str] = SCENARIOS,
    models: Sequence[str] = MODELS,
    repetitions: int = 1,
    scoring: Mapping[str, Any] | None = None,
    is_verified: bool = True,
    reference: Json = REFERENCE,
) -> Path:
    """The folder, which holds a valid workspace. YAML is written as JSON, which YAML reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "assay.yaml").write_text("{}\n")
    (folder / "models.yaml").write_text(json.dumps([{"id": id_, "provider": "lab"} for id_ in models]))
    for number, scenario_id in enumerate(scenarios):
        place = folder / "scenarios" / f"s{number}"
        place.mkdir(parents=True, exist_ok=True)
        content = {
            "id": scenario_id,
            "type": "enrichment",
            "title": scenario_id,
            "prompt": "Who?",
            "entity": "Ada Lovelace",
            "repetitions": repetitions,
            "reference": {"verified": is_verified},
        }
        if scoring is not None:
            content["scoring"] = dict(scoring)
        (place / "scenario.yaml").write_text(json.dumps(content))
        (place / "schema.json").write_text(json.dumps(SCHEMA))
        (place / "reference.json").write_text(json.dumps(reference))
    return folder


def run_of(
    scenario_id: str,
    model_id: str,
    output: Json | str = REFERENCE,
    *,
    repetition: int = 1,
    status: RunStatus = RunStatus.OK,
) -> Run:
    """A recorded run; a text is taken as the output itself, anything else as JSON."""
    return Run(
        scenario_id=scenario_id,
        model_id=model_id,
        repetition=repetition,
        status=status,
        output=None if status is RunStatus.FAILED else output if isinstance(output, str) else json.dumps(output),
        duration_seconds=1.5,
        cost_usd=0.01,
        error="timeout" if status is RunStatus.FAILED else None,
    )
