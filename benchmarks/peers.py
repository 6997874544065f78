"""Assay beside the libraries that do the deterministic part of its job today: how long each takes, and who is right.

`python -m benchmarks.peers` runs the peers of `../shared/peers` in an environment of their own, then Assay in this
process on the same four cases, and prints one table of the median CPU time of one comparison with its ratio to Assay's
(above 1: Assay is quicker), and how many of the probes whose answer is no matter of policy each gets right. Assay
climbs the whole ladder but the judge and leaves full rows; the vectors of the local model are cached.

The environment is `.peers` beside this repository's own (made when it is missing), or that of the interpreter which
`ASSAY_PEERS_PYTHON` names. Exits 1 where a peer that does the like (it pairs list items whatever their order) is
quicker than Assay, or Assay gets a probe wrong.
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
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.peer_probes import PEERS, module, quality, wanted
from benchmarks.speed import comparison
from resources.embeddings import LocalEmbeddings
from scoring.records import Json

ROOT = Path(__file__).parents[1]
PYTHON = "ASSAY_PEERS_PYTHON"
LIKE_FOR_LIKE = ("stickler_schema", "stickler_full", "anls_star")
"""Peers that pair the items of lists by content; the others pair by position, or give no pairs at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The CPU milliseconds of one peer for one case; None where it ran into the cap or cannot do the case."""

    milliseconds: float | None = None
    is_capped: bool = False

    def beside(self, ours: float) -> str:
        """Time and ratio to ours."""
        if self.milliseconds is None:
            return "over the cap" if self.is_capped else "-"
        return f"{self.milliseconds:,.2f} ({self.milliseconds / ours:,.1f})"


Table = Mapping[str, Mapping[str, Cell]]


def peers_python() -> Path:
    """The interpreter that has the peers installed; makes `.peers` where there is none."""
    if named := os.environ.get(PYTHON):
        return Path(named)
    python = ROOT / ".peers" / "bin" / "python"
    if not python.exists():
        print("installing the peers into .peers", flush=True)
        uv = str(Path(sys.executable).with_name("uv"))
        _run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(ROOT / ".peers"))
        wants = str((PEERS / "requirements.txt").resolve())
        _run(uv, "pip", "install", "--quiet", "--system-certs", "--python", str(python), "-r", wants)
    return python


def _run(*command: str) -> None:
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(
            f"peers: `{' '.join(command)}` failed. Install {PEERS.name}/requirements.txt by hand "
            f"and name that interpreter in {PYTHON}."
        )


def measure_peers(python: Path, cap: float, budget: float) -> Table:
    """The cells by case and peer, each measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        flags = ("--cap", f"{cap:g}", "--budget", f"{budget:g}", "--out", str(out))
        script = str((PEERS / "bench.py").resolve())
        subprocess.run([python, script, *flags], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        rows = json.loads(out.read_text(encoding="utf-8"))
    table: dict[str, dict[str, Cell]] = {}
    for row in rows:
        table.setdefault(row["case"], {})[row["peer"]] = _cell(row)
    return table


def _cell(row: Mapping[str, object]) -> Cell:
    """A peer that ran into the cap after its first comparison has that one's time."""
    took = row.get("cpu_median_ms", row.get("first_cpu_ms"))
    if isinstance(took, int | float):
        return Cell(milliseconds=float(took))
    return Cell(is_capped="cap" in str(row.get("error", "")))


def measure_assay(seconds: float) -> dict[str, float]:
    """The median CPU milliseconds of one comparison by case."""
    embeddings, found = LocalEmbeddings(), {}
    for name, made in module("data").CASES.items():
        schema, reference, candidate = made()
        run = comparison(schema, reference, candidate, embeddings)
        times: list[float] = []
        until = time.perf_counter() + seconds
        while not times or time.perf_counter() < until:
            begun = time.process_time()
            run()
            times.append((time.process_time() - begun) * 1e3)
        found[name] = median(times)
    return found


def probes_right(python: Path) -> dict[str, int]:
    """How many probes each peer gets right, Assay first."""
    bounds = wanted()
    ours = {
        name: quality(schema, reference, candidate)
        for name, _, schema, reference, candidate in module("probes").PROBES
        if name in bounds
    }
    with tempfile.TemporaryDirectory() as folder:
        script = str((PEERS / "probes.py").resolve())
        subprocess.run([python, script], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        rows = json.loads((Path(folder) / "probes.json").read_text(encoding="utf-8"))
    right = {"assay": sum(bool(bounds[name](value)) for name, value in ours.items())}
    for peer in [name for name in rows[0] if name not in ("probe", "want")]:
        given = {row["probe"]: row[peer] for row in rows}
        right[peer] = sum(_is_right(bounds[name], given[name]) for name in bounds)
    return right


def _is_right(bound: object, value: Json) -> bool:
    is_number = isinstance(value, int | float) and value == value  # NaN is no score
    return is_number and callable(bound) and bool(bound(value))


def print_table(ours: Mapping[str, float], table: Table, right: Mapping[str, int], count: int) -> None:
    """A row a peer: CPU milliseconds and ratio to Assay for each case, and its probes."""
    print(f"median CPU ms of one comparison (ratio to Assay's), and probes right of {count}")
    print(f"{'':<22}" + "".join(f"{case:>26}" for case in ours) + f"{'probes':>8}")
    print(f"{'assay':<22}" + "".join(f"{took:>26,.2f}" for took in ours.values()) + f"{right['assay']:>8}")
    for peer in dict.fromkeys(peer for cells in table.values() for peer in cells):
        cells = "".join(f"{table[case][peer].beside(took):>26}" for case, took in ours.items())
        print(f"{peer:<22}{cells}{right.get(peer, '-'):>8}")


def faults(ours: Mapping[str, float], table: Table, right: Mapping[str, int], count: int) -> Sequence[str]:
    """Where a like-for-like peer was quicker, and probes that Assay gets wrong."""
    slower = [
        f"{peer} quicker on {case}"
        for case, took in ours.items()
        for peer in LIKE_FOR_LIKE
        if (theirs := table[case][peer].milliseconds) is not None and theirs < took
    ]
    return [*slower, *([f"{count - right['assay']} probes wrong"] if right["assay"] < count else [])]


def least_ratio(ours: Mapping[str, float], table: Table) -> float:
    """How many times as long as Assay the quickest like-for-like peer takes in any case that it ends."""
    cells = [(case, table[case][peer].milliseconds) for case in ours for peer in LIKE_FOR_LIKE]
    return min((theirs / ours[case] for case, theirs in cells if theirs is not None), default=float("inf"))


def main() -> int:
    """Prints the table; 0 where no like-for-like peer is quicker and all probes are right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--cap", type=float, default=15.0, help="seconds (wall, with starting) that a peer has for a case"
    )
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of repeating each measurement")
    arguments = parser.parse_args()
    if not PEERS.is_dir():
        print("peers: no peers beside the repository, nothing measured")
        return 0
    python = peers_python()
    table = measure_peers(python, arguments.cap, arguments.budget)
    ours, right, count = measure_assay(arguments.budget), probes_right(python), len(wanted())
    print_table(ours, table, right, count)
    missed = faults(ours, table, right, count)
    print(
        f"peers: the quickest like-for-like peer takes {least_ratio(ours, table):.1f} times as long as Assay, "
        f"{right['assay']} of {count} probes right; missed: {', '.join(missed) or 'none'}"
    )
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
