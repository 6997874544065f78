"""A test run that is killed outright leaves no Postgres and no folder behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from resources.home import Home
from resources.postgres import EmbeddedPostgres

ROOT = Path(__file__).parents[1]
_RUN = """
import os, signal
def test_dies(postgres_server):
    print("FOLDER", os.environ["ASSAY_TEST_CLUSTER"], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_killed_test_run_its_postgres_is_stopped_and_its_folder_gone() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_dies.py").write_text(_RUN)
        (Path(folder) / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
        environment = {name: value for name, value in os.environ.items() if name != "ASSAY_TEST_CLUSTER"}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:xdist", "-p", "no:cacheprovider", folder],
            env=environment | {"PYTHONPATH": str(ROOT)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == -signal.SIGKILL, done.stdout
    cluster = Path(done.stdout.partition("FOLDER ")[2].split()[0])
    until = time.monotonic() + 120
    while cluster.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not cluster.exists()
    assert not EmbeddedPostgres(Home(root=cluster)).is_alive()
