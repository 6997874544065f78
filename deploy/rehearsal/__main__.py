"""A round split between two workers, one of them killed in the middle, beside the same round on one machine.

`make workers` starts one Postgres, one Redis with a password, one S3 server (moto's, which does not check keys), a code
server, a daemon, a webserver and two Celery workers, each with a folder, a home and a copy of the workspace of its own:
they share the database, the broker and the lake. It imports recorded runs, waits for the sensor to spread them over
both workers, kills one with everything it started, waits until all is scored without a hand, and compares every stored
score with those of one machine. Exits 1 where they differ. Opt-in: it takes some minutes and four gigabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

from deploy.rehearsal import records
from deploy.rehearsal.records import DagsterRun
from deploy.rehearsal.services import (
    BIN,
    DEPLOY,
    LOCAL,
    ROOT,
    Program,
    Site,
    await_port,
    await_true,
    clean_environment,
    copied_code,
    free_port,
    port_of,
    start_services,
)

DATA = ROOT / ".." / "shared" / "data" / "docubench"
EXAMPLE = ROOT / "examples" / "workspace"
FROM_FOLDERS = ("--verified", "--key", "output=data", "--key", "seconds=time_sec", "--key", "cost=cost")
FROM_FOLDERS += ("--key", "status=status")
CELLS_PER_RUN = {True: 36, False: 4}
WORKERS = ("worker-1", "worker-2")
PATIENCE_SECONDS = 3600


@dataclass(slots=True, kw_only=True)
class Story:
    """What happened: which worker had which run, and what was killed when. Times are seconds since 1970."""

    worker_of: dict[str, str] = field(default_factory=dict)
    imported_at: float = 0.0
    killed: str = ""
    killed_run: str = ""
    killed_at: float = 0.0
    committed_at_kill: tuple[int, int] = (0, 0)
    done_at: float = 0.0
    connections: Counter[str] = field(default_factory=Counter)


def say(what: str) -> None:
    """A line with the time."""
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def assay(environment: Mapping[str, str], *arguments: str) -> str:
    """What the command printed."""
    done = subprocess.run(
        [str(BIN / "assay"), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"assay {arguments[0]} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_workspace(place: Path, code: Path) -> bool:
    """The workspace in `place`, with its recorded runs; whether it is docubench rather than the small example."""
    if not DATA.is_dir():
        shutil.copytree(EXAMPLE, place)
        return False
    assay(clean_environment(code), "init", str(place), "--from", str(DATA.resolve()), *FROM_FOLDERS)
    return True


def one_machine(place: Path, workspace: Path, code: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every stored score of the round as one process on an embedded Postgres and a local lake makes it."""
    home = place / "alone"
    environment = clean_environment(code) | {"ASSAY_HOME": str(home), "ASSAY_WORKSPACE": str(workspace)}
    assay(environment, "import")
    assay(environment, "score")
    from resources.home import Home
    from resources.postgres import EmbeddedPostgres

    postgres = EmbeddedPostgres(Home(root=home))
    try:
        return all_scores(postgres.ensure().url.render_as_string(hide_password=False))
    finally:
        postgres.stop()


def all_scores(url: str) -> dict[str, list[tuple[object, ...]]]:
    """The rows of every view that holds scores, in one order."""
    with records.reading(url) as connection:
        return {view: records.scores(connection, view) for view in records.VIEWS}


def start_dagster(site: Site, workspace: Path) -> str:
    """Code server, daemon, webserver and both workers run; the address of the webserver."""
    port = site.shared["ASSAY_CODE_PORT"]
    code = ("code-server", "start", "-h", LOCAL, "-p", port, "-m", "pipelines.definitions", "--location-name", "assay")
    site.start("code", [str(BIN / "dagster"), *code], extra=own_workspace(site, "code", workspace))
    await_port(int(port), 180)
    where = ("-w", str(DEPLOY / "workspace.yaml"))
    web = str(free_port())
    site.start("web", [str(BIN / "dagster-webserver"), "-h", LOCAL, "-p", web, *where])
    site.start("daemon", [str(BIN / "dagster-daemon"), "run", *where])
    for name in WORKERS:
        start_worker(site, name, workspace)
    return f"http://{LOCAL}:{web}"


