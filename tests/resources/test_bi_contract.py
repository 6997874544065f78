from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from resources import bi_contract
from resources.bi_contract import agreed, compared, differences, found, is_breaking, write
from resources.relations import KEYS, VIEWS, grain_of
from scoring.errors import InputError

VIEW = "bi.run_scores"
UNITS = re.compile(r"_(usd|seconds|bytes|tokens|count|runs|weight|sha256|hash|json|text|id|at|per_million)$")


def test_this_version_keeps_the_contract(engine: Engine) -> None:
    assert differences(engine) == (), "add at the end, or a _v2 view; then run: python -m resources.bi_contract"


def changed(**columns: str | None) -> dict[str, Any]:
    """The contract with columns of one view put at the end, given another type, or (None) taken away."""
    contract: dict[str, Any] = copy.deepcopy(dict(agreed()))
    for name, kind in columns.items():
        if kind is None:
            del contract[VIEW]["columns"][name]
        else:
            contract[VIEW]["columns"][name] = kind
    return contract


def told(contract: dict[str, Any]) -> list[str]:
    return list(compared(agreed(), contract))


def test_what_is_added_is_told_and_breaks_nothing() -> None:
    assert told(changed(mood="text")) == ["new: bi.run_scores.mood is not in the contract"]
    more = changed() | {"bi.moods": {"grain": "Grain: one row a mood. Key: mood.", "key": ["mood"], "columns": {}}}
    assert told(more) == ["new: bi.moods is not in the contract"]
    assert not any(is_breaking(one) for one in (*told(more), *told(changed(mood="text"))))


def test_what_leaves_or_changes_breaks() -> None:
    gone, retyped, renamed = changed(quality=None), changed(quality="numeric"), changed(quality=None, grade="real")
    assert told(gone) == ["breaking: bi.run_scores.quality is gone"]
    assert told(retyped) == ["breaking: bi.run_scores.quality is numeric, agreed is double precision"]
    assert told(renamed)[0] == "breaking: bi.run_scores.quality is gone"
    without = changed()
    del without[VIEW]
    assert told(without) == ["breaking: bi.run_scores is gone"]


def test_another_place_or_grain_breaks_and_other_words_do_not() -> None:
    moved, regrained, reworded = changed(), changed(), changed()
    columns = moved[VIEW]["columns"]
    moved[VIEW]["columns"] = {"mood": "text"} | columns
    assert told(moved)[-1].startswith("breaking: the columns of bi.run_scores stand in another order")
    regrained[VIEW] |= {"key": ["run_id"]}
    assert told(regrained) == ["breaking: the key of bi.run_scores is run_id, agreed is model_score_id, run_id"]
    reworded[VIEW] |= {"grain": "Grain: one row a run. Key: model_score_id, run_id."}
    assert told(reworded) == ["new: bi.run_scores says its grain in other words"]


def test_a_database_that_drifted_is_named(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("create view bi.mine as select 1 as one"))
        connection.execute(text("create or replace view bi.models as select *, 1 as mood from bi.models"))
        connection.execute(text("drop view bi.rounds"))
        connection.execute(text("comment on view bi.runs is null"))
    assert set(differences(engine)) == {
        "new: bi.mine is not in the contract",
        "new: bi.models.mood is not in the contract",
        "breaking: bi.rounds is gone",
        "breaking: the key of bi.runs is nothing, agreed is run_id",
    }


def test_the_file_is_not_refreshed_over_a_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = agreed()
    file = tmp_path / "contract.json"
    monkeypatch.setattr(bi_contract, "FILE", file)
    write(before, is_breaking_allowed=False)
    write(added := changed(mood="text"), is_breaking_allowed=False)
    assert agreed() == added
    with pytest.raises(InputError, match=r"bi\.run_scores\.mood is gone.*_v2"):
        write(before, is_breaking_allowed=False)
    assert agreed() == added
    write(before, is_breaking_allowed=True)
    assert agreed() == before


def test_every_view_declares_its_grain_and_a_key_of_its_own_columns(engine: Engine) -> None:
    views = found(engine)
    assert set(views) == set(VIEWS) == set(KEYS)
    for view, one in views.items():
        assert one["grain"] == grain_of(view)
        assert tuple(one["key"]) == KEYS[view]
        assert set(one["key"]) <= set(one["columns"])


def test_columns_are_named_by_one_rule(engine: Engine) -> None:
    for view, one in found(engine).items():
        for name, kind in one["columns"].items():
            where = f"{view}.{name}"
            assert re.fullmatch(r"[a-z][a-z0-9_]*", name), where
            assert (kind == "boolean") == name.startswith(("is_", "has_")), where
            assert (kind == "timestamp with time zone") == name.endswith("_at"), where
            assert not re.search(r"(seconds|usd|bytes|tokens)(?=_)", name) or UNITS.search(name), where


RATIOS = {
    "success_rate": ("ok_run_count", "run_count"),
    "precision": ("matched_count", "extra_count"),
    "recall": ("matched_count", "missed_count"),
    "f1": ("matched_count", "missed_count", "extra_count"),
    "credit": ("earned_weight", "shared_weight"),
    "mean_cost_usd": (),
    "mean_duration_seconds": (),
}
WEIGHTS = {
    "completeness": ("shared_weight", "reference_weight"),
    "correctness": ("earned_weight", "shared_weight"),
    "hallucination": ("candidate_weight", "shared_weight"),
    "quality": ("earned_weight", "reference_weight", "candidate_weight"),
}
MEANS = {
    "bi.model_scores": {
        **dict.fromkeys(("quality", *WEIGHTS), ("scored_run_count",)),
        "mean_cost_usd": ("priced_run_count",),
        "mean_duration_seconds": ("timed_run_count",),
    },
    "bi.leaderboard": {
        "quality": ("scenario_count",),
        "speed_score": ("speed_known_count",),
        "cost_score": ("cost_known_count",),
    },
    "bi.stale_scores": {"quality": ()},
}


def test_numerator_and_denominator_stand_beside_every_ratio(engine: Engine) -> None:
    seen = set()
    for view, one in found(engine).items():
        rules = RATIOS | MEANS.get(view, WEIGHTS)
        for ratio, parts in rules.items():
            if ratio in one["columns"]:
                seen.add(ratio)
                assert set(parts) <= set(one["columns"]), f"{view}.{ratio}"
    assert seen >= set(RATIOS) | set(WEIGHTS)


FACTS_OF_SCORES = ("model_scores", "run_scores", "field_scores", "list_scores", "findings", "scoring_records")


def test_facts_say_what_they_were_scored_against_and_whether_that_holds_now(engine: Engine) -> None:
    views = found(engine)
    for view in FACTS_OF_SCORES:
        wanted = {"reference_version", "is_latest", "is_stale", "title", "provider", "family", "scenario_type"}
        assert wanted <= set(views[f"bi.{view}"]["columns"]), view
    assert "is_latest" in views["bi.judge_calls"]["columns"]
    assert "is_latest" in views["bi.reference_versions"]["columns"]
