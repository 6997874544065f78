"""`assay gate`: what it lets pass, what it stops and why, for people and programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tower import REFERENCE, RIGHT, SCENARIO, SCHEMA, WRONG, Assay, Said, run_row, score_without_dagster

HALF = {"name": "Eiffel Tower", "height_metres": 300, "engineers": ["Maurice Koechlin"]}
ALLOWED = ("--allow", "exact_only")

Record = Callable[..., None]


@pytest.fixture
def record(workspace: Path) -> Record:
    """Write runs of both models on a scenario, one output each, and score all that can be; None is a failed run."""

    def outputs_of(model: str, scenario: str, outputs: Sequence[Any]) -> str:
        failure = {"error": "timed out"}
        return "".join(
            run_row(model, number, output, scenario=scenario, **(failure if output is None else {}))
            for number, output in enumerate(outputs, 1)
        )

    def write(good: Sequence[Any], bad: Sequence[Any] = (), *, scenario: str = "tower") -> None:
        folder = workspace / "scenarios" / scenario
        folder.mkdir(exist_ok=True)
        repetitions = max(len(good), len(bad), 1)
        text = SCENARIO.format(verified="true").replace("repetitions: 2", f"repetitions: {repetitions}")
        (folder / "scenario.yaml").write_text(text)
        (folder / "schema.json").write_text(json.dumps(SCHEMA))
        (folder / "reference.json").write_text(json.dumps(REFERENCE))
        (workspace / "runs" / "all.jsonl").write_text(
            outputs_of("a/good", scenario, good) + outputs_of("b/bad:free", scenario, bad)
        )
        score_without_dagster()

    return write


def last_line(said: Said) -> str:
    return said.out.rstrip().splitlines()[-1]


def test_a_quality_that_is_reached_passes_and_one_that_is_not_fails(record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT, HALF])

    passed = assay("gate", "tower", "--model", "a/good", "--min-quality", 80, *ALLOWED)
    failed = assay("gate", "tower", "--model", "a/good", "--min-quality", 90, *ALLOWED)
    strict = assay("gate", "tower", "--model", "a/good", "--min-quality", 80, "--strict", *ALLOWED)

    assert (passed.code, failed.code, strict.code) == (0, 1, 1)
    assert last_line(passed).startswith("gate passed: a/good: quality 8")
    assert "is at least 80, which could be chance; let through: exact_only" in last_line(passed)
    assert "is below 90, which could be chance" in last_line(failed)
    assert last_line(strict).startswith("gate failed: ")
    assert last_line(strict).endswith("(--strict)")


def test_a_loss_beyond_chance_fails_and_its_margin_lets_it_pass(record: Record, assay: Assay) -> None:
    record([RIGHT] * 3, [WRONG] * 3)

    better = assay("gate", "--model", "a/good", "--baseline", "b/bad:free", *ALLOWED)
    worse = assay("gate", "--model", "b/bad:free", "--baseline", "a/good", *ALLOWED)
    spared = assay("gate", "--model", "b/bad:free", "--baseline", "a/good", "--margin", 100, *ALLOWED)

    assert (better.code, worse.code, spared.code) == (0, 1, 0)
    assert "not worse than b/bad:free, difference" in last_line(better)
    assert "worse than a/good beyond chance, difference -" in last_line(worse)
    assert "not more than 100 points worse than a/good" in last_line(spared)


def test_a_loss_that_could_be_chance_fails_only_strictly(record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT, HALF], [RIGHT] * 3)
    words = ("gate", "--model", "a/good", "--baseline", "b/bad:free", *ALLOWED)

    passed, strict = assay(*words), assay(*words, "--strict")

    assert (passed.code, strict.code) == (0, 1)
    assert "not worse than b/bad:free beyond chance" in last_line(passed)
    assert "worse, could be chance" in passed.out
    assert "perhaps worse than b/bad:free" in last_line(strict)


@pytest.mark.usefixtures("scored")
def test_with_two_runs_the_means_decide_and_it_is_said(assay: Assay) -> None:
    passed = assay("gate", "--model", "a/good", "--min-quality", 100, "--baseline", "b/bad:free", *ALLOWED)
    failed = assay("gate", "--model", "b/bad:free", "--baseline", "a/good", *ALLOWED)

    assert (passed.code, failed.code) == (0, 1)
    assert last_line(passed).count("too few runs for an interval") == 2
    assert "worse than a/good, difference" in last_line(failed)


def test_every_bound_must_hold(record: Record, assay: Assay) -> None:
    record([HALF] * 3, [WRONG] * 3)

    said = assay("gate", "--model", "a/good", "--min-quality", 99, "--baseline", "b/bad:free", *ALLOWED)

    assert said.code == 1
    assert "is below 99" in last_line(said)
    assert "b/bad:free" not in last_line(said)


def test_several_scenarios_have_a_row_each_and_their_mean_decides(record: Record, assay: Assay) -> None:
    record([RIGHT] * 3, scenario="tower")
    record([WRONG] * 3, scenario="bridge")
    words = ("gate", "--model", "a/good", *ALLOWED)

    both = assay(*words, "--min-quality", 40)
    one = assay("gate", "bridge", "bridge", *words[1:], "--min-quality", 40, "--json")

    assert (both.code, one.code) == (0, 1)
    assert "mean of 2" in both.out
    assert "short of a bound by themselves: bridge. The mean of all decides." in both.out
    assert [row["scenario_id"] for row in one.json["scenarios"]] == ["bridge"]


def test_failed_runs_fail_the_gate_unless_they_are_let_through(record: Record, assay: Assay) -> None:
    record([RIGHT, None, RIGHT], [RIGHT, None, RIGHT])
    words = ("gate", "--model", "a/good", "--baseline", "b/bad:free", "--min-quality", 50, *ALLOWED)

    stopped, passed = assay(*words), assay(*words, "--allow", "failed_runs")

    assert (stopped.code, passed.code) == (1, 0)
    assert last_line(stopped) == "gate failed: a/good: tower: 1 of 3 runs failed, which quality leaves out"
    assert "--allow failed_runs" in stopped.out
    assert "let through: failed_runs, exact_only" in last_line(passed)


def test_a_baseline_whose_runs_failed_is_no_fault_of_the_model(record: Record, assay: Assay) -> None:
    record([RIGHT] * 3, [RIGHT, None, RIGHT])

    said = assay("gate", "--model", "a/good", "--baseline", "b/bad:free", *ALLOWED)

    assert said.code == 0
    assert "tower, baseline b/bad:free: 1 of 3 runs failed, which quality leaves out (noted alone" in said.out


def test_a_model_none_of_whose_runs_gave_an_output_fails(record: Record, assay: Assay) -> None:
    record([None, None])

    said = assay("gate", "--model", "a/good", "--min-quality", 0, *ALLOWED, "--allow", "failed_runs")

    assert said.code == 1
    assert last_line(said) == "gate failed: a/good: tower: no quality: 2 of 2 runs failed"


@pytest.mark.usefixtures("scored")
def test_exact_only_fails_unless_it_is_let_through(assay: Assay) -> None:
    said = assay("gate", "--model", "a/good", "--min-quality", 50)

    assert said.code == 1
    assert "exact_only: no embedding model" in last_line(said)
    assert "--allow exact_only" in said.out


def test_a_stale_score_fails(scored: Path, assay: Assay) -> None:
    (scored / "scenarios" / "tower" / "reference.json").write_text(json.dumps(REFERENCE | {"height_metres": 324}))

    said = assay("gate", "--model", "a/good", "--min-quality", 0, *ALLOWED)

    assert said.code == 1
    assert "tower: stale: reference or scoring config changed since" in last_line(said)
    assert "assay score tower --stale" in said.out


def test_runs_that_the_score_does_not_cover_fail(scored: Path, assay: Assay) -> None:
    (scored / "runs" / "more.jsonl").write_text(run_row("a/good", 3, WRONG))
    assay("import")

    said = assay("gate", "--model", "a/good", "--min-quality", 50, *ALLOWED)

    assert said.code == 1
    assert "tower: more runs are recorded than its score covers" in last_line(said)


def test_a_model_without_a_score_fails_with_the_reason(workspace: Path, record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT])
    (workspace / "runs" / "all.jsonl").write_text(run_row("b/bad:free", 1, RIGHT))

    silent = assay("gate", "--model", "b/bad:free", "--min-quality", 0, *ALLOWED)
    assay("import")
    incomplete = assay("gate", "--model", "b/bad:free", "--min-quality", 0, *ALLOWED)
    as_baseline = assay("gate", "--model", "a/good", "--baseline", "b/bad:free", *ALLOWED)

    assert (silent.code, incomplete.code, as_baseline.code) == (1, 1, 1)
    assert "tower: no score: no run is recorded" in last_line(silent)
    assert "tower: no score: 1 of 2 runs are recorded" in last_line(incomplete)
    assert "tower, baseline b/bad:free: no score: 1 of 2 runs" in last_line(as_baseline)


def test_runs_that_wait_for_their_score_fail(workspace: Path, record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT])
    (workspace / "runs" / "all.jsonl").write_text("".join(run_row("b/bad:free", n, RIGHT) for n in (1, 2)))
    assay("import")

    said = assay("gate", "--model", "b/bad:free", "--min-quality", 0)

    assert said.code == 1
    assert "assay score tower --model b/bad:free" in said.out


def test_where_nothing_is_scored_nothing_passes(workspace: Path, assay: Assay) -> None:
    del workspace
    assay("import")

    said = assay("gate", "--model", "a/good", "--min-quality", 0)

    assert said.code == 1
    assert last_line(said).startswith("gate failed: a/good: no scenario has a score")


def test_a_scenario_that_nobody_has_a_score_on_is_left_out_aloud(workspace: Path, record: Record, assay: Assay) -> None:
    record([RIGHT] * 3)
    record([RIGHT] * 3, scenario="bridge")
    draft = workspace / "scenarios" / "draft"
    draft.mkdir()
    (draft / "scenario.yaml").write_text(SCENARIO.format(verified="false"))
    (draft / "schema.json").write_text(json.dumps(SCHEMA))
    (draft / "reference.json").write_text(json.dumps(REFERENCE))
    (workspace / "runs" / "all.jsonl").write_text(
        "".join(run_row("a/good", number, RIGHT, scenario="draft") for number in (1, 2))
    )
    assay("import")

    every = assay("gate", "--model", "a/good", "--min-quality", 50, *ALLOWED)
    named = assay("gate", "draft", "--model", "a/good", "--min-quality", 50, *ALLOWED)

    assert (every.code, named.code) == (0, 1)
    assert "Left out, since no model has a score there: draft." in every.out
    assert "draft: no score: its reference is a draft" in last_line(named)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "a/good"), "no bound is given"),
        (("--model", "a/god", "--min-quality", 5), "Nearest known: a/good"),
        (("--model", "a/good", "--baseline", "b/bad"), "Nearest known: b/bad:free"),
        (("towr", "--model", "a/good", "--min-quality", 5), "Nearest known: tower"),
        (("--model", "a/good", "--baseline", "a/good"), "a/good is the model itself"),
        (("--model", "a/good", "--min-quality", 101), "--min-quality: 101 is out of range"),
        (("--min-quality", 5), "--model"),
    ],
)
@pytest.mark.usefixtures("workspace")
def test_what_makes_no_sense_is_bad_input_and_no_failed_gate(
    assay: Assay, words: tuple[object, ...], message: str
) -> None:
    said = assay("gate", *words)

    assert said.code == 2
    assert message in said.err
    assert assay("gate", *words, "--json").json["error"]["message"]


def test_json_holds_rows_intervals_verdicts_and_reasons(record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT, HALF], [WRONG] * 3)

    said = assay("gate", "-m", "b/bad:free", "--baseline", "a/good", "--min-quality", 90, "--json")

    found = said.json
    row, overall = found["scenarios"][0], found["overall"]
    assert (said.code, found["passed"], found["verdict"].partition(":")[0]) == (1, False, "gate failed")
    assert overall["checks"]["baseline"]["certainty"] == "certain"
    assert overall["checks"]["min_quality"]["holds"] is False
    assert overall["difference"]["interval"][1] < 0
    assert row["difference"] == overall["difference"]
    assert len(row["baseline_runs"]["qualities"]) == 3
    assert [(one["model_id"], one["kind"]) for one in found["problems"]] == [
        ("b/bad:free", "exact_only"),
        ("a/good", "exact_only"),
    ]
    assert len(found["reasons"]) == 4
    assert "and 1 more" in found["verdict"]


def test_a_figure_is_written_out_until_it_shows_its_side_of_the_bound(record: Record, assay: Assay) -> None:
    record([RIGHT, RIGHT, HALF])

    quality = assay("gate", "-m", "a/good", "--min-quality", 0, "--json").json["overall"]["quality"]["value"]
    said = assay("gate", "-m", "a/good", "--min-quality", 84.84, *ALLOWED)

    assert quality == pytest.approx(84.848, abs=1e-3)
    assert "quality 84.85 (95% " in last_line(said)
    assert "is at least 84.84" in last_line(said)


def test_the_command_line_loads_nothing_heavy_for_it() -> None:
    code = "import sys, pipelines.cli.gate, pipelines.cli.gate_page; print({'scipy', 'sqlalchemy'} & set(sys.modules))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
