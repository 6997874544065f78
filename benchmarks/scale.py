"""A round over a large workspace, through Dagster with Postgres and without Dagster, in one run on separate homes.

`python -m benchmarks.scale` writes 50 scenarios x 20 models x 3 repetitions, imports them into two fresh homes, gives
both the same vectors, scores and merges everything in one process without Dagster and, in the other home, as
`assay score` does it through Dagster. Then one model is scored again in the full home. `--times 10` does the same for
500 x 20 x 3 beside it and prints how each figure grew. Each step is a process of its own; its seconds are those of
processors, of the process and of its Postgres together, so that other work on the machine matters little. Dagster's
share of a partition is the difference of the two rounds by the number of partitions. Exits 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.synthetic import Size, texts, write_workspace

if TYPE_CHECKING:
    from pipelines.session import Session

MOST_OVERHEAD_SECONDS, MOST_MEBIBYTES = 0.1, 1024.0
MEBIBYTE = 2**20

_SIZES = """
select c.relname as name, c.reltuples::bigint as rows, pg_total_relation_size(c.oid) as bytes,
       pg_indexes_size(c.oid) as index_bytes
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 3 desc
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a step took: seconds of processors in its own process and in Postgres, seconds on the clock, peak MiB."""

    own_seconds: float
    postgres_seconds: float
    wall_seconds: float
    mebibytes: float
    note: str = ""

    @property
    def seconds(self) -> float:
        """Seconds of processors altogether."""
        return self.own_seconds + self.postgres_seconds


def import_recordings(session: Session) -> str:
    from resources.recordings import read_recordings

    found = read_recordings([session.workspace.root / "runs"], session.workspace)
    return f"{session.warehouse.import_runs(found).added} runs"


def warm(session: Session) -> str:
    from scoring.text import normal_form

    embeddings = session.embeddings(session.workspace.scenarios[0].scoring.embedding.value)
    return f"{len(embeddings.vectors([normal_form(text) for text in texts()]))} texts embedded"


def plain_round(session: Session) -> str:
    from pipelines.merging import merge_references
    from pipelines.round import score_round

    report = score_round(session, _cells(session))
    merges = merge_references(session.warehouse.references)
    return _told(len(report.models), len(report.failed), merges, session)


def dagster_round(session: Session) -> str:
    from pipelines.dagster_round import run_round_through_dagster

    report = run_round_through_dagster(session, _cells(session))
    return _told(len(report.models), len(report.failed), report.merges, session)


def dagster_one(session: Session) -> str:
    from pipelines.dagster_round import run_round_through_dagster

    report = run_round_through_dagster(session, _cells(session)[:1])
    return _told(len(report.models), len(report.failed), report.merges, session)


def _cells(session: Session) -> list[tuple[str, str]]:
    return [(one.scenario_id, one.model_id) for one in session.warehouse.cells() if one.is_scorable]


def _told(scored: int, failed: int, merges: Any, session: Session) -> str:
    with session.warehouse.engine.connect() as connection:
        vectors = connection.exec_driver_sql("select count(*) from assay.vectors").scalar()
        state = connection.exec_driver_sql(
            "select md5(string_agg(concat_ws(' ', scenario_id, model_id, quality, completeness, correctness), ','"
            " order by scenario_id, model_id)) from bi.model_scores where is_latest"
        ).scalar()
    edits = sum(len(merge.edits) for merge in merges)
    if failed:
        raise SystemExit(f"{failed} of {scored} models have no score")
    return f"{scored} scores, {len(merges)} merges with {edits} edits, {vectors} vectors, scores {str(state)[:12]}"


STEPS: Mapping[str, Callable[[Session], str]] = {
    "import": import_recordings,
    "warm": warm,
    "plain": plain_round,
    "dagster": dagster_round,
    "one": dagster_one,
}


def run_step(name: str, workspace: Path) -> Spent:
    """The step in this process, from opening the session on."""
    from pipelines.session import open_session

    begun = time.perf_counter()
    with open_session(workspace) as session:
        before = _postgres_seconds(session.home.postgres)
        note = STEPS[name](session)
        of_postgres = _postgres_seconds(session.home.postgres) - before
    return Spent(
        own_seconds=time.process_time(),
        postgres_seconds=of_postgres,
        wall_seconds=time.perf_counter() - begun,
        mebibytes=_peak_mebibytes(),
        note=note,
    )


def _postgres_seconds(folder: Path) -> float:
    """Seconds of processors that the server and all its processes, ended ones too, have spent since it started."""
    postmaster = psutil.Process(int((folder / "data" / "postmaster.pid").read_text().split()[0]))
    ended = postmaster.cpu_times()
    total = ended.user + ended.system + ended.children_user + ended.children_system
    for child in postmaster.children(recursive=True):
        try:
            spent = child.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it ended since: the postmaster has counted it by the next look
        total += spent.user + spent.system
    return total


def _peak_mebibytes() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("this system does not tell how much memory a process held")


def in_process(step: str, home: Path, workspace: Path) -> Spent:
    """What the step took in a process of its own."""
    environment = {**os.environ, "ASSAY_HOME": str(home)}
    for name in ("PYTHONDONTWRITEBYTECODE", "ASSAY_DATABASE_URL", "ASSAY_LAKE"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "benchmarks.scale", "--step", step, "--workspace", str(workspace)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{step} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    spent = Spent(**json.loads(done.stdout.splitlines()[-1]))
    print(
        f"  {step:<8} {spent.own_seconds:8.1f} s + {spent.postgres_seconds:7.1f} s Postgres, "
        f"{spent.wall_seconds:7.1f} s on the clock, {spent.mebibytes:6.0f} MiB: {spent.note}",
        flush=True,
    )
    return spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one size came to."""

    size: Size
    steps: Mapping[str, Spent]
    tables: Mapping[str, Mapping[str, tuple[int, int, int]]]
    lake_bytes: int
    lake_files: int
    recorded_bytes: int

    @property
    def plain_seconds(self) -> float:
        """Of a partition, without Dagster."""
        return self.steps["plain"].seconds / self.size.partitions

    @property
    def overhead_seconds(self) -> float:
        """Of a partition, Dagster's share."""
        return (self.steps["dagster"].seconds - self.steps["plain"].seconds) / self.size.partitions

    @property
    def mebibytes(self) -> float:
        """The most that any step held."""
        return max(step.mebibytes for step in self.steps.values())

    def bytes_of(self, database: str) -> int:
        """All tables with their indexes."""
        return sum(size for _, size, _ in self.tables[database].values())


