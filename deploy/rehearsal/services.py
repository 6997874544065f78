"""What several machines share, started here: Postgres by URL, Redis with a password, an S3 server; their programs."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg2
import pyarrow.fs as pafs
from sqlalchemy.engine import URL

from resources.home import Home
from resources.postgres import EmbeddedPostgres

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy" / "workers"
BIN = Path(sys.executable).parent
LOCAL = "127.0.0.1"
BUCKET = "assay"
PACKAGES = ("assets", "desk", "pipelines", "resources", "scoring", "sensors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A started program: it has a folder, a process group and a log of its own."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """Nothing of the group runs: killed outright, as when a machine goes down."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def holds(self, pid: int) -> bool:
        """Whether the process belongs to this program."""
        try:
            return os.getpgid(pid) == self.process.pid
        except ProcessLookupError:
            return False

    def connections_to(self, port: int) -> int:
        """How many connections to this port the program has open now."""
        count = 0
        for process in psutil.process_iter():
            if self.holds(process.pid):
                try:
                    count += sum(
                        1
                        for one in process.net_connections("tcp")
                        if one.raddr and one.raddr.port == port and one.status == psutil.CONN_ESTABLISHED
                    )
                except psutil.NoSuchProcess:
                    continue
        return count


@dataclass(slots=True, kw_only=True)
class Site:
    """A folder with everything of one rehearsal; `stop` leaves nothing running."""

    place: Path
    code: Path = ROOT
    shared: dict[str, str] = field(default_factory=dict)
    programs: dict[str, Program] = field(default_factory=dict)
    postgres: EmbeddedPostgres | None = None

    def start(
        self, name: str, command: Sequence[str], *, extra: Mapping[str, str] | None = None, given: str = ""
    ) -> Program:
        """The program, started with the shared environment, in a home, a Dagster home and a folder of its own."""
        folder = self.place / name
        (folder / "dagster").mkdir(parents=True, exist_ok=True)
        shutil.copy(DEPLOY / "dagster.yaml", folder / "dagster")
        own = {"HOME": str(folder), "DAGSTER_HOME": str(folder / "dagster"), "ASSAY_HOME": str(folder / "assay")}
        log = folder / "log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=clean_environment(self.code) | self.shared | own | dict(extra or {}),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if process.stdin is not None:
            with process.stdin as pipe:
                pipe.write(given.encode())
        self.programs[name] = Program(name=name, process=process, log=log)
        return self.programs[name]

    def stop(self) -> None:
        """No program of this rehearsal runs any more."""
        for program in self.programs.values():
            if program.process.poll() is None:
                program.kill()
        if self.postgres is not None:
            self.postgres.stop()


def clean_environment(code: Path = ROOT) -> dict[str, str]:
    """This environment without what would point at another Assay, Dagster or object store; `code` is what is run."""
    prefixes = ("ASSAY_", "DAGSTER_", "AWS_", "PG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | {"PYTHONPATH": str(code), "PYTHONUNBUFFERED": "1"}


def copied_code(place: Path) -> Path:
    """A copy of the packages: everything runs the same code, whatever is edited meanwhile."""
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, place / "packages" / package, ignore=ignored, dirs_exist_ok=True)
    return place / "packages"


def start_services(site: Site) -> None:
    """Postgres, Redis and the S3 server answer, and `site.shared` says how to reach them."""
    site.shared |= _databases(site) | _broker(site) | _object_store(site)
    site.shared |= {
        "ASSAY_CODE_HOST": LOCAL,
        "ASSAY_CODE_PORT": str(free_port()),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "DAGSTER_EVENT_BATCH_SIZE": "1000",
        "DAGSTER_EMIT_PARTITION_SUBSET_IN_PLANNED_EVENTS": "1",
    }


def _databases(site: Site) -> dict[str, str]:
    """Two databases that belong to a role which may do nothing else: what docs/deploying.md asks for."""
    site.postgres = EmbeddedPostgres(Home(root=site.place / "postgres"))
    server = site.postgres.ensure()
    password = secrets.token_urlsafe(12)
    _run_sql(
        server.url_of("postgres"),
        f"create role fleet login password '{password}'",
        "create database fleet owner fleet",
        "create database fleet_dagster owner fleet",
    )
    own = server.url.set(username="fleet", password=password)
    return {
        "ASSAY_DATABASE_URL": own.set(database="fleet").render_as_string(hide_password=False),
        "ASSAY_DAGSTER_STORAGE_URL": own.set(database="fleet_dagster").render_as_string(hide_password=False),
    }


def _run_sql(url: URL, *statements: str) -> None:
    connection = psycopg2.connect(
        host=url.host, port=url.port, user=url.username, password=url.password, dbname=url.database
    )
    connection.autocommit = True
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    connection.close()


def _broker(site: Site) -> dict[str, str]:
    port, password = free_port(), secrets.token_urlsafe(12)
    settings = f"bind {LOCAL}\nport {port}\nrequirepass {password}\nsave ''\nappendonly no\n"
    site.start("redis", [redis_server(), "-"], given=settings)
    await_port(port)
    address = f"redis://:{password}@{LOCAL}:{port}"
    return {"ASSAY_BROKER_URL": f"{address}/0", "ASSAY_BROKER_RESULTS_URL": f"{address}/1"}


def redis_server() -> str:
    """The program `redis-server`; as root it is installed from Debian where it is missing, without its service."""
    if shutil.which("redis-server") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("redis-server is missing: installing Debian's package", flush=True)
        quiet = os.environ | {"RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
        command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "redis-server"]
        subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL, check=True)
    found = shutil.which("redis-server")
    if found is None:
        raise SystemExit("redis-server is missing; install it, e.g. with: apt-get install redis-server")
    return found


def _object_store(site: Site) -> dict[str, str]:
    """moto's S3 server. It keeps its objects in memory and does not check the keys."""
    port = free_port()
    site.start("s3", [sys.executable, "-m", "moto.server", "-H", LOCAL, "-p", str(port)])
    await_port(port)
    keys = {"AWS_ACCESS_KEY_ID": "rehearsal", "AWS_SECRET_ACCESS_KEY": secrets.token_urlsafe(12)}
    store = pafs.S3FileSystem(
        access_key=keys["AWS_ACCESS_KEY_ID"],
        secret_key=keys["AWS_SECRET_ACCESS_KEY"],
        endpoint_override=f"{LOCAL}:{port}",
        scheme="http",
        region="eu-west-1",
        allow_bucket_creation=True,
    )
    store.create_dir(BUCKET)
    return keys | {
        "ASSAY_LAKE": f"s3://{BUCKET}/lake?region=eu-west-1",
        "AWS_ENDPOINT_URL": f"http://{LOCAL}:{port}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def port_of(url: str) -> int:
    """The port that the URL names."""
    return urlsplit(url).port or 0


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((LOCAL, 0))
        return int(probe.getsockname()[1])


def await_port(port: int, seconds: float = 60) -> None:
    """Somebody accepts connections on this port. Raises TimeoutError."""

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((LOCAL, port)) == 0

    await_true(answers, f"nothing listens on port {port}", seconds=seconds, every=0.1)


def await_true(is_true: Callable[[], bool], otherwise: str, *, seconds: float, every: float) -> float:
    """The seconds it took to become true. Raises TimeoutError with what was not so."""
    begun = time.monotonic()
    while not is_true():
        if time.monotonic() - begun > seconds:
            raise TimeoutError(f"{otherwise} after {seconds:.0f} s")
        time.sleep(every)
    return time.monotonic() - begun
