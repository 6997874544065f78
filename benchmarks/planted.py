"""Planted lists: are dropped and invented items counted exactly?

`python -m benchmarks.planted` makes 1,000 lists as the peers' `data.py` does (items dropped, items invented, 15% of the
texts edited, all shuffled), scores them and ends with one summary line; exits 1 below 99%.
"""

from __future__ import annotations

import argparse
import random
import sys

from benchmarks.peer_probes import module
from scoring.records import Known, Reading, Scorecard, ScoringConfig
from scoring.scorecard import score
from scoring.task import prepare

LEAST_SHARE = 0.99


def is_exact(seed: int) -> bool:
    """Whether the list of this seed is counted exactly."""
    chance = random.Random(seed)
    count = chance.randint(4, 40)
    dropped, invented = chance.randint(0, count // 4), chance.randint(0, count // 4)
    schema, reference, candidate = module("data")._list(count, dropped, invented, seed * 7 + 1)
    task = prepare(schema=schema, reference=reference, config=ScoringConfig())
    card = score(task, Reading(value=candidate), Known())
    assert isinstance(card, Scorecard)
    return (len(card.lists[0].missed), len(card.lists[0].extra)) == (dropped, invented)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=int, default=1000, help="how many lists")
    count = parser.parse_args().lists
    exact = sum(is_exact(seed) for seed in range(count))
    print(f"planted: {exact} of {count} lists counted exactly (at least {LEAST_SHARE:.0%} wanted)")
    return 0 if exact >= LEAST_SHARE * count else 1


if __name__ == "__main__":
    sys.exit(main())
