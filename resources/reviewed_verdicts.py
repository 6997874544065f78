"""Verdicts of reviewers in a JSON Lines file, and the judge's questions that they are about.

A line names a question by the start of its id, with a verdict on A and B, or by its scenario and its two values, with a
verdict on reference and candidate:

    {"question_id": "3f9a01c2", "verdict": "a_better"}
    {"scenario": "casablanca", "path": "/plot", "reference": "...", "candidate": "...", "verdict": "candidate_wrong"}
    {"scenario": "casablanca", "path": "/trivia", "candidate": "...", "verdict": "correct"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.jsonl import lines_of
from resources.judge_audits import values_of
from resources.sources import json_value
from resources.stored_text import shown
from scoring.errors import InputError
from scoring.questions import COMPARE_VERDICTS, VERIFY_VERDICTS
from scoring.records import Json, Question, QuestionKind, Verdict
from scoring.text import clean

_KEYS = ("question_id", "scenario", "path", "reference", "candidate", "verdict")
_INDEX = re.compile(r"/(?:\d+|\*|@[^/]*)(?=/|$)")

Asked = tuple[str, Question]
"""A scenario id and a question that was answered in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedVerdict:
    """What a reviewer says about one question, in the question's own order of A and B."""

    scenario_id: str
    question: Question
    verdict: Verdict


def read_reviewed(path: Path, asked: Iterable[Asked]) -> list[ReviewedVerdict]:
    """The reviewers' verdicts, each with its question. Raises InputError that names the line.

    A question that is named twice has the verdict of its last line.
    """
    known = list(asked)
    found: dict[tuple[str, str], ReviewedVerdict] = {}
    for place, line in lines_of(path, str(path)):
        one = _reviewed(_row(json_value(line, place), place), known, place)
        found[(one.scenario_id, one.question.question_id)] = one
    if not found:
        raise InputError("the file holds no verdicts", where=str(path), remedy="Give each verdict a line of JSON")
    return list(found.values())


def _row(value: Json, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError("must be one JSON object", where=place)
    unknown = sorted(value.keys() - set(_KEYS))
    if unknown:
        raise InputError(f"unknown key {unknown[0]!r}", where=place, remedy=f"Allowed: {', '.join(_KEYS)}.")
    return value


def _reviewed(row: Mapping[str, Any], asked: list[Asked], place: str) -> ReviewedVerdict:
    if row.get("question_id"):
        scenario_id, question = _by_id(row, asked, place)
        return _with(scenario_id, question, row, place, names={verdict: verdict for verdict in _allowed(question)})
    if "candidate" not in row or not row.get("scenario"):
        remedy = "Give question_id, or scenario with candidate and, where it was compared, reference"
        raise InputError("the line names no question", where=place, remedy=remedy)
    scenario_id, question, is_reference_a = _by_values(row, asked, place)
    return _with(scenario_id, question, row, place, names=_names_by_role(question, is_reference_a=is_reference_a))


def _with(
    scenario_id: str, question: Question, row: Mapping[str, Any], place: str, *, names: Mapping[str, Verdict]
) -> ReviewedVerdict:
    verdict = names.get(str(row.get("verdict")))
    if verdict is None:
        raise InputError(
            f"the verdict is {row.get('verdict')!r}", where=place, remedy=f"Allowed here: {', '.join(names)}."
        )
    return ReviewedVerdict(scenario_id=scenario_id, question=question, verdict=verdict)


def _allowed(question: Question) -> tuple[Verdict, ...]:
    return COMPARE_VERDICTS if question.kind is QuestionKind.COMPARE else VERIFY_VERDICTS


def _names_by_role(question: Question, *, is_reference_a: bool) -> Mapping[str, Verdict]:
    """What verdicts on reference and candidate are as verdicts on A and B."""
    if question.kind is QuestionKind.VERIFY:
        return {verdict: verdict for verdict in VERIFY_VERDICTS}
    a, b = ("reference", "candidate") if is_reference_a else ("candidate", "reference")
    return {
        "both_correct": Verdict.BOTH_CORRECT,
        f"{a}_better": Verdict.A_BETTER,
        f"{b}_better": Verdict.B_BETTER,
        f"{a}_wrong": Verdict.A_WRONG,
        f"{b}_wrong": Verdict.B_WRONG,
        "both_wrong": Verdict.BOTH_WRONG,
    }


def _by_id(row: Mapping[str, Any], asked: list[Asked], place: str) -> Asked:
    start = str(row["question_id"])
    found = [one for one in asked if one[1].question_id.startswith(start) and row.get("scenario") in (None, "", one[0])]
    return _only(found, f"question {start}", place)


def _by_values(row: Mapping[str, Any], asked: list[Asked], place: str) -> tuple[str, Question, bool]:
    candidate, reference = _text_of(row["candidate"]), _text_of(row.get("reference"))
    wanted = sorted([reference, candidate]) if reference else [candidate]
    path = row.get("path")
    found = [
        (scenario_id, question)
        for scenario_id, question in asked
        if scenario_id == row["scenario"]
        and (path is None or _pattern(str(path)) == _pattern(question.path))
        and sorted(map(_text_of, values_of(question).values())) == wanted
    ]
    scenario_id, question = _only(found, f"question about these values in {row['scenario']}", place)
    return scenario_id, question, _text_of(values_of(question).get("A")) == reference


def _only(found: list[Asked], what: str, place: str) -> Asked:
    if not found:
        raise InputError(
            f"no {what} was answered by this judge",
            where=place,
            remedy="See the questions with: assay history SCENARIO",
        )
    if len(found) > 1:
        ids = ", ".join(question.question_id[:12] for _, question in found[:5])
        raise InputError(f"{len(found)} questions fit: {ids}", where=place, remedy="Name one by its question_id")
    return found[0]


def _pattern(path: str) -> str:
    """The path without positions in lists: one question stands for every position at which it arose."""
    return _INDEX.sub("/*", path)


def _text_of(value: Json) -> str:
    return clean(shown(value)[0] or "")
