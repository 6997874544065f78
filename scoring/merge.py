"""The merge: the owner's version, and what all rounds found about it, as the next version of the reference (SPEC 7).

Rounds are taken in the order of their ids; within a round only content counts, never the order of models or findings.
At each path, over all rounds so far:

1. An answer that an example proves goes before any other.
2. Else the answer that the most distinct models gave. Values that are equal by the free rungs are one answer; a model
   that gives the automatic value again supports it. A verdict that a value is wrong weighs against it as much as
   `VERDICT_WEIGHT` models.
3. An edit in place gives way only to an answer that is *stronger* by these two; what is equal leaves it.
4. The owner's value is an answer too, with the models that gave it behind it. Any finding, not only a verdict that it
   is wrong, speaks against it as much as a verdict: it stays, or comes back, where many models gave it and few another.
5. Among new answers of equal strength the earlier goes first, then better evidence, then the content decides.

An edit of a parent and one of something below it are rivals too: either is written only where it is stronger than what
is in place at the other. A new list item is an edit at its own path; two proposals with the same key properties or name
are one item. Nothing takes an item away. A rejected path keeps what it has without edits at it and below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from scoring.answer_keys import AnswerKeys, content_text
from scoring.claims import Answer
from scoring.drafts import Draft, draft_from
from scoring.edits import Edit, LoggedFinding, Merged, Rejection, Save, Snapshot, Support
from scoring.ledger import Ledger, Placed, count_round, edit_of
from scoring.new_items import NewItems
from scoring.records import Json
from scoring.schema import Node, compile_schema


def merge(
    owner: Snapshot,
    findings: Sequence[LoggedFinding],
    *,
    supports: Sequence[Support] = (),
    rejections: Sequence[Rejection] = (),
    saves: Sequence[Save] = (),
    root: Node | None = None,
) -> Merged:
    """The version that the log of all rounds makes of the owner's newest version, and the edits that it holds.

    A pure function of its arguments, whatever the order of `findings`, `supports` and `rejections`. Rejections that are
    not released hold; released ones count as if they had never been. `saves` are the owner's saves since the first
    round of the log. `root` is the schema compiled with the owner's content, None for a reference without a schema.
    """
    draft = draft_from(owner)
    keys = AnswerKeys(root=root if root is not None else compile_schema({}, owner.content), owner=draft)
    locked = tuple(sorted({one.path for one in rejections if one.released_after_round is None}))
    ledger = Ledger(keys=keys, items=NewItems(keys=keys), locked=locked)
    waiting = sorted(saves, key=lambda save: save.after_round, reverse=True)
    for round_id, (found, given) in sorted(_rounds(_itemised(draft, findings), supports).items()):
        while waiting and waiting[-1].after_round < round_id:
            ledger.settle(waiting.pop().paths)
        count_round(ledger, round_id, found, given)
        while _place(ledger, round_id):
            pass  # what was placed may call up a stronger answer above or below it; strength only grows, so it ends
    while waiting:
        ledger.settle(waiting.pop().paths)
    return _written(ledger, draft_from(owner))


def _itemised(owner: Draft, findings: Sequence[LoggedFinding]) -> Iterator[LoggedFinding]:
    """The findings, with a whole list that is proposed for a list as its items: so it adds, and takes nothing away."""
    for finding in findings:
        items = finding.proposal
        if finding.is_addition or not isinstance(items, list) or not _may_be_list(owner.value(finding.path)):
            yield finding
            continue
        for item in items:
            if item is not None:
                yield replace(finding, is_addition=True, proposal=item, reference_value=None)


def _may_be_list(value: Json) -> bool:
    return value is None or value == "" or isinstance(value, list)


def _rounds(
    findings: Iterable[LoggedFinding], supports: Sequence[Support]
) -> dict[int, tuple[list[LoggedFinding], list[Support]]]:
    """What each round left, in an order that only content decides."""
    rounds: dict[int, tuple[list[LoggedFinding], list[Support]]] = defaultdict(lambda: ([], []))
    for finding in sorted(findings, key=lambda one: (one.path, content_text(one.proposal), one.model_id)):
        rounds[finding.round_id][0].append(finding)
    for support in sorted(supports, key=lambda one: (one.path, content_text(one.value), one.model_id)):
        rounds[support.round_id][1].append(support)
    return rounds


def _place(ledger: Ledger, round_id: int) -> bool:
    """Put the strongest answers in place, each where it is stronger than all that is in place at, above and below.

    True where that changed anything.
    """
    logged = len(ledger.log)
    rivals: list[tuple[str, Answer]] = []
    for path, claim in ledger.claims.items():
        current = ledger.in_place(path)
        best = claim.best_but(None if current is None else current.key)
        if best is not None and not ledger.is_locked(path):
            rivals.append((path, best))
    rivals.sort(key=lambda rival: (rival[0].count("/"), rival[0]))
    rivals.sort(key=lambda rival: rival[1].standing, reverse=True)
    for path, answer in rivals:
        if _is_needed(ledger, path, answer) and _is_stronger(ledger, path, answer):
            ledger.put(path, answer, round_id)
    return len(ledger.log) > logged


def _is_needed(ledger: Ledger, path: str, answer: Answer) -> bool:
    """Whether the answer says anything new: no item that the owner has, nothing that is there already."""
    if ledger.claims[path].list_path is not None:
        return not ledger.owner.holds(path)
    current = ledger.in_place(path)
    if current is not None:
        return current.key != answer.key
    return not ledger.owner.holds(path) or ledger.keys.key(path, ledger.owner.value(path)) != answer.key


def _is_stronger(ledger: Ledger, path: str, answer: Answer) -> bool:
    current = ledger.in_place(path)
    if current is not None and answer.standing <= current.standing:
        return False
    return all(answer.standing > standing for standing in ledger.standings_below(path))


def _written(ledger: Ledger, draft: Draft) -> Merged:
    """The version with all that is in place: parents before what is below them, new items in the order of rounds."""
    edits = []
    for path, placed in sorted(ledger.placed.items(), key=_in_order):
        edit = _write(ledger, draft, path, placed)
        if edit is not None:
            edits.append(edit)
    edits.sort(key=lambda edit: edit.path)
    return Merged(content=draft.content, item_ids=draft.item_ids, edits=tuple(edits), log=tuple(ledger.log))


def _in_order(one: tuple[str, Placed]) -> tuple[int, int, str, str]:
    path, placed = one
    return path.count("/"), placed.round_id, placed.answer.text, path


def _write(ledger: Ledger, draft: Draft, path: str, placed: Placed) -> Edit | None:
    """The edit, written into the draft; None where the place is gone, or where its own value came back."""
    claim, answer = ledger.claims[path], placed.answer
    if claim.list_path is not None:
        is_written = draft.add(claim.list_path, path.rpartition("/")[2][1:], answer.value)
        return edit_of(claim, answer, None, answer.value, placed.round_id) if is_written else None
    before, is_held = draft.value(path), draft.holds(path)
    if is_held and ledger.keys.key(path, before) == answer.key:
        return None
    if not draft.put(path, answer.value):
        return None
    return edit_of(claim, answer, before, draft.value(path), placed.round_id)
