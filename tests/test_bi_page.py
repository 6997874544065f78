"""What docs/bi.md shows, run as it stands there on a scored workspace with a judge, two rounds and an owner's save."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from pipelines.round import score_round
from pipelines.session import Session, open_session
from resources.recordings import read_recordings
from resources.relations import KEYS
from scoring.ranking import rank
from tests.judge_server import JudgeServer, always

PAGE = (Path(__file__).parents[1] / "docs" / "bi.md").read_text(encoding="utf-8")
QUESTIONS = dict(re.findall(r"^### (.+?)\n\n```sql\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
GOOD, CHEAP, ODD = "lab/good", "lab/cheap", "lab/odd"
TOWER = {"name": "Eiffel Tower", "height": 330, "opened": "1889-03-31", "city": "Paris", "engineers": ["K.", "N."]}
TOWER_RUNS = {
    GOOD: (TOWER, TOWER, TOWER),
    CHEAP: (TOWER, {**TOWER, "opened": "1900-01-01"}, {**TOWER, "height": 324, "opened": "1900-01-01"}),
    ODD: ({**TOWER, "name": "A", "height": 1, "city": "B"}, {**TOWER, "name": "C", "height": 2, "city": "D"}, None),
}
MASSES = {"a": 10, "b": 20, "c": 30}
MASS_RUNS = {GOOD: MASSES, CHEAP: {**MASSES, "a": 11, "b": 21}, ODD: {"a": 12, "b": 22, "c": 32}}
COSTS = {GOOD: 0.10, CHEAP: 0.01, ODD: 0.20}
SECONDS = {GOOD: 4.0, CHEAP: 1.0, ODD: 5.0}
CALL_USD = (1_000 * 1.0 + 50 * 10.0) / 1e6


def write(folder: Path, judge_url: str) -> Path:
    kinds = {"name": "string", "height": "number", "opened": "string", "city": "string", "engineers": "array"}
    (folder / "runs").mkdir(parents=True)
    judge = {"base_url": judge_url, "model": "judge"}
    (folder / "assay.yaml").write_text(json.dumps({"embedding": None}))
    models: list[dict[str, Any]] = [{"id": id_, "provider": "lab", "family": id_} for id_ in COSTS]
    priced = {"input_usd_per_million": 1.0, "output_usd_per_million": 10.0}
    (folder / "models.yaml").write_text(json.dumps([*models, {"id": "court/judge", "name": "judge", **priced}]))
    for name, reference, types, more in (
        ("tower", TOWER, kinds, {"repetitions": 3}),
        ("masses", MASSES, dict.fromkeys(MASSES, "number"), {"repetitions": 1, "scoring": {"judge": judge}}),
    ):
        place = folder / "scenarios" / name
        place.mkdir(parents=True)
        content = {"title": name.title(), "entity": name, "reference": {"verified": True}, **more}
        (place / "scenario.yaml").write_text(json.dumps(content))
        (place / "reference.json").write_text(json.dumps(reference))
        properties = {key: {"type": kind} for key, kind in types.items()}
        (place / "schema.json").write_text(json.dumps({"type": "object", "properties": properties}))
    rows = [
        row("tower", model, number, one) for model, all_ in TOWER_RUNS.items() for number, one in enumerate(all_, 1)
    ]
    rows += [row("masses", model, 1, one) for model, one in MASS_RUNS.items()]
    (folder / "runs" / "all.jsonl").write_text("".join(rows))
    return folder


def row(scenario: str, model: str, repetition: int, output: Any) -> str:
    measured = {"seconds": SECONDS[model], "cost": COSTS[model]}
    said = {"status": "failed", "error": "timeout"} if output is None else {"output": output}
    return json.dumps({"scenario": scenario, "model": model, "repetition": repetition, **said, **measured}) + "\n"


@pytest.fixture
def session(assay_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:  # noqa: ARG001 - for its effect
    """All scored in a first round; then the owner says 324 m, and a second round scores two models on the tower."""
    with JudgeServer(always("both_correct")) as server:
        folder = write(tmp_path / "workspace", server.base_url)
        monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
        with open_session(folder) as opened:
            opened.warehouse.import_runs(read_recordings([folder / "runs"], opened.workspace))
            assert not score_round(opened, [(s, m) for s in ("masses", "tower") for m in COSTS]).failed
            references = opened.warehouse.references
            references.save("tower", {**TOWER, "height": 324}, author="Ada", is_verified=True)
            assert not score_round(opened, [("tower", GOOD), ("tower", CHEAP)]).failed
            yield opened


def asked(engine: Engine, question: str) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        return [dict(one) for one in connection.execute(text(QUESTIONS[question])).mappings()]


def picked(rows: list[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(one[column] for column in columns) for one in rows]


def near(*values: float) -> Any:
    return pytest.approx(values, abs=1e-9)


def test_every_question_of_the_page_answers_as_the_runs_have_it(session: Session) -> None:
    engine = session.warehouse.engine
    assert len(QUESTIONS) == 7
    leads(session)
    frontier(engine)
    fields(engine)
    judging(engine)
    moves(engine)
    stale(engine)
    spread(engine)
    keys_are_unique(engine)
    the_lake_in_one_line(session)


def leads(session: Session) -> None:
    rows = asked(session.warehouse.engine, "Who leads, and why?")
    places = rank(session.warehouse.ranking_rows(), session.warehouse.ranking_weights())
    assert picked(rows, "model_id") == [(place.model_id,) for place in places]
    for one, place in zip(rows, places, strict=True):
        assert one["score"] == pytest.approx(place.total)
        assert one["behind_leader"] == pytest.approx(place.total - places[0].total)
    found = {one["model_id"]: one for one in rows}
    assert found[CHEAP]["position"] == 1  # cheapest and quickest by ten and four times, and not far behind
    assert [found[model]["scenario_count"] for model in (GOOD, CHEAP, ODD)] == [2, 2, 1]
    assert [found[model]["quality"] for model in (GOOD, CHEAP, ODD)] == near(90, (100 + 220 / 3) / 2, 100)


def frontier(engine: Engine) -> None:
    rows = asked(engine, "Which models are worth their price?")
    assert picked(rows, "model_id", "is_on_frontier") == [(CHEAP, True), (GOOD, True), (ODD, True)]
    assert [one["mean_cost_usd"] for one in rows] == near(0.01, 0.10, 0.20)


def fields(engine: Engine) -> None:
    rows = asked(engine, "Which fields fail most, and in which models?")
    found = picked(rows, "scenario_id", "field", "failed_count", "compared_count", "failing_models")
    assert found == [("tower", "/height", 5, 6, f"{CHEAP}, {GOOD}"), ("tower", "/opened", 2, 6, CHEAP)]
    assert [one["lost_share"] for one in rows] == near(5 / 6, 2 / 6)


def judging(engine: Engine) -> None:
    rows = asked(engine, "What does judging cost?")
    columns = ("scenario_id", "model_id", "scorings", "questions", "answered_for_free", "calls", "failed_calls")
    assert picked(rows, *columns) == [
        ("masses", ODD, 1, 3, 0, 3, 0),
        ("masses", CHEAP, 1, 2, 0, 2, 0),
        ("masses", GOOD, 1, 0, 0, 0, 0),
        ("tower", CHEAP, 2, 0, 0, 0, 0),
        ("tower", GOOD, 2, 0, 0, 0, 0),
        ("tower", ODD, 1, 0, 0, 0, 0),
    ]
    assert [one["known_cost_usd"] for one in rows[:3]] == near(3 * CALL_USD, 2 * CALL_USD, 0)
    assert {one["unpriced_calls"] for one in rows} == {0}


def moves(engine: Engine) -> None:
    rows = asked(engine, "How did quality move over rounds and reference versions?")
    tower = [one for one in rows if one["scenario_id"] == "tower"]
    assert picked(tower, "model_id", "reference_version", "is_other_reference", "is_other_config") == [
        (CHEAP, 1, None, None),
        (CHEAP, 2, True, False),
        (GOOD, 1, None, None),
        (GOOD, 2, True, False),
        (ODD, 1, None, None),
    ]
    assert [one["quality"] for one in tower] == near(80, 220 / 3, 100, 80, 40)
    assert [tower[1]["change"], tower[3]["change"]] == near(220 / 3 - 80, -20)
    assert tower[0]["opened_at"] < tower[1]["opened_at"]


def stale(engine: Engine) -> None:
    (one,) = asked(engine, "What is stale, and why?")
    assert (one["scenario_id"], one["model_id"], one["changed"], one["saved_by"]) == ("tower", ODD, "reference", "Ada")
    assert (one["reference_version"], one["saved_reference_version"], one["quality"]) == (1, 2, 40)
    assert one["changed_at"] is not None


def spread(engine: Engine) -> None:
    rows = asked(engine, "How consistent is a model?")
    assert picked(rows, "model_id", "scenario_count") == [(GOOD, 1), (CHEAP, 1)]
    assert [one["mean_spread"] for one in rows] == near(0, 20)
    assert [one["success_rate"] for one in rows] == near(1, 1)


def keys_are_unique(engine: Engine) -> None:
    with engine.connect() as connection:
        for view, key in KEYS.items():
            names = ", ".join(key)
            query = f"select count(*), count(distinct ({names})) from {view}"  # noqa: S608 - our own names
            rows, distinct = connection.execute(text(query)).one()
            assert rows == distinct, view
            assert rows or view in ("bi.findings", "bi.reference_edits", "bi.reference_rejections"), view


def the_lake_in_one_line(session: Session) -> None:
    (line,) = re.findall(r"^```sh\n(assay bi lake .*?)\n```", PAGE, re.MULTILINE)
    left_over = Path(session.home.lake_root) / "field_scores" / "scenario=tower" / "left-over.parquet"
    (one, *_) = left_over.parent.glob("*.parquet")
    left_over.write_bytes(one.read_bytes())  # what a killed process leaves: no row names it
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")] for line in done.stdout.splitlines() if "lab/" in line
    ]
    assert [(model, int(count), pytest.approx(float(credit))) for model, count, credit in cells] == [
        (CHEAP, 21, (14 + 3) / 21),
        (GOOD, 21, (15 + 3) / 21),
        (ODD, 3, 1.0),
    ]
