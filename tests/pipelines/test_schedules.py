from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipelines.round import score_round
from pipelines.schedules import round_schedule, why_nothing
from pipelines.session import Session, open_session
from pipelines.waiting import ROUND_TAG, spending_of
from pipelines.written_schedule import ScheduleWatch, in_words, written_schedule
from resources.reference_versions import ReferenceOrigin
from resources.settings import RoundSchedule, ScheduledWork
from resources.workspace import load_organisation
from scoring.errors import InputError
from tests.small_workspace import CELLS, SCENARIOS, run_of, write_workspace

NIGHTLY = RoundSchedule(cron="0 3 * * *", timezone="Europe/Amsterdam")
MONDAY = datetime(2026, 11, 30, 2, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_workspace(tmp_path / "ws", scoring={"embedding": None})
    monkeypatch.setenv("ASSAY_WORKSPACE", str(folder))
    return folder


@pytest.fixture
def session(assay_home: Path, folder: Path) -> Iterator[Session]:
    del assay_home
    write(folder, "schedule: {rounds: nightly, timezone: Europe/Amsterdam}\nbudgets: {judge_usd: 5}\n")
    with open_session(folder) as session:
        yield session


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """An instance on disk: the context of a schedule opens its own from a reference."""
    folder = tmp_path / "dagster"
    folder.mkdir()
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        yield instance


def write(folder: Path, text: str) -> None:
    (folder / "assay.yaml").write_text(text)


def tick(
    session: Session, instance: dg.DagsterInstance, schedule: RoundSchedule = NIGHTLY, at: datetime = MONDAY
) -> Any:
    """What the schedule asks for, or why it asks for nothing."""
    context = dg.build_schedule_context(instance=instance, scheduled_execution_time=at, resources={"session": session})
    found: Any = round_schedule(schedule)(context)
    return str(found.skip_message) if isinstance(found, dg.SkipReason) else list(found)


@pytest.mark.parametrize(
    ("written", "cron", "timezone", "what"),
    [
        ("{rounds: nightly}", "0 3 * * *", "UTC", ScheduledWork.BOTH),
        ('{rounds: "30 22 * * fri", timezone: Asia/Tokyo}', "30 22 * * fri", "Asia/Tokyo", ScheduledWork.BOTH),
        ("{rounds: weekly, what: stale}", "0 3 * * 1", "UTC", ScheduledWork.STALE),
    ],
)
def test_assay_yaml_sets_when_and_over_what(
    folder: Path, written: str, cron: str, timezone: str, what: ScheduledWork
) -> None:
    write(folder, f"schedule: {written}\n")
    assert load_organisation(folder).schedule == RoundSchedule(cron=cron, timezone=timezone, what=what)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("schedule: {rounds: fortnightly}", "assay.yaml:1: schedule.rounds: 'fortnightly' is no time to repeat; write"),
        ("schedule:\n  rounds: '0 25 * * *'", "assay.yaml:2: schedule.rounds: '25' is no hour (0 to 23); write"),
        (
            "schedule:\n  rounds: weekly\n  timezone: Europe/Amsterdm",
            "assay.yaml:3: schedule.timezone: unknown time zone",
        ),
        ("schedule:\n  rounds: weekly\n  what: all", "assay.yaml:3: schedule.what must be"),
        ("schedule: {timezone: UTC}", "the key schedule.rounds is missing"),
        ("schedule: {round: weekly}", "Did you mean 'rounds'?"),
        ("retention: {dagster_run_days: 0}", "retention.dagster_run_days must be at least 1"),
    ],
)
def test_a_schedule_that_is_none_says_where_and_what_to_write(folder: Path, written: str, said: str) -> None:
    write(folder, written + "\n")
    with pytest.raises(InputError) as found:
        load_organisation(folder)
    assert said in str(found.value)
    assert said in round_schedule(written_schedule(folder)).description  # type: ignore[operator]  # it has one


def test_without_a_schedule_or_a_workspace_it_is_switched_off_and_says_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "nowhere"))
    for schedule, reason in (
        (round_schedule(written_schedule(folder)), "assay.yaml sets no `schedule`"),
        (round_schedule(written_schedule()), "no assay.yaml in it"),
    ):
        assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
        assert reason in str(schedule.description)
    assert round_schedule(NIGHTLY).default_status is dg.DefaultScheduleStatus.RUNNING


