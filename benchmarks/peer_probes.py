"""Assay on the probes of the peers: `python -m benchmarks.peer_probes` prints one line a probe and a count."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

from scoring.records import Known, Reading, Scorecard, ScoringConfig
from scoring.scorecard import score
from scoring.task import prepare

PEERS = Path(__file__).parents[1] / ".." / "shared" / "peers"


def module(name: str) -> Any:
    """A module of the peers' folder, by path."""
    sys.path.insert(0, str(PEERS))
    try:
        spec = importlib.util.spec_from_file_location(name, PEERS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made
    finally:
        sys.path.remove(str(PEERS))


def wanted() -> dict[str, Any]:
    """The bounds that `count_probes.py` holds the peers to, read without running it."""
    tree = ast.parse((PEERS / "count_probes.py").read_text(encoding="utf-8"))
    table = next(
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "P"
    )
    return dict(eval(compile(ast.Expression(table), "count_probes", "eval")))  # noqa: S307 - lambdas of the peers' own file, read as Python


def quality(schema: Any, reference: Any, candidate: Any) -> float:
    """Assay's quality on 0..1, without an embedding model or a judge."""
    task = prepare(schema=schema, reference=reference, config=ScoringConfig())
    card = score(task, Reading(value=candidate), Known())
    assert isinstance(card, Scorecard)
    return card.scores.quality / 100


def main() -> int:
    bounds = wanted()
    right = 0
    for name, want, schema, reference, candidate in module("probes").PROBES:
        found = quality(schema, reference, candidate)
        holds = bounds[name](found) if name in bounds else None
        right += holds is True
        print(f"{'policy' if holds is None else 'right' if holds else 'WRONG':<7} {found:.3f}  {name}  (wanted {want})")
    print(f"{right} of {len(bounds)} probes right")
    return 0 if right == len(bounds) else 1


if __name__ == "__main__":
    sys.exit(main())
