from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from resources.references import EditFilter, ReferenceConflictError, ReferenceOrigin
from resources.warehouse import Warehouse
from scoring.edits import Snapshot
from scoring.errors import InputError
from scoring.owners_part import value_at
from scoring.records import Evidence, Finding, Json, Outcome, Rung, Side
from scoring.tracked_changes import TrackedEdit
from tests.resources.stored_records import card_of, field_of, filled, run_of, scenario_of, scoring_of

FILM: Json = {"year": 1942, "director": "Curtiz", "cast": [{"name": "Ilsa", "actor": "Bergman"}], "note": None}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "year": {"type": "integer"},
        "director": {"type": "string"},
        "note": {"type": "string"},
        "cast": {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}, "actor": {"type": "string"}}},
        },
    },
}
MODELS = ("m1", "m2", "m3")


def finding(path: str, proposal: Json, evidence: Evidence = Evidence.BETTER) -> Finding:
    return Finding(path=path, evidence=evidence, has_proposal=True, proposal=proposal, question_id="q")


def new_item(index: int, item: Json) -> tuple[Finding, object]:
    """A finding that proposes a list item, and the row it comes from."""
    path = f"/cast/{index}"
    found = dataclasses.replace(finding(path, item, Evidence.FILLED_GAP), question_id=f"q{index}")
    row = field_of(
        path,
        None,
        item,
        side=Side.CANDIDATE,
        outcome=Outcome.EXTRA,
        rung=Rung.JUDGE,
        question_id=f"q{index}",
        list_path="/cast",
    )
    return found, row


@pytest.fixture
def stores(warehouse: Warehouse) -> Warehouse:
    """A film with a schema, three models, a run of each."""
    filled(warehouse, scenario_of(reference=FILM, schema=SCHEMA), models=MODELS)
    warehouse.import_runs([run_of(model_id=model_id) for model_id in MODELS])
    return warehouse


def scored(stores: Warehouse, model_id: str, *findings: Finding, rows: tuple[object, ...] = ()) -> int:
    """A score in a round of its own that leaves these findings; its id."""
    from resources.rounds import RoundTrigger

    round_id = stores.open_round(RoundTrigger.COMMAND, planned_models=1)
    plain = scoring_of(stores, model_id=model_id, round_id=round_id)
    fields = (field_of(), *rows)
    cards = {one: card_of(findings=findings, fields=fields, lists=()) for one in plain.cards}
    return stores.commit_model_score(dataclasses.replace(plain, cards=cards))


def content(stores: Warehouse) -> Json:
    head = stores.references.head("film")
    assert head is not None
    return head.content


def in_place(stores: Warehouse) -> list[TrackedEdit]:
    head = stores.references.head("film")
    assert head is not None
    return [edit for edit in stores.references.edits(head) if edit.is_in_place]


def stale(stores: Warehouse) -> set[str]:
    return {cell.model_id for cell in stores.cells() if cell.is_stale}


def rejected(stores: Warehouse, wanted: EditFilter | None = None, expected: int | None = None) -> None:
    stores.references.reject("film", wanted or EditFilter(), author="ann", expected=expected)


