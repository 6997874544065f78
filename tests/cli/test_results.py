"""`assay score`, `results` and `ranking`: what people and programs read."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipelines.session import open_session
from resources.columns import meaning_of
from tests.cli.tower import RIGHT, Assay, run_row, score_without_dagster


@pytest.mark.usefixtures("workspace")
def test_scoring_does_what_is_left_and_says_so(assay: Assay) -> None:
    assay("import")

    first = assay("score", "--model", "a/good", "--json").json
    second = assay("score", "--json").json
    third = assay("score")

    assert [one["model_id"] for one in first["scored"]] == ["a/good"]
    assert [one["model_id"] for one in second["scored"]] == ["b/bad:free"]
    assert "Nothing to score" in third.out


@pytest.mark.usefixtures("scored")
def test_results_show_mean_spread_and_runs(assay: Assay) -> None:
    found = assay("results", "tower", "--json").json

    assert [row["model_id"] for row in found["models"]] == ["a/good", "b/bad:free"]
    assert found["models"][0]["quality"] == pytest.approx(100)
    assert "lowest..highest" in assay("results", "tower").out
    assert "Runs" in assay("results", "tower", "--model", "a/good").out


@pytest.mark.usefixtures("scored")
def test_one_run_shows_every_field_and_list(assay: Assay) -> None:
    found = assay("results", "tower", "--model", "b/bad:free", "--run", 1, "--json").json
    text = assay("results", "tower", "--model", "b/bad:free", "--run", 1).out

    assert {row["path"] for row in found["fields"]} >= {"/name", "/height_metres"}
    assert found["lists"][0]["missed_count"] == 2
    assert "Gustave Eiffel" in text
    assert "numbers differ" in text


@pytest.mark.usefixtures("scored")
def test_a_run_needs_a_model_where_there_are_several(assay: Assay) -> None:
    assert "a/good, b/bad:free" in assay("results", "tower", "--run", 1).err
    assert "Scored: 1, 2." in assay("results", "tower", "--run", 9, "--model", "a/good").err


@pytest.mark.usefixtures("scored")
def test_exact_only_is_said_on_everything(assay: Assay) -> None:
    for words in (
        ["score", "--all"],
        ["results", "tower"],
        ["results", "tower", "-m", "a/good", "--run", "1"],
        ["ranking"],
    ):
        assert "exact_only" in assay(*words).out, words


@pytest.mark.usefixtures("scored")
def test_the_nearest_scenario_is_named(assay: Assay) -> None:
    assert "tower" in assay("results", "towr").err
    assert "a/good" in assay("score", "--model", "a/god").err
    assert assay("ranking", "towr", "--json").json["error"]["kind"] == "input_error"


@pytest.mark.usefixtures("scored")
def test_the_ranking_mixes_quality_speed_and_cost(assay: Assay) -> None:
    equal = assay("ranking", "--json").json
    by_quality = assay("ranking", "--weights", "quality=100", "--json").json

    assert equal["places"][0]["model_id"] == "b/bad:free"
    assert by_quality["places"][0]["model_id"] == "a/good"
    assert equal["places"][1]["cost"] == pytest.approx(0)
    assert equal["exact_only"] == ["tower"]
    assert "Weights: quality 33.3" in assay("ranking").out


@pytest.mark.parametrize(
    "weights", ["quality=50", "quality=a", "kwality=100", "quality=50,speed=60", "quality=-10,speed=110", ""]
)
@pytest.mark.usefixtures("scored")
def test_weights_that_make_no_sense_are_refused(assay: Assay, weights: str) -> None:
    assert assay("ranking", "--weights", weights).code == 2


def test_stale_scores_are_marked_left_out_and_scored_again(scored: Path, assay: Assay) -> None:
    reference = scored / "scenarios" / "tower" / "reference.json"
    reference.write_text(json.dumps({"name": "Eiffel Tower", "height_metres": 324}))

    assert "stale" in assay("results", "tower").out
    left_out = assay("ranking", "--json").json
    assert (left_out["places"], left_out["stale"]) == ([], {"counted": False, "scores": 2})
    assert len(assay("ranking", "--include-stale", "--json").json["places"]) == 2
    assert "assay score --stale" in assay("ranking").out
    assert len(assay("score", "--stale", "--json").json["scored"]) == 2
    assert len(assay("ranking", "--json").json["places"]) == 2


def test_failed_and_unreadable_runs_are_shown(workspace: Path, assay: Assay) -> None:
    rows = run_row("a/good", 1, RIGHT) + run_row("a/good", 2, None, error="timed out")
    rows += run_row("b/bad:free", 1, "I do not know.") + run_row("b/bad:free", 2, RIGHT, cost=None)
    (workspace / "runs" / "all.jsonl").write_text(rows)
    assay("import")

    scored = {one["model_id"]: one for one in assay("score", "--json").json["scored"]}
    text = assay("results", "tower", "-m", "b/bad:free").out

    assert (scored["a/good"]["failed_runs"], scored["a/good"]["quality"]) == (1, pytest.approx(100))
    assert (scored["b/bad:free"]["unreadable_runs"], scored["b/bad:free"]["quality"]) == (1, pytest.approx(50))
    assert "unreadable: " in text
    assert "1/2" in assay("results", "tower").out


def test_incomplete_runs_wait(workspace: Path, assay: Assay) -> None:
    (workspace / "runs" / "all.jsonl").write_text(run_row("a/good", 1, RIGHT))
    assay("import")

    assert "1 of 2 runs are recorded" in assay("score").out
    assert "1 of 2 runs are recorded" in assay("results", "tower").out
    assert "Nothing is ranked yet" in assay("ranking").out


@pytest.mark.usefixtures("scored")
def test_results_go_to_csv_and_parquet(assay: Assay, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(assay("results", "tower", "--csv").out)))
    fields = list(csv.DictReader(io.StringIO(assay("results", "tower", "-m", "a/good", "--run", 1, "--csv").out)))
    done = assay("ranking", "--parquet", tmp_path / "ranking.parquet")

    assert [row["model_id"] for row in rows] == ["a/good", "b/bad:free"]
    assert {field["path"] for field in fields} >= {"/name"}
    assert done.code == 0
    assert pq.read_table(tmp_path / "ranking.parquet").column("model_id").to_pylist() == ["b/bad:free", "a/good"]
    assay("results", "tower", "--parquet", tmp_path / "models.parquet")
    assay("results", "tower", "--model", "a/good", "--run", 1, "--parquet", tmp_path / "fields.parquet")
    for name, view in (("ranking", "ranking"), ("models", "bi.model_scores"), ("fields", "bi.field_scores")):
        schema = pq.read_schema(tmp_path / f"{name}.parquet")
        assert len(schema) > 10
        for field in schema:
            assert field.metadata[b"comment"].decode() == meaning_of(field.name, view)
    assert assay("ranking", "--parquet", tmp_path / "no" / "such" / "folder.parquet").code == 2


def test_a_text_that_looks_like_a_formula_is_quoted_in_csv(workspace: Path, assay: Assay) -> None:
    (workspace / "runs" / "all.jsonl").write_text(
        "".join(run_row("a/good", n, {"name": "=1+1", "height_metres": -5}) for n in (1, 2))
    )
    score_without_dagster()

    rows = list(csv.DictReader(io.StringIO(assay("results", "tower", "-m", "a/good", "--run", 1, "--csv").out)))

    assert "'=1+1" in {row["candidate_text"] for row in rows}
    assert not any(row["candidate_text"].startswith("=") for row in rows)


def test_the_view_for_bi_tools_agrees_with_the_command(workspace: Path, assay: Assay) -> None:
    rows = [run_row("a/good", n, RIGHT, seconds=2.0, cost=None) for n in (1, 2)]
    rows += [run_row("b/bad:free", n, {"name": "Eiffel Tower"}, seconds=3.0, cost=0.0) for n in (1, 2)]
    (workspace / "runs" / "all.jsonl").write_text("".join(rows))
    score_without_dagster()

    places = {place["model_id"]: place for place in assay("ranking", "--json").json["places"]}
    with open_session() as session:
        view = {row["model_id"]: row for row in session.warehouse.leaderboard()}

    assert set(view) == set(places) == {"a/good", "b/bad:free"}
    for model_id, place in places.items():
        row = view[model_id]
        assert row["position"] == place["position"]
        assert (row["score"], row["quality"]) == (pytest.approx(place["total"]), pytest.approx(place["quality"]))
        for part in ("speed", "cost"):
            expected = place[part]
            assert row[f"{part}_score"] == (None if expected is None else pytest.approx(expected))
