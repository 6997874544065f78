"""Reviewers' verdicts: which question a line is about, and whose side it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from resources.reviewed_verdicts import read_reviewed
from scoring.errors import InputError
from scoring.records import Question, QuestionKind, Verdict


def question(id_: str, path: str, **values: Any) -> Question:
    kind = QuestionKind.VERIFY if "value" in values else QuestionKind.COMPARE
    return Question(question_id=id_, kind=kind, path=path, message=json.dumps({"question": kind, **values}))


ASKED = [
    ("film", question("aa11", "/year", A=1942, B=1943)),
    ("film", question("aa22", "/cast/0/name", A="Ingrid  Bergman", B="Paul Henreid")),
    ("film", question("bb33", "/award", value="Oscar")),
    ("film", question("cc44", "/length", A=1942, B=1943)),
    ("book", question("bb55", "/award", value="Oscar")),
]


def read(folder: Path, *rows: Any) -> list[tuple[str, Verdict]]:
    file = folder / "verdicts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [(one.question.question_id, one.verdict) for one in read_reviewed(file, ASKED)]


@pytest.mark.parametrize(
    ("row", "id_", "verdict"),
    [
        ({"question_id": "aa1", "verdict": "a_better"}, "aa11", Verdict.A_BETTER),
        ({"question_id": "bb", "scenario": "book", "verdict": "unsure"}, "bb55", Verdict.UNSURE),
        (
            {"scenario": "film", "path": "/year", "reference": 1942, "candidate": 1943, "verdict": "candidate_wrong"},
            "aa11",
            Verdict.B_WRONG,
        ),
        (
            {"scenario": "film", "path": "/year", "reference": 1943, "candidate": 1942, "verdict": "candidate_wrong"},
            "aa11",
            Verdict.A_WRONG,
        ),
        (
            {
                "scenario": "film",
                "path": "/cast/7/name",
                "reference": "Paul Henreid",
                "candidate": "Ingrid Bergman",
                "verdict": "reference_better",
            },
            "aa22",
            Verdict.B_BETTER,
        ),
        ({"scenario": "film", "candidate": "Oscar", "verdict": "wrong"}, "bb33", Verdict.WRONG),
    ],
)
def test_a_line_finds_its_question(tmp_path: Path, row: Any, id_: str, verdict: Verdict) -> None:
    assert read(tmp_path, row) == [(id_, verdict)]


def test_the_last_line_about_a_question_counts(tmp_path: Path) -> None:
    rows = [{"question_id": "aa11", "verdict": "a_wrong"}, {"question_id": "aa11", "verdict": "both_correct"}]
    assert read(tmp_path, *rows) == [("aa11", Verdict.BOTH_CORRECT)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question_id": "aa", "verdict": "a_wrong"}, "2 questions fit: aa11, aa22"),
        ({"question_id": "zz", "verdict": "a_wrong"}, "no question zz was answered"),
        ({"question_id": "aa11", "verdict": "correct"}, "Allowed here: both_correct, a_better"),
        ({"question_id": "bb33", "verdict": "a_wrong"}, "Allowed here: correct, wrong, unsure"),
        ({"scenario": "film", "reference": 1942, "candidate": 1943, "verdict": "both_wrong"}, "2 questions fit"),
        (
            {"scenario": "film", "path": "/year", "reference": 1942, "candidate": 1943, "verdict": "a_wrong"},
            "Allowed here: both_correct, reference_better, candidate_better",
        ),
        ({"scenario": "film", "candidate": "Tony", "verdict": "correct"}, "no question about these values in film"),
        ({"verdict": "correct"}, "the line names no question"),
        ({"question_id": "aa11", "verdikt": "a_wrong"}, "unknown key 'verdikt'"),
        ([], "must be one JSON object"),
    ],
)
def test_a_line_that_fits_no_question_is_named(tmp_path: Path, row: Any, words: str) -> None:
    with pytest.raises(InputError, match=r"verdicts\.jsonl:2") as caught:
        read(tmp_path, {"question_id": "bb33", "verdict": "wrong"}, row)
    assert words in str(caught.value)


def test_an_empty_file_is_no_review(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no verdicts"):
        read(tmp_path)
