"""Ends what a killed `assay up` left running: `python -m pipelines.guard HOME`, started by `assay up` itself."""

from __future__ import annotations

import sys
from pathlib import Path

from pipelines.children import watch_over


def _stop_postgres() -> None:
    from resources.home import Home
    from resources.lease import stop_unused_postgres

    stop_unused_postgres(Home(root=Path(sys.argv[1])))


if __name__ == "__main__":
    watch_over(_stop_postgres)
