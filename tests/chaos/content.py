"""What is scored under chaos: scenarios of two kinds, of the same content each time, and a judge without moods.

In a `still` scenario the judge never finds the reference wanting, so a score depends on the owner's version alone. In a
`moving` one all models agree on what the reference lacks, so that merges lead to one end in whatever order they come.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.records import Json
from tests.judge_server import Asked, Reply, answer, completion

MODELS = ("lab/a", "lab/b:free", "lab/c d", "lab/e")
REPETITIONS = 2
NUMBERS = 5
STILL, MOVING = "still", "moving"
KINDS = (STILL, MOVING)
AGREED = {"n4": 4_545, "x0": 777}
"""What all models say of a moving scenario, where the reference says 40 and nothing."""

JUDGE = "judge"
LATENCY_SECONDS = 0.15
AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerEdit:
    """A value that the owner of a reference saves."""

    path: str
    value: int


EDITS: Mapping[str, Sequence[OwnerEdit]] = {
    STILL: (OwnerEdit(path="/n0", value=200), OwnerEdit(path="/n1", value=300)),
    MOVING: (OwnerEdit(path="/n0", value=200),),
}


def scenario_id(kind: str, number: int) -> str:
    """The id of the scenario; its kind stands before the first dash."""
    return f"{kind}-{number:03}"


def kind_of(scenario: str) -> str:
    """The kind of a scenario."""
    return scenario.partition("-")[0]


def write_workspace(folder: Path, base_url: str) -> Path:
    """The folder: a workspace with models and a judge, no scenario yet."""
    (folder / "scenarios").mkdir(parents=True)
    (folder / "runs").mkdir()
    judge = {"base_url": base_url, "model": JUDGE, "at_once": AT_ONCE, "family": "judges", "timeout_seconds": 20}
    (folder / "assay.yaml").write_text(json.dumps({"embedding": None, "judge": judge}))
    (folder / "models.yaml").write_text(json.dumps([{"id": model, "family": "labs"} for model in MODELS]))
    return folder


def add_scenario(workspace: Path, scenario: str) -> None:
    """The scenario is in the workspace, all of its files at once."""
    beside = workspace.parent / f"new-{scenario}"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    settings = {"title": scenario, "entity": scenario, "repetitions": REPETITIONS, "reference": {"verified": True}}
    names = [*(f"n{number}" for number in range(NUMBERS)), "x0"]
    properties: dict[str, Json] = {name: {"type": "number"} for name in names}
    properties["parts"] = {"type": "array", "items": {"type": "integer"}}
    reference: dict[str, Json] = {f"n{number}": 10 * number for number in range(NUMBERS)}
    (beside / "scenario.yaml").write_text(json.dumps(settings))
    (beside / "schema.json").write_text(json.dumps({"type": "object", "properties": properties}))
    (beside / "reference.json").write_text(json.dumps(reference | {"parts": [10, 20, 30]}))
    beside.rename(workspace / "scenarios" / scenario)


def output_of(scenario: str, model: str, repetition: int) -> dict[str, Json]:
    """What a model says: every number is off by its own amount, some parts are missing, one is too many."""
    shift = 1 + 2 * MODELS.index(model) + (repetition - 1)
    output: dict[str, Json] = {f"n{number}": 10 * number + shift for number in range(NUMBERS)}
    output |= {"x0": 1_000 + shift, "parts": [10, 20 + 10 * (shift % 2), 7_000 + shift]}
    return output | AGREED if kind_of(scenario) == MOVING else output


def runs_of(scenario: str, repetition: int) -> list[dict[str, Any]]:
    """One recorded run of every model, as rows of a file to import."""
    return [
        {
            "scenario": scenario,
            "model": model,
            "repetition": repetition,
            "output": output_of(scenario, model, repetition),
            "seconds": 1.0 + MODELS.index(model),
            "cost": 0.01,
        }
        for model in MODELS
    ]


def runs_file(workspace: Path, scenario: str, repetition: int) -> Path:
    """A file with `runs_of`, for `assay import`."""
    file = workspace / "runs" / f"{scenario}-{repetition}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in runs_of(scenario, repetition)))
    return file


def judged(asked: Asked) -> Reply:
    """The judge's answer, which follows from the question alone; round numbers are right, and what all agree on."""
    question = asked.question
    if question["question"] == "verify":
        text = answer("correct" if question["value"] in AGREED.values() else "wrong")
    else:
        text = _compared(question)
    share = int(hashlib.sha256(asked.messages[1]["content"].encode()).hexdigest()[:4], 16) / 0xFFFF
    return completion(text, latency_seconds=LATENCY_SECONDS * (0.5 + share))


def _compared(question: Mapping[str, Any]) -> str:
    sides = {"a": question["A"], "b": question["B"]}
    agreed = [side for side, value in sides.items() if value in AGREED.values()]
    right = agreed or [side for side, value in sides.items() if value % 10 == 0]
    if len(right) != 1:
        return answer("both_correct")
    other = sides["b" if right == ["a"] else "a"]
    return answer(f"{right[0]}_better", credit=30 + other % 50)