def test_a_merge_makes_a_version_with_its_edits_and_logs_who_is_behind_them(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    report = stores.references.merge("film")
    assert report is not None
    assert (report.is_new, report.scores, report.version.number) == (True, 1, 2)
    assert (report.version.origin, report.version.is_verified) == (ReferenceOrigin.ROUND, True)
    assert content(stores) == FILM | {"year": 1943}  # type: ignore[operator]  # an object
    (edit,) = in_place(stores)
    assert (edit.path, edit.before, edit.after, edit.evidence, edit.models) == ("/year", 1942, 1943, "better", ("m1",))


def test_a_merge_without_news_makes_no_version_and_nothing_is_left_unmerged(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    assert set(stores.references.unmerged()) == {"film"}
    stores.references.merge("film")
    assert stores.references.unmerged() == {}
    again = stores.references.merge("film")
    assert again is not None
    assert (again.is_new, again.version.number, again.scores) == (False, 2, 0)


def test_automatic_edits_make_no_score_stale(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    stores.references.merge("film")
    assert stale(stores) == set()
    assert {cell.reference_hash for cell in stores.cells()} == {stores.references.version("film", 1).owner_hash}


def test_more_models_join_an_edit_without_a_new_version(stores: Warehouse) -> None:
    for model_id in ("m1", "m2"):
        scored(stores, model_id, finding("/year", 1943))
    stores.references.merge("film")
    support = field_of("/year", 1943, 1943)
    scored(stores, "m3", rows=(support,))
    report = stores.references.merge("film")
    assert report is not None
    assert not report.is_new
    assert in_place(stores)[0].models == MODELS


def test_a_new_item_is_added_under_an_id_of_its_own(stores: Warehouse) -> None:
    item: Json = {"name": "Rick", "actor": "Bogart"}
    found, row = new_item(3, item)
    scored(stores, "m1", found, rows=(row,))
    stores.references.merge("film")
    assert content(stores)["cast"] == [{"name": "Ilsa", "actor": "Bergman"}, item]  # type: ignore[index, call-overload]  # an object
    (edit,) = in_place(stores)
    assert edit.path.startswith("/cast/@")
    assert (edit.pointer, edit.before, edit.after) == ("/cast/1", None, item)


def test_a_rejection_restores_the_value_and_locks_the_path_until_released(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943), finding("/director", "Michael Curtiz"))
    stores.references.merge("film")
    rejected(stores, EditFilter(path="/year"))
    assert content(stores)["year"] == 1942  # type: ignore[index, call-overload]  # an object
    assert content(stores)["director"] == "Michael Curtiz"  # type: ignore[index, call-overload]  # an object
    for model_id in ("m2", "m3"):
        scored(stores, model_id, finding("/year", 1943))
    stores.references.merge("film")
    assert content(stores)["year"] == 1942  # type: ignore[index, call-overload]  # an object
    released = stores.references.release("film", EditFilter(path="/year"), author="ann")
    assert len(released.edits) == 1
    assert content(stores)["year"] == 1943  # type: ignore[index, call-overload]  # an object
    by_path = {edit.path: edit for edit in in_place(stores)}
    assert by_path["/year"].models == MODELS


def test_a_rejection_makes_exactly_the_scores_against_the_rejected_value_stale(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    stores.references.merge("film")
    scored(stores, "m2", finding("/director", "Michael Curtiz"))
    stores.references.merge("film")
    rejected(stores, EditFilter(path="/year"))
    assert stale(stores) == {"m2"}
    with stores.engine.connect() as connection:
        assert connection.execute(text("select model_id, changed from bi.stale_scores")).all() == [
            ("m2", "rejected edit")
        ]
    scored(stores, "m2")
    assert stale(stores) == set()
    stores.references.release("film", EditFilter(), author="ann")
    assert stale(stores) == set()


def test_a_bulk_rejection_counts_again_and_changes_nothing_where_the_number_moved(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943), finding("/director", "Michael Curtiz"))
    scored(stores, "m2", finding("/year", 1943))
    stores.references.merge("film")
    with pytest.raises(ReferenceConflictError, match=r"1 edits match, 2 were expected.*/director"):
        rejected(stores, EditFilter(models=1), expected=2)
    assert len(in_place(stores)) == 2
    rejected(stores, EditFilter(models=1), expected=1)
    assert [edit.path for edit in in_place(stores)] == ["/year"]
    rejected(stores, EditFilter(evidence="better"), expected=1)
    assert content(stores) == FILM


def test_what_the_owner_leaves_alone_stays_an_automatic_edit_and_what_they_change_is_theirs(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943), finding("/director", "Michael Curtiz"))
    stores.references.merge("film")
    saved = stores.references.save("film", content(stores) | {"director": "M. Curtiz"}, author="ann", is_verified=True)  # type: ignore[operator]  # an object
    assert saved.owner.content == FILM | {"director": "M. Curtiz"}  # type: ignore[operator]  # an object
    assert [edit.path for edit in in_place(stores)] == ["/year"]
    assert stale(stores) == {"m1"}
    again = stores.references.merge("film")
    assert again is not None
    assert not again.is_new
    rejected(stores, EditFilter(path="/year"))
    assert content(stores) == FILM | {"director": "M. Curtiz"}  # type: ignore[operator]  # an object


def test_saving_back_to_the_same_content_makes_scores_fresh_again(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    stores.references.merge("film")
    before = content(stores)
    stores.references.save("film", before | {"note": "seen"}, author="ann", is_verified=True)  # type: ignore[operator]  # an object
    assert stale(stores) == {"m1"}
    stores.references.save("film", before, author="ann", is_verified=True)
    assert stale(stores) == set()


def test_a_changed_file_keeps_automatic_edits_elsewhere(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    stores.references.merge("film")
    changed = FILM | {"director": "Michael Curtiz"}  # type: ignore[operator]  # an object
    stores.sync_scenarios([scenario_of(reference=changed, schema=SCHEMA)])
    head = stores.references.head("film")
    assert head is not None
    assert (head.number, head.origin, head.content) == (3, ReferenceOrigin.IMPORT, changed | {"year": 1943})
    assert [edit.path for edit in in_place(stores)] == ["/year"]
    stores.sync_scenarios([scenario_of(reference=changed | {"year": 1940}, schema=SCHEMA)])
    assert content(stores)["year"] == 1940  # type: ignore[index, call-overload]  # an object
    stores.references.merge("film")
    assert content(stores)["year"] == 1940  # type: ignore[index, call-overload]  # an object


def test_a_save_on_an_older_version_is_a_conflict_that_says_what_changed(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943))
    stores.references.merge("film")
    with pytest.raises(ReferenceConflictError, match=r"version 1 was edited.*version 2.*/year") as raised:
        stores.references.save("film", FILM, author="ann", based_on=1)
    assert [(one.path, one.before, one.after) for one in raised.value.changes] == [("/year", 1942, 1943)]
    assert stores.references.save("film", FILM, author="ann", based_on=2).number == 3


def test_items_keep_their_ids_through_reordering_and_edits_of_their_key(stores: Warehouse) -> None:
    first: Json = {"name": "Ilsa Lund", "actor": "Bergman"}
    second: Json = {"name": "Rick", "actor": "Bogart"}
    ids = [next(iter(stores.references.version("film", 1).item_ids.values()))]
    for cast in ([second, first], [first, second]):
        saved = stores.references.save("film", FILM | {"cast": cast}, author="ann")  # type: ignore[operator]  # an object
        assert value_at(Snapshot(content=saved.content, item_ids=saved.item_ids), f"/cast/@{ids[0]}") == first
    log = stores.references.edits(saved)
    assert [edit.path for edit in log if edit.origin == "owner_save"][-1] in {
        f"/cast/@{ids[0]}/name",
        f"/cast/@{saved.item_ids['/cast/1']}",
    }


def test_replaying_the_log_rebuilds_the_newest_version(stores: Warehouse) -> None:
    scored(stores, "m1", finding("/year", 1943), finding("/director", "Michael Curtiz"))
    stores.references.merge("film")
    rejected(stores, EditFilter(path="/year"))
    scored(stores, "m2", finding("/note", "a film"))
    stores.references.merge("film")
    head = stores.references.head("film")
    assert head is not None
    rebuilt = dict(FILM)  # type: ignore[arg-type]  # an object
    for edit in reversed(stores.references.edits(head)):
        rebuilt[edit.path[1:]] = edit.after
    assert rebuilt == head.content


def test_merges_at_once_are_serialised_and_make_one_version(stores: Warehouse) -> None:
    for model_id in MODELS:
        scored(stores, model_id, finding("/year", 1943))
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda _: stores.references.merge("film"), range(4)))
    assert [report.is_new for report in reports if report].count(True) == 1
    assert len(stores.references.versions("film")) == 2


def test_a_reference_that_is_not_there_cannot_be_reviewed(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(reference=None))
    assert warehouse.references.merge("film") is None
    with pytest.raises(InputError, match="no reference yet"):
        rejected(warehouse)


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("/cast", "/cast/@a1/name", True),
        ("cast", "/cast", True),
        ("/cas", "/cast", False),
        ("/cast/*/name", "/cast/@a1/name", True),
        ("*name", "/cast/@a1/name", True),
        ("/cast/*/name", "/cast/@a1/actor", False),
        ("", "/year", True),
    ],
)
def test_a_path_filter_is_a_prefix_or_a_pattern(pattern: str, path: str, is_meant: bool) -> None:
    from resources.reference_rejections import is_under

    assert is_under(pattern, path) is is_meant
