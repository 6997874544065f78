"""How rarely the judge is asked: beside a judge of every unequal or text field, with the same scripted verdicts.

`python -m benchmarks.judge_cost` scores DocuBench's stored runs and the example workspace with local embeddings and a
scripted judge, as one round over all models, and counts distinct questions. The naive way asks about each text field
and each unequal field of each run. The scripted judge decides alike in both: texts by their letters and digits,
numbers within one percent. It prints both counts, how many fields end the same, and what a second round asks; it exits
1 where a limit is missed.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rapidfuzz.fuzz import ratio, token_sort_ratio

from resources.embeddings import embeddings_from
from resources.recordings import read_recordings
from resources.scoring_configs import scoring_config_of
from resources.settings import Endpoint, JudgeSettings, Resolved, ScoringSettings
from resources.workspace import load_workspace
from scoring.reading import read_output
from scoring.records import (
    Answer,
    Context,
    FieldScore,
    Json,
    Known,
    Open,
    Origin,
    Outcome,
    Question,
    QuestionKind,
    RunStatus,
    Scorecard,
    ScoringConfig,
    Unreadable,
    Vector,
    Verdict,
)
from scoring.scorecard import score
from scoring.task import Task, prepare
from scoring.text import normal_form

ROOT = Path(__file__).parents[1]
DOCUBENCH = ROOT / ".." / "shared" / "data" / "docubench"
EXAMPLES = ROOT / "examples" / "workspace"
MOST_ASKED, LEAST_SAME = 0.25, 0.98
ALIKE_PERCENT, NUMBERS_WITHIN = 85.0, 0.01

Outputs = Mapping[str, list[str]]


@dataclass(slots=True, kw_only=True)
class Tally:
    """What both ways came to."""

    asked: set[str] = field(default_factory=set)
    naive: int = 0
    naive_distinct: set[str] = field(default_factory=set)
    fields: int = 0
    same: int = 0
    asked_again: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


def is_right(reference: Json, candidate: Json) -> bool:
    """The scripted judge's opinion of two values."""
    left, right = shown(reference), shown(candidate)
    if isinstance(reference, int | float) and isinstance(candidate, int | float):
        return abs(reference - candidate) <= NUMBERS_WITHIN * max(abs(reference), abs(candidate))
    if re.findall(r"\d+", left) != re.findall(r"\d+", right):
        return False
    letters = ("".join(re.findall(r"\w", text)) for text in (left, right))
    return max(ratio(*letters), token_sort_ratio(left, right)) >= ALIKE_PERCENT


def shown(value: Json) -> str:
    return normal_form(value if isinstance(value, str) else json.dumps(value, sort_keys=True))


def verdict_on(question: Question) -> Answer:
    body = json.loads(question.message)
    if question.kind is QuestionKind.VERIFY:
        return Answer(verdict=Verdict.UNSURE, credit=0.0, basis="knowledge", reason="Scripted.")
    verdict = Verdict.BOTH_CORRECT if is_right(body["A"], body["B"]) else Verdict.BOTH_WRONG
    return Answer(verdict=verdict, credit=1.0, basis="knowledge", reason="Scripted.")


def judged_config() -> ScoringConfig:
    judge = JudgeSettings(models=(Endpoint(model="scripted", base_url="http://127.0.0.1/v1"),))
    return scoring_config_of(ScoringSettings(judge=Resolved(value=judge, origin=Origin.DEFAULT)))


def scenarios() -> Iterator[tuple[str, Task, Outputs]]:
    """Every scenario with the outputs of its models."""
    config = judged_config()
    for path in sorted((DOCUBENCH / "schema").glob("*.json")) if DOCUBENCH.exists() else []:
        reference = json.loads((DOCUBENCH / "reference" / path.name).read_text())
        outputs = {
            system.name: [json.dumps(json.loads((system / path.name).read_text())["data"])]
            for system in sorted((DOCUBENCH / "outputs").iterdir())
            if (system / path.name).exists()
        }
        schema = json.loads(path.read_text())
        yield f"docubench {path.stem}", prepare(schema=schema, reference=reference, config=config), outputs
    workspace = load_workspace(EXAMPLES)
    recorded = read_recordings([EXAMPLES / "runs"], workspace)
    for scenario in workspace.scenarios:
        outputs = {}
        for run in recorded:
            if run.scenario_id == scenario.scenario_id and run.status is RunStatus.OK:
                outputs.setdefault(run.model_id, []).append(run.output or "")
        task = prepare(schema=scenario.schema, reference=scenario.reference, config=config, context=scenario.context)
        yield f"example {scenario.scenario_id}", task, outputs


def beside_others(task: Task, outputs: Outputs, model: str) -> Task:
    from dataclasses import replace

    others = [read_output(runs[0]) for name, runs in sorted(outputs.items()) if name != model]
    values = tuple(one.value for one in others if not isinstance(one, Unreadable))
    context: Context = replace(task.context, other_outputs=values)
    return replace(task, context=context)


def tally(name: str, task: Task, outputs: Outputs, embeddings: Any, into: Tally) -> None:
    vectors: dict[str, Vector] = {}
    answers: dict[str, Answer] = {}
    for is_again in (False, True):
        for model, runs in outputs.items():
            own = beside_others(task, outputs, model)
            for text in runs:
                before = len(answers)
                card = scored(own, text, embeddings, vectors, answers)
                if is_again:
                    into.asked_again += len(answers) - before
                else:
                    count(name, card, into)
    into.asked |= {f"{name} {id_}" for id_ in answers}


def scored(task: Task, text: str, embeddings: Any, vectors: dict[str, Vector], answers: dict[str, Answer]) -> Scorecard:
    reading = read_output(text)
    while isinstance(found := score(task, reading, Known(vectors=vectors, answers=answers)), Open):
        vectors.update(embeddings.vectors(found.texts))
        answers.update({question.question_id: verdict_on(question) for question in found.questions})
    return found


def count(name: str, card: Scorecard, into: Tally) -> None:
    for row in card.fields:
        if row.outcome in (Outcome.EMPTY, Outcome.MISSING):
            continue
        is_equal = row.rung is not None and row.rung.value in ("exact", "normalized", "calendar")
        if row.kind not in ("text", "prose") and is_equal:
            continue
        into.naive += 1
        into.naive_distinct.add(f"{name} {row.path} {shown(row.candidate)}")
        into.kinds[f"{row.kind} {row.rung or 'different'}"] += 1
        if row.outcome is not Outcome.EXTRA:
            into.fields += 1
            into.same += is_same(row)


def is_same(row: FieldScore) -> bool:
    return (row.credit >= 1.0) == is_right(row.reference, row.candidate)


def main() -> int:
    total, embeddings = Tally(), embeddings_from("local")
    for name, task, outputs in scenarios():
        tally(name, task, outputs, embeddings, total)
    share, same = len(total.asked) / max(1, total.naive), total.same / max(1, total.fields)
    print(f"a judge of every unequal or text field: {total.naive:,} questions, {len(total.naive_distinct):,} distinct")
    print(f"assay: {len(total.asked):,} questions, {100 * share:.1f}% (limit {100 * MOST_ASKED:.0f}%)")
    print(f"the same end for {100 * same:.2f}% of {total.fields:,} fields (limit {100 * LEAST_SAME:.0f}%)")
    print(f"a second round asks {total.asked_again}")
    print("what decided: " + ", ".join(f"{what} {number:,}" for what, number in total.kinds.most_common()))
    return int(share > MOST_ASKED or same < LEAST_SAME or total.asked_again > 0)


if __name__ == "__main__":
    sys.exit(main())
