"""Schedules: rounds as assay.yaml says, the checks that look at every file, and upkeep."""

from collections.abc import Callable, Collection, Iterable, Mapping

import dagster as dg

from pipelines.jobs import check_scores, maintenance, score_models
from pipelines.partitions import add_partitions, axes_of
from pipelines.rectangles import Cell
from pipelines.session import Session
from pipelines.waiting import ROUND_TAG, being_scored, is_unscored, place_of, requests, waiting
from pipelines.written_schedule import WORDS, written_schedule
from resources.cells import Cell as CellState
from resources.cron import NIGHTLY
from resources.rounds import RoundTrigger
from resources.settings import RoundSchedule, ScheduledWork

TODO = "Scores what is unscored or stale at the times that `schedule` in assay.yaml sets."

WANTED: Mapping[ScheduledWork, Callable[[CellState], bool]] = {
    ScheduledWork.BOTH: lambda state: state.needs_scoring,
    ScheduledWork.UNSCORED: is_unscored,
    ScheduledWork.STALE: lambda state: state.is_scorable and state.is_stale,
}


def why_nothing(states: Iterable[CellState], what: ScheduledWork, in_flight: Collection[Cell]) -> str:
    """Why a tick starts no run, in one sentence."""
    states = list(states)
    if under_way := sum(WANTED[what](one) and place_of(one) in in_flight for one in states):
        return f"{under_way} models that are {WORDS[what]} are being scored already."
    unready = sum(one.recorded > 0 and not one.is_scorable for one in states)
    rest = f" {unready} models lack runs or a verified reference: see the checks." if unready else ""
    return f"Nothing is {WORDS[what]}.{rest}"


def round_schedule(written: RoundSchedule | str) -> dg.ScheduleDefinition:
    """The schedule of rounds; switched off, and with the reason in its description, where none is written."""
    is_set = isinstance(written, RoundSchedule)
    loaded = written if isinstance(written, RoundSchedule) else RoundSchedule(cron=NIGHTLY)

    @dg.schedule(
        name="scheduled_rounds",
        job=score_models,
        cron_schedule=loaded.cron,
        execution_timezone=loaded.timezone,
        default_status=dg.DefaultScheduleStatus.RUNNING if is_set else dg.DefaultScheduleStatus.STOPPED,
        description=f"{TODO} Now: {WORDS[loaded.what]}." if is_set else f"{TODO} Switched off: {written}",
    )
    def scheduled_rounds(
        context: dg.ScheduleEvaluationContext, session: dg.ResourceParam[Session]
    ) -> list[dg.RunRequest] | dg.SkipReason:
        now = session.workspace.config.schedule or loaded
        if (now.cron, now.timezone) != (loaded.cron, loaded.timezone):
            return dg.SkipReason(
                f"assay.yaml now says {now.cron!r} in {now.timezone}: reload the code location, then it holds."
            )
        return due_rounds(context, session, now.what)

    return scheduled_rounds


def due_rounds(
    context: dg.ScheduleEvaluationContext, session: Session, what: ScheduledWork
) -> list[dg.RunRequest] | dg.SkipReason:
    """The runs of one round, which share one budget, over what is unscored or stale now; else why there are none."""
    instance = context.instance
    in_flight = being_scored(instance, axes_of(instance))
    states = session.warehouse.cells()
    found = waiting(states, WANTED[what], in_flight)
    if not found:
        return dg.SkipReason(why_nothing(states, what, in_flight))
    axes = add_partitions(instance, found)
    tags = {ROUND_TAG: f"schedule-{context.scheduled_execution_time.isoformat(timespec='minutes')}"}
    return list(requests(found, axes, instance, trigger=RoundTrigger.SCHEDULE, tags=tags))


scheduled_rounds = round_schedule(written_schedule())

daily_checks = dg.ScheduleDefinition(
    name="daily_checks",
    job=check_scores,
    cron_schedule="15 5 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Runs every check once a day, also those that look at each file of the lake.",
)

daily_maintenance = dg.ScheduleDefinition(
    name="daily_maintenance",
    job=maintenance,
    cron_schedule="30 4 * * *",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Prunes Dagster's records of runs that ended long ago, and files of the lake that no row names.",
)
