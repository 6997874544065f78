"""How long one comparison takes, beside a scratch floor (rapidfuzz and scipy, a score only) in the same run.

The whole ladder but the judge, with full rows and the vectors of the local model cached; the big list takes vectors
drawn from a hash of the text, since embedding its texts would take longer than all the rest.

`python -m benchmarks.speed` prints the least CPU time of each, their ratio, and what the ratio may be; it ends with
one summary line and exits 1 where a ratio or an absolute limit is missed. CPU time is the one to trust on a shared
machine, the ratio the one to trust on another machine.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.peer_probes import module
from resources.embeddings import Embeddings, LocalEmbeddings
from scoring.records import Json, Known, Open, Reading, Scorecard, ScoringConfig, Vector
from scoring.scorecard import score
from scoring.strictness import LOCAL_MODEL, cutoffs_of
from scoring.task import prepare

LIMITS = {"flat30": (0.5, 12.0), "list15": (2.0, 6.0), "list200": (50.0, 6.0), "nested": (100.0, 1.0)}
"""Milliseconds and ratio to the floor that one comparison may take."""
BIG_SECONDS, BIG_GIBIBYTES, SCALARS_SECONDS = 5.0, 1.0, 10.0


def comparison(
    schema: Json, reference: Json, candidate: Json, embeddings: Embeddings | None = None
) -> Callable[[], Scorecard]:
    """One comparison with full rows of a prepared scenario whose texts are embedded already."""
    config = ScoringConfig()
    if embeddings is not None:
        config = ScoringConfig(embedding_model=LOCAL_MODEL, cutoffs=cutoffs_of(embedding_model=LOCAL_MODEL))
    task = prepare(schema=schema, reference=reference, config=config)
    reading, known = Reading(value=candidate), Known()
    while isinstance(found := score(task, reading, known), Open):
        assert embeddings is not None
        known = Known(vectors={**known.vectors, **embeddings.vectors(found.texts)})

    def run() -> Scorecard:
        card = score(task, reading, known)
        assert isinstance(card, Scorecard)
        return card

    return run


class HashedVectors:
    """A stand-in for an embedding model: unrelated unit vectors, the same for the same text."""

    name = LOCAL_MODEL

    def vectors(self, texts: Sequence[str], on_progress: object = None) -> dict[str, Vector]:
        del on_progress
        return {text: self._vector(text) for text in texts}

    def _vector(self, text: str) -> Vector:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        numbers = np.random.default_rng(seed).standard_normal(384)
        return (numbers / np.linalg.norm(numbers)).astype(np.float32)


def least_milliseconds(runs: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The least CPU time of each run, taken in turns so that noise meets all alike."""
    least = [float("inf")] * len(runs)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for at, run in enumerate(runs):
            begun = time.process_time()
            run()
            least[at] = min(least[at], (time.process_time() - begun) * 1e3)
    return least


def compare_with_floor(seconds: float) -> list[str]:
    """Prints a line a shape; the names of the limits that were missed."""
    missed = []
    data, peers, embeddings = module("data"), module("peers"), LocalEmbeddings()
    for name, (limit, most) in LIMITS.items():
        schema, reference, candidate = data.CASES[name]()
        floor = peers.PEERS["floor_rapidfuzz_lsa"](schema)
        ours, theirs = least_milliseconds(
            [comparison(schema, reference, candidate, embeddings), lambda f=floor, r=reference, c=candidate: f(r, c)],
            seconds,
        )
        ratio = ours / theirs
        print(
            f"{name:<8} {ours:8.3f} ms (limit {limit:g})  floor {theirs:8.3f} ms  ratio {ratio:5.2f} (limit {most:g})"
        )
        missed += [f"{name} ratio"] if ratio > most else []
        missed += [f"{name} time"] if ours > limit else []
    return missed


def compare_big() -> list[str]:
    """The big lists, once each: 2,000 objects of 6 texts, and 10,000 texts."""
    data = module("data")
    schema, reference, candidate = data._list(2000, 100, 50, 19)
    run = comparison(schema, reference, candidate, HashedVectors())
    begun = time.process_time()
    card = run()
    seconds = time.process_time() - begun
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = card.lists[0]
    print(f"2,000 x 6 {seconds:.2f} s, peak {gibibytes:.2f} GiB; {len(found.missed)} missed, {len(found.extra)} extra")
    scalars = seconds_for_scalars()
    print(f"10,000 scalars {scalars:.2f} s")
    checks = {
        "2,000 x 6 time": seconds > BIG_SECONDS,
        "2,000 x 6 memory": gibibytes > BIG_GIBIBYTES,
        "10,000 scalars": scalars > SCALARS_SECONDS,
    }
    return [name for name, is_missed in checks.items() if is_missed]


def seconds_for_scalars() -> float:
    """10,000 texts against as many, a third of them different."""
    chance = random.Random(5)
    texts: list[Json] = [f"item {chance.randrange(10**9)}" for _ in range(10_000)]
    other: list[Json] = [text if chance.random() < 2 / 3 else f"thing {chance.randrange(10**9)}" for text in texts]
    chance.shuffle(other)
    schema: Json = {"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "string"}}}}
    run = comparison(schema, {"ids": texts}, {"ids": other})
    begun = time.process_time()
    run()
    return time.process_time() - begun


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="measuring time a shape")
    arguments = parser.parse_args()
    missed = compare_with_floor(arguments.seconds) + compare_big()
    print("speed: " + ("missed " + ", ".join(missed) if missed else "all limits held"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
