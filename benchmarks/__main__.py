"""Runs every benchmark in a process of its own: `python -m benchmarks`. Its last line sums up; 1 where one failed.

A benchmark is a module of this package with a `main`; its own last line says its figures.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The benchmarks, by name."""
    modules = (path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
    return sorted(path.stem for path in modules if '__name__ == "__main__"' in path.read_text(encoding="utf-8"))


def main() -> int:
    """The count of benchmarks that failed, at most 1."""
    failed = []
    for name in names():
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=FOLDER.parent, check=False).returncode:
            failed.append(name)
    verdict = f"missed a limit: {', '.join(failed)}" if failed else "all limits hold"
    print(f"bench: {len(names())} benchmarks, {verdict}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