def measure(size: Size, folder: Path) -> Figures:
    """All steps over a workspace of this size, in the folder."""
    print(f"{size}:", flush=True)
    workspace, plain, dagster = folder / "workspace", folder / "plain", folder / "dagster"
    recorded = write_workspace(workspace, size)
    for home in (plain, dagster):
        steps = {"import": in_process("import", home, workspace)}
        in_process("warm", home, workspace)
    steps["plain"] = in_process("plain", plain, workspace)
    steps["dagster"] = in_process("dagster", dagster, workspace)
    if steps["plain"].note != steps["dagster"].note:
        raise SystemExit("the two rounds differ in what they scored")
    steps["one"] = in_process("one", dagster, workspace)
    files = [path for path in (dagster / "lake").rglob("*") if path.is_file()]
    return Figures(
        size=size,
        steps=steps,
        tables=_tables(dagster),
        lake_bytes=sum(path.stat().st_size for path in files),
        lake_files=len(files),
        recorded_bytes=recorded,
    )


def _tables(root: Path) -> dict[str, dict[str, tuple[int, int, int]]]:
    """Rows, bytes and bytes of indexes of every table, by database and table."""
    from resources.database import engine_for
    from resources.home import Home
    from resources.lease import using_postgres
    from resources.postgres import dagster_url, database_url

    home = Home(root=root)
    found = {}
    with using_postgres(home):
        for name, url in (("assay", database_url(home)), ("dagster", dagster_url(home))):
            engine = engine_for(url, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql("analyze")
                rows = connection.exec_driver_sql(_SIZES).all()
            found[name] = {row.name: (row.rows, row.bytes, row.index_bytes) for row in rows if row.rows > 0}
            engine.dispose()
    return found


def show(figures: Figures) -> None:
    """Prints where the bytes are."""
    for database, tables in figures.tables.items():
        print(f"  database {database}: {figures.bytes_of(database) / MEBIBYTE:.1f} MiB")
        for name, (rows, total, indexes) in list(tables.items())[:12]:
            print(
                f"    {name:<28} {rows:>9} rows {total / MEBIBYTE:8.1f} MiB ({indexes / MEBIBYTE:.1f} of it indexes), "
                f"{total / rows:6.0f} bytes a row"
            )
    print(f"  lake: {figures.lake_files} files, {figures.lake_bytes / MEBIBYTE:.1f} MiB")


def summary(figures: Figures) -> dict[str, Any]:
    """The figures of one size in short."""
    return {
        "partitions": figures.size.partitions,
        "import_ms": _ms(figures.steps["import"].seconds, figures),
        "assay_ms": _ms(figures.steps["plain"].seconds, figures),
        "dagster_ms": round(figures.overhead_seconds * 1e3, 1),
        "one_s": round(figures.steps["one"].seconds, 1),
        "peak_mib": round(figures.mebibytes),
        "assay_kib": round(figures.bytes_of("assay") / figures.size.partitions / 1024, 1),
        "dagster_kib": round(figures.bytes_of("dagster") / figures.size.partitions / 1024, 1),
        "lake_kib": round(figures.lake_bytes / figures.size.partitions / 1024, 1),
    }


def _ms(seconds: float, figures: Figures) -> float:
    return round(seconds / figures.size.partitions * 1e3, 1)


def main() -> int:
    """Prints the figures; 0 where all limits hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, default in (("scenarios", 50), ("models", 20), ("repetitions", 3), ("times", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path, help="keep workspaces and homes there")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--workspace", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(json.dumps(asdict(run_step(given.step, given.workspace))))
        return 0
    sizes = [
        Size(scenarios=given.scenarios * times, models=given.models, repetitions=given.repetitions)
        for times in sorted({1, given.times})
    ]
    with TemporaryDirectory(prefix="assay-scale-") as folder:
        Path(folder).chmod(0o755)
        found = [measure(size, (given.folder or Path(folder)) / f"{size.scenarios}x{size.models}") for size in sizes]
    return report(found)


def report(found: list[Figures]) -> int:
    """Prints the figures of all sizes; 1 where a limit is missed."""
    for figures in found:
        print(f"{figures.size}: {json.dumps(summary(figures))}")
        show(figures)
    missed = [fault for figures in found for fault in _missed(figures)]
    first, last = summary(found[0]), summary(found[-1])
    if len(found) > 1:
        print("growth: " + ", ".join(f"{key} {first[key]} -> {last[key]}" for key in first))
    print(
        f"scale: Dagster {first['dagster_ms']} ms a partition beside Assay's {first['assay_ms']} ms, at most "
        f"{last['peak_mib']} MiB; " + (f"missed {'; '.join(missed)}" if missed else "all limits held")
    )
    return bool(missed)


def _missed(figures: Figures) -> list[str]:
    checks = {
        f"{figures.overhead_seconds:.3f} s of Dagster a partition": figures.overhead_seconds > MOST_OVERHEAD_SECONDS,
        f"{figures.mebibytes:.0f} MiB": figures.mebibytes > MOST_MEBIBYTES,
    }
    return [f"{figures.size}: {what}" for what, is_missed in checks.items() if is_missed]


if __name__ == "__main__":
    sys.exit(main())
