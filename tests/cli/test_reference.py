from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.place import COMMAND
from tests.cli.tower import REFERENCE, Assay


def found(path: str, proposal: Any, *models: str) -> None:
    """Rounds of these models, one by one, each finding the proposal better, and their merges."""
    import dataclasses

    from pipelines.merging import merge_references
    from pipelines.session import open_session
    from resources.rounds import RoundTrigger
    from resources.warehouse import ModelScoring
    from scoring.records import Evidence, Finding, Mode
    from tests.resources.stored_records import card_of

    with open_session() as session:
        warehouse = session.warehouse
        for model_id in models:
            (cell,) = warehouse.cells(["tower"], [model_id])
            head = warehouse.references.head("tower")
            assert head is not None
            runs = warehouse.runs_of("tower", model_id)
            finding = Finding(
                path=path, evidence=Evidence.BETTER, has_proposal=True, proposal=proposal, question_id=None
            )
            card = dataclasses.replace(card_of(lists=(), findings=(finding,)))
            warehouse.commit_model_score(
                ModelScoring(
                    scenario_id="tower",
                    model_id=model_id,
                    round_id=warehouse.open_round(RoundTrigger.COMMAND, planned_models=1),
                    reference=head,
                    config_hash=cell.config_hash,
                    mode=Mode.EXACT_ONLY,
                    embedding_model=None,
                    runs=runs,
                    cards={one.run.repetition: card for one in runs},
                    replaces=None if cell.head is None else cell.head.model_score_id,
                )
            )
            merge_references(warehouse.references)


@pytest.fixture
def improved(scored: Path) -> Path:
    """The tower, of which both models found another height and one another name."""
    found("/height_metres", 324, "a/good", "b/bad:free")
    found("/name", "La tour Eiffel", "b/bad:free")
    return scored


def content(assay: Assay) -> Any:
    return assay("reference", "show", "tower", "--json").json["content"]


@pytest.mark.usefixtures("improved")
def test_show_has_each_edit_in_place_with_what_stood_there_and_who_is_behind_it(assay: Assay) -> None:
    said = assay("reference", "show", "tower")
    assert said.code == 0
    assert "height_metres [-330-] [+324+]" in said.out
    assert "2 models (a/good, b/bad:free) · better" in said.out
    assert "engineers" in said.out
    filtered = assay("reference", "show", "tower", "--models", "1").out
    assert "La tour Eiffel" in filtered
    assert "324" not in filtered
    as_json = assay("reference", "show", "tower", "--path", "/height*", "--json").json
    assert as_json["content"]["height_metres"] == 324
    assert [(row["before"], row["after"], row["models"]) for row in as_json["edits"]] == [
        (330, 324, ["a/good", "b/bad:free"])
    ]


@pytest.mark.usefixtures("improved")
def test_a_bulk_rejection_needs_the_number_that_was_seen(assay: Assay) -> None:
    said = assay("reference", "reject", "tower", "--models", "1", "--expect", "2")
    assert said.code == 1
    assert "1 edits match, 2 were expected; nothing was changed" in said.err
    assert content(assay)["name"] == "La tour Eiffel"
    as_json = assay("reference", "reject", "tower", "--models", "1", "--expect", "2", "--json")
    assert as_json.code == 1
    assert as_json.json["error"]["changes"] == [{"path": "/name", "before": "Eiffel Tower", "after": "La tour Eiffel"}]
    assert assay("reference", "reject", "tower", "--models", "1", "--expect", "1").code == 0
    assert content(assay) == REFERENCE | {"height_metres": 324}


@pytest.mark.usefixtures("improved")
def test_a_rejected_path_is_left_alone_until_it_is_released(assay: Assay) -> None:
    assert assay("reference", "reject", "tower", "--path", "/name").code == 0
    found("/name", "La tour Eiffel", "a/good")
    assert content(assay)["name"] == "Eiffel Tower"
    assert assay("reference", "release", "tower", "--path", "/name").code == 0
    assert content(assay)["name"] == "La tour Eiffel"
    assert assay("reference", "release", "tower", "--path", "/name").code == 1


