"""One answer out of several, field by field by the ladder: the draft of a reference that strong models give together.

The answer that agrees most with all others is the base. What only others hold is added to it; then every answer is
compared with the whole, and at each place the value that most models gave stays (equal by the ladder counts as one
value; a tie keeps the base's). What fewer than half of the models give at all is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

from scoring.paths import extend, steps_of
from scoring.records import FieldScore, Json, Known, Open, Outcome, Reading, Scorecard, ScoringConfig, Side
from scoring.scorecard import score
from scoring.task import Task, prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who is behind the value at one path of a draft: the models that gave it, and those that gave another one."""

    path: str
    value: Json
    models: tuple[str, ...]
    others: tuple[tuple[Json, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the models' answers make together, with the provenance of every value, in the order of the document."""

    content: Json
    provenance: tuple[Provenance, ...]


@dataclass(slots=True, kw_only=True)
class _Ballot:
    """What the models gave at one place of the union: groups of equal values, the union's own first."""

    row: FieldScore
    groups: list[tuple[Json, list[str]]] = field(default_factory=list)

    def add(self, model_id: str, row: FieldScore) -> None:
        own = row.outcome in (Outcome.MATCH, Outcome.PARTIAL)
        value = row.reference if own else row.candidate
        for known, models in self.groups:
            if known == value and type(known) is type(value):
                models.append(model_id)
                return
        self.groups.append((value, [model_id]))


_LEFT_OUT = object()
_Cards = Mapping[str, Scorecard]


def consensus(*, schema: Json, config: ScoringConfig, answers: Mapping[str, Json], known: Known) -> Draft | Open:
    """The draft of at least one answer (model id to value), or the texts whose vectors decide what is equal.

    Ask and answer as with `score`. The order of `answers` breaks ties. Raises SchemaError for a broken schema.
    """
    settings = replace(config, judge_models=(), accepted={})
    tasks = {id_: prepare(schema=schema, reference=value, config=settings) for id_, value in answers.items()}
    base = _base(tasks, answers, known)
    if isinstance(base, Open):
        return base
    union = deepcopy(answers[base])
    for model_id in answers:
        cards = _cards(prepare(schema=schema, reference=union, config=settings), {model_id: answers[model_id]}, known)
        if isinstance(cards, Open):
            return cards
        union = _with_extras(union, cards[model_id])
    whole = _cards(prepare(schema=schema, reference=union, config=settings), answers, known)
    return whole if isinstance(whole, Open) else _elected(union, whole)


def _base(tasks: Mapping[str, Task], answers: Mapping[str, Json], known: Known) -> str | Open:
    """The id of the answer of the greatest mean quality as seen from all others; the earliest of equal ones."""
    qualities = dict.fromkeys(answers, 0.0)
    texts: dict[str, None] = {}
    for judge, task in tasks.items():
        cards = _cards(task, {id_: value for id_, value in answers.items() if id_ != judge}, known)
        if isinstance(cards, Open):
            texts.update(dict.fromkeys(cards.texts))
            continue
        for model_id, card in cards.items():
            qualities[model_id] += card.scores.quality
    return Open(texts=tuple(texts)) if texts else max(qualities, key=lambda id_: round(qualities[id_], 6))


def _cards(task: Task, answers: Mapping[str, Json], known: Known) -> _Cards | Open:
    results = {model_id: score(task, Reading(value=value), known) for model_id, value in answers.items()}
    texts = [text for result in results.values() if isinstance(result, Open) for text in result.texts]
    if texts:
        return Open(texts=tuple(dict.fromkeys(texts)))
    return {model_id: result for model_id, result in results.items() if isinstance(result, Scorecard)}


def _with_extras(union: Json, card: Scorecard) -> Json:
    """The union with what this answer holds beyond it."""
    for row in card.fields:
        if row.outcome is not Outcome.EXTRA:
            continue
        steps = steps_of(row.path)
        if row.side is Side.CANDIDATE and row.list_path is not None:
            union = _grown(union, (*steps_of(row.list_path), "-"), row.candidate)
        elif steps:
            union = _grown(union, steps, row.candidate)
    return union


def _grown(value: Json, steps: Sequence[str], new: Json) -> Json:
    """The value with `new` at the steps; `-` is the end of a list. What stands in the way of the steps stays."""
    if not steps:
        return deepcopy(new)
    step, rest = steps[0], steps[1:]
    if value is None or value == "":
        value = [] if step == "-" else {}
    if isinstance(value, list):
        if step == "-":
            return [*value, deepcopy(new)]
        if step.isdigit() and int(step) < len(value):
            return [_grown(item, rest, new) if index == int(step) else item for index, item in enumerate(value)]
        return [*value, _grown(None, rest, new)]
    if isinstance(value, dict):
        return {**value, step: _grown(value.get(step), rest, new)}
    return value


def _elected(union: Json, cards: _Cards) -> Draft:
    ballots: dict[str, _Ballot] = {}
    absent: dict[str, set[str]] = {}
    for model_id, card in cards.items():
        for row in card.fields:
            if row.side is not Side.REFERENCE or row.outcome in (Outcome.EXTRA, Outcome.EMPTY):
                continue
            if row.outcome is Outcome.MISSING or row.kind in ("object", "list"):
                absent.setdefault(row.path, set()).add(model_id)
            else:
                ballots.setdefault(row.path, _Ballot(row=row, groups=[(row.reference, [])])).add(model_id, row)
    provenance: list[Provenance] = []
    content = _built(union, "", "", ballots, absent, len(cards), provenance)
    return Draft(content=None if content is _LEFT_OUT else content, provenance=tuple(provenance))  # type: ignore[arg-type]  # JSON but for the mark


def _built(
    value: Json,
    path: str,
    new_path: str,
    ballots: Mapping[str, _Ballot],
    absent: Mapping[str, set[str]],
    count: int,
    provenance: list[Provenance],
) -> object:
    """What stays of the union at `path`, its provenance noted under `new_path`; the mark where nothing does."""
    if 2 * (count - len(absent.get(path, ()))) < count:
        return _LEFT_OUT
    ballot = ballots.get(path)
    if ballot is not None:
        return _winner(ballot, new_path, count, provenance)
    if isinstance(value, dict):
        built = {
            key: _built(child, extend(path, key), extend(new_path, key), ballots, absent, count, provenance)
            for key, child in value.items()
        }
        return {key: child for key, child in built.items() if child is not _LEFT_OUT}
    if isinstance(value, list):
        kept: list[object] = []
        for index, item in enumerate(value):
            built_item = _built(
                item, extend(path, index), extend(new_path, len(kept)), ballots, absent, count, provenance
            )
            kept += [built_item] if built_item is not _LEFT_OUT else []
        return kept
    return value


def _winner(ballot: _Ballot, path: str, count: int, provenance: list[Provenance]) -> object:
    votes = sum(len(models) for _, models in ballot.groups)
    if 2 * votes < count and ballot.row.list_path is None:
        return _LEFT_OUT
    value, models = max(ballot.groups, key=lambda group: len(group[1]))
    others = tuple((other, tuple(who)) for other, who in ballot.groups if who and who is not models)
    provenance.append(Provenance(path=path, value=value, models=tuple(models), others=others))
    return value
