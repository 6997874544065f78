"""From real scorecards to the log, and what merges make of it."""

from __future__ import annotations

from collections.abc import Mapping

from scoring.edits import LoggedFinding, Merged, Snapshot, Support
from scoring.finding_log import claimed_paths, logged_findings, saved_paths, supports_in
from scoring.item_ids import assign_item_ids
from scoring.merge import merge
from scoring.records import Answer, Context, Evidence, Json, Question, Scorecard, Verdict
from scoring.schema import compile_schema
from tests.solver import body_of, config_with, scored

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "built": {"type": "integer"},
        "keeper": {"type": ["string", "null"]},
        "lamps": {
            "type": "array",
            "x-assay": {"key": ["colour"]},
            "items": {
                "type": "object",
                "properties": {"colour": {"type": "string"}, "range_km": {"type": "number"}},
            },
        },
    },
}
REFERENCE: Json = {"built": 1911, "keeper": None, "lamps": [{"colour": "white", "range_km": 30}]}
OWNER = Snapshot(content=REFERENCE, item_ids=assign_item_ids(REFERENCE))
WHITE = f"/lamps/@{OWNER.item_ids['/lamps/0']}"
TRUTH: Mapping[str, list[Json]] = {
    "/built": [1912],
    "/keeper": ["J. Maes"],
    "/lamps/*": [{"colour": "green", "range_km": 5}],
    "/lamps/*/range_km": [31],
}


def honest(question: Question) -> Answer:
    """A judge that knows the truth."""
    body = body_of(question)
    place = body["field"]
    assert isinstance(place, dict)
    true = TRUTH[str(place["path"])]
    if body["question"] == "verify":
        verdict = Verdict.CORRECT if body["value"] in true else Verdict.WRONG
    elif body["A"] in true:
        verdict = Verdict.B_WRONG
    else:
        verdict = Verdict.A_WRONG if body["B"] in true else Verdict.BOTH_WRONG
    return Answer(verdict=verdict, credit=0.0, basis="document", reason="it says so")


def card_of(output: Json, reference: Snapshot = OWNER, context: Context | None = None) -> Scorecard:
    config = config_with(has_judge=True)
    return scored(SCHEMA, reference.content, output, config=config, context=context, judge=honest)


def log_of(output: Json, *, round_id: int = 1, reference: Snapshot = OWNER) -> list[LoggedFinding]:
    return logged_findings(card_of(output, reference), reference, model_id="ada", run_id=7, round_id=round_id)


def merged(findings: list[LoggedFinding], supports: list[Support] | None = None) -> Merged:
    return merge(OWNER, findings, supports=supports or [], root=compile_schema(SCHEMA, REFERENCE))


RIGHT: Json = {
    "built": 1912,
    "keeper": "J. Maes",
    "lamps": [{"colour": "green", "range_km": 5}, {"colour": "white", "range_km": 31}],
}


def test_findings_are_logged_by_stable_paths_with_what_they_were_found_against() -> None:
    log = {(one.path, one.is_addition): one for one in log_of(RIGHT)}
    assert log.keys() == {("/built", False), ("/keeper", False), ("/lamps", True), (f"{WHITE}/range_km", False)}
    built, keeper = log["/built", False], log["/keeper", False]
    assert (built.evidence, built.proposal, built.reference_value) == (Evidence.REFERENCE_WRONG, 1912, 1911)
    assert (keeper.evidence, keeper.proposal, keeper.reference_value) == (Evidence.FILLED_GAP, "J. Maes", None)
    assert (built.model_id, built.run_id, built.round_id, bool(built.question_id)) == ("ada", 7, 1, True)


def test_a_confirmed_extra_item_is_an_item_to_add() -> None:
    (added,) = [one for one in log_of(RIGHT) if one.is_addition]
    assert (added.proposal, added.reference_value) == ({"colour": "green", "range_km": 5}, None)
    assert [one for one in log_of({**RIGHT, "lamps": [{"colour": "blue"}]}) if one.is_addition] == []  # type: ignore[dict-item]  # an object


