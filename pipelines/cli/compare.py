"""`assay compare`: the ladder on three files, without a database and without Dagster (SPEC 13)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import field_tables, terminal
from scoring.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from pipelines.cli.compare_config import CompareConfig
    from scoring.records import Answer, FieldScore, Json, Known, ListScore, Question, Reading, Scorecard, Unreadable
    from scoring.task import Task

STANDARD_INPUT = "-"


KINDS = {
    "invalid": "invalid_output",
    "ambiguous": "ambiguous_output",
    "too_large": "output_too_large",
    "too_deep": "output_too_deep",
}


class CandidateError(InputError):
    """The candidate's text holds no value that could be compared; `kind` says what was found instead."""

    def __init__(self, unreadable: Unreadable, where: str) -> None:
        super().__init__(unreadable.reason, where=where)
        self.kind = KINDS.get(unreadable.kind, unreadable.kind)


def compare(
    schema: Annotated[str, typer.Option(help="JSON Schema of the answer; - reads standard input.", metavar="FILE")],
    reference: Annotated[str, typer.Option(help="The right answer as JSON; - reads standard input.", metavar="FILE")],
    candidate: Annotated[
        str, typer.Option(help="What the model gave, as it gave it; - reads standard input.", metavar="FILE")
    ],
    config: Annotated[
        str | None, typer.Option(help="Embedding, strictness and the like, as YAML or JSON.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare one answer with the right one, field by field: no database, no Dagster."""
    from pipelines.cli.compare_config import read_config

    if [schema, reference, candidate, config].count(STANDARD_INPUT) > 1:
        raise InputError("only one of the files can be standard input", remedy="Name the others by their paths")
    card = scorecard_of(schema, reference, candidate, read_config(config))
    if as_json:
        terminal.print_json(comparison(card))
    else:
        _show(card)


def scorecard_of(schema: str, reference: str, candidate: str, config: CompareConfig) -> Scorecard:
    """The scorecard of the candidate's text.

    Raises InputError where a file is unreadable, CandidateError where the candidate holds no certain JSON value, and
    what the embedding model raises, JudgeError where the judge leaves a question open.
    """
    from resources.sources import json_value
    from scoring.reading import read_output
    from scoring.records import Kind, Unreadable
    from scoring.task import prepare

    task = prepare(
        schema=json_value(text_of(schema), _name_of(schema)),
        reference=json_value(text_of(reference), _name_of(reference)),
        config=config.scoring,
        context=config.context,
    )
    is_text_root = task.root.node.kind is Kind.TEXT and not task.root.fields
    reading = read_output(text_of(candidate, is_strict=False), is_text_root=is_text_root)
    if isinstance(reading, Unreadable):
        raise CandidateError(reading, _name_of(candidate))
    return _answered(task, reading, config)


def _answered(task: Task, reading: Reading, config: CompareConfig) -> Scorecard:
    from scoring.records import Known, Open
    from scoring.scorecard import score

    known = Known()
    while isinstance(result := score(task, reading, known), Open):
        known = _with_answers(result, known, config)
    return result


def _with_answers(open_: Any, known: Known, config: CompareConfig) -> Known:
    from scoring.records import Known

    if open_.questions:
        return Known(vectors=known.vectors, answers={**known.answers, **_judged(open_.questions, config)})
    vectors = config.embeddings().vectors(open_.texts)
    return Known(vectors={**known.vectors, **vectors}, answers=known.answers)


def _judged(questions: Sequence[Question], config: CompareConfig) -> dict[str, Answer]:
    """The judge's answers. Raises JudgeError where one question has none: a score is whole or not at all."""
    from resources.judge_calls import JudgeError, Raised

    answered = config.judge().answer([Raised(scenario_id="", question=question) for question in questions])
    if answered.failures:
        first = next(question for question in questions if ("", question.question_id) in answered.failures)
        reason = answered.failures[("", first.question_id)]
        count = f"{len(answered.failures)} of {len(questions)} questions have no answer"
        raise JudgeError(f"{count}; the one at {first.path or '(root)'}: {reason}")
    return {question_id: answer for (_, question_id), answer in answered.answers.items()}


def text_of(name: str, *, is_strict: bool = True) -> str:
    """The text of a file or of standard input in UTF-8; bytes that are not UTF-8 become U+FFFD unless `is_strict`."""
    import sys

    from resources.sources import decoded

    try:
        content = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"cannot be read ({reason})", where=name) from error
    return decoded(content, _name_of(name)) if is_strict else content.decode("utf-8-sig", errors="replace")


def _name_of(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def comparison(card: Scorecard) -> dict[str, Any]:
    """The JSON of SPEC 13 for one scorecard."""
    scores = card.scores
    return {
        "quality": scores.quality,
        "completeness": scores.completeness,
        "correctness": scores.correctness,
        "hallucination": scores.hallucination,
        "mode": card.mode.value,
        "fields": [field_row(field) for field in card.fields],
        "lists": [list_row(one) for one in card.lists],
        "problems": list(card.problems),
    }


def field_row(field: FieldScore) -> dict[str, Any]:
    """One field as JSON. `side`, `reason` and `setting` stand in it only where there is something to say."""
    row: dict[str, Any] = {
        "path": field.path,
        "outcome": field.outcome.value,
        "rung": None if field.rung is None else field.rung.value,
        "credit": field.credit,
        "similarity": field.similarity,
        "reference": field.reference,
        "candidate": field.candidate,
    }
    if field.side == "candidate":
        row["side"] = field.side.value
    if field.reason:
        row["reason"] = field.reason
    if field.setting is not None:
        row["setting"] = {"text": field.setting.text, "origin": field.setting.origin.value}
    return row


def list_row(one: ListScore) -> dict[str, Any]:
    """One list as JSON; `hallucinated` are those of `extra` that nothing confirmed."""
    return {
        "path": one.path,
        "matched": one.matched,
        "missed": list(one.missed),
        "extra": list(one.extra),
        "hallucinated": list(one.hallucinated),
        "duplicates": one.duplicates,
        "precision": one.precision,
        "recall": one.recall,
        "f1": one.f1,
    }


def _show(card: Scorecard) -> None:
    page = terminal.screen()
    page.print(score_line(card))
    if card.mode == "exact_only":
        page.print(terminal.EXACT_ONLY, style="yellow")
    for problem in card.problems:
        page.print(f"! {problem}", style="yellow")
    if card.fields:
        terminal.print_table(page, fields_table(card.fields), optional=field_tables.OPTIONAL)
    if card.lists:
        terminal.print_table(page, lists_table(card.lists))


def score_line(card: Scorecard) -> Any:
    """The four scores of a scorecard on one line."""
    from rich.text import Text

    scores = card.scores
    line = Text.assemble(("quality ", "bold"), (f"{scores.quality:.1f}", terminal.score_style(scores.quality)))
    for name in ("completeness", "correctness", "hallucination"):
        value = getattr(scores, name)
        line.append(f"   {name} ")
        line.append(f"{value:.1f}", terminal.score_style(100 - value if name == "hallucination" else value))
    return line


def fields_table(fields: tuple[FieldScore, ...]) -> Table:
    """The fields of a scorecard, what is wrong told apart by mark, word and colour."""
    made = field_tables.fields_table()
    for field in fields:
        field_tables.add_field(
            made,
            path=field.path,
            reference=_value(field.reference),
            candidate=_value(field.candidate),
            outcome=field.outcome.value,
            rung=field.rung.value if field.rung else None,
            credit=field.credit,
            similarity=field.similarity,
            reason=field.reason,
        )
    return made


def _value(value: Json) -> str:
    return "" if value is None else terminal.shown(value)


def lists_table(lists: tuple[ListScore, ...]) -> Table:
    """The lists of a scorecard as matched, missed and hallucinated items."""
    made = field_tables.lists_table()
    for one in lists:
        confirmed = len(one.extra) - len(one.hallucinated)
        made.add_row(
            one.path or "(all)",
            str(one.matched),
            field_tables.items(one.missed),
            field_tables.items(one.hallucinated) + (f"\n(+{confirmed} confirmed)" if confirmed else ""),
            *(terminal.number(100 * share) for share in (one.precision, one.recall, one.f1)),
        )
    return made
