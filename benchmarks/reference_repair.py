"""Does a reference that improves itself get better? `python -m benchmarks.reference_repair [--data DIR] [--tasks N]`.

Planted truth: 200 verified true fields against models whose candidates are fluent and wrong, with an honest judge and
with one that is right 90% of the time. How many true fields are overwritten, and is each of them in the log?

Planted errors: one in ten gold fields of DocuBench is made wrong, and the stored outputs of six real systems are scored
against it in one round, with a scripted judge that knows the true gold. How many planted errors are found and repaired,
and how many right fields are changed for the worse? Everything but the judge is the real core, without embeddings.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scipy.stats import binomtest

from scoring.answer_keys import AnswerKeys
from scoring.drafts import draft_from
from scoring.edits import LoggedFinding, Merged, Snapshot, Support
from scoring.finding_log import claimed_paths, logged_findings, supports_in
from scoring.item_ids import assign_item_ids
from scoring.merge import merge
from scoring.paths import extend, resolve, stable_path
from scoring.records import (
    Answer,
    Context,
    FieldScore,
    Json,
    Known,
    Open,
    Question,
    QuestionKind,
    Reading,
    Scorecard,
    ScoringConfig,
    Verdict,
)
from scoring.schema import Node, compile_schema
from scoring.scorecard import score
from scoring.task import Task, prepare

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "docubench"
CONFIG = ScoringConfig(judge_models=("scripted",))
TRUE_FIELDS = 200
SHARE_PLANTED = 0.1
Judge = Callable[[Question], Answer]
Outputs = Mapping[str, Json]


def said(verdict: Verdict) -> Answer:
    return Answer(verdict=verdict, credit=0.0, basis="document", reason="scripted")


def scored(task: Task, output: Json, judge: Judge) -> Scorecard:
    known = Known()
    while isinstance(card := score(task, Reading(value=output), known), Open):
        known = Known(answers={**known.answers, **{one.question_id: judge(one) for one in card.questions}})
    return card


@dataclass(frozen=True, kw_only=True)
class Round:
    """What one round over all models left, and what the merge made of it."""

    findings: Sequence[LoggedFinding]
    merged: Merged


def one_round(schema: Json, owner: Snapshot, outputs: Outputs, judge: Judge) -> Round:
    """All models scored against the owner's version at once, and merged."""
    findings: list[LoggedFinding] = []
    rows: dict[str, Sequence[FieldScore]] = {}
    for model_id, output in outputs.items():
        others = tuple(other for name, other in outputs.items() if name != model_id)
        task = prepare(schema=schema, reference=owner.content, config=CONFIG, context=Context(other_outputs=others))
        card = scored(task, output, judge)
        rows[model_id] = card.fields
        for finding in logged_findings(card, owner, model_id=model_id, run_id=0, round_id=1):
            findings.append(replace(finding, finding_id=len(findings) + 1))
    claimed = claimed_paths(findings, ())
    supports: list[Support] = []
    for model_id, fields in rows.items():
        supports += supports_in(fields, owner, claimed, model_id=model_id, run_id=0, round_id=1)
    merged = merge(owner, findings, supports=supports, root=compile_schema(schema, owner.content))
    return Round(findings=findings, merged=merged)


def share(part: int, whole: int) -> str:
    found = binomtest(part, whole).proportion_ci(method="wilson")
    return f"{part}/{whole} = {part / whole:.1%} [{found.low:.1%}, {found.high:.1%}]"


# Planted truth


def true_world(seed: int, models: int) -> tuple[Json, dict[str, Json], Outputs]:
    """A schema, 200 true sentences, and models of which each says something fluent and wrong at a fifth of them."""
    chance = random.Random(seed)
    names = [f"claim_{n}" for n in range(TRUE_FIELDS)]
    truth: dict[str, Json] = {
        name: f"The harbour of town {n} was opened in {1800 + n}." for n, name in enumerate(names)
    }

    def wrong(n: int, m: int) -> str:
        return f"The harbour of town {n} was first opened, as the archives show, in {1700 + n + m}."

    outputs: Outputs = {
        f"model {m}": {name: wrong(n, m) if chance.random() < 0.2 else truth[name] for n, name in enumerate(names)}
        for m in range(models)
    }
    properties: Json = {name: {"type": "string", "x-assay": {"kind": "prose"}} for name in names}
    return {"type": "object", "properties": properties}, truth, outputs


