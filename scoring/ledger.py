"""The working state of a merge: what was claimed so far, and what is in place (SPEC 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from scoring.answer_keys import AnswerKeys, content_text
from scoring.claims import Answer, Claim, Standing, standing_of
from scoring.drafts import Draft, draft_of, is_within, overlap
from scoring.edits import Edit, LoggedFinding, Support
from scoring.new_items import NewItems
from scoring.records import Evidence, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """An answer in place at its path, and the round that wrote it."""

    answer: Answer
    round_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlace:
    """What the rounds made of one path so far: the value, its key, and how strong it stands."""

    value: Json
    key: Hashable
    standing: Standing


@dataclass(slots=True, kw_only=True, eq=False)
class Ledger:
    """It belongs to one merge. `locked` are the rejected paths; `below` counts the placed paths below a path."""

    keys: AnswerKeys
    items: NewItems
    locked: tuple[str, ...]
    claims: dict[str, Claim] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    below: Counter[str] = field(default_factory=Counter)
    log: list[Edit] = field(default_factory=list)
    parts: dict[tuple[str, Hashable], Draft] = field(default_factory=dict)

    @property
    def owner(self) -> Draft:
        """The owner's version."""
        return self.keys.owner

    def settle(self, paths: Iterable[str]) -> None:
        """What was claimed about these paths so far is as if it never had been: their owner saved them."""
        saved = list(paths)
        settled = [path for path in self.claims if any(overlap(path, one) for one in saved)]
        for path in settled:
            del self.claims[path]
            self.displace(path)
        self.items.forget(settled)

    def displace(self, path: str) -> None:
        """Nothing is in place at the path after this."""
        if self.placed.pop(path, None) is not None:
            self.below.subtract(above(path))

    def put(self, path: str, answer: Answer, round_id: int) -> None:
        """The answer is in place, and nothing below its path is. The owner's own value is in place without an edit."""
        self.log.append(self._entry(path, answer, round_id))
        if self.below[path] > 0:
            for one in [one for one in self.placed if one != path and is_within(one, path)]:
                self.displace(one)
        self.displace(path)
        if not answer.is_owners or self.in_place(path) is not None:
            self.placed[path] = Placed(answer=answer, round_id=round_id)
            self.below.update(above(path))

    def _entry(self, path: str, answer: Answer, round_id: int) -> Edit:
        current = self.in_place(path)
        before = self.owner.value(path) if current is None else current.value
        return edit_of(self.claims[path], answer, before, answer.value, round_id)

    def in_place(self, path: str) -> InPlace | None:
        """What an edit at the path or above it put there; None where it is the owner's."""
        placed = self.placed.get(path)
        if placed is not None:
            answer = placed.answer
            return InPlace(value=answer.value, key=answer.key, standing=answer.standing)
        if not self.placed:
            return None
        source = next((one for one in above(path) if one in self.placed), None)
        return None if source is None else self._inherited(source, path)

    def _inherited(self, source: str, path: str) -> InPlace | None:
        """What the edit at `source` put at a path below it: as strong as those who gave this very part of it."""
        placed = self.placed[source].answer
        part = self._part(source, placed)
        if not part.holds(path[len(source) :]):
            return None
        value = part.value(path[len(source) :])
        key = self.keys.key(path, value)
        models: set[str] = set()
        for answer in self.claims[source].answers.values():
            held = self._part(source, answer)
            if held.holds(path[len(source) :]) and self.keys.key(path, held.value(path[len(source) :])) == key:
                models |= answer.givers
        claim = self.claims.get(path)
        own = claim.answers.get(key) if claim is not None else None
        is_proven = Evidence.EXAMPLE in placed.evidence
        if own is None:
            return InPlace(value=value, key=key, standing=standing_of(is_proven, models, set()))
        return InPlace(value=value, key=key, standing=standing_of(is_proven, models | own.models, own.called_wrong_by))

    def _part(self, path: str, answer: Answer) -> Draft:
        made = self.parts.get((path, answer.key))
        if made is None:
            made = self.parts[path, answer.key] = draft_of(answer.value, {})
        return made

    def standings_below(self, path: str) -> Iterator[Standing]:
        """How strong the edits in place below a path stand."""
        if self.below[path] > 0:
            for one, placed in self.placed.items():
                if one != path and is_within(one, path):
                    yield placed.answer.standing

    def is_locked(self, path: str) -> bool:
        """Whether a rejection keeps edits away: one at or above the path, or below it where the owner has a value."""
        return any(is_within(path, one) or (is_within(one, path) and self.owner.holds(one)) for one in self.locked)


def above(path: str) -> list[str]:
    """The paths above one, the nearest first."""
    found = []
    while path:
        path = path.rpartition("/")[0]
        found.append(path)
    return found