def test_a_first_item_of_a_missing_list_is_an_item_to_add() -> None:
    empty = Snapshot(content={"built": 1912})
    (added,) = [
        one
        for one in log_of(RIGHT, reference=empty)
        if one.is_addition and one.proposal == {"colour": "green", "range_km": 5}
    ]
    root = compile_schema(SCHEMA, empty.content)
    assert merge(empty, [added], root=root).content == {"built": 1912, "lamps": [{"colour": "green", "range_km": 5}]}


def test_the_merge_of_a_right_output_makes_the_reference_right() -> None:
    lamps = [{"colour": "white", "range_km": 31}, {"colour": "green", "range_km": 5}]
    assert merged(log_of(RIGHT)).content == {"built": 1912, "keeper": "J. Maes", "lamps": lamps}


def test_a_value_found_wrong_without_a_right_one_is_logged_without_a_proposal() -> None:
    (found,) = log_of({"built": 1899})
    assert (found.has_proposal, found.proposal, found.reference_value) == (False, None, 1911)
    assert merged([found]).edits == ()


def test_what_an_example_proves_is_logged_with_its_evidence() -> None:
    context = Context(examples=({"built": 1912},))
    card = card_of({"built": 1912}, context=context)
    (found,) = logged_findings(card, OWNER, model_id="ada", run_id=7, round_id=1)
    assert (found.evidence, found.proposal) == (Evidence.EXAMPLE, 1912)


def test_a_model_that_gives_an_automatic_value_again_supports_it() -> None:
    findings = log_of(RIGHT)
    version = merged(findings)
    head = Snapshot(content=version.content, item_ids=version.item_ids)
    given: Json = {"built": "1912", "keeper": "j. maes", "lamps": [{"colour": "GREEN", "range_km": 5}]}
    claimed = claimed_paths(findings, version.edits)
    supports = supports_in(card_of(given, head).fields, head, claimed, model_id="bert", run_id=8, round_id=2)
    again = merged(findings, supports)
    backed = {edit.path: edit.model_ids for edit in again.edits}
    assert backed.pop(f"{WHITE}/range_km") == ("ada",)
    assert set(backed.values()) == {("ada", "bert")}
    assert again.content == version.content


def test_what_models_gave_counts_only_where_something_is_claimed() -> None:
    card = card_of({"built": 1911, "lamps": [{"colour": "white", "range_km": 30}]})
    by = {"model_id": "bert", "run_id": 8, "round_id": 1}
    assert supports_in(card.fields, OWNER, (), **by) == []  # type: ignore[arg-type]  # names and ids
    (support,) = supports_in(card.fields, OWNER, {"/built"}, **by)  # type: ignore[arg-type]  # names and ids
    assert (support.path, support.value) == ("/built", 1911)


def test_what_another_model_gave_instead_is_kept_as_it_gave_it() -> None:
    card = card_of({"built": 1912})
    (support,) = supports_in(card.fields, OWNER, {"/built"}, model_id="bert", run_id=8, round_id=1)
    assert support.value == 1912


def test_a_save_is_the_paths_that_it_changed_in_either_view() -> None:
    version = merged(log_of(RIGHT))
    head = Snapshot(content=version.content, item_ids=version.item_ids)
    taken_over = saved_paths(head, head, OWNER)
    green = next(edit.path for edit in version.edits if edit.is_addition)
    assert taken_over == {"/built", "/keeper", green, f"{WHITE}/range_km"}
    put_back = saved_paths(OWNER, head, OWNER)
    assert put_back == taken_over


def test_reordering_and_the_spelling_of_numbers_are_no_change() -> None:
    lamps: list[Json] = [{"colour": "red"}, {"colour": "white", "range_km": 30}]
    left = Snapshot(content={"lamps": lamps}, item_ids={"/lamps/0": "r", "/lamps/1": "w"})
    moved: list[Json] = [{"colour": "white", "range_km": 30.0}, {"colour": "red", "range_km": None}]
    right = Snapshot(content={"lamps": moved}, item_ids={"/lamps/0": "w", "/lamps/1": "r"})
    assert saved_paths(left, right) == frozenset()
