from __future__ import annotations

from dataclasses import replace

import pytest

from assets.checks import CHECKS, result_of
from resources.cells import Cell, ScoreHead

HEAD = ScoreHead(
    model_score_id=1, reference_version_id=1, reference_hash="r", config_hash="c", runs_hash="u", mode="full"
)
GOOD = Cell(
    scenario_id="s",
    model_id="m",
    expected_repetitions=3,
    recorded=3,
    newest_run_id=7,
    runs_hash="u",
    reference_hash="r",
    has_verified_reference=True,
    config_hash="c",
    head=HEAD,
    is_stale=False,
)


def failing(cell: Cell) -> set[str]:
    return {check.name for check in CHECKS if not result_of(check, [GOOD, cell]).passed}


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        (GOOD, set()),
        (replace(GOOD, head=None), set()),
        (replace(GOOD, has_verified_reference=False), {"reference_verified"}),
        (replace(GOOD, recorded=2), {"runs_complete"}),
        (replace(GOOD, recorded=0, head=None), set()),
        (replace(GOOD, reference_hash="edited"), {"scores_fresh"}),
        (replace(GOOD, config_hash="stricter"), {"scores_fresh"}),
        (replace(GOOD, head=replace(HEAD, mode="exact_only")), {"similarity_used"}),
        (replace(GOOD, head=replace(HEAD, is_judge_family=True)), {"judge_family"}),
    ],
)
def test_each_check_fails_for_what_it_is_about_alone(cell: Cell, names: set[str]) -> None:
    assert failing(cell) == names


def test_a_failing_check_names_the_place_and_the_remedy() -> None:
    results = [result_of(check, [replace(GOOD, scenario_id="casablanca", reference_hash="edited")]) for check in CHECKS]
    (failed,) = [result for result in results if not result.passed]
    assert "assay score --stale" in str(failed.description)
    assert "casablanca" in str(failed.metadata["where"].value)
