"""A campaign: rounds under kills, calm, one round more, and what the checker then finds."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import psycopg2

from tests.chaos import checks
from tests.chaos.commands import Commands
from tests.chaos.content import KINDS, MODELS, MOVING, STILL, judged, kind_of, write_workspace
from tests.chaos.contents import Stored
from tests.chaos.deeds import Deeds
from tests.chaos.faults import WEIGHTS, Faults
from tests.chaos.judge import LoggingJudge, Served
from tests.chaos.payments import Payments, payments
from tests.chaos.place import Place, Up, nothing_left, wait_until
from tests.chaos.record import COMMANDS, Record, Say
from tests.chaos.undisturbed import Expected, expected, within
from tests.chaos.watcher import Seen, Watcher, connected

MOST_CONNECTIONS = 60
"""Of the 100 that the embedded Postgres allows; see docs/faults.md for who holds how many."""

PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a campaign does: kills at most, by a seed; services with weights, or commands alone where there are none."""

    seed: int
    kills: int
    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    fewest_epochs: int = 2
    minutes: float = 180.0
    """After so long no more is killed, however many kills there were."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of a campaign. Lists of problems are empty where all is well."""

    record: Record
    seen: Seen
    epochs: int = 0
    lost: list[str] = field(default_factory=list)
    half: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    compared: int = 0
    payments: Payments | None = None
    seconds: float = 0.0

    @property
    def problems(self) -> dict[str, list[str]]:
        """All problems by kind."""
        found = {
            "loss": self.lost,
            "half": self.half,
            "duplicates": self.doubled,
            "paid twice": list(self.payments.twice) if self.payments else ["never counted"],
            "stuck": self.stuck,
            "different": self.different,
            "faults": self.record.faults,
        }
        if self.seen.connections > MOST_CONNECTIONS:
            found["connections"] = [f"{self.seen.connections} at once: {self.seen.holders}"]
        return {kind: problems for kind, problems in found.items() if problems}

    def last_line(self) -> str:
        """All figures in one line."""
        paid = self.payments
        median, most = self.record.recovery()
        money = f"paid {paid.paid} answers, twice {len(paid.twice)}" if paid else "payments not counted"
        flying = f"in flight at a kill {paid.in_flight} (at most {paid.most_at_one_kill} at one)" if paid else ""
        return (
            f"chaos: {len(self.record.kills)} kills ({self.record.by_target()}); {self.epochs} rounds; "
            f"loss {len(self.lost)}, half {len(self.half)}, duplicates {len(self.doubled)}, {money}, {flying}, "
            f"stuck {len(self.stuck)}, {self.compared} scores and references compared, {len(self.different)} differ; "
            f"other faults {len(self.record.faults)}; recovered in {median:.1f} s (median), {most:.1f} s (most); "
            f"at most {self.seen.connections} connections; {self.seconds / 60:.1f} min"
        )


def campaign(plan: Plan, folder: Path, say: Say) -> Outcome:
    """What came of it. Nothing that it started is left running. Raises StuckError where something never ended."""
    began = time.monotonic()
    record = Record(most=plan.kills, say=say, has_services=bool(plan.weights), until=began + 60 * plan.minutes)
    with ExitStack() as stack:
        calm_judge = stack.enter_context(LoggingJudge(judged))
        judge = stack.enter_context(LoggingJudge(judged))
        calm, place = Place(folder=_made(folder / "calm")), Place(folder=_made(folder / "chaos"))
        stack.enter_context(nothing_left(calm))
        stack.enter_context(nothing_left(place))
        write_workspace(calm.workspace, calm_judge.base_url)
        write_workspace(place.workspace, judge.base_url)
        wanted = expected(calm)
        say(f"undisturbed round: {len(wanted.still)} + {len(wanted.moving)} scores, {len(calm_judge.served)} answers")
        watcher = stack.enter_context(Watcher(place.home))
        outcome = Outcome(record=record, seen=watcher.seen)
        commands = Commands(place=place)
        stack.callback(commands.close)
        rng, said = random.Random(f"{plan.seed} deeds"), _made(folder / "said")
        deeds = Deeds(place=place, record=record, rng=rng, folder=said, commands=commands)
        _disturbed(plan, place, deeds, outcome, say)
        _checked(place, deeds, wanted, outcome, judge.served)
    outcome.seconds = time.monotonic() - began
    return outcome


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, mode=0o711)
    return folder