def test_a_tick_asks_once_for_what_is_unscored_or_stale_and_says_why_it_asks_for_nothing(
    session: Session, instance: dg.DagsterInstance
) -> None:
    assert tick(session, instance) == "Nothing is unscored or stale."
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    (unscored,) = tick(session, instance)
    assert isinstance(unscored, dg.RunRequest)
    assert unscored.tags[ROUND_TAG] == "schedule-2026-11-30T02:00+00:00"
    score_round(session, CELLS)
    assert tick(session, instance) == "Nothing is unscored or stale."
    session.warehouse.save_reference(
        SCENARIOS[0], {"name": "Ada", "year": 1}, author="mia", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True
    )
    (stale,) = tick(session, instance)
    assert isinstance(stale, dg.RunRequest)
    (next_week,) = tick(session, instance, at=datetime(2026, 12, 7, 2, tzinfo=UTC))
    assert isinstance(next_week, dg.RunRequest)
    assert len({unscored.run_key, stale.run_key, next_week.run_key}) == 3
    instance.add_run(dg.DagsterRun(job_name="score_models", status=dg.DagsterRunStatus.STARTED, tags=stale.tags))
    assert tick(session, instance) == "2 models that are unscored or stale are being scored already."


@pytest.mark.parametrize(("what", "is_asked_for"), [("unscored", False), ("stale", True), ("unscored_and_stale", True)])
def test_only_what_the_file_says_now_is_scored(
    session: Session, instance: dg.DagsterInstance, folder: Path, what: str, is_asked_for: bool
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS)
    session.warehouse.save_reference(
        SCENARIOS[0], {"name": "Ada", "year": 1}, author="mia", origin=ReferenceOrigin.OWNER_SAVE, is_verified=True
    )
    write(folder, f"schedule: {{rounds: nightly, timezone: Europe/Amsterdam, what: {what}}}\n")
    with open_session(folder) as again:
        assert isinstance(tick(again, instance), list) is is_asked_for


def test_a_time_that_the_file_no_longer_says_starts_nothing(session: Session, instance: dg.DagsterInstance) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    said = tick(session, instance, RoundSchedule(cron="0 4 * * *"))
    assert said == "assay.yaml now says '0 3 * * *' in Europe/Amsterdam: reload the code location, then it holds."


def test_models_that_cannot_be_scored_are_counted(session: Session) -> None:
    states = session.warehouse.cells()
    assert why_nothing(states, ScheduledWork.BOTH, ()) == "Nothing is unscored or stale."
    session.warehouse.import_runs([run_of(*CELLS[0])])
    from dataclasses import replace

    waiting = [replace(one, has_verified_reference=False) for one in session.warehouse.cells()]
    assert "1 models lack runs or a verified reference" in why_nothing(waiting, ScheduledWork.STALE, ())


def test_runs_of_one_scheduled_round_share_the_budget(session: Session, instance: dg.DagsterInstance) -> None:
    assert spending_of(session, instance, {}) is None
    tags = {ROUND_TAG: "schedule-x"}
    earlier = instance.add_run(dg.DagsterRun(job_name="score_models", tags=tags))
    _paid(session, earlier.run_id, costs=[1.5, 0.5, None])
    spending = spending_of(session, instance, tags)
    assert spending is not None
    assert (spending.limit_usd, spending.spent_usd) == (5.0, 1.5 + 0.5 + 1.5)


def _paid(session: Session, dagster_run_id: str, costs: list[float | None]) -> None:
    """Judge calls of a round of this Dagster run, as rows."""
    from sqlalchemy import text

    from resources.rounds import RoundTrigger

    warehouse = session.warehouse
    round_id = warehouse.open_round(RoundTrigger.SCHEDULE, planned_models=1, dagster_run_id=dagster_run_id)
    (record_id,) = warehouse.open_scorings(round_id, {CELLS[0]: ("judge",)}).values()
    with warehouse.engine.begin() as connection:
        connection.execute(
            text(
                "insert into assay.judge_questions values (:scenario, 'q', 'compare', '/name', 'prompt', '1', now());"
            ),
            {"scenario": SCENARIOS[0]},
        )
        for cost in costs:
            connection.execute(
                text(
                    "insert into assay.judge_calls (scenario_id, question_id, scoring_record_id, judge_model,"
                    " judge_family, is_swapped, attempt, is_repair, cost_usd, duration_seconds)"
                    " values (:scenario, 'q', :record, 'judge', '', false, 1, false, :cost, 1)"
                ),
                {"scenario": SCENARIOS[0], "record": record_id, "cost": cost},
            )


def test_a_changed_schedule_is_noticed_once_and_a_broken_file_says_so(folder: Path) -> None:
    watch = ScheduleWatch(workspace=folder, known=written_schedule(folder))
    assert watch.news() is None
    write(folder, "schedule: {rounds: weekly}\n")
    news = watch.news()
    assert news is not None
    assert in_words(news) == "rounds at '0 3 * * 1' (UTC) over what is unscored or stale"
    assert watch.news() is None
    write(folder, "schedule: {rounds: often, timezone: UTC}\n")
    assert "schedule.rounds: 'often'" in str(watch.news())
    write(folder, "{}\n")
    assert "sets no `schedule`" in str(watch.news())
