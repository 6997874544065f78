"""Long lists and gold that breaks its own schema: all 46 recorded outputs of six papers, scored by the core.

`python -m benchmarks.extractbench` prints, for each paper, the time of one comparison and the mean quality, and at the
end the whole time and the peak memory. Vectors come from the local model and are cached between outputs.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from statistics import fmean

from resources.embeddings import CachedEmbeddings, LocalEmbeddings, MemoryStore
from scoring.reading import read_output
from scoring.records import Known, Open, Origin, Scorecard, ScoringConfig
from scoring.scorecard import score
from scoring.strictness import LOCAL_MODEL, cutoffs_of
from scoring.task import Task, prepare

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "extractbench_academic"


def scorecard(task: Task, text: str, embeddings: CachedEmbeddings) -> tuple[Scorecard, float]:
    """The whole scorecard of one output, and the seconds it took without those of the embedding model."""
    reading = read_output(text)
    spent, known = 0.0, Known()
    while True:
        begun = time.perf_counter()
        result = score(task, reading, known)
        spent += time.perf_counter() - begun
        if isinstance(result, Scorecard):
            return result, spent
        assert isinstance(result, Open)
        known = Known(vectors={**known.vectors, **embeddings.vectors(list(result.texts))})


def main() -> int:
    """Prints the figures; fails only where an output cannot be scored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=DATA)
    data = parser.parse_args().data
    if not data.is_dir():
        print("extractbench: no data beside the repository, nothing measured")
        return 0
    schema = json.loads(next((data / "schema").glob("*.json")).read_text(encoding="utf-8"))
    cutoffs = cutoffs_of(
        embedding_model=LOCAL_MODEL, strictness="normal", threshold=None, undecided_from=None, origin=Origin.DEFAULT
    )
    config = ScoringConfig(embedding_model=LOCAL_MODEL, cutoffs=cutoffs)
    embeddings = CachedEmbeddings(LocalEmbeddings(), MemoryStore())
    begun, count, slowest = time.perf_counter(), 0, 0.0
    for gold in sorted((data / "reference").glob("*.json")):
        task = prepare(schema=schema, reference=json.loads(gold.read_text(encoding="utf-8")), config=config)
        outputs = sorted((data / "outputs").glob(f"*/{gold.name}"))
        cards = [scorecard(task, path.read_text(encoding="utf-8"), embeddings) for path in outputs]
        count, slowest = count + len(cards), max(slowest, *(seconds for _, seconds in cards))
        rows = fmean(len(card.fields) for card, _ in cards)
        quality = fmean(card.scores.quality for card, _ in cards)
        print(f"  {gold.stem:<42} outputs {len(cards)}  rows {rows:6.0f}  mean quality {quality:5.1f}")
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = time.perf_counter() - begun
    print(f"extractbench: {count} outputs in {seconds:.1f} s, slowest {slowest:.2f} s, peak {gibibytes:.2f} GiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
