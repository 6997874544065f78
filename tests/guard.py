"""Ends what a killed test run left running: `python -m tests.guard FOLDER`, started by tests/conftest.py.

The folder's Postgres is stopped and the folder removed when the input closes before the word `done`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from pipelines.children import watch_over


def clean_up(folder: Path) -> None:
    """No server runs below the folder, and the folder is gone."""
    if (folder / "postgres" / "data").exists():
        from resources.home import Home
        from resources.postgres import EmbeddedPostgres

        EmbeddedPostgres(Home(root=folder), is_durable=False).stop()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    watch_over(lambda: clean_up(Path(sys.argv[1])))