def planted_truth(right: float, models: int) -> None:
    schema, truth, outputs = true_world(1, models)
    chance = random.Random(2)
    answers: dict[str, Answer] = {}

    def judge(question: Question) -> Answer:
        if question.question_id not in answers:
            body = json.loads(question.message)
            is_a_true = body["A"] in truth.values()
            verdict = Verdict.B_WRONG if is_a_true == (chance.random() < right) else Verdict.A_WRONG
            answers[question.question_id] = said(verdict)
        return answers[question.question_id]

    made = one_round(schema, Snapshot(content=dict(truth)), outputs, judge)
    assert isinstance(made.merged.content, dict)
    changed = {name for name, value in truth.items() if made.merged.content[name] != value}
    logged = {edit.path[1:] for edit in made.merged.log}
    print(f"  judge right {right:4.0%}, {models} models: {len(made.findings)} findings; overwritten", end=" ")
    print(f"{share(len(changed), TRUE_FIELDS)}; of these in the log: {len(changed & logged)}/{len(changed)}")


# Planted errors


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A gold document with wrong values at some leaves: what is true at each of these pointers."""

    content: Json
    truth: Mapping[str, Json]


def leaves(value: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, held in value.items():
            yield from leaves(held, extend(pointer, name))
    elif isinstance(value, list):
        for index, held in enumerate(value):
            yield from leaves(held, f"{pointer}/{index}")
    elif value is not None and value != "":
        yield pointer, value


def wrong_value(value: Json, others: Sequence[Json], chance: random.Random) -> Json:
    """A plausible wrong value of the same sort: another one of the document, or one near it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + chance.choice((1, -1, 10, 100)) if value else 7
    rest = [other for other in others if isinstance(other, str) and other.casefold() != str(value).casefold()]
    digits = [index for index, letter in enumerate(str(value)) if letter.isdigit()]
    if digits:
        place = chance.choice(digits)
        return f"{str(value)[:place]}{(int(str(value)[place]) + chance.randint(1, 8)) % 10}{str(value)[place + 1 :]}"
    return chance.choice(rest) if rest else f"{value} II"


def planted(gold: Json, chance: random.Random) -> Planted:
    found = list(leaves(gold))
    chosen = chance.sample(found, max(1, round(SHARE_PLANTED * len(found))))
    content = copy.deepcopy(gold)
    for pointer, value in chosen:
        parent, _, step = pointer.rpartition("/")
        above = resolve(content, parent)
        wrong = wrong_value(value, [other for _, other in found], chance)
        if isinstance(above, dict):
            above[step.replace("~1", "/").replace("~0", "~")] = wrong
        elif isinstance(above, list):
            above[int(step)] = wrong
    return Planted(content=content, truth=dict(chosen))


def oracle(gold: Json, root: Node) -> Judge:
    """A judge that knows the true gold and says what is so."""
    keys = AnswerKeys(root=root, owner=draft_from(Snapshot(content=gold, item_ids={})))

    def is_true(pointer: str, value: Json) -> bool:
        try:
            return keys.key(pointer, value) == keys.key(pointer, resolve(gold, pointer))
        except KeyError:
            return False

    def is_item(pointer: str, value: Json) -> bool:
        list_path = pointer.rpartition("/")[0]
        try:
            items = resolve(gold, list_path)
        except KeyError:
            return False
        wanted = keys.item_key(list_path, value)
        return isinstance(items, list) and any(keys.item_key(list_path, item) == wanted for item in items)

    def judge(question: Question) -> Answer:
        body = json.loads(question.message)
        if question.kind is QuestionKind.VERIFY:
            held = is_true(question.path, body["value"]) or is_item(question.path, body["value"])
            return said(Verdict.CORRECT if held else Verdict.WRONG)
        a, b = is_true(question.path, body["A"]), is_true(question.path, body["B"])
        if a and b:
            return said(Verdict.BOTH_CORRECT)
        return said(Verdict.B_WRONG if a else Verdict.A_WRONG if b else Verdict.BOTH_WRONG)

    return judge


