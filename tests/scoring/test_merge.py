"""The rules of docs/reference.md one by one, on its example; every rule there has a test of its name here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from scoring.edits import LoggedFinding, Merged, Rejection, Save, Snapshot, Support
from scoring.finding_log import saved_paths, version_of_round
from scoring.item_ids import assign_item_ids
from scoring.merge import merge
from scoring.paths import position_path, resolve
from scoring.records import Evidence, Json
from scoring.schema import compile_schema

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"

LIGHTHOUSE: Json = {
    "name": "Westhoek Light",
    "built": 1911,
    "keeper": None,
    "lamps": [{"colour": "white", "range_km": 30}, {"colour": "red", "range_km": 12}],
}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
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
IDS = assign_item_ids(LIGHTHOUSE)
OWNER = Snapshot(content=LIGHTHOUSE, item_ids=IDS)
WHITE, RED = (f"/lamps/@{IDS[place]}" for place in ("/lamps/0", "/lamps/1"))

BETTER, WRONG = Evidence.BETTER, Evidence.REFERENCE_WRONG


def found(
    round_id: int, model: str, value: Json, evidence: Evidence = BETTER, *, path: str = "/built", against: Json = 1911
) -> LoggedFinding:
    """What one model's answer showed at a path in a round, against what stood there."""
    return LoggedFinding(
        finding_id=round_id,
        path=path,
        evidence=evidence,
        has_proposal=True,
        proposal=value,
        reference_value=against,
        model_id=model,
        run_id=1,
        round_id=round_id,
    )


def gap(round_id: int, model: str, value: Json, *, path: str, is_addition: bool = False) -> LoggedFinding:
    """A value for an empty place, or a new item of a list, which the judge confirmed."""
    return LoggedFinding(
        finding_id=round_id,
        path=path,
        is_addition=is_addition,
        evidence=Evidence.FILLED_GAP,
        has_proposal=True,
        proposal=value,
        reference_value=None,
        model_id=model,
        run_id=1,
        round_id=round_id,
    )


def gave(round_id: int, model: str, value: Json, path: str = "/built") -> Support:
    """A model's answer that the reference already held, or its owner."""
    return Support(path=path, value=value, model_id=model, run_id=1, round_id=round_id)


def merged(
    findings: Sequence[LoggedFinding],
    supports: Sequence[Support] = (),
    *,
    rejections: Sequence[Rejection] = (),
    saves: Sequence[Save] = (),
    owner: Snapshot = OWNER,
) -> Merged:
    root = compile_schema(SCHEMA, owner.content)
    return merge(owner, findings, supports=supports, rejections=rejections, saves=saves, root=root)


def at(version: Merged, path: str = "/built") -> Json:
    pointer = position_path(path, version.item_ids)
    assert pointer is not None
    return resolve(version.content, pointer)


def test_a_finding_changes_the_owners_value() -> None:
    version = merged([found(1, "ada", 1912)])
    (edit,) = version.edits
    assert (edit.path, edit.before, edit.after) == ("/built", 1911, 1912)
    assert (edit.evidence, edit.model_ids, edit.round_id, edit.finding_ids) == (BETTER, ("ada",), 1, (1,))
    assert at(version) == 1912
    assert resolve(OWNER.content, "/built") == 1911


def test_the_answer_that_most_models_gave_goes_first() -> None:
    version = merged([found(1, "ada", 1912, WRONG), found(1, "bert", 1913), found(1, "cleo", 1913)])
    assert at(version) == 1913
    assert version.edits[0].model_ids == ("bert", "cleo")


def test_equal_values_are_one_answer() -> None:
    version = merged(
        [found(1, "ada", 1912), found(1, "bert", 1913), found(1, "cleo", "1913"), found(1, "dora", 1913.0)]
    )
    assert version.edits[0].model_ids == ("bert", "cleo", "dora")


def test_repetitions_of_one_model_are_one_model() -> None:
    version = merged([found(1, "ada", 1912), found(1, "ada", 1912), found(1, "bert", 1913), found(1, "cleo", 1913)])
    assert at(version) == 1913


def test_two_kinds_of_evidence_for_one_value_add_up() -> None:
    version = merged([found(1, "ada", 1913), found(1, "bert", 1912), found(1, "cleo", 1912, WRONG)])
    assert (at(version), version.edits[0].evidence) == (1912, WRONG)


