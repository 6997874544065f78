"""The main job on real input: six systems, 36 tasks, 216 recorded runs, through the commands a person types.

`python -m benchmarks.docubench` makes a workspace from the folders, imports and scores it cold, scores all of it once
more with every vector cached, and prints how long each process took, the ranking by quality beside upstream's own
scores (Kendall's tau over the six systems) and the runs on which the two scorers differ most. Exits 1 where a limit is
missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import kendalltau

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "docubench"
ASSAY = Path(sys.executable).with_name("assay")
KEYS = ("output=data", "seconds=time_sec", "cost=cost", "status=status")
COLD_SECONDS, WARM_SECONDS, LEAST_TAU = 90.0, 15.0, 0.7
SHOWN = 8


def assay(home: Path, *arguments: str) -> tuple[str, float]:
    """What the command printed and how long its process took in seconds."""
    begun = time.perf_counter()
    environment = {**os.environ, "ASSAY_HOME": str(home)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([ASSAY, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"assay {' '.join(arguments)} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout, time.perf_counter() - begun


def upstream_scores(data: Path) -> dict[tuple[str, str], float]:
    """Upstream's score of each run, 0..100, by task and system."""
    rows = map(json.loads, (data / "runs.jsonl").read_text(encoding="utf-8").splitlines())
    return {(row["doc_id"], row["system"]): 100 * row["upstream_score"] for row in rows}


def our_scores(home: Path, workspace: Path) -> dict[tuple[str, str], float]:
    """Our quality of each run, 0..100, by task and system."""
    found = {}
    for folder in sorted((workspace / "scenarios").iterdir()):
        rows = json.loads(assay(home, "results", folder.name, "--json", "--workspace", str(workspace))[0])
        found |= {(folder.name, row["model_id"]): row["quality"] for row in _rows(rows)}
    return found


def _rows(printed: Any) -> Sequence[Mapping[str, Any]]:
    return printed if isinstance(printed, list) else printed["models"]


def mean_by_system(scores: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The mean over tasks of each system."""
    systems = sorted({system for _, system in scores})
    return {name: fmean(value for (_, system), value in scores.items() if system == name) for name in systems}


def measure(folder: Path, data: Path) -> tuple[float, float, float]:
    """Seconds of import and scoring with nothing cached, seconds of scoring all again, Kendall's tau."""
    home, workspace = folder / "home", folder / "workspace"
    flags = [part for key in KEYS for part in ("--key", key)]
    assay(home, "init", str(workspace), "--from", str(data), "--verified", *flags)
    _, imported = assay(home, "import", "--workspace", str(workspace))
    _, cold = assay(home, "score", "--workspace", str(workspace))
    _, warm = assay(home, "score", "--all", "--workspace", str(workspace))
    print(f"import {imported:.1f} s, scoring cold {cold:.1f} s, all again with cached vectors {warm:.1f} s")
    ours, theirs = our_scores(home, workspace), upstream_scores(data)
    return cold, warm, _agreement(ours, theirs)


def _agreement(ours: Mapping[tuple[str, str], float], theirs: Mapping[tuple[str, str], float]) -> float:
    means, upstream = mean_by_system(ours), mean_by_system(theirs)
    for name in sorted(means, key=means.__getitem__, reverse=True):
        print(f"  {name:<20} ours {means[name]:6.2f}   upstream {upstream[name]:6.2f}")
    tau = float(kendalltau([means[name] for name in upstream], list(upstream.values())).statistic)
    print("largest differences (ours - upstream):")
    for run in sorted(ours, key=lambda run: -abs(ours[run] - theirs[run]))[:SHOWN]:
        print(f"  {run[0]} {run[1]:<20} ours {ours[run]:6.1f}   upstream {theirs[run]:6.1f}")
    return tau


def main() -> int:
    """Prints the figures; 0 where all limits hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=DATA)
    data = parser.parse_args().data
    if not data.is_dir():
        print("docubench: no data beside the repository, nothing measured")
        return 0
    with tempfile.TemporaryDirectory(prefix="assay-docubench-") as folder:
        Path(folder).chmod(0o755)
        cold, warm, tau = measure(Path(folder), data.resolve())
    missed = [
        name
        for name, is_missed in (
            (f"cold {cold:.1f} s > {COLD_SECONDS:g}", cold > COLD_SECONDS),
            (f"warm {warm:.1f} s > {WARM_SECONDS:g}", warm > WARM_SECONDS),
            (f"tau {tau:.2f} < {LEAST_TAU}", tau < LEAST_TAU),
        )
        if is_missed
    ]
    print(
        f"docubench: cold {cold:.1f} s, warm {warm:.1f} s, Kendall tau {tau:.3f}; missed: {', '.join(missed) or 'none'}"
    )
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