@pytest.mark.usefixtures("improved")
def test_every_entry_of_the_log_has_its_own_undo(assay: Assay) -> None:
    def entry(path: str) -> Any:
        rows = assay("reference", "log", "tower", "--path", path, "--json").json["edits"]
        return rows[0]

    assert assay("reference", "undo", "tower", entry("/height_metres")["edit"]).code == 0
    assert content(assay)["height_metres"] == 330
    rejected = assay("reference", "log", "tower", "--path", "/height_metres", "--json").json["edits"]
    number = next(row["edit"] for row in rejected if row["state"] == "rejected")
    assert assay("reference", "undo", "tower", number).code == 0
    assert content(assay)["height_metres"] == 324
    assert assay("reference", "reject", "tower", "--path", "/height_metres").code == 0
    assert assay("reference", "undo", "tower", entry("/height_metres")["edit"]).code == 0
    assert content(assay)["height_metres"] == 324
    assert assay("reference", "set", "tower", "/height_metres", "325").code == 0
    by_hand = entry("/height_metres")
    assert (by_hand["before"], by_hand["after"], by_hand["evidence"]) == (324, 325, None)
    assert assay("reference", "undo", "tower", by_hand["edit"]).code == 0
    assert content(assay)["height_metres"] == 324
    said = assay("reference", "undo", "tower", by_hand["edit"])
    assert said.code == 1
    assert "nothing was changed" in said.err
    assert assay("reference", "undo", "tower", 9999).code == 2


@pytest.mark.usefixtures("improved")
def test_diff_tells_what_rounds_made_of_the_owners_part_and_what_two_versions_differ_in(assay: Assay) -> None:
    changes = assay("reference", "diff", "tower", "--json").json["changes"]
    assert sorted(one["path"] for one in changes) == ["/height_metres", "/name"]
    between = assay("reference", "diff", "tower", "--from", "2", "--to", "3", "--json").json["changes"]
    assert between == [{"path": "/name", "before": "Eiffel Tower", "after": "La tour Eiffel"}]
    assert "/name  [-Eiffel Tower-] [+La tour Eiffel+]" in assay("reference", "diff", "tower").out
    assert "Nothing differs." in assay("reference", "diff", "tower", "--from", "3", "--to", "3").out


@pytest.mark.usefixtures("workspace")
def test_set_takes_json_or_text_and_refuses_what_breaks_the_schema(assay: Assay) -> None:
    said = assay("reference", "set", "tower", "/height_metres", "324", "--verify", "--json")
    assert (said.code, said.json["verified"]) == (0, True)
    assert assay("reference", "set", "tower", "/engineers/-", "Stephen Sauvestre").code == 0
    assert assay("reference", "set", "tower", "/engineers/0", "--remove").code == 0
    assert content(assay) == REFERENCE | {"height_metres": 324, "engineers": ["Émile Nouguier", "Stephen Sauvestre"]}
    refused = assay("reference", "set", "tower", "/height_metres", "tall")
    assert refused.code == 2
    assert "schema" in refused.err
    assert assay("reference", "set", "tower", "/height_metres", "tall", "--anyway").code == 0
    assert assay("reference", "set", "tower", "/name", "7", "--text").code == 0
    assert content(assay)["name"] == "7"
    nowhere = assay("reference", "set", "tower", "/engineers/9", "Nobody")
    assert nowhere.code == 2
    assert "names none of them" in nowhere.err


@pytest.mark.usefixtures("workspace")
def test_a_change_makes_a_draft_that_is_verified_by_command(assay: Assay) -> None:
    said = assay("reference", "set", "tower", "/height_metres", "324")
    assert "draft" in said.out
    assert assay("reference", "verify", "tower", "--author", "ann").code == 0
    log = assay("reference", "log", "tower", "--json").json
    assert [(row["origin"], row["verified"]) for row in log["versions"]] == [
        ("owner_save", True),
        ("owner_save", False),
        ("import", True),
    ]


def editor(folder: Path, body: str) -> Path:
    """An editor that is a shell script; `$1` is the file."""
    script = folder / "editor.sh"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