def _disturbed(plan: Plan, place: Place, deeds: Deeds, outcome: Outcome, say: Say) -> None:
    """All kills have happened, all commands have succeeded, and by itself all is scored, merged and stopped."""
    up = Up(place, deeds.folder)
    services, faults = threading.Thread(target=lambda: None), None
    if plan.weights:
        deeds.scored_by_command = 0.4
        rng = random.Random(f"{plan.seed} faults")
        faults = Faults(place=place, up=up, record=outcome.record, rng=rng, weights=plan.weights)
        services = threading.Thread(target=_run, args=(faults, outcome.record))
    else:
        deeds.scored_by_command = 1.0
    services.start()
    while services.is_alive() or outcome.record.has_room(COMMANDS) or outcome.epochs < plan.fewest_epochs:
        outcome.epochs += 1
        deeds.epoch(outcome.epochs)
        if not outcome.record.has_room(COMMANDS):
            time.sleep(PAUSE_SECONDS)  # the services need work, and not more than they can do
        if outcome.record.faults:
            say("giving up: the rest would say no more")
            break
    outcome.record.most = 0  # no more kills, also where it was given up
    services.join()
    say("calm: no more kills")
    if faults is not None:
        seconds = wait_until(lambda: faults.is_well() and _is_settled(place, deeds), "all to be scored and merged")
        say(f"all scored and merged {seconds:.0f} s after the last kill")
        if up.stop() != 0:
            outcome.record.fault("`assay up` did not stop well")
    deeds.done("score", *deeds.scenarios)
    deeds.done("score", "--all", *(one for one in deeds.scenarios if kind_of(one) == MOVING))
    deeds.commands.close()
    outcome.stuck += [f"process {one.pid} {one.name()} is left running" for one in place.processes()]


def _run(faults: Faults, record: Record) -> None:
    try:
        faults.run()
    except Exception as error:  # noqa: BLE001 - a thread must not die in silence
        record.fault(f"{type(error).__name__}: {error}")


_SETTLED = """
select (select count(*) from (select distinct scenario_id, model_id from assay.model_scores) s)
     - (select count(*) from assay.model_scores left join assay.merged_scores m using (model_score_id)
        where m.model_score_id is null)
"""


def _is_settled(place: Place, deeds: Deeds) -> bool:
    """Whether every cell has a score, every score is merged, and no run of Dagster is under way."""
    try:
        with closing(connected(place.home)) as record, closing(connected(place.home, "dagster")) as dagster:
            settled = Stored(record, "").values(_SETTLED)[0]
            unfinished = Stored(dagster, "").rows(checks.UNFINISHED_RUNS)
    except psycopg2.Error:
        return False
    return settled == len(deeds.scenarios) * len(MODELS) and not unfinished


def _checked(place: Place, deeds: Deeds, wanted: Expected, outcome: Outcome, served: list[Served]) -> None:
    """The checker's findings, with Postgres running and nothing else."""
    from pipelines.session import open_stores

    with within(place), open_stores(place.workspace):
        stored = Stored(connected(place.home), str(place.home / "lake"))
        dagster = Stored(connected(place.home, "dagster"), "")
        outcome.lost += checks.lost(stored, outcome.seen.rows, deeds.scenarios, deeds.edits)
        outcome.half += checks.half(stored)
        outcome.doubled += checks.doubled(stored, rescored_kind=MOVING)
        outcome.stuck += checks.stuck(stored, dagster)
        outcome.payments = payments(stored, served, outcome.record.kills)
        _compared(stored, deeds, wanted, outcome)


def _compared(stored: Stored, deeds: Deeds, wanted: Expected, outcome: Outcome) -> None:
    """Every score of still scenarios, the last ones of moving ones and all references against the undisturbed round."""
    for row in stored.scores(deeds.scenarios):
        scenario, model = row["scenario_id"], row["model_id"]
        found = stored.score(row["model_score_id"], scenario)
        if kind_of(scenario) == STILL:
            should = wanted.still.get((model, row["owner_reference_hash"]))
        elif row["is_latest"]:
            should = wanted.moving.get(model)
        else:
            continue
        outcome.compared += 1
        if found != should:
            outcome.different.append(f"score {row['model_score_id']} of {scenario} / {model}: {found} is not {should}")
    for scenario in deeds.scenarios:
        outcome.compared += 1
        found, should = stored.reference(scenario), wanted.references[kind_of(scenario)]
        if found != should:
            outcome.different.append(f"reference of {scenario}: {found} is not {should}")
    assert set(KINDS) == {kind_of(one) for one in deeds.scenarios}
