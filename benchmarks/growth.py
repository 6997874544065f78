"""How time and memory grow with the length of a list (100 to 3,000 items) and with the depth of a schema (2 to 50).

`python -m benchmarks.growth` scores each shape at growing sizes and prints the CPU time of
one comparison with full rows, the peak of its own allocations, and the exponent that a straight line through the
logarithms of size and time has: 1 is linear, 2 quadratic. Mostly equal lists pair by hash, so they must grow nearly
linearly; objects without any equal item are a whole assignment, quadratic or worse, and so are texts without any equal
one once an embedding model compares each with each (vectors drawn from a hash, known beforehand). The other shapes are
scored without an embedding model. Exits 1 where a limit is missed.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.speed import HashedVectors, comparison
from scoring.records import Json, Scorecard

SIZES = (100, 300, 1000, 3000)
DEPTHS = (2, 5, 10, 20, 35, 50)
SECONDS, MOST_ROUNDS = 3.0, 20
MEBIBYTE = 2**20
FIELDS = ("name", "role", "city", "company", "street", "note")
SYLLABLES = ("ba", "co", "du", "fe", "gi", "la", "mo", "nu", "pe", "ri", "sa", "to", "vu", "wa", "xe", "zi")

Documents = tuple[Json, Json, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A kind of document that grows, and what it may cost: exponent, and seconds and MiB at its largest size."""

    name: str
    made: Callable[[int], Documents]
    sizes: Sequence[int]
    most_exponent: float
    most_seconds: float
    most_mebibytes: float
    has_vectors: bool = False


def phrase(chance: random.Random, count: int) -> str:
    """A few made-up words, with a number that makes equals unlikely."""
    words = ("".join(chance.choice(SYLLABLES) for _ in range(3)) for _ in range(count))
    return " ".join((*words, str(chance.randrange(10**6))))


def an_object(chance: random.Random) -> dict[str, Json]:
    """An item of six texts."""
    return {name: phrase(chance, 3) for name in FIELDS}


def a_list(items: Json, reference: list[Json], candidate: list[Json]) -> Documents:
    """A schema of one list, and the two documents; the candidate's list is shuffled."""
    random.Random(3).shuffle(candidate)
    schema: Json = {"type": "object", "properties": {"items": {"type": "array", "items": items}}}
    return schema, {"items": reference}, {"items": candidate}


OBJECT: Json = {"type": "object", "properties": {name: {"type": "string"} for name in FIELDS}}
TEXT: Json = {"type": "string"}


def objects(count: int, equal_share: float) -> Documents:
    """Objects of six texts. An unequal item has two of its texts changed, so that it still belongs to its partner."""
    chance = random.Random(count)
    reference = [an_object(chance) for _ in range(count)]
    changed = [item if chance.random() < equal_share else {**item, **_news(chance)} for item in reference]
    return a_list(OBJECT, list(reference), list(changed))


def _news(chance: random.Random) -> dict[str, Json]:
    return {name: phrase(chance, 3) for name in chance.sample(FIELDS, 2)}


def texts(count: int, equal_share: float) -> Documents:
    """Plain texts; an unequal one is another text."""
    chance = random.Random(count)
    reference: list[Json] = [phrase(chance, 3) for _ in range(count)]
    changed: list[Json] = [text if chance.random() < equal_share else phrase(chance, 3) for text in reference]
    return a_list(TEXT, reference, changed)


def nested(depth: int) -> Documents:
    """Objects in objects, each with three texts of which the candidate has one wrong."""
    chance = random.Random(depth)
    schema: Json = {"type": "object", "properties": {"end": TEXT}}
    reference: dict[str, Json] = {"end": phrase(chance, 2)}
    candidate: dict[str, Json] = dict(reference)
    for _ in range(depth - 1):
        own: dict[str, Json] = {name: phrase(chance, 2) for name in ("name", "role", "city")}
        schema = {"type": "object", "properties": {"name": TEXT, "role": TEXT, "city": TEXT, "below": schema}}
        reference = {**own, "below": reference}
        candidate = {**own, "city": phrase(chance, 2), "below": candidate}
    return schema, reference, candidate


SHAPES = (
    Shape(
        name="objects x 6, 95% equal",
        made=lambda count: objects(count, 0.95),
        sizes=SIZES,
        most_exponent=1.3,
        most_seconds=1.0,
        most_mebibytes=100,
    ),
    Shape(
        name="texts, 95% equal",
        made=lambda count: texts(count, 0.95),
        sizes=SIZES,
        most_exponent=1.3,
        most_seconds=1.0,
        most_mebibytes=100,
    ),
    Shape(
        name="objects x 6, none equal",
        made=lambda count: objects(count, 0.0),
        sizes=SIZES,
        most_exponent=2.3,
        most_seconds=12.0,
        most_mebibytes=1024,
    ),
    Shape(
        name="texts, none equal",
        made=lambda count: texts(count, 0.0),
        sizes=SIZES,
        most_exponent=1.3,
        most_seconds=1.0,
        most_mebibytes=100,
    ),
    Shape(
        name="texts, none equal, vectors",
        made=lambda count: texts(count, 0.0),
        sizes=SIZES,
        most_exponent=2.3,
        most_seconds=12.0,
        most_mebibytes=1024,
        has_vectors=True,
    ),
    Shape(
        name="objects in objects",
        made=nested,
        sizes=DEPTHS,
        most_exponent=1.3,
        most_seconds=0.1,
        most_mebibytes=10,
    ),
)


def least_seconds(runs: Sequence[Callable[[], Scorecard]]) -> list[float]:
    """The least CPU time of each comparison, taken in turns so that noise meets all sizes alike."""
    least = [float("inf")] * len(runs)
    begun, rounds = time.process_time(), 0
    while rounds == 0 or (rounds < MOST_ROUNDS and time.process_time() - begun < SECONDS):
        rounds += 1
        for at, run in enumerate(runs):
            started = time.process_time()
            run()
            least[at] = min(least[at], time.process_time() - started)
    return least


def peak_mebibytes(run: Callable[[], Scorecard]) -> float:
    """The most memory that one comparison holds at once, beyond what was held before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1] / MEBIBYTE
    finally:
        tracemalloc.stop()


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of log time over log size by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure(shape: Shape) -> list[str]:
    """Prints a line a size and the exponent; the limits that were missed."""
    embeddings = HashedVectors() if shape.has_vectors else None
    runs = [comparison(*shape.made(size), embeddings) for size in shape.sizes]
    seconds, mebibytes = least_seconds(runs), [peak_mebibytes(run) for run in runs]
    for size, spent, held in zip(shape.sizes, seconds, mebibytes, strict=True):
        print(f"{shape.name:<28} {size:>5}  {spent * 1e3:10.2f} ms  {held:8.1f} MiB", flush=True)
    found = exponent(shape.sizes, seconds)
    print(f"{shape.name:<28} exponent {found:.2f} (limit {shape.most_exponent:g})", flush=True)
    checks = {
        f"exponent {found:.2f}": found > shape.most_exponent,
        f"{seconds[-1]:.2f} s": seconds[-1] > shape.most_seconds,
        f"{mebibytes[-1]:.0f} MiB": mebibytes[-1] > shape.most_mebibytes,
    }
    return [f"{shape.name} {what}" for what, is_missed in checks.items() if is_missed]


def main() -> int:
    """Prints the figures; 0 where all limits hold."""
    missed = [fault for shape in SHAPES for fault in measure(shape)]
    print("growth: " + (f"missed {'; '.join(missed)}" if missed else "all limits held"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