def start_worker(site: Site, name: str, workspace: Path) -> Program:
    """A worker as on a machine of its own."""
    path = {"PYTHONPATH": os.pathsep.join((str(site.code), str(DEPLOY / "config")))}
    command = [str(BIN / "celery"), "-A", "dagster_celery.app", "worker", "--concurrency", "1", "-n", f"{name}@%h"]
    return site.start(name, command, extra=own_workspace(site, name, workspace) | path)


def own_workspace(site: Site, name: str, workspace: Path) -> dict[str, str]:
    """A copy of the workspace's files for this program alone, without the recorded runs, which scoring never reads."""
    copy = site.place / name / "workspace"
    shutil.copytree(workspace, copy, ignore=lambda folder, _: ["runs"] if Path(folder) == workspace else [])
    return {"ASSAY_WORKSPACE": str(copy)}


def watch(site: Site, cells: int) -> Story:
    """Wait until every cell is scored; kill a worker once it has committed a part of its run."""
    story = Story(imported_at=time.time())
    database, storage = site.shared["ASSAY_DATABASE_URL"], site.shared["ASSAY_DAGSTER_STORAGE_URL"]
    with records.reading(database) as assay_side, records.reading(storage) as dagster_side:

        def is_done() -> bool:
            runs = records.dagster_runs(dagster_side)
            _note(site, story, runs)
            if not story.killed:
                _kill_one(site, story, runs, records.committed(assay_side))
            is_idle = not any(run.status in records.UNDER_WAY for run in runs)
            return bool(story.killed) and is_idle and records.scored(assay_side) == cells

        await_true(is_done, f"not all {cells} cells are scored", seconds=PATIENCE_SECONDS, every=0.1)
    story.done_at = time.time()
    return story


def _note(site: Site, story: Story, runs: list[DagsterRun]) -> None:
    """Remember who has which run, and how many connections each program has at most."""
    for run in runs:
        if run.pid is not None and run.run_id not in story.worker_of:
            found = [name for name in WORKERS if site.programs[name].holds(run.pid)]
            if found:
                story.worker_of[run.run_id] = found[0]
    port = port_of(site.shared["ASSAY_DATABASE_URL"])
    for name in ("code", "daemon", "web", *WORKERS):
        now = site.programs[name].connections_to(port)
        story.connections[name] = max(story.connections[name], now)


def _kill_one(site: Site, story: Story, runs: list[DagsterRun], committed: Mapping[str, tuple[int, int]]) -> None:
    for run in runs:
        done, planned = committed.get(run.run_id, (0, 0))
        worker = story.worker_of.get(run.run_id)
        if run.status == "STARTED" and worker is not None and 0 < done < planned:
            site.programs[worker].kill()
            story.killed, story.killed_run, story.killed_at = worker, run.run_id, time.time()
            story.committed_at_kill = (done, planned)
            say(f"kill -9 of {worker} and all it started; its run {run.run_id[:8]} had committed {done} of {planned}")
            return


def sweep(site: Site) -> tuple[int, int]:
    """Lake files that no row names, which are removed, and those that rows name, of which each is read."""
    from resources.database import engine_for, parsed_url
    from resources.lake import Lake
    from resources.warehouse import Warehouse

    os.environ.update({name: value for name, value in site.shared.items() if name.startswith("AWS_")})
    warehouse = Warehouse(engine_for(parsed_url(site.shared["ASSAY_DATABASE_URL"])), Lake(site.shared["ASSAY_LAKE"]))
    orphans = warehouse.sweep_lake(older_than=timedelta(0))
    kept = warehouse.lake.files()
    for name in kept:
        warehouse.lake.read(name)
    warehouse.engine.dispose()
    return len(orphans), len(kept)


