"""Does a reference that improves itself drift? `python -m benchmarks.reference_drift [--orders N] [--fields N]`.

A reference starts with planted errors. Models answer with the truth but for private mistakes that no other model
makes. A scripted judge is right 80% of the time: a wrong verdict is the mirror of the right one, and is the same
whenever the same two values meet, as answers are cached by content. The models are scored one by one, each against the
reference as it then is, in many random orders, and once all together. Everything but the judge is the real core.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binomtest

from scoring.edits import LoggedFinding, Merged, Snapshot, Support
from scoring.finding_log import claimed_paths, logged_findings, supports_in
from scoring.merge import merge
from scoring.records import Answer, FieldScore, Json, Known, Open, Question, Reading, Scorecard, ScoringConfig, Verdict
from scoring.schema import compile_schema
from scoring.scorecard import score
from scoring.task import Task, prepare

MODELS = 20
JUDGE_RIGHT = 0.8
CONFIG = ScoringConfig(judge_models=("scripted",))
Values = dict[str, Json]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One trial's world: the truth, the reference it starts from and what each model answers."""

    truth: Values
    start: Values
    outputs: Mapping[str, Values]
    schema: Json
    seed: int

    def judge(self, question: Question) -> Answer:
        body = json.loads(question.message)
        true = self.truth[body["field"]["path"].rpartition("/")[2]]
        toss = int(hashlib.sha256(f"{self.seed} {question.question_id}".encode()).hexdigest()[:12], 16) / 16**12
        right = toss < JUDGE_RIGHT
        if true not in (body["A"], body["B"]):
            verdict = Verdict.BOTH_WRONG if right else (Verdict.A_WRONG, Verdict.B_WRONG)[int(toss * 1e6) % 2]
        else:
            verdict = Verdict.B_WRONG if (body["A"] == true) == right else Verdict.A_WRONG
        return Answer(verdict=verdict, credit=0.0, basis="document", reason="scripted")


