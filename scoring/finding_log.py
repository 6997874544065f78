"""From scorecards to the log that merges read, and from the log to every version (SPEC 7)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from scoring.edits import Edit, LoggedFinding, Merged, Rejection, Save, Snapshot, Support
from scoring.ledger import above
from scoring.merge import merge
from scoring.paths import extend, holds, resolve, stable_path
from scoring.records import FieldScore, Finding, Json, Outcome, Rung, Scorecard, Side
from scoring.schema import Node
from scoring.staleness import content_hash


def logged_findings(
    card: Scorecard, reference: Snapshot, *, model_id: str, run_id: int, round_id: int
) -> list[LoggedFinding]:
    """The findings of one run as they go into the log, in the order of the card; their `finding_id` is 0.

    `reference` is the version that was scored against. A confirmed extra item of a list becomes an item to add (its
    path is that of the list); anything else replaces or fills the place it was found at.
    """
    items = {(row.path, row.question_id): row.list_path for row in card.fields if _is_extra_item(row)}
    return [
        _logged(finding, reference, items.get((finding.path, finding.question_id)), (model_id, run_id, round_id))
        for finding in card.findings
    ]


def _is_extra_item(row: FieldScore) -> bool:
    return row.outcome is Outcome.EXTRA and row.side is Side.CANDIDATE and row.list_path is not None


def _logged(finding: Finding, reference: Snapshot, list_path: str | None, by: tuple[str, int, int]) -> LoggedFinding:
    pointer = finding.path if list_path is None else list_path
    is_held = list_path is None and holds(reference.content, pointer)
    return LoggedFinding(
        path=stable_path(pointer, reference.item_ids),
        is_addition=list_path is not None,
        evidence=finding.evidence,
        has_proposal=finding.has_proposal,
        proposal=finding.proposal,
        reference_value=resolve(reference.content, pointer) if is_held else None,
        model_id=by[0],
        run_id=by[1],
        round_id=by[2],
        question_id=finding.question_id,
    )


def claimed_paths(findings: Iterable[LoggedFinding], edits: Iterable[Edit]) -> frozenset[str]:
    """The stable paths at which it matters how many models gave what: those of findings and of edits in place."""
    found = {finding.path for finding in findings if finding.has_proposal and not finding.is_addition}
    return frozenset(found | {edit.path for edit in edits})


def supports_in(
    fields: Iterable[FieldScore],
    reference: Snapshot,
    claimed: Collection[str],
    *,
    model_id: str,
    run_id: int,
    round_id: int,
) -> list[Support]:
    """What one run gave at the claimed paths, from its field rows and the version that it was scored against.

    A model that matched the reference gave what the reference held, whatever the spelling; where the judge had to say
    so (`gave_the_same`), it gave its own value. A whole object or list is given as soon as one leaf of it matches;
    leaves below a claimed path count by their own path too.
    """
    wanted = set(claimed)
    found: dict[str, Json] = {}
    for row in fields if wanted else ():
        if row.side is not Side.REFERENCE or row.outcome not in _GIVEN:
            continue
        path = stable_path(row.path, reference.item_ids)
        at_or_above = [one for one in (path, *above(path)) if one in wanted]
        if at_or_above:
            found[path] = row.reference if gave_the_same(row) else row.candidate
        if gave_the_same(row):
            for one in at_or_above:
                found.setdefault(one, None)
    return [
        Support(path=path, value=value, model_id=model_id, run_id=run_id, round_id=round_id)
        for path, value in sorted(found.items())
    ]


def gave_the_same(row: FieldScore) -> bool:
    """Whether a model gave what the reference held: a match without the judge, who passes a *better* value too."""
    return row.outcome is Outcome.MATCH and row.rung is not Rung.JUDGE


_GIVEN = (Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH)


def saved_paths(saved: Snapshot, *others: Snapshot) -> frozenset[str]:
    """The stable paths at which an owner's save differs from one of the other versions.

    Hand in the owner's version before and, where it was that one that was edited, the version with automatic edits: so
    whatever the owner changed, took over or put back is the owner's from then on. A changed leaf, a new or lost key and
    a new or lost item count by their own paths. Moved items are no change.
    """
    return frozenset(path for other in others for path in _differences("", _root(saved), _root(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    snapshot: Snapshot
    pointer: str
    value: Json

    def children(self) -> dict[str, _Place]:
        """What stands below, by the step of a stable path."""
        below: list[tuple[str, Json]] = []
        if isinstance(self.value, dict):
            below += [(extend(self.pointer, name), held) for name, held in self.value.items() if held is not None]
        elif isinstance(self.value, list):
            below += [(f"{self.pointer}/{index}", held) for index, held in enumerate(self.value)]
        ids = self.snapshot.item_ids
        return {
            stable_path(pointer, ids).rpartition("/")[2]: _Place(snapshot=self.snapshot, pointer=pointer, value=held)
            for pointer, held in below
        }


def _root(snapshot: Snapshot) -> _Place:
    return _Place(snapshot=snapshot, pointer="", value=snapshot.content)


def _differences(path: str, left: _Place, right: _Place) -> Iterator[str]:
    if type(left.value) is not type(right.value) or not isinstance(left.value, dict | list):
        if content_hash(left.value) != content_hash(right.value):
            yield path
        return
    ours, theirs = left.children(), right.children()
    for step in dict.fromkeys((*ours, *theirs)):
        if step in ours and step in theirs:
            yield from _differences(f"{path}/{step}", ours[step], theirs[step])
        else:
            yield f"{path}/{step}"


def version_of_round(
    round_id: int,
    owner: Snapshot,
    findings: Sequence[LoggedFinding],
    *,
    supports: Sequence[Support] = (),
    rejections: Sequence[Rejection] = (),
    saves: Sequence[Save] = (),
    root: Node | None = None,
) -> Merged:
    """The version that the merge of one round made, from the whole log: what came later is left out.

    `owner` is the owner's version that was the newest in that round.
    """
    return merge(
        owner,
        [finding for finding in findings if finding.round_id <= round_id],
        supports=[support for support in supports if support.round_id <= round_id],
        rejections=[Rejection(path=one.path) for one in rejections if one.holds_in(round_id)],
        saves=[save for save in saves if save.after_round < round_id],
        root=root,
    )


def replay(
    owner: Snapshot,
    findings: Sequence[LoggedFinding],
    *,
    supports: Sequence[Support] = (),
    rejections: Sequence[Rejection] = (),
    saves: Sequence[Save] = (),
    root: Node | None = None,
) -> dict[int, Merged]:
    """Every version that rounds made of one owner's version, rebuilt from the log alone, by round."""
    rounds = sorted({one.round_id for one in findings} | {one.round_id for one in supports})
    return {
        round_id: version_of_round(
            round_id, owner, findings, supports=supports, rejections=rejections, saves=saves, root=root
        )
        for round_id in rounds
    }
