"""Runs made through Dagster: partitions, retries, re-execution, a killed process, and keys that nobody ever sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from sqlalchemy import text

from assets.runs import VERSION_TAG
from pipelines.dagster_round import run_round_through_dagster
from pipelines.dagster_runs import make_runs_through_dagster
from pipelines.definitions import defs
from pipelines.instance import open_instance
from pipelines.partitions import cell_key, range_tags
from pipelines.rectangles import Rectangle
from pipelines.session import Session, open_session
from pipelines.waiting import being_scored
from resources import pace, running
from sensors.changed_inputs import report_news
from tests.judge_server import Asked, JudgeServer, Reply, completion, only, refusal
from tests.run_workspace import KEY, KEY_VARIABLE, MODELS, answered, right, write_callable
from tests.small_workspace import CELLS, REFERENCE, SCENARIOS, run_of
from tests.stored_words import tables_with

ALL = Rectangle(first=CELLS[0], last=CELLS[-1], cells=tuple(CELLS))
RUNS = dg.AssetKey("runs")
MODEL_SCORES = dg.AssetKey("model_scores")
ROOT = Path(__file__).parents[2]
REPETITIONS = 40
PATIENCE_SECONDS = 240


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(running, "LOOK_AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(dg.RetryPolicy, "calculate_delay", lambda _policy, _attempt: 0)
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer(right) as running_server:
        yield running_server


@pytest.fixture
def session(assay_home: Path, tmp_path: Path, server: JudgeServer) -> Iterator[Session]:
    del assay_home
    with open_session(write_callable(tmp_path / "ws", server.base_url)) as opened:
        yield opened


def counts(session: Session) -> dict[tuple[str, str], int]:
    return {(cell.scenario_id, cell.model_id): cell.recorded for cell in session.warehouse.cells()}


def versions(instance: dg.DagsterInstance) -> dict[str, str]:
    """The data version of each partition of `runs` as Dagster knows it."""
    found = instance.event_log_storage.get_latest_tags_by_partition(
        RUNS, dg.DagsterEventType.ASSET_MATERIALIZATION, tag_keys=[VERSION_TAG]
    )
    return {partition: tags[VERSION_TAG] for partition, tags in found.items()}


def status_of(instance: dg.DagsterInstance, asset: dg.AssetKey, cell: tuple[str, str]) -> StaleStatus:
    resolver = CachingStaleStatusResolver(
        instance=instance,
        asset_graph=defs.get_repository_def().asset_graph,
        loading_context=LoadingContextForTest(instance),
    )
    return resolver.get_status(asset, str(cell_key(cell)))


def test_runs_are_partitions_with_versions_rows_and_a_table(session: Session, server: JudgeServer) -> None:
    session.warehouse.import_runs([run_of(*CELLS[0], repetition=2)])
    steps: list[tuple[int, int, str]] = []
    report = make_runs_through_dagster(session, CELLS, on_progress=lambda *step: steps.append(step))
    assert not report.failed
    assert len(server.asked) == 11
    assert counts(session) == dict.fromkeys(CELLS, 3)
    assert steps[-1][:2] == (11, 11)
    hashes = {str(cell_key((one.scenario_id, one.model_id))): one.runs_hash for one in session.warehouse.cells()}
    with open_instance(session.home) as instance:
        (run,) = instance.get_runs()
        assert (run.job_name, run.status) == ("make_runs", dg.DagsterRunStatus.SUCCESS)
        assert versions(instance) == hashes
        records = instance.fetch_materializations(RUNS, limit=100).records
        assert len(records) == 4
        made = {str(one.partition_key): one.asset_materialization for one in records}
        first = made[str(cell_key(CELLS[0]))]
        assert first is not None
        assert [first.metadata[name].value for name in ("dagster/partition_row_count", "made", "failed")] == [3, 2, 0]
        assert "| 1 | ok |" in str(first.metadata["runs"].value)
        assert len(json.dumps(str(first.metadata["runs"].value))) < 65_536
        report_news(session, instance)
        assert len(instance.fetch_materializations(RUNS, limit=100).records) == 4


def test_scores_of_made_runs_stay_fresh_whatever_is_scored_or_changed_elsewhere(
    session: Session, tmp_path: Path
) -> None:
    make_runs_through_dagster(session, CELLS)
    run_round_through_dagster(session, CELLS)
    with open_instance(session.home) as instance:
        assert {status_of(instance, MODEL_SCORES, cell) for cell in CELLS} == {StaleStatus.FRESH}
        assert {status_of(instance, RUNS, cell) for cell in CELLS} == {StaleStatus.FRESH}
        file = tmp_path / "ws" / "assay.yaml"
        file.write_text(json.dumps({"embedding": None, "empty_values": ["none"]}))
        with open_session(tmp_path / "ws") as changed:
            report_news(changed, instance)
            assert {status_of(instance, MODEL_SCORES, cell) for cell in CELLS} == {StaleStatus.STALE}
            assert {status_of(instance, RUNS, cell) for cell in CELLS} == {StaleStatus.FRESH}


def test_an_outage_is_tried_again_by_the_steps_retry_policy_and_asks_only_the_rest(
    session: Session, server: JudgeServer
) -> None:
    def script(asked: Asked) -> Reply:
        return refusal(503, "overloaded") if 4 < asked.number <= 4 + 6 * 2 * 2 else right(asked)

    server.script = script
    report = make_runs_through_dagster(session, CELLS[:1] + CELLS[2:3])
    assert not report.failed
    assert sum(len(cell.runs) for cell in report.cells) == 6
    with open_instance(session.home) as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.SUCCESS
        events = [one.dagster_event_type for one in instance.all_logs(run.run_id) if one.dagster_event_type]
        assert Counter(events)[dg.DagsterEventType.STEP_UP_FOR_RETRY] >= 1
    assert len(server.asked) == 6 + 6 * 2 * 2


def test_what_only_a_person_can_mend_is_not_tried_again(session: Session, server: JudgeServer) -> None:
    server.script = only(refusal(401, "no"))
    report = make_runs_through_dagster(session, CELLS)
    assert len(report.failed) == 4
    assert len(server.asked) <= len(MODELS)
    with open_instance(session.home) as instance:
        (run,) = instance.get_runs()
        assert run.status is dg.DagsterRunStatus.FAILURE
        assert instance.get_materialized_partitions(RUNS) == set()


def job_again() -> dg.JobDefinition:
    return defs.resolve_job_def("make_runs")


def test_a_run_executed_again_from_its_failure_makes_exactly_the_rest(
    session: Session, server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "ws"))
    server.script = lambda asked: refusal(400, "no") if asked.number > 5 else right(asked)
    make_runs_through_dagster(session, CELLS)
    done, before = sum(counts(session).values()), len(server.asked)
    assert 0 < done < 12
    server.script = right
    with open_instance(session.home) as instance:
        (failed,) = instance.get_runs()
        options = dg.ReexecutionOptions.from_failure(failed.run_id, instance)
        again = dg.reconstructable(job_again)
        result = dg.execute_job(again, instance, tags=dict(failed.tags), reexecution_options=options)
        assert result.success
        assert len(instance.get_materialized_partitions(RUNS)) == 4
    assert len(server.asked) - before == 12 - done


def test_runs_in_the_making_keep_no_model_from_being_scored(session: Session) -> None:
    with open_instance(session.home) as instance:
        from pipelines.partitions import add_partitions

        axes = add_partitions(instance, CELLS)
        for job, expected in (("make_runs", set()), ("score_models", set(CELLS))):
            run = instance.create_run_for_job(defs.resolve_job_def(job), tags=range_tags(ALL))
            assert being_scored(instance, axes) == expected
            instance.delete_run(run.run_id)


def test_the_key_is_nowhere(
    session: Session,
    server: JudgeServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level("DEBUG")

    def script(asked: Asked) -> Reply:
        match asked.number % 4:
            case 0:
                return refusal(500, f"upstream said: invalid key {KEY}")
            case 1:
                return completion(None, refusal=f"You sent {KEY}")
            case 2:
                return completion(f"You sent {KEY}.")
            case _:
                return Reply(status=400, body=f"<b>{KEY}</b>", content_type="text/html")

    server.script = script
    first = make_runs_through_dagster(session, CELLS)
    server.script = only(refusal(401, f"Incorrect API key provided: {KEY}"))
    second = make_runs_through_dagster(session, CELLS)
    assert first.failed
    assert second.failed
    assert KEY in server.asked[0].headers["authorization"]
    printed = capfd.readouterr()
    assert KEY not in f"{first} {second} {caplog.text} {printed.out} {printed.err}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not [one for cell in CELLS for one in session.warehouse.runs_of(*cell) if KEY in (one.run.output or "")]
    assert tables_with(session.warehouse.engine, KEY) == []
    assert "public.event_logs" in tables_with(session.warehouse.engine, "gave no answer")  # it was looked into
    assert "assay.runs" in tables_with(session.warehouse.engine, "You sent ***")


def test_a_killed_command_is_continued_with_exactly_the_runs_that_are_missing(
    session: Session, server: JudgeServer, tmp_path: Path
) -> None:
    folder = write_callable(tmp_path / "ws", server.base_url, repetitions=REPETITIONS, settings={"at_once": 4})
    server.script = lambda _: answered(REFERENCE, latency_seconds=0.15)
    command = [sys.executable, "-c", "import sys; from pipelines.cli import main; sys.exit(main())"]
    command += ["run", SCENARIOS[0], "--workspace", str(folder), "--json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    killed = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE_SECONDS
    while len(server.asked) < 25 and time.monotonic() < until:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    while server.in_flight:
        time.sleep(0.01)
    done, before = sum(counts(session).values()), len(server.asked)
    assert 0 < done <= before < 2 * REPETITIONS
    assert before - done <= 2 * 4  # what was in flight, or answered and not recorded yet
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["recorded"] == 2 * REPETITIONS - done
    assert len(server.asked) - before == 2 * REPETITIONS - done
    assert counts(session) == {**dict.fromkeys(CELLS[:2], REPETITIONS), **dict.fromkeys(CELLS[2:], 0)}
    with session.warehouse.engine.connect() as connection:
        assert connection.execute(text("select count(*) from assay.run_claims")).scalar() == 0
