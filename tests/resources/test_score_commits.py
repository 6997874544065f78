from __future__ import annotations

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from resources import tables
from resources.warehouse import ReferenceOrigin, RoundStatus, RoundTrigger, Warehouse
from scoring.errors import InputError
from scoring.records import Mode, Origin, Setting, Unreadable
from tests.resources.stored_records import (
    HOSTILE,
    card_of,
    failed_run_of,
    field_of,
    filled,
    finding_of,
    list_of,
    run_of,
    scenario_of,
    scoring_of,
)


@pytest.fixture
def film(warehouse: Warehouse) -> Warehouse:
    """A warehouse with three recorded runs of m1 on a film, the last one failed."""
    filled(warehouse).import_runs([run_of(), run_of(repetition=2, cost_usd=1.5), failed_run_of(repetition=3)])
    return warehouse


def test_a_committed_score_is_what_the_summary_of_its_runs_says(film: Warehouse) -> None:
    round_id = film.open_round(RoundTrigger.COMMAND, planned_models=1)
    cards = {1: card_of(60.0), 2: card_of(90.0)}
    score_id = film.commit_model_score(scoring_of(film, cards=cards, round_id=round_id))
    (row,) = film.results("film")
    assert row["model_score_id"] == score_id
    assert (row["quality"], row["lowest_quality"], row["highest_quality"]) == (75.0, 60.0, 90.0)
    assert (row["run_count"], row["ok_run_count"], row["scored_run_count"]) == (3, 2, 2)
    assert row["success_rate"] == pytest.approx(2 / 3)
    assert (row["mean_cost_usd"], row["mean_duration_seconds"], row["median_repetition"]) == (1.0, 2.0, 1)
    assert (row["mode"], row["embedding_model"], row["reference_version"], row["round_id"]) == (
        "full",
        "local",
        1,
        round_id,
    )
    assert (row["is_latest"], row["is_stale"]) == (True, False)
    film.close_round(round_id, RoundStatus.DONE)


def test_runs_fields_and_lists_are_read_back_in_order(film: Warehouse) -> None:
    fields = (field_of("/b", similarity=0.5), field_of("/a", "Rick", None))
    card = card_of(fields=fields, lists=(list_of("/y"), list_of("/x", extra=("Ugarte", {"name": "Sam"}))))
    film.commit_model_score(scoring_of(film, cards={1: card, 2: card_of()}))
    assert [row["repetition"] for row in film.run_scores("film")] == [1, 2]
    rows = film.field_scores("film", "m1", 1)
    assert [(row["path"], row["similarity"], row["candidate_text"]) for row in rows] == [
        ("/b", 0.5, "1942"),
        ("/a", None, None),
    ]
    lists = film.list_scores("film", "m1", 1)
    assert [(row["path"], row["missed_items"], row["extra_items"]) for row in lists] == [
        ("/y", "Ilsa", ""),
        ("/x", "Ilsa", 'Ugarte\n{"name": "Sam"}'),
    ]
    assert lists[1]["extra_count"] == 2


def test_hostile_text_is_shown_to_people_and_kept_whole_in_the_lake(film: Warehouse) -> None:
    setting = Setting(text=HOSTILE, origin=Origin.SCENARIO)
    field = field_of(f"/{HOSTILE}", HOSTILE, {HOSTILE: [HOSTILE]}, reason=HOSTILE, setting=setting, list_path=HOSTILE)
    card = card_of(
        fields=(field,),
        lists=(list_of(f"/{HOSTILE}", (HOSTILE,)),),
        findings=(finding_of(f"/{HOSTILE}", HOSTILE),),
        problems=(HOSTILE, "second"),
        unreadable=Unreadable(kind="syntax", reason=HOSTILE),
    )
    film.commit_model_score(scoring_of(film, cards={1: card, 2: card_of()}))
    (row,) = film.field_scores("film", "m1", 1)
    assert row["reference_text"] == "a␀b\N{REPLACEMENT CHARACTER}c\td\\ne\u202e é"
    assert row["setting_origin"] == "scenario"
    assert film.run_scores("film")[0]["problems"].endswith("\nsecond")
    with film.engine.connect() as connection:
        file = connection.execute(select(tables.model_scores.c.field_scores_file)).scalar_one()
        findings_file = connection.execute(select(tables.model_scores.c.findings_file)).scalar_one()
    kept = film.lake.read(file).to_pylist()[0]
    assert json.loads(kept["candidate_json"]) == {HOSTILE: [HOSTILE]}
    assert json.loads(film.lake.read(findings_file).to_pylist()[0]["proposal_json"]) == HOSTILE