@pytest.mark.usefixtures("workspace")
def test_edit_opens_the_editor_and_saves_what_it_left(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EDITOR", str(editor(tmp_path, 'sed -i s/330/324/ "$1"')))
    assert assay("reference", "edit", "tower").code == 0
    assert content(assay)["height_metres"] == 324
    monkeypatch.setenv("EDITOR", "true")
    assert "nothing differs" in assay("reference", "edit", "tower").out
    assert kept_texts(tmp_path) == []


def kept_texts(folder: Path) -> list[str]:
    return [file.read_text().strip() for file in folder.glob("assay-reference-*.json")]


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize(
    ("body", "code", "problem", "kept"),
    [
        pytest.param("""echo '{broken' > "$1" """, 2, "JSON", ["{broken"], id="no JSON"),
        pytest.param("""printf '\\377' > "$1" """, 2, "UTF-8", None, id="no text"),
        pytest.param(
            """echo '{"height_metres": "tall"}' > "$1" """, 2, "schema", ['{"height_metres": "tall"}'], id="schema"
        ),
        pytest.param(
            """echo '{"name": "Mine"}' > "$1"; {meanwhile}""", 1, "conflict", ['{"name": "Mine"}'], id="overtaken"
        ),
    ],
)
def test_a_text_from_the_editor_that_cannot_be_saved_is_kept_and_its_author_told_how_to_save_it(
    assay: Assay,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    code: int,
    problem: str,
    kept: list[str] | None,
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    meanwhile = f"{shlex.join(COMMAND)} reference set tower /height_metres 324 > /dev/null"
    monkeypatch.setenv("EDITOR", str(editor(tmp_path, body.replace("{meanwhile}", meanwhile))))
    said = assay("reference", "edit", "tower")
    assert said.code == code
    assert problem in said.err
    assert "assay reference import tower" in said.err
    assert "--based-on 1" in said.err
    (file,) = tmp_path.glob("assay-reference-*.json")
    assert str(file) in said.err
    if kept is not None:
        assert kept_texts(tmp_path) == kept


@pytest.mark.usefixtures("workspace")
def test_an_editor_that_cannot_be_started_leaves_no_file(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("EDITOR", str(tmp_path / "no-editor"))
    said = assay("reference", "edit", "tower")
    assert (said.code, "cannot be started" in said.err) == (2, True)
    assert kept_texts(tmp_path) == []


@pytest.mark.usefixtures("workspace")
def test_an_edit_that_somebody_else_overtook_is_a_conflict(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert assay("reference", "set", "tower", "/height_metres", "324").code == 0
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(REFERENCE | {"name": "Mine"}))
    said = assay("reference", "import", "tower", file, "--based-on", "1")
    assert said.code == 1
    assert "/height_metres" in said.err
    assert content(assay)["name"] == "Eiffel Tower"
    monkeypatch.setattr("sys.stdin", _Stdin(file.read_bytes()))
    assert assay("reference", "import", "tower", "--based-on", "2").code == 0
    assert content(assay)["name"] == "Mine"


class _Stdin:
    def __init__(self, data: bytes) -> None:
        import io

        self.buffer = io.BytesIO(data)


@pytest.mark.usefixtures("improved")
def test_the_page_stands_alone_and_escapes_what_models_wrote(assay: Assay, tmp_path: Path) -> None:
    found("/name", '<script>alert(1)</script>\u202e & "x"', "a/good", "b/bad:free")
    page = tmp_path / "page.html"
    assert assay("reference", "show", "tower", "--html", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "\u202e" not in text
    assert "http://" not in text
    assert "https://" not in text
    assert '<del class="value">330</del> <ins class="value">324</ins>' in text
    assert "2 models (a/good, b/bad:free)" in text


@pytest.mark.usefixtures("improved")
def test_a_filter_without_a_condition_and_evidence_that_does_not_exist_are_refused(assay: Assay) -> None:
    assert "--all" in assay("reference", "reject", "tower").err
    assert assay("reference", "reject", "tower").code == 2
    assert "reference_wrong" in assay("reference", "show", "tower", "--evidence", "gossip").err