def test_what_an_example_proves_goes_before_any_number_of_models() -> None:
    most = [found(1, model, 1913, WRONG) for model in ("bert", "cleo", "dora")]
    version = merged([*most, found(2, "ada", 1912, Evidence.EXAMPLE, against=1913)])
    assert (at(version), version.edits[0].evidence) == (1912, Evidence.EXAMPLE)


def test_one_more_opinion_leaves_an_edit_in_place() -> None:
    version = merged([found(1, "ada", 1912), found(2, "bert", 1913, against=1912)])
    assert (at(version), version.edits[0].round_id) == (1912, 1)


def test_more_models_agreeing_replace_an_edit() -> None:
    version = merged(
        [found(1, "ada", 1912), found(2, "bert", 1913, against=1912), found(3, "cleo", 1913, against=1912)]
    )
    assert (at(version), version.edits[0].before) == (1913, 1911)
    assert [(edit.before, edit.after, edit.round_id) for edit in version.log] == [(1911, 1912, 1), (1912, 1913, 3)]


def test_a_model_that_gives_the_automatic_value_again_supports_it() -> None:
    rivals = [found(3, "cleo", 1913, against=1912), found(4, "dora", 1913, against=1912)]
    assert at(merged([found(1, "ada", 1912), *rivals])) == 1913
    version = merged([found(1, "ada", 1912), *rivals], [gave(2, "bert", 1912)])
    assert (at(version), version.edits[0].model_ids) == (1912, ("ada", "bert"))


def test_a_verdict_that_an_edit_is_wrong_replaces_it() -> None:
    two = [found(1, "ada", 1912), found(1, "bert", 1912)]
    assert at(merged([*two, found(2, "cleo", 1913, WRONG, against=1912)])) == 1913


def test_three_models_that_agree_outweigh_one_verdict() -> None:
    three = [found(1, model, 1912) for model in ("ada", "bert", "cleo")]
    assert at(merged([*three, found(2, "dora", 1913, WRONG, against=1912)])) == 1912


def test_the_owners_value_stays_where_many_models_gave_it() -> None:
    gave_it = [gave(1, f"model {n}", 1911) for n in range(4)]
    for finding in (found(1, "ada", 1912), found(1, "ada", 1912, WRONG)):
        assert at(merged([finding], gave_it[:3])) == 1912
        assert merged([finding], gave_it).edits == ()


def test_the_owners_value_comes_back_when_many_models_give_it() -> None:
    later = [gave(2, f"model {n}", 1911) for n in range(4)]
    version = merged([found(1, "ada", 1912)], later)
    assert (at(version), version.edits) == (1911, ())
    assert [(edit.after, edit.round_id) for edit in version.log] == [(1912, 1), (1911, 2)]


def test_a_value_found_wrong_without_a_right_one_edits_nothing() -> None:
    both_wrong = LoggedFinding(
        path="/built",
        evidence=WRONG,
        has_proposal=False,
        proposal=None,
        reference_value=1911,
        model_id="ada",
        run_id=1,
        round_id=1,
    )
    assert merged([both_wrong]).edits == ()


def test_an_empty_place_is_filled() -> None:
    version = merged([gap(1, "ada", "J. Maes", path="/keeper"), gap(1, "ada", "oak", path="/stairs/wood")])
    assert [(edit.path, edit.before, edit.after) for edit in version.edits] == [
        ("/keeper", None, "J. Maes"),
        ("/stairs/wood", None, "oak"),
    ]
    assert at(version, "/stairs/wood") == "oak"


def test_a_new_item_is_added_at_the_end_and_none_is_taken_away() -> None:
    green: Json = {"colour": "green", "range_km": 5}
    version = merged([gap(1, "ada", green, path="/lamps", is_addition=True)])
    (edit,) = version.edits
    assert (edit.is_addition, edit.before, edit.after) == (True, None, green)
    assert resolve(version.content, "/lamps/2") == green
    assert edit.path == f"/lamps/@{version.item_ids['/lamps/2']}"
    assert set(IDS.items()) <= set(version.item_ids.items())


def test_a_whole_list_that_is_proposed_adds_its_items() -> None:
    version = merged([found(1, "ada", [{"colour": "green"}, {"colour": "red"}], path="/lamps", against=None)])
    assert [edit.after for edit in version.edits] == [{"colour": "green"}]
    assert len(version.item_ids) == 3


def test_two_proposals_of_one_item_are_one_item() -> None:
    proposals = [("ada", 5), ("bert", 6), ("cleo", 6)]
    version = merged(
        [gap(1, model, {"colour": "green", "range_km": km}, path="/lamps", is_addition=True) for model, km in proposals]
    )
    assert [edit.after for edit in version.edits] == [{"colour": "green", "range_km": 6}]
    known = gap(1, "ada", {"colour": "Red", "range_km": 13}, path="/lamps", is_addition=True)
    assert merged([known]).edits == ()


