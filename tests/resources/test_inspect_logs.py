"""Logs of Inspect become runs: what a sample says of a run, and nothing that it does not say."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resources import log_archives
from resources.recording_folders import mapping_from_flags
from resources.recordings import read_recordings, recorded_runs
from resources.workspace import Workspace, load_workspace
from scoring.errors import InputError
from scoring.records import Run, RunStatus
from tests.foreign_logs import MODEL, inspect_header, inspect_json, inspect_members, inspect_sample, write_zip

FORMS = ("json", "deflated", "zstandard", "chunks")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    files = {"assay.yaml": "", "models.yaml": f"- id: {MODEL}\n- id: small\n"}
    for name in ("film", "7", "a~2fb"):
        files |= {f"scenarios/{name}/scenario.yaml": "", f"scenarios/{name}/schema.json": "{}"}
    for name, text in files.items():
        path = tmp_path / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_workspace(tmp_path / "ws")


def in_chunks(sample: dict[str, Any]) -> dict[str, str]:
    """The members of a sample whose history lies beside it, in chunks."""
    apart = {"metadata", "messages", "events", "attachments"}
    prefix = f"samples/{sample['id']}_epoch_{sample['epoch']}"
    events = sample.get("events", [])
    members = {
        "sample.json": {"turn_count": 1, **{key: value for key, value in sample.items() if key not in apart}},
        "metadata.json": sample.get("metadata", {}),
        "skeleton.json": {},
        "events/stats.json": {},
        "events/0.json": events[:1],
        "events/1.json": events[1:],
    }
    return {f"{prefix}/{name}": json.dumps(value) for name, value in members.items()}


def write_log(path: Path, form: str, *samples: dict[str, Any], **header: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if form == "json":
        path.write_text(inspect_json(*samples, **header))
        return path
    members = inspect_members(*samples, **header)
    if form == "chunks":
        members = {name: text for name, text in members.items() if not name.startswith("samples/")}
        for sample in samples:
            members |= in_chunks(sample)
    return write_zip(path, members, is_zstandard=form != "deflated")


def message_of(read: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        read()
    return str(caught.value)


def run_of(workspace: Workspace, folder: Path, **more: Any) -> Run:
    """The only run of a log with one sample."""
    (run,) = read_recordings([write_log(folder / "log", "json", inspect_sample(**more))], workspace)
    return run


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_and_epoch_becomes_a_run(workspace: Workspace, tmp_path: Path, form: str) -> None:
    samples = [inspect_sample(), inspect_sample(epoch=2, answer="no JSON"), inspect_sample("a/b"), inspect_sample(7)]
    runs = read_recordings([write_log(tmp_path / "log", form, *samples)], workspace)
    assert runs[0] == Run(
        scenario_id="film",
        model_id=MODEL,
        repetition=1,
        status=RunStatus.OK,
        output='{"a": 1}',
        duration_seconds=1.5,
        cost_usd=0.25,
        input_tokens=10,
        output_tokens=20,
    )
    assert [(run.scenario_id, run.repetition, run.output) for run in runs[1:]] == [
        ("film", 2, "no JSON"),
        ("a/b", 1, '{"a": 1}'),
        ("7", 1, '{"a": 1}'),
    ]


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_from_the_cache_has_no_duration(workspace: Workspace, tmp_path: Path, form: str) -> None:
    cached = [{"event": "state"}, {"event": "model", "model": MODEL, "cache": "read"}]
    grader = [{"event": "state"}, {"event": "model", "model": MODEL, "role": "grader", "cache": "read"}]
    other = [{"event": "model", "model": "vendor/grader", "cache": "read"}]
    samples = [inspect_sample(epoch=n, events=events) for n, events in enumerate((cached, grader, other), start=1)]
    runs = read_recordings([write_log(tmp_path / "log", form, *samples)], workspace)
    assert [run.duration_seconds for run in runs] == [None, 1.5, 1.5]


def test_a_sample_of_many_turns_lasts_as_long_as_it_worked(workspace: Workspace, tmp_path: Path) -> None:
    turns = [{"role": "assistant", "source": "generate", "content": "x"}] * 2
    assert run_of(workspace, tmp_path, messages=turns).duration_seconds == 7
    assert run_of(workspace, tmp_path, messages=turns, working_time=None).duration_seconds == 9
    assert run_of(workspace, tmp_path, messages=turns, working_time=None, total_time=None).duration_seconds is None


def test_a_log_without_usage_by_model_has_that_of_its_only_answer(workspace: Workspace, tmp_path: Path) -> None:
    assert run_of(workspace, tmp_path, model_usage=None).output_tokens == 20
    assert run_of(workspace, tmp_path, model_usage=None, turn_count=2).output_tokens is None
    assert run_of(workspace, tmp_path, model_usage={"vendor/grader": {"output_tokens": 1}}).output_tokens is None


@pytest.mark.parametrize(("total", "expected"), [(35, 15), (30, 10)])
def test_cached_prompt_tokens_count_where_they_are_apart(
    workspace: Workspace, tmp_path: Path, total: int, expected: int
) -> None:
    usage = {"input_tokens": 10, "output_tokens": 20, "total_tokens": total, "input_tokens_cache_read": 5}
    run = run_of(workspace, tmp_path, model_usage={MODEL: usage})
    assert (run.input_tokens, run.cost_usd) == (expected, None)


TEXT = {"type": "text", "text": "a"}


def choices(content: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (choices("spoken"), "spoken"),
        (choices([{"type": "reasoning", "reasoning": "hm"}, TEXT, TEXT]), "a\na"),
        (choices([{"type": "image", "image": "data:"}]), ""),
        ({**choices("x"), "completion": "set by a solver"}, "set by a solver"),
    ],
)  # fmt: skip
def test_the_answer_is_the_text_of_the_message(
    workspace: Workspace, tmp_path: Path, output: dict[str, Any], expected: str
) -> None:
    assert run_of(workspace, tmp_path, output=output).output == expected


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"error": {"message": "RateLimitError('429')", "traceback": "..."}}, "RateLimitError('429')"),
        ({"output": {**choices("I cannot"), "error": "content filter"}}, "content filter"),
        ({"output": {"choices": []}, "limit": {"type": "time", "limit": 9}}, "stopped by its time limit"),
        ({"output": {"choices": []}}, "no answer of the model"),
        ({"error": {"code": 5}}, '{"code": 5}'),
    ],
)  # fmt: skip
def test_a_sample_with_an_error_is_a_failed_run(
    workspace: Workspace, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    run = run_of(workspace, tmp_path, **more)
    assert (run.status, run.output) == (RunStatus.FAILED, None)
    assert words in str(run.error)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("status", "word"), [("started", "unfinished"), ("cancelled", "cancelled"), ("error", "ended by an error")]
)
def test_the_samples_of_an_unfinished_log_count(
    workspace: Workspace, tmp_path: Path, form: str, status: str, word: str
) -> None:
    notes: list[str] = []
    path = write_log(tmp_path / "log", form, inspect_sample(), status=status)
    assert len(read_recordings([path], workspace, notes=notes)) == 1
    assert notes == [f"{path}: the log is {word}; its finished samples count (1)."]


def test_a_log_that_is_still_written_has_a_journal_only(workspace: Workspace, tmp_path: Path) -> None:
    members = inspect_members(inspect_sample())
    del members["header.json"], members["summaries.json"]
    notes: list[str] = []
    assert len(read_recordings([write_zip(tmp_path / "log", members)], workspace, notes=notes)) == 1
    assert "unfinished" in notes[0]


def test_the_first_archives_had_start_and_results(workspace: Workspace, tmp_path: Path) -> None:
    members = {
        "start.json": json.dumps({"version": 2, "eval": inspect_header()["eval"]}),
        "samples/film_epoch_1.json": json.dumps(inspect_sample()),
        "results.json": json.dumps({"status": "success"}),
    }
    notes: list[str] = []
    assert len(read_recordings([write_zip(tmp_path / "log.eval", members)], workspace, notes=notes)) == 1
    assert notes == []


def test_invalidated_samples_are_left_out_and_told(workspace: Workspace, tmp_path: Path) -> None:
    samples = [inspect_sample(), inspect_sample(epoch=2, invalidation={"author": "me"})]
    notes: list[str] = []
    runs = read_recordings([write_log(tmp_path / "log", "json", *samples)], workspace, notes=notes)
    assert [run.repetition for run in runs] == [1]
    assert "samples that were invalidated in Inspect are left out (1)" in notes[0]


def test_an_answer_kept_as_an_attachment_is_found(workspace: Workspace, tmp_path: Path) -> None:
    key = "0123456789abcdef" * 2
    reference = {"output": {"completion": f"attachment://{key}"}}
    assert run_of(workspace, tmp_path, **reference, attachments={key: "long"}).output == "long"
    members = inspect_members() | in_chunks(inspect_sample(output={"completion": "attachment://2"}))
    members |= {
        "samples/film_epoch_1/attachments/0.json": '["a", "b"]',
        "samples/film_epoch_1/attachments/2.json": '["c"]',
    }
    assert read_recordings([write_zip(tmp_path / "log.eval", members)], workspace)[0].output == "c"
    message = message_of(lambda: run_of(workspace, tmp_path, **reference))
    assert "its completion is an attachment that the log does not hold" in message


@pytest.mark.parametrize("task", ["film", "cinema/film"])
def test_samples_with_ids_of_their_own_are_repetitions_of_the_task(
    workspace: Workspace, tmp_path: Path, task: str
) -> None:
    samples = [inspect_sample(f"take-{number}", epoch) for epoch in (1, 2) for number in (1, 2)]
    runs = read_recordings([write_log(tmp_path / "log", "json", *samples, task=task)], workspace)
    assert [(run.scenario_id, run.repetition) for run in runs] == [("film", number) for number in (1, 2, 3, 4)]


def test_a_log_in_both_forms_is_one(workspace: Workspace, tmp_path: Path) -> None:
    samples = [inspect_sample(f"take-{number}", uuid=f"u{number}") for number in (1, 2)]
    paths = [write_log(tmp_path / form, form, *samples, task="film") for form in ("json", "zstandard")]
    assert [run.repetition for run in read_recordings(paths, workspace)] == [1, 2]


def test_a_key_says_where_the_ids_stand(workspace: Workspace, tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", "json", inspect_sample("x-1", metadata={"doc": {"v.1": 7}, "n": 5}))
    keys = ["scenario=metadata.doc.v.1", "model=eval.task_args.who", "repetition=metadata.n"]
    path.write_text(path.read_text().replace('"config": {}', '"task_args": {"who": "small"}'))
    (run,) = read_recordings([path], workspace, mapping=mapping_from_flags(keys=keys))
    assert (run.scenario_id, run.model_id, run.repetition) == ("7", "small", 5)


def test_the_mapping_beside_a_log_renames(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    write_log(folder / "log.eval", "zstandard", inspect_sample("movie"), model="vendor/other")
    (folder / "assay-import.yaml").write_text("scenarios: {movie: film}\nmodels: {vendor/other: small}\n")
    (run,) = read_recordings([folder], workspace)
    assert (run.scenario_id, run.model_id, run.repetition) == ("film", "small", 1)


def test_unknown_ids_are_told_once_with_the_nearest_and_the_remedy(workspace: Workspace, tmp_path: Path) -> None:
    samples = [inspect_sample("films", epoch) for epoch in (1, 2)]
    message = message_of(
        lambda: read_recordings([write_log(tmp_path / "log.eval", "deflated", *samples, task="t")], workspace)
    )
    assert message.count("unknown scenario") == 1
    assert "log.eval:samples/films_epoch_1.json: unknown scenario 'films'. Nearest known: film." in message
    assert "write `scenarios: {its word: id}` into assay-import.yaml" in message
    assert "--key scenario=PATH with PATH one of id, epoch, metadata.doc, eval.run_id" in message


def test_a_key_that_leads_nowhere_says_what_there_is(workspace: Workspace, tmp_path: Path) -> None:
    path = write_log(tmp_path / "log", "json", inspect_sample())
    mapping = mapping_from_flags(keys=["scenario=metadata.document"])
    message = message_of(lambda: read_recordings([path], workspace, mapping=mapping))
    assert "no text or number under metadata.document for the scenario. There are id, epoch, metadata.doc" in message
    mapping = mapping_from_flags(keys=["output=store.answer"])
    message = message_of(lambda: read_recordings([path], workspace, mapping=mapping))
    assert "the key 'output' is for plain folders" in message


def test_everything_wrong_in_an_archive_is_told_with_its_member(workspace: Workspace, tmp_path: Path) -> None:
    members = inspect_members(inspect_sample(), task="t")
    members |= {
        "samples/film_epoch_2.json": '{"id": "film", "epoch": 2,',
        "samples/film_epoch_3.json": json.dumps(inspect_sample(epoch=0)),
        "samples/../../etc_epoch_5.json": json.dumps(inspect_sample("../../etc")),
        "samples/film_epoch_6.json": json.dumps(inspect_sample(answer="another")),
    }
    message = message_of(lambda: read_recordings([write_zip(tmp_path / "log.eval", members)], workspace))
    for expected in (
        "4 problems",
        "log.eval:samples/film_epoch_2.json:1: not valid JSON",
        "log.eval:samples/film_epoch_3.json: repetition must be a whole number from 1",
        "log.eval:samples/../../etc_epoch_5.json: unknown scenario '../../etc'",
        "log.eval:samples/film_epoch_6.json: repetition 1",
    ):
        assert expected in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (inspect_json(inspect_sample())[:-700], "the text ends inside a value"),
        (inspect_json(inspect_sample()) + "x", "extra data after the end"),
        (inspect_json(), "the log holds no samples"),
        (inspect_json(inspect_sample()).replace('"version": 2', '"version": 3'), "versions up to 2 are read"),
        (inspect_json(inspect_sample(), model=""), "nothing names the model"),
        (json.dumps({"samples": [{}], **inspect_header()}), "nothing names the model"),
    ],
)  # fmt: skip
def test_a_log_that_cannot_be_read_whole_is_refused(
    workspace: Workspace, tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "log.json"
    path.write_text(text)
    assert expected in message_of(lambda: read_recordings([path], workspace, "inspect"))


def test_an_archive_that_is_no_log_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    path = write_zip(tmp_path / "book.docx", {"word/document.xml": "<w/>"})
    assert "book.docx: no Inspect log" in message_of(lambda: read_recordings([path], workspace))


def test_a_bomb_is_refused_before_it_is_unpacked(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_archives, "MIN_UNPACKED_BYTES", 1_000_000)
    path = write_log(tmp_path / "log.eval", "zstandard", inspect_sample(store={"x": "0" * 20_000_000}))
    message = message_of(lambda: read_recordings([path], workspace))
    assert "would unpack to 20," in message
    assert "inspect log convert --to json" in message


@pytest.mark.parametrize("form", FORMS)
def test_a_large_output_is_kept_and_a_long_history_is_not(workspace: Workspace, tmp_path: Path, form: str) -> None:
    answer = json.dumps({"a": "x" * 10_000_000})
    history = [{"event": "tool", "result": f"{number}" * 10_000} for number in range(1000, 1800)]
    path = write_log(tmp_path / "log", form, inspect_sample(answer=answer, messages=[], events=history))
    tracemalloc.start()
    try:
        (run,) = recorded_runs([path], workspace)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.output == answer
    assert peak < 130_000_000
