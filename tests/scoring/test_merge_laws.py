"""The laws of the merge, over random logs of several rounds, models, kinds of evidence and overlapping paths."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scoring.drafts import draft_of, overlap
from scoring.edits import Edit, LoggedFinding, Merged, Rejection, Save, Snapshot, Support
from scoring.finding_log import replay, version_of_round
from scoring.item_ids import assign_item_ids
from scoring.merge import merge
from scoring.paths import holds, position_path, resolve
from scoring.records import Evidence, Json
from scoring.schema import compile_schema
from scoring.staleness import Ingredients, changes_since, content_hash

LAW = settings(max_examples=200, deadline=None)

CONTENT: Json = {
    "year": 1998,
    "place": {"city": "Gent", "land": "BE"},
    "people": [{"name": "Ann", "role": "chair"}, {"name": "Bob", "role": "clerk"}],
    "tags": ["red", "blue"],
    "gone": None,
}
IDS = assign_item_ids(CONTENT)
OWNER = Snapshot(content=CONTENT, item_ids=IDS)
ROOT = compile_schema({}, CONTENT)
ANN, BOB, RED = IDS["/people/0"], IDS["/people/1"], IDS["/tags/0"]

VALUES: tuple[tuple[str, tuple[Json, ...]], ...] = (
    ("/year", (1998, 1999, "1999", 2001, 2002.0)),
    ("/place/city", ("Gent", "Brugge", "GENT", "Luik")),
    ("/place", ({"city": "Luik", "land": "BE"}, {"city": "Parijs", "land": "FR"})),
    ("/gone", ("here", "Here", "there")),
    ("/gone/below", ("deep", "deeper")),
    ("/new/key", (True, False)),
    (f"/people/@{ANN}/role", ("chair", "head", "Head", "boss")),
    (f"/people/@{BOB}", ({"name": "Bob", "role": "guard"}, {"name": "Rob", "role": "clerk"})),
    (f"/people/@{BOB}/role", ("guard", "clerk", "cook")),
    ("/people/@ffffffffff/role", ("nobody",)),
    (f"/tags/@{RED}", ("scarlet", "crimson", "red")),
    ("/tags", (["red", "green"],)),
)
CY: dict[str, Json] = {"name": "Cy", "role": "cook"}
ITEMS: tuple[tuple[str, tuple[Json, ...]], ...] = (
    ("/people", (CY, {"name": "CY", "role": "waiter"}, {"name": "Dee"}, {"name": "Ann", "role": "cook"})),
    ("/tags", ("green", "Green", "red", "grey")),
    ("/later", ("one", {"name": "two"})),
)
CY_ID = assign_item_ids([CY])["/0"]
SUPPORTED = (*VALUES, (f"/people/@{CY_ID}", (CY,)), (f"/people/@{CY_ID}/role", ("cook", "waiter", "maid")))
MODELS = st.sampled_from(("ada", "bert", "cleo", "dora", "emil"))
ROUNDS = st.integers(1, 4)


@st.composite
def findings(draw: st.DrawFn) -> LoggedFinding:
    is_addition = draw(st.integers(0, 4)) == 0
    path, values = draw(st.sampled_from(ITEMS if is_addition else SUPPORTED))
    evidence = Evidence.FILLED_GAP if is_addition else draw(st.sampled_from(Evidence))
    has_proposal = is_addition or draw(st.integers(0, 7)) > 0
    return LoggedFinding(
        finding_id=draw(st.integers(1, 10_000)),
        path=path,
        is_addition=is_addition,
        evidence=evidence,
        has_proposal=has_proposal,
        proposal=draw(st.sampled_from(values)) if has_proposal else None,
        reference_value=None if is_addition else draw(st.sampled_from(values)),
        model_id=draw(MODELS),
        run_id=1,
        round_id=draw(ROUNDS),
    )


@st.composite
def supports(draw: st.DrawFn) -> Support:
    path, values = draw(st.sampled_from(SUPPORTED))
    return Support(
        path=path, value=draw(st.sampled_from(values)), model_id=draw(MODELS), run_id=1, round_id=draw(ROUNDS)
    )


Log = tuple[list[LoggedFinding], list[Support]]
logs = st.tuples(st.lists(findings(), max_size=14), st.lists(supports(), max_size=6))
PATHS = sorted({path for path, _ in SUPPORTED} | {"", "/people", f"/people/@{ANN}"})
rejections = st.lists(
    st.builds(
        lambda path, after, length: Rejection(
            path=path, after_round=after, released_after_round=None if length is None else after + length
        ),
        st.sampled_from(PATHS),
        st.integers(0, 3),
        st.none() | st.integers(0, 3),
    ),
    max_size=2,
)
saves = st.lists(
    st.builds(Save, after_round=st.integers(0, 4), paths=st.frozensets(st.sampled_from(PATHS[1:]), max_size=2)),
    max_size=2,
)


def merged(log: Log, *, rejected: list[Rejection] | None = None, saved: list[Save] | None = None) -> Merged:
    return merge(OWNER, log[0], supports=log[1], rejections=rejected or [], saves=saved or [], root=ROOT)


def in_place(version: Merged) -> dict[str, Json]:
    return {edit.path: edit.after for edit in version.edits}


def later(finding: LoggedFinding, log: Log) -> Log:
    """The log with one more finding, in a round after all others."""
    return [*log[0], replace(finding, round_id=9)], log[1]


def opinion(edit: Edit, value: Json, evidence: Evidence = Evidence.BETTER) -> LoggedFinding:
    """What one new model says about the place of an edit."""
    return LoggedFinding(
        finding_id=99,
        path=edit.path,
        evidence=evidence,
        has_proposal=True,
        proposal=value,
        reference_value=edit.after,
        model_id="zoe",
        run_id=1,
        round_id=9,
    )


@LAW
@given(logs, rejections, saves)
def test_replaying_the_log_rebuilds_every_version(log: Log, rejected: list[Rejection], saved: list[Save]) -> None:
    made: dict[int, Merged] = {}
    seen: Log = ([], [])
    for round_id in sorted({one.round_id for one in log[0]} | {one.round_id for one in log[1]}):
        seen[0].extend(one for one in log[0] if one.round_id == round_id)
        seen[1].extend(one for one in log[1] if one.round_id == round_id)
        locked = [Rejection(path=one.path) for one in rejected if one.holds_in(round_id)]
        known = [save for save in saved if save.after_round < round_id]
        made[round_id] = merge(OWNER, seen[0], supports=seen[1], rejections=locked, saves=known, root=ROOT)
    assert replay(OWNER, log[0], supports=log[1], rejections=rejected, saves=saved, root=ROOT) == made


@LAW
@given(logs, st.randoms(use_true_random=False))
def test_any_order_within_a_round_gives_the_same_version(log: Log, chance: object) -> None:
    shuffled = ([*log[0]], [*log[1]])
    for part in shuffled:
        chance.shuffle(part)  # type: ignore[attr-defined]  # hypothesis's Random
    assert merged(log) == merged(shuffled)


@LAW
@given(logs)
def test_each_round_only_adds_to_the_log_of_changes(log: Log) -> None:
    versions = list(replay(OWNER, log[0], supports=log[1], root=ROOT).values())
    for before, after in pairwise(versions):
        assert after.log[: len(before.log)] == before.log


@LAW
@given(logs, st.data())
def test_one_more_model_with_equal_evidence_never_changes_an_edit_in_place(log: Log, data: st.DataObject) -> None:
    version = merged(log)
    assume(version.edits)
    edit = data.draw(st.sampled_from(version.edits))
    assume(not is_spoken_against(edit, log))
    again = merged(later(opinion(edit, "a value that nobody gave before"), log))
    assert in_place(again) == in_place(version)


def is_spoken_against(edit: Edit, log: Log) -> bool:
    """Whether a verdict is about another value at the place of the edit than its owner's, as the edit's own is."""
    verdicts = (Evidence.EXAMPLE, Evidence.REFERENCE_WRONG)
    return any(
        one.path == edit.path and one.evidence in verdicts and one.reference_value != edit.before for one in log[0]
    )


def test_an_edit_with_a_verdict_against_it_gives_way_to_one_opinion_with_none() -> None:
    found = LoggedFinding(
        finding_id=1,
        path="/year",
        evidence=Evidence.REFERENCE_WRONG,
        has_proposal=True,
        proposal=1999,
        reference_value=1998,
        model_id="ada",
        run_id=1,
        round_id=1,
    )
    against = replace(found, proposal=1998, reference_value=1999)
    example = replace(found, evidence=Evidence.EXAMPLE, has_proposal=False, proposal=None)
    log: Log = ([example, against, found], [])
    (edit,) = merged(log).edits
    assert edit.after == 1999
    assert in_place(merged(later(opinion(edit, 1815), log))) == {"/year": 1815}


@LAW
@given(logs, st.data())
def test_as_many_models_for_another_value_leave_the_edit(log: Log, data: st.DataObject) -> None:
    calm = ([one for one in log[0] if one.evidence in (Evidence.BETTER, Evidence.FILLED_GAP)], log[1])
    version = merged(calm)
    edits = [edit for edit in version.edits if not edit.is_addition]
    assume(edits)
    edit = data.draw(st.sampled_from(edits))
    rivals = [replace(opinion(edit, "rival"), model_id=f"new {n}") for n in range(len(edit.model_ids))]
    again = merged(([*calm[0], *rivals], calm[1]))
    assert in_place(again) == in_place(version)


@LAW
@given(logs, st.data())
def test_adding_support_for_an_edit_in_place_never_removes_it(log: Log, data: st.DataObject) -> None:
    version = merged(log)
    assume(version.edits)
    edit = data.draw(st.sampled_from(version.edits))
    again = merged(later(opinion(edit, edit.after), log))
    given_again = Support(path=edit.path, value=edit.after, model_id="zoe", run_id=1, round_id=9)
    assert in_place(again) == in_place(version)
    assert in_place(merged((log[0], [*log[1], given_again]))) == in_place(version)


@LAW
@given(logs, st.data())
def test_a_rejected_path_never_changes_until_released(log: Log, data: st.DataObject) -> None:
    version = merged(log)
    assume(version.edits)
    edit = data.draw(st.sampled_from(version.edits))
    more = data.draw(st.lists(findings(), max_size=6))
    rejection = Rejection(path=edit.path)
    again = merged(([*log[0], *(replace(one, round_id=8) for one in more)], log[1]), rejected=[rejection])
    now, owner = draft_of(again.content, again.item_ids), draft_of(CONTENT, IDS)
    assert not any(edit.path == one.path for one in again.edits)
    if owner.holds(edit.path):
        assert now.value(edit.path) == owner.value(edit.path)
    elif edit.is_addition:
        assert not now.holds(edit.path)


@LAW
@given(logs, rejections, st.sampled_from(PATHS), st.integers(0, 3))
def test_a_rejection_then_release_is_the_identity_on_later_merges(
    log: Log, others: list[Rejection], path: str, after: int
) -> None:
    released = Rejection(path=path, after_round=after, released_after_round=after + 1)
    assert merged(log, rejected=[*others, released]) == merged(log, rejected=others)
    for round_id in range(after + 2, 5):
        both = (
            version_of_round(round_id, OWNER, log[0], supports=log[1], rejections=held, root=ROOT)
            for held in ([*others, released], others)
        )
        assert next(both) == next(both)


@LAW
@given(logs, rejections, saves)
def test_no_item_of_the_owner_is_ever_removed(log: Log, rejected: list[Rejection], saved: list[Save]) -> None:
    version = merged(log, rejected=rejected, saved=saved)
    assert set(IDS.items()) <= set(version.item_ids.items())


@LAW
@given(logs, rejections, saves)
def test_every_edit_stands_in_the_version_where_its_path_says(
    log: Log, rejected: list[Rejection], saved: list[Save]
) -> None:
    version = merged(log, rejected=rejected, saved=saved)
    paths = [edit.path for edit in version.edits]
    assert len(set(paths)) == len(paths)
    for edit in version.edits:
        pointer = position_path(edit.path, version.item_ids)
        assert pointer is not None
        if not any(other != edit.path and overlap(other, edit.path) for other in paths):
            assert resolve(version.content, pointer) == edit.after
        assert edit.model_ids
        assert edit.finding_ids
    places = list(version.item_ids)
    assert all(holds(version.content, place) for place in places)
    siblings = [(place.rpartition("/")[0], item_id) for place, item_id in version.item_ids.items()]
    assert len(set(siblings)) == len(siblings)


@LAW
@given(logs)
def test_automatic_edits_never_change_the_staleness_of_a_score(log: Log) -> None:
    content = copy.deepcopy(CONTENT)
    scored = Ingredients(reference_hash=content_hash(content), config_hash="config", runs_hash="runs")
    merge(Snapshot(content=content, item_ids=IDS), log[0], supports=log[1], root=ROOT)
    now = Ingredients(reference_hash=content_hash(content), config_hash="config", runs_hash="runs")
    assert changes_since(scored, now) == ()
