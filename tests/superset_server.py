"""A real Apache Superset on this machine for one test, and its REST interface."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[1]
HOME = ROOT / ".assay" / "bi"
PROGRAMS = HOME / "venv" / "bin"
USER = "admin"
READY_SECONDS = 300


class SupersetServer:
    """Superset with an empty store of its own, listening on 127.0.0.1; gone with all its processes at the end."""

    def __enter__(self) -> SupersetServer:
        self.home = HOME / "superset"
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.password = secrets.token_urlsafe(12)
        self._token = ""
        self._environment = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY", "PYTHON"))}
        self._environment |= {
            "SUPERSET_CONFIG_PATH": str(ROOT / "deploy" / "bi" / "superset_config.py"),
            "SUPERSET_HOME": str(self.home),
            "SUPERSET_SECRET_KEY": secrets.token_hex(24),
            "FLASK_APP": "superset",
            "SQLALCHEMY_SILENCE_UBER_WARNING": "1",
        }
        self._run("db", "upgrade")
        person = ("--firstname", "a", "--lastname", "b", "--email", "a@example.org")
        self._run("fab", "create-admin", "--username", USER, *person, "--password", self.password)
        self._run("init")
        self._serve()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._server.pid, signal.SIGTERM)
        try:
            self._server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait(30)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that Superset answers; an answer of 400 or more is an AssertionError that shows it."""
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)  # noqa: S310 - ours
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 - loopback
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read()[:800]!r}") from None

    def _run(self, *arguments: str) -> None:
        with (self.home / "setup.log").open("ab") as log:
            command = [str(PROGRAMS / "superset"), *arguments]
            subprocess.run(command, env=self._environment, cwd=self.home, stdout=log, stderr=log, check=True)

    def _serve(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as probe:
            port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        options = ["-w", "1", "--threads", "4", "-k", "gthread", "--timeout", "180", "-b", f"127.0.0.1:{port}"]
        with (self.home / "server.log").open("ab") as log:
            self._server = subprocess.Popen(
                [str(PROGRAMS / "python"), "-m", "gunicorn", *options, "superset.app:create_app()"],
                env=self._environment,
                cwd=self.home,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait()
        given = {"username": USER, "password": self.password, "provider": "db", "refresh": False}
        self._token = self.call("POST", "/api/v1/security/login", given)["access_token"]

    def _wait(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and self._server.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):  # noqa: S310 - loopback
                    return
            except OSError:
                time.sleep(1)
        raise AssertionError(f"Superset does not answer: {(self.home / 'server.log').read_text()[-2000:]}")