def setting(seed: int, *, fields: int, wrong: float, mistakes: float, clan: int = 1) -> Setting:
    """A world in which `wrong` of the reference's fields and `mistakes` of each model's are not true.

    So many models as `clan` says make the same mistakes.
    """
    chance = random.Random(seed)
    names = [f"field_{n}" for n in range(fields)]
    truth: Values = {name: 1000 * n for n, name in enumerate(names)}
    planted = set(chance.sample(names, round(wrong * fields)))
    start: Values = {name: 1000 * n + 999 if name in planted else 1000 * n for n, name in enumerate(names)}
    said = [
        {name: 1000 * n + c + 1 if chance.random() < mistakes else 1000 * n for n, name in enumerate(names)}
        for c in range(-(-MODELS // clan))
    ]
    outputs: dict[str, Values] = {f"model {m:02}": {**said[m // clan]} for m in range(MODELS)}
    schema: Json = {"type": "object", "properties": {name: {"type": "number"} for name in names}}
    return Setting(truth=truth, start=start, outputs=outputs, schema=schema, seed=seed)


@dataclass(kw_only=True)
class Log:
    """All that the rounds of one trial left."""

    findings: list[LoggedFinding]
    rows: list[tuple[str, int, Snapshot, Sequence[FieldScore]]]

    def supports(self, reference: Merged | None) -> list[Support]:
        claimed = claimed_paths(self.findings, reference.edits if reference else ())
        return [
            support
            for model_id, round_id, scored_against, rows in self.rows
            for support in supports_in(rows, scored_against, claimed, model_id=model_id, run_id=0, round_id=round_id)
        ]


def run(world: Setting, rounds: Sequence[Sequence[str]], *, owner_counts: bool = True) -> Values:
    """The reference's content after these rounds of models."""
    owner = Snapshot(content=world.start)
    root = compile_schema(world.schema, world.start)
    log = Log(findings=[], rows=[])
    merged: Merged | None = None
    for round_id, model_ids in enumerate(rounds, start=1):
        head = Snapshot(content=merged.content, item_ids=merged.item_ids) if merged else owner
        task = prepare(schema=world.schema, reference=head.content, config=CONFIG)
        for model_id in model_ids:
            card = scored(task, world.outputs[model_id], world.judge)
            for finding in logged_findings(card, head, model_id=model_id, run_id=0, round_id=round_id):
                log.findings.append(replace(finding, finding_id=len(log.findings) + 1))
            log.rows.append((model_id, round_id, head, card.fields))
        supports = log.supports(merged)
        if not owner_counts:
            supports = [one for one in supports if one.value != world.start[one.path[1:]]]
        merged = merge(owner, log.findings, supports=supports, root=root)
    assert merged is not None
    assert isinstance(merged.content, dict)
    return merged.content


def scored(task: Task, output: Json, judge: Callable[[Question], Answer]) -> Scorecard:
    known = Known()
    while isinstance(card := score(task, Reading(value=output), known), Open):
        known = Known(answers={**known.answers, **{one.question_id: judge(one) for one in card.questions}})
    return card


def error_share(world: Setting, content: Values) -> float:
    return sum(content[name] != value for name, value in world.truth.items()) / len(world.truth)


def adopted(world: Setting, content: Values, model_id: str) -> tuple[int, int]:
    """How many of a model's private values the reference holds, and how many it has."""
    private = {name: value for name, value in world.outputs[model_id].items() if value != world.truth[name]}
    return sum(content[name] == value for name, value in private.items()), len(private)


def interval(hits: int, of: int) -> str:
    if not of:
        return "none"
    found = binomtest(hits, of).proportion_ci(method="wilson")
    return f"{hits}/{of} = {hits / of:.1%} [{found.low:.1%}, {found.high:.1%}]"


@dataclass(frozen=True, kw_only=True)
class Trial:
    before: float
    after: float
    by_position: Sequence[tuple[int, int]]


def one_by_one(world: Setting, *, owner_counts: bool = True) -> Trial:
    order = random.Random(world.seed).sample(list(world.outputs), MODELS)
    content = run(world, [[model_id] for model_id in order], owner_counts=owner_counts)
    return Trial(
        before=error_share(world, world.start),
        after=error_share(world, content),
        by_position=[adopted(world, content, model_id) for model_id in order],
    )


def together(world: Setting, *, owner_counts: bool = True) -> Trial:
    content = run(world, [list(world.outputs)], owner_counts=owner_counts)
    return Trial(before=error_share(world, world.start), after=error_share(world, content), by_position=[])


def depends_on_order(world: Setting, orders: int) -> int:
    """At how many fields the same models, in several random orders, end with different values."""
    chance = random.Random(world.seed)
    ends = []
    for _ in range(orders):
        order = chance.sample(list(world.outputs), MODELS)
        ends.append(run(world, [[model_id] for model_id in order]))
    return sum(len({str(end[name]) for end in ends}) > 1 for name in world.truth)


def summary(trials: Sequence[Trial]) -> str:
    closer = sum(trial.after < trial.before for trial in trials)
    before, after = np.mean([trial.before for trial in trials]), np.mean([trial.after for trial in trials])
    return f"closer to the truth in {interval(closer, len(trials))}; wrong fields {before:.1%} -> {after:.1%}"


def by_position(trials: Sequence[Trial]) -> None:
    print("\nprivate values adopted, by position in the order:")
    quarters = MODELS // 4
    for first in range(0, MODELS, quarters):
        found = [trial.by_position[p] for trial in trials for p in range(first, first + quarters)]
        print(f"  {first + 1:2}..{first + quarters:2}  {interval(sum(a for a, _ in found), sum(b for _, b in found))}")
    for name, position in (("first", 0), ("last", MODELS - 1)):
        found = [trial.by_position[position] for trial in trials]
        print(f"  {name:6}  {interval(sum(a for a, _ in found), sum(b for _, b in found))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--fields", type=int, default=40)
    parser.add_argument("--wrong", type=float, default=0.2)
    parser.add_argument("--mistakes", type=float, default=0.1)
    said = parser.parse_args()

    worlds = [
        setting(seed, fields=said.fields, wrong=said.wrong, mistakes=said.mistakes) for seed in range(said.orders)
    ]
    print(f"{MODELS} models, {said.mistakes:.0%} private mistakes each, judge right {JUDGE_RIGHT:.0%},", end=" ")
    print(f"{said.fields} fields, {said.wrong:.0%} planted errors, {said.orders} random orders")
    trials = [one_by_one(world) for world in worlds]
    print("one by one:  ", summary(trials))
    print("all together:", summary([together(world) for world in worlds]))
    by_position(trials)
    found = sum(depends_on_order(world, 5) for world in worlds[:3])
    print(f"fields that end differently in 5 orders of the same models: {interval(found, 3 * said.fields)}")
    clans = [
        setting(seed, fields=said.fields, wrong=said.wrong, mistakes=said.mistakes, clan=4)
        for seed in range(said.orders // 2)
    ]
    print("\nmodels in clans of 4 that make the same mistakes:")
    trials = [one_by_one(world) for world in clans]
    print("one by one:  ", summary(trials))
    print("all together:", summary([together(world) for world in clans]))
    by_position(trials)
    print("\nprivate mistakes, all together, at other rates (and what if nobody counted for the owner's value):")
    for rate in (0.02, 0.05, 0.1, 0.2, 0.3):
        some = [setting(seed, fields=said.fields, wrong=said.wrong, mistakes=rate) for seed in range(10)]
        print(f"  {rate:4.0%}  {summary([together(world) for world in some])}")
        print(f"        without: {summary([together(world, owner_counts=False) for world in some])}")


if __name__ == "__main__":
    main()