def test_a_field_of_an_item_is_replaced_wherever_the_item_moved() -> None:
    moved = Snapshot(
        content={**LIGHTHOUSE, "lamps": [{"colour": "red", "range_km": 12}, {"colour": "white", "range_km": 30}]},  # type: ignore[dict-item]  # an object
        item_ids={"/lamps/0": IDS["/lamps/1"], "/lamps/1": IDS["/lamps/0"]},
    )
    version = merged([found(1, "ada", 13, path=f"{RED}/range_km", against=12)], owner=moved)
    assert resolve(version.content, "/lamps/0/range_km") == 13


def test_a_field_of_an_added_item_can_be_replaced_too() -> None:
    added = gap(1, "ada", {"colour": "green", "range_km": 5}, path="/lamps", is_addition=True)
    (edit,) = merged([added]).edits
    wrong = found(2, "bert", 6, WRONG, path=f"{edit.path}/range_km", against=5)
    version = merged([added, wrong])
    assert at(version, edit.path) == {"colour": "green", "range_km": 6}
    assert [one.is_addition for one in version.edits] == [True, False]


def test_of_a_parent_and_its_part_the_stronger_counts() -> None:
    part = [found(1, model, 13, path=f"{RED}/range_km", against=12) for model in ("ada", "bert")]
    whole: Json = {"colour": "red", "range_km": 14}
    weaker = found(2, "cleo", whole, path=RED, against=None)
    assert at(merged([*part, weaker]), RED) == {"colour": "red", "range_km": 13}
    stronger = [found(2, model, whole, path=RED, against=None) for model in ("cleo", "dora", "emil")]
    assert at(merged([*part, *stronger]), RED) == whole


def test_a_rejection_restores_the_value_before_and_locks_the_path() -> None:
    rejection = Rejection(path="/built", after_round=1)
    log = [found(1, "ada", 1912), *(found(2, model, 1913, WRONG) for model in ("bert", "cleo", "dora"))]
    version = merged(log, rejections=[rejection])
    assert (at(version), version.edits) == (1911, ())


def test_a_released_path_is_as_if_it_had_never_been_rejected() -> None:
    log = [found(1, "ada", 1912), found(3, "bert", 1913, against=1912)]
    rejection = Rejection(path="/built", after_round=1, released_after_round=2)
    assert [at(version_of_round(round_id, OWNER, log, rejections=[rejection])) for round_id in (1, 2, 3)] == [
        1912,
        1911,
        1912,
    ]
    assert merged(log, rejections=[rejection]) == merged(log)


def test_a_rejected_item_is_not_added() -> None:
    green = gap(1, "ada", {"colour": "green", "range_km": 5}, path="/lamps", is_addition=True)
    (edit,) = merged([green]).edits
    again = gap(2, "bert", {"colour": "Green", "range_km": 5}, path="/lamps", is_addition=True)
    assert merged([green, again], rejections=[Rejection(path=edit.path)]).content == LIGHTHOUSE


def test_what_was_found_before_the_owners_save_of_a_path_is_settled() -> None:
    before = merged([found(1, "ada", 1912)])
    head = Snapshot(content=before.content, item_ids=before.item_ids)
    saved = Snapshot(content={**LIGHTHOUSE, "built": 1910}, item_ids=IDS)  # type: ignore[dict-item]  # an object
    save = Save(after_round=1, paths=saved_paths(saved, head, OWNER))
    assert save.paths == {"/built"}
    lamp = found(1, "ada", 13, path=f"{RED}/range_km", against=12)
    version = merged([found(1, "ada", 1912), lamp], saves=[save], owner=saved)
    assert [edit.path for edit in version.edits] == [f"{RED}/range_km"]


def test_the_order_of_models_within_a_round_makes_no_difference() -> None:
    log = [found(1, "ada", 1912), found(1, "bert", 1913), found(1, "cleo", "1913"), found(1, "dora", 1914, WRONG)]
    assert merged(log) == merged(log[::-1])


def test_every_rule_on_the_page_has_a_test_of_its_name() -> None:
    rules = re.findall(r"^\d+\. \*\*(.+?)\.\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    names = {f"test_{re.sub(r'[^a-z0-9 ]', '', rule.lower()).replace(' ', '_')}" for rule in rules}
    assert len(rules) > 20
    assert sorted(names - globals().keys()) == []