def test_long_values_are_shown_shortened_and_kept_whole(film: Warehouse) -> None:
    long = "x" * 50_000
    deep: list[object] = []
    for _ in range(3_000):
        deep = [deep]
    card = card_of(fields=(field_of(candidate=long), field_of(candidate=deep)))  # type: ignore[arg-type]  # JSON
    film.commit_model_score(scoring_of(film, cards={1: card, 2: card_of()}))
    first, second = film.field_scores("film", "m1", 1)
    assert (len(first["candidate_text"]), first["is_shortened"]) == (10_000, True)
    assert second["candidate_text"].startswith("[[[")
    with film.engine.connect() as connection:
        file = connection.execute(select(tables.model_scores.c.field_scores_file)).scalar_one()
    kept = film.lake.read(file).to_pylist()
    assert kept[0]["candidate_json"] == json.dumps(long)
    assert kept[1]["candidate_json"] == "[" * 3_001 + "]" * 3_001


def test_a_model_whose_runs_all_failed_has_a_score_without_quality(warehouse: Warehouse) -> None:
    filled(warehouse).import_runs([failed_run_of()])
    warehouse.commit_model_score(scoring_of(warehouse))
    (row,) = warehouse.results("film")
    assert (row["quality"], row["success_rate"], row["scored_run_count"]) == (None, 0.0, 0)
    assert warehouse.leaderboard("scenario") == []


def test_a_reference_that_is_not_verified_scores_nothing(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference_is_verified=False)).import_runs([run_of()])
    with pytest.raises(InputError, match="assay reference verify film"):
        warehouse.commit_model_score(scoring_of(warehouse))
    assert warehouse.results("film") == []


@pytest.mark.parametrize("cards", [{}, {1: card_of()}, {1: card_of(), 2: card_of(), 3: card_of()}])
def test_cards_that_are_not_those_of_the_runs_are_no_score(cards: dict[int, object], film: Warehouse) -> None:
    with pytest.raises(InputError, match="a score is whole or not at all"):
        film.commit_model_score(scoring_of(film, cards=cards))
    assert film.results("film") == []


def test_a_commit_that_fails_leaves_nothing(film: Warehouse) -> None:
    bad = card_of(fields=(field_of(), field_of(credit="no number")))
    with pytest.raises(Exception, match="no number"):
        film.commit_model_score(scoring_of(film, cards={1: card_of(), 2: bad}))
    with film.engine.connect() as connection:
        for table in (tables.model_scores, tables.run_scores, tables.field_scores, tables.list_scores):
            assert connection.execute(select(func.count()).select_from(table)).scalar() == 0


def test_a_score_that_another_process_committed_meanwhile_is_not_made_twice(film: Warehouse) -> None:
    planned = scoring_of(film)
    with ThreadPoolExecutor(4) as pool:
        ids = set(pool.map(film.commit_model_score, [planned] * 4))
    assert len(ids) == 1
    again = film.commit_model_score(scoring_of(film))
    assert {again} != ids, "a scoring that was planned after it is a new score"
    assert [row["model_score_id"] for row in film.results("film")] == [again]


def test_a_score_made_meanwhile_of_other_runs_does_not_stand_for_this_one(film: Warehouse) -> None:
    planned = scoring_of(film)
    first = film.commit_model_score(planned)
    film.import_runs([run_of(repetition=4)])
    newer = dataclasses.replace(scoring_of(film), replaces=None)
    assert film.commit_model_score(newer) != first


def test_an_exact_only_score_says_so_everywhere(film: Warehouse) -> None:
    film.commit_model_score(scoring_of(film, mode=Mode.EXACT_ONLY, embedding_model=None))
    assert film.results("film")[0]["mode"] == "exact_only"
    assert film.results("film")[0]["embedding_model"] is None
    assert {row["mode"] for row in film.run_scores("film")} == {"exact_only"}
    assert {row["mode"] for row in film.field_scores("film", "m1", 1)} == {"exact_only"}
    assert [row["exact_only_count"] for row in film.leaderboard()] == [1]


def test_a_score_names_the_owners_version_it_was_made_against(film: Warehouse) -> None:
    planned = scoring_of(film)
    film.save_reference("film", {"year": 1943}, author="ann", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True)
    film.commit_model_score(planned)
    (row,) = film.results("film")
    assert (row["reference_version"], row["is_stale"]) == (1, True)
