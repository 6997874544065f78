"""`assay history`: what the judge was asked on a scenario, what it answered, and what that cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli import terminal
from pipelines.cli.export import write_csv
from pipelines.cli.options import AsJson, CsvOption, WorkspaceOption
from scoring.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from pipelines.session import Session

Row = Mapping[str, Any]

ID_CHARACTERS = 12
LIMIT = 20


def history(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="The scenario's id.")],
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="MODEL", help="Only what this model's scorings did.")
    ] = None,
    is_failed_only: Annotated[bool, typer.Option("--failed", help="Only what failed.")] = False,
    question: Annotated[
        str | None, typer.Option("--question", metavar="ID", help="One question whole; the start of its id is enough.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="So many of each, the newest.")] = LIMIT,
    workspace: WorkspaceOption = None,
    as_json: AsJson = False,
    as_csv: CsvOption = False,
) -> None:
    """Show scorings and judge calls of a scenario, failed ones included; CSV holds the calls."""
    from pipelines.session import open_session

    with open_session(workspace) as session:
        scenario_id = session.workspace.scenario(scenario).scenario_id
        if model is not None:
            session.workspace.model(model)
        if question is not None:
            found = _question(session, scenario_id, question)
        else:
            found = _newest(session, scenario_id, model, is_failed_only=is_failed_only, limit=limit)
    if as_json:
        terminal.print_json(found)
    elif as_csv:
        write_csv(found["calls" if question is not None else "judge_calls"])
    elif question is not None:
        _show_question(found)
    else:
        _show_newest(found)


def _newest(
    session: Session, scenario_id: str, model: str | None, *, is_failed_only: bool, limit: int
) -> dict[str, Any]:
    ledger = session.warehouse.judge_history
    return {
        "scenario_id": scenario_id,
        "scoring_records": ledger.records(scenario_id, model_id=model, is_failed_only=is_failed_only, limit=limit),
        "judge_calls": ledger.calls(scenario_id, model_id=model, is_failed_only=is_failed_only, limit=limit),
    }


def _question(session: Session, scenario_id: str, start: str) -> dict[str, Any]:
    ledger = session.warehouse.judge_history
    ids = ledger.question_ids(scenario_id, start)
    if not ids:
        remedy = f"See the ids with: assay history {scenario_id}"
        raise InputError(f"no question starts with {start!r}", where=scenario_id, remedy=remedy)
    if len(ids) > 1:
        some = ", ".join(id_[:ID_CHARACTERS] for id_ in ids[:5])
        raise InputError(
            f"{len(ids):,} questions start with {start!r}", where=scenario_id, remedy=f"Give more of one: {some}"
        )
    return ledger.question(scenario_id, ids[0])


def _show_newest(found: Mapping[str, Any]) -> None:
    page = terminal.screen()
    records, calls = found["scoring_records"], found["judge_calls"]
    if not records and not calls:
        page.print(f"Nothing to show for {found['scenario_id']}: no scoring and no judge call fits.")
        return
    if records:
        terminal.print_table(page, _records_table(records), optional=("judge seconds", "tokens", "seconds"))
    if calls:
        terminal.print_table(page, _calls_table(calls), optional=("seconds", "tokens", "order"))
        page.print(f"A question whole: assay history {found['scenario_id']} --question {calls[0]['question_id'][:8]}")
    for row in [*records, *calls]:
        if row["error"]:
            page.print(f"{_place(row)}: {terminal.shown(row['error'], 400)}", style="red")


def _place(row: Row) -> str:
    if "question_id" in row:
        return f"question {row['question_id'][:ID_CHARACTERS]}, {row['judge_model']}"
    return f"scoring {row['scoring_record_id']}, {row['model_id']}"


def _records_table(records: Sequence[Row]) -> Any:
    numbers = ("scoring", "questions", "cached", "calls", "failed", "tokens", "cost", "judge seconds", "seconds")
    made = terminal.table("begun", *numbers[:1], "model", *numbers[1:], "ended", numbers=numbers, title="Scorings")
    for row in records:
        made.add_row(
            _time(row["started_at"]),
            str(row["scoring_record_id"]),
            row["model_id"],
            *(str(row[name]) for name in ("question_count", "cached_count", "call_count", "failed_call_count")),
            f"{row['input_tokens']:,} + {row['output_tokens']:,}",
            terminal.dollars(row["cost_usd"]),
            terminal.seconds(row["judge_seconds"]),
            terminal.seconds(row["duration_seconds"]),
            _end_of(row),
            style="red" if row["error"] else "",
        )
    return made


def _end_of(row: Row) -> str:
    """How the scoring ended, in a word or two."""
    if row["is_scored"]:
        conflicts = row["position_conflict_count"]
        return "scored" if not conflicts else f"scored, {terminal.counted(conflicts, 'position conflict')}"
    return "failed" if row["error"] else "not ended"


def _calls_table(calls: Sequence[Row]) -> Any:
    columns = ("sent", "question", "field", "asked for", "judge", "order", "answer")
    numbers = ("tokens", "cost", "seconds")
    made = terminal.table(*columns, *numbers, numbers=numbers, title="Judge calls")
    for row in calls:
        made.add_row(
            _time(row["called_at"]),
            row["question_id"][:ID_CHARACTERS],
            terminal.shown(row["path"] or "(all)", 40),
            row["model_id"] or "an audit",
            row["judge_model"],
            "B, A" if row["is_swapped"] else "A, B",
            said(row),
            _tokens(row),
            terminal.dollars(row["cost_usd"]),
            terminal.seconds(row["duration_seconds"]),
            style="red" if row["error_kind"] else "",
        )
    return made


def said(row: Row) -> str:
    """What a call gave: the verdict and credit as the judge wrote them, or the kind of failure."""
    if row["error_kind"]:
        tries = f", try {row['attempt']}" if row["attempt"] > 1 else ""
        return f"failed: {row['error_kind']}{tries}"
    from resources.chat_replies import answer_text
    from scoring.questions import read_answer
    from scoring.records import Answer, QuestionKind

    answer = read_answer(QuestionKind(row["question_kind"]), answer_text(row["answer_text"] or ""))
    if not isinstance(answer, Answer):
        return terminal.shown(row["answer_text"] or "", 40)
    return f"{answer.verdict} {answer.credit:.2f}" if row["question_kind"] == "compare" else answer.verdict.value


def _tokens(row: Row) -> str:
    known = [f"{row[name]:,}" if row[name] is not None else "?" for name in ("input_tokens", "output_tokens")]
    return " + ".join(known)


def _time(at: Any) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _show_question(found: Mapping[str, Any]) -> None:
    page = terminal.screen()
    page.print(f"Question {found['question_id']}", style="bold")
    page.print(f"{found['question_kind']} at {found['path'] or '(all)'}, first asked {_time(found['asked_at'])} UTC")
    _print_text(page, _readable(found["prompt"]))
    if found["answers"]:
        terminal.print_table(page, _answers_table(found["answers"]))
    for number, call in enumerate(found["calls"], 1):
        _show_call(page, number, call, found["prompt"])
    if found["fields"]:
        terminal.print_table(page, _fields_table(found["fields"]))


def _show_call(page: Console, number: int, call: Row, prompt: str) -> None:
    order = ", A and B exchanged" if call["is_swapped"] else ""
    page.print(
        f"Call {number}: {call['judge_model']}, {_time(call['called_at'])} UTC, for {call['model_id'] or 'an audit'}"
        f"{order}{', a repair' if call['is_repair'] else ''}: {_tokens(call)} tokens, "
        f"{terminal.dollars(call['cost_usd'])}, {terminal.seconds(call['duration_seconds'])}",
        style="bold",
    )
    if call["prompt"] != prompt:
        page.print("sent:")
        _print_text(page, _readable(call["prompt"]))
    if call["answer_text"] is not None:
        page.print("answered:")
        _print_text(page, call["answer_text"])
    if call["error"]:
        page.print(f"{call['error_kind']}: {terminal.shown(call['error'], 2_000)}", style="red")


def _answers_table(answers: Sequence[Row]) -> Any:
    made = terminal.table(
        "judge", "order", "verdict", "credit", "basis", "reason", numbers=("credit",), title="Answers"
    )
    for row in answers:
        order = "B, A" if row["is_swapped"] else "A, B"
        reason = terminal.shown(row["reason"], 200)
        made.add_row(row["judge_model"], order, row["verdict"], f"{row['credit']:.2f}", row["basis"], reason)
    return made


def _fields_table(fields: Sequence[Row]) -> Any:
    numbers = ("run", "credit")
    made = terminal.table(
        "model", "run", "field", "outcome", "credit", "candidate", numbers=numbers, title="What it decides now"
    )
    for row in fields:
        made.add_row(
            row["model_id"],
            str(row["repetition"]),
            row["path"],
            row["outcome"],
            f"{row['credit']:.2f}",
            terminal.shown(row["candidate_text"] or "", 60),
        )
    return made


def _readable(text: str) -> str:
    """JSON text on lines of its own, with the characters it stands for; any other text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def _print_text(page: Console, text: str) -> None:
    for line in _lines(text):
        page.print(f"  {line}", soft_wrap=True)


def _lines(text: str) -> Iterator[str]:
    """The lines of the text without characters that a terminal obeys."""
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip(" "))]
        yield indent + terminal.shown(line.lstrip(" "), len(line) + 1)