def report(site: Site, story: Story, alone: Mapping[str, list[tuple[object, ...]]]) -> bool:
    """Print what happened; whether all is as on one machine."""
    with (
        records.reading(site.shared["ASSAY_DATABASE_URL"]) as assay_side,
        records.reading(site.shared["ASSAY_DAGSTER_STORAGE_URL"]) as dagster_side,
    ):
        runs, committed = records.dagster_runs(dagster_side), records.committed(assay_side)
    for run in runs:
        took = f"{run.ended_at - run.begun_at:5.1f} s" if run.ended_at and run.begun_at else "    -  "
        done, planned = committed.get(run.run_id, (0, 0))
        scope = f"{done:3} of {planned:3} cells" if planned else "               "
        print(f"  {run.run_id[:8]} {run.job:15} {story.worker_of.get(run.run_id, '-'):9} {run.status:8} {took} {scope}")
    together = all_scores(site.shared["ASSAY_DATABASE_URL"])
    for view, rows in together.items():
        same = "equal" if rows == alone[view] else "DIFFERENT"
        print(
            f"  {view:17} {len(rows):6} rows {records.digest(rows)}, one machine {records.digest(alone[view])}: {same}"
        )
    orphans, kept = sweep(site)
    print(f"  lake: {kept} files named and read, {orphans} that the killed worker left unnamed swept")
    print("  connections to Postgres at most: " + ", ".join(f"{k} {v}" for k, v in sorted(story.connections.items())))
    _last_line(story, runs, committed, is_same := together == alone)
    return is_same


def _last_line(story: Story, runs: list[DagsterRun], committed: Mapping[str, tuple[int, int]], is_same: bool) -> None:
    by_worker: Counter[str] = Counter()
    runs_by_worker: Counter[str] = Counter()
    for run in runs:
        if run.run_id in committed:
            by_worker[story.worker_of.get(run.run_id, "?")] += committed[run.run_id][0]
            runs_by_worker[story.worker_of.get(run.run_id, "?")] += 1
    noticed = next((run.ended_at for run in runs if run.run_id == story.killed_run and run.ended_at), story.done_at)
    done, planned = story.committed_at_kill
    shares = ", ".join(f"{name} {by_worker[name]} cells in {runs_by_worker[name]} runs" for name in sorted(by_worker))
    print(
        f"workers: {sum(by_worker.values())} cells ({shares}); {story.killed} killed at "
        f"{story.killed_at - story.imported_at:.0f} s with {done} of {planned} cells of its run committed, "
        f"noticed after {noticed - story.killed_at:.0f} s, all done after {story.done_at - story.killed_at:.0f} s; "
        f"scores {'equal to the last bit' if is_same else 'DIFFERENT'}"
    )


def rehearse(place: Path) -> bool:
    """The whole rehearsal in this folder; whether both rounds gave the same."""
    workspace, code = place / "workspace", copied_code(place)
    is_large = make_workspace(workspace, code)
    say(f"{'docubench' if is_large else 'the example workspace'}: one machine first")
    alone = one_machine(place, workspace, code)
    cells = len(alone["bi.model_scores"])
    site = Site(place=place, code=code, shared={"ASSAY_CELLS_PER_RUN": str(CELLS_PER_RUN[is_large])})
    try:
        start_services(site)
        say("Postgres, Redis and S3 answer")
        address = start_dagster(site, workspace)
        await_port(port_of(address), 180)
        with urlopen(f"{address}/server_info", timeout=30) as answer:  # noqa: S310 - our own address on loopback
            say(f"the webserver says {json.load(answer)}; two workers wait")
        command = clean_environment(code) | site.shared | {"ASSAY_HOME": str(place / "command")}
        say(assay(command | {"ASSAY_WORKSPACE": str(workspace)}, "import").strip().splitlines()[-1])
        story = watch(site, cells)
        say(f"all {cells} cells are scored and nothing is under way")
        return report(site, story, alone)
    except TimeoutError:
        for program in site.programs.values():
            print(f"--- {program.name}\n{program.log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
        raise
    finally:
        site.stop()


def main() -> int:
    """Prints the figures; 0 where both rounds gave the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it, for a look at the logs")
    folder = parser.parse_args().keep or Path(tempfile.mkdtemp(prefix="assay-workers-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)  # the account that runs Postgres for root passes through
    try:
        return 0 if rehearse(folder.resolve()) else 1
    finally:
        if parser.parse_args().keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
