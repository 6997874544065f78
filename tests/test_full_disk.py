"""A full disk under the lake or under Postgres: told in words, nothing half there, all completes once there is room.

Needs a small disk of its own: a tmpfs in a mount namespace, for root and, where the kernel lets users have namespaces,
for everybody else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-current-user", "--keep-caps"]


def is_possible() -> bool:
    """Whether a disk can be mounted here where nobody else sees it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*NAMESPACE, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            return False


@pytest.mark.parametrize("kind", ["lake", "postgres"])
def test_a_full_disk_is_told_and_all_completes_once_there_is_room(kind: str) -> None:
    if not is_possible():
        pytest.skip("NOT TESTED: a full disk. No tmpfs can be mounted in a namespace here; run this as root")
    with tempfile.TemporaryDirectory(prefix="assay-full-") as folder:
        Path(folder).chmod(0o711)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        done = subprocess.run(
            [*NAMESPACE, sys.executable, "-m", "tests.full_disk", kind, folder],
            env=environment | {"PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