def edit_of(claim: Claim, answer: Answer, before: Json, after: Json, round_id: int) -> Edit:
    """The edit that writes an answer."""
    is_addition = claim.list_path is not None
    return Edit(
        path=claim.path,
        before=before,
        after=after,
        evidence=answer.strongest,
        model_ids=tuple(sorted(answer.models)),
        round_id=round_id,
        finding_ids=tuple(sorted(answer.finding_ids)),
        is_addition=is_addition,
    )


def count_round(ledger: Ledger, round_id: int, findings: Sequence[LoggedFinding], supports: Sequence[Support]) -> None:
    """All answers, supports and verdicts of one round are counted; nothing is in place that was not before."""
    for support in supports:
        _count_support(ledger, support)
    for path, list_path, proposals in _by_path(ledger, [finding for finding in findings if finding.has_proposal]):
        claim = ledger.claims.setdefault(path, Claim(path=path, list_path=list_path))
        by_key: dict[Hashable, list[LoggedFinding]] = {}
        for finding in proposals:
            by_key.setdefault(ledger.keys.key(path, finding.proposal), []).append(finding)
        for key, alike in by_key.items():
            _count_answer(ledger, claim, key, alike, round_id)


def _by_path(
    ledger: Ledger, findings: Sequence[LoggedFinding]
) -> Iterator[tuple[str, str | None, list[LoggedFinding]]]:
    """The findings by the path that they would change; of new items, those that most models proposed come first."""
    paths: dict[tuple[str, str | None], list[LoggedFinding]] = {}
    for finding in findings:
        if not finding.is_addition:
            paths.setdefault((finding.path, None), []).append(finding)
    for list_path, proposals in _additions(ledger, findings):
        path = ledger.items.path_of(list_path, _spelling(proposals))
        paths.setdefault((path, list_path), []).extend(proposals)
    for (path, of_list), found in paths.items():
        yield path, of_list, found


def _additions(ledger: Ledger, findings: Sequence[LoggedFinding]) -> list[tuple[str, list[LoggedFinding]]]:
    groups: dict[tuple[str, Hashable], list[LoggedFinding]] = {}
    for finding in findings:
        if finding.is_addition:
            key = ledger.keys.item_key(finding.path, finding.proposal)
            groups.setdefault((finding.path, key), []).append(finding)
    found = [(path, proposals) for (path, _), proposals in groups.items()]
    return sorted(found, key=lambda one: (one[0], -_models(one[1]), content_text(_spelling(one[1]))))


def _models(findings: Iterable[LoggedFinding]) -> int:
    return len({finding.model_id for finding in findings})


def _spelling(findings: Sequence[LoggedFinding]) -> Json:
    """The value as most models wrote it; of equally many, the content decides."""
    writers: dict[str, set[str]] = {}
    values: dict[str, Json] = {}
    for finding in findings:
        text = content_text(finding.proposal)
        writers.setdefault(text, set()).add(finding.model_id)
        values[text] = finding.proposal
    return values[min(writers, key=lambda text: (-len(writers[text]), text))]


def _count_answer(
    ledger: Ledger, claim: Claim, key: Hashable, findings: Sequence[LoggedFinding], round_id: int
) -> None:
    answer = claim.answers.get(key)
    if answer is None:
        answer = _answer(ledger, claim, key, _spelling(findings), round_id)
    for finding in findings:
        answer.givers.add(finding.model_id)
        answer.models.add(finding.model_id)
        answer.evidence.add(finding.evidence)
        answer.finding_ids.add(finding.finding_id)
        if finding.evidence is Evidence.REFERENCE_WRONG and not finding.is_addition:
            wrong = ledger.keys.key(claim.path, finding.reference_value)
            if wrong != key:
                _answer(ledger, claim, wrong, finding.reference_value, round_id).called_wrong_by.add(key)


def _answer(ledger: Ledger, claim: Claim, key: Hashable, value: Json, round_id: int) -> Answer:
    """The answer of this key, which is there after the call. The owner's own value is kept as the owner spelt it."""
    answer = claim.answers.get(key)
    if answer is None:
        owners = ledger.owner.value(claim.path)
        is_owners = owners is not None and ledger.keys.key(claim.path, owners) == key
        value = owners if is_owners else value
        answer = claim.answers[key] = Answer(
            key=key, value=value, text=content_text(value), first_round=round_id, is_owners=is_owners
        )
    return answer


def _count_support(ledger: Ledger, support: Support) -> None:
    """What is automatic can be supported (a whole edit, or a leaf of one), and the owner's value."""
    placed = ledger.placed.get(support.path)
    if placed is not None and isinstance(placed.answer.value, dict | list):
        placed.answer.models.add(support.model_id)
        return
    current = ledger.in_place(support.path)
    key = ledger.keys.key(support.path, support.value)
    owners = ledger.owner.value(support.path)
    if current is not None and current.key == key:
        value = current.value
    elif owners is not None and key == ledger.keys.key(support.path, owners):
        value = owners
    else:
        return
    claim = ledger.claims.setdefault(support.path, Claim(path=support.path))
    _answer(ledger, claim, key, value, support.round_id).models.add(support.model_id)