def planted_errors(data: Path, tasks: int) -> Counter[str]:
    """What became of the planted errors and of the right fields, over all documents."""
    counts: Counter[str] = Counter()
    for path in sorted((data / "reference").glob("*.json"))[:tasks]:
        gold = json.loads(path.read_text())
        schema = json.loads((data / "schema" / path.name).read_text())
        outputs = {
            system.name: json.loads((system / path.name).read_text()).get("data")
            for system in sorted((data / "outputs").iterdir())
            if (system / path.name).exists()
        }
        counts += of_document(gold, schema, {name: one for name, one in outputs.items() if one is not None})
    return counts


def of_document(gold: Json, schema: Json, outputs: Outputs) -> Counter[str]:
    wrong = planted(gold, random.Random(json.dumps(gold)))
    root = compile_schema(schema, gold)
    owner = Snapshot(
        content=wrong.content, item_ids=assign_item_ids(wrong.content, compile_schema(schema, wrong.content))
    )
    made = one_round(schema, owner, outputs, oracle(gold, root))
    keys = AnswerKeys(root=root, owner=draft_from(Snapshot(content=gold)))
    reported = {finding.path for finding in made.findings}
    counts: Counter[str] = Counter(documents=1, systems=len(outputs), edits=len(made.merged.edits))
    for pointer, value in leaves(gold):
        now = resolve(made.merged.content, pointer)
        is_right = keys.key(pointer, now) == keys.key(pointer, value)
        if pointer in wrong.truth:
            kind = f"{keys.node_at(pointer).for_value(value).kind}{' in a list' if _is_in_list(gold, pointer) else ''}"
            for name in ("planted", f"planted {kind}"):
                counts[name] += 1
                counts[name.replace("planted", "found")] += stable_path(pointer, owner.item_ids) in reported
                counts[name.replace("planted", "repaired")] += is_right
        else:
            counts["right before"] += 1
            counts["changed for the worse"] += not is_right
    return counts + additions(made.merged, gold, keys)


def additions(merged: Merged, gold: Json, keys: AnswerKeys) -> Counter[str]:
    """How many items were added, and how many of them the gold holds in one of its lists."""
    counts: Counter[str] = Counter()
    for edit in merged.edits:
        if edit.is_addition:
            counts["items added"] += 1
            counts["of these true"] += any(
                keys.item_key(path, edit.after) == keys.item_key(path, item) for path, item in items(gold)
            )
    return counts


def _is_in_list(gold: Json, pointer: str) -> bool:
    steps = pointer.split("/")
    return any(isinstance(resolve(gold, "/".join(steps[:depth])), list) for depth in range(1, len(steps)))


def items(value: Json, pointer: str = "") -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        for name, held in value.items():
            yield from items(held, extend(pointer, name))
    elif isinstance(value, list):
        for index, held in enumerate(value):
            yield pointer, held
            yield from items(held, f"{pointer}/{index}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--tasks", type=int, default=36)
    asked = parser.parse_args()
    print(f"planted truth: {TRUE_FIELDS} true fields, each model fluent and wrong at 20% of them")
    for right, models in ((1.0, 6), (0.9, 6), (0.9, 20)):
        planted_truth(right, models)
    counts = planted_errors(asked.data, asked.tasks)
    print(f"\nplanted errors: {counts['documents']} documents, {counts['systems']} outputs, one honest judge")
    print(f"  found    {share(counts['found'], counts['planted'])}")
    print(f"  repaired {share(counts['repaired'], counts['planted'])}")
    for name in sorted(name for name in counts if name.startswith("planted ")):
        hits = counts[name.replace("planted", "repaired")]
        print(f"    {name.removeprefix('planted '):20} {hits}/{counts[name]} repaired")
    print(f"  right fields changed for the worse {share(counts['changed for the worse'], counts['right before'])}")
    print(f"  {counts['edits']} edits, of them {counts['items added']} items added, {counts['of these true']} true")


if __name__ == "__main__":
    main()
