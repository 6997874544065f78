"""A new workspace: commented files and one small scenario to change into one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from scoring.errors import InputError

ASSAY_YAML = """\
# What holds for the whole workspace. A scenario's own scenario.yaml stands above it.
# Every key may be left out; what is shown is the default.

# Which model says how alike two texts are: `local` (embedded, needs no network and no key), null (only exact,
# normalised and calendar comparison), or a hosted one behind an OpenAI-compatible API:
#   embedding: {base_url: https://host/v1, model: name-of-the-model, api_key_env: PROVIDER_API_KEY}
embedding: local

# How alike texts must be to count as the same: lenient, normal, strict, or a number from 0 to 1.
strictness: normal
# threshold: 0.97        # a cosine, in place of strictness; its meaning depends on the embedding model
# undecided_from: 0.90   # from here up to the threshold similarity cannot decide

# Who settles what similarity cannot: null, or a chat model behind an OpenAI-compatible API.
judge: null

# What quality, speed and cost count in the ranking, per scenario type; each row sums to 100.
# weights:
#   enrichment: {quality: 60, speed: 20, cost: 20}

# Texts that mean "no value", in place of the usual ones (n/a, unknown, -, ...).
# empty_values: [n/a, unknown]

# Upper limits of what one round may spend.
# budgets: {judge_usd: 5, runs_usd: 5}

# When `assay up` begins rounds over what is unscored or stale: nightly, weekly or a cron expression.
# schedule: {rounds: nightly, timezone: Europe/Amsterdam}
"""

MODELS_YAML = """\
# The models under test. The id is what recorded runs name; it may hold any character that model names hold.
# Prices are USD per million tokens. base_url and api_key_env are only needed to call the model from here; keys
# themselves stand in the environment, never in a file.
- id: my-provider/my-model
  provider: my-provider
  name: my-model
  family: my-family
  # base_url: https://host/v1
  # api_key_env: PROVIDER_API_KEY
  # input_usd_per_million: 0.50
  # output_usd_per_million: 1.50
  # at_once: 8               # requests in flight at its server; more keys in docs/running-models.md
  # max_answer_tokens: 4000
"""

SCENARIO_YAML = """\
# One fixed task. The folder's name is the scenario's id, unless `id:` says otherwise.
type: enrichment
title: The Eiffel Tower
entity: Eiffel Tower, Paris
prompt: |
  Describe the Eiffel Tower in Paris as JSON that obeys the schema.
  Leave out what you do not know.
repetitions: 1

# scoring:
#   strictness: strict
#   accepted:                      # other right answers, by JSON Pointer into the reference
#     /height_metres: [324]

# Only a verified reference is scored against: set this to true once a person has checked reference.json.
reference:
  verified: true
"""

SCHEMA_JSON = """\
{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "city": {"type": "string"},
    "opened": {"type": "string", "format": "date", "description": "The day of its inauguration"},
    "height_metres": {"type": "number", "description": "Height to the tip, antennas included"},
    "engineers": {"type": "array", "items": {"type": "string"}, "description": "Who worked out its structure"}
  }
}
"""

REFERENCE_JSON = """\
{
  "name": "Eiffel Tower",
  "city": "Paris",
  "opened": "1889-03-31",
  "height_metres": 330,
  "engineers": ["Maurice Koechlin", "Émile Nouguier"]
}
"""

RUNS_README = """\
Recorded runs go here as .jsonl files, one run a line:

{"scenario": "eiffel-tower", "model": "my-provider/my-model", "repetition": 1, "output": {"name": "Eiffel Tower"},
 "seconds": 2.1, "tokens": {"input": 210, "output": 64}, "cost": 0.0002}

(on one line each). `output` is the JSON value or the text that the model gave; a failed run has `"error"` in its place.
Import them with `assay import runs`.
"""

FILES: Mapping[str, str] = {
    "assay.yaml": ASSAY_YAML,
    "models.yaml": MODELS_YAML,
    "scenarios/eiffel-tower/scenario.yaml": SCENARIO_YAML,
    "scenarios/eiffel-tower/schema.json": SCHEMA_JSON,
    "scenarios/eiffel-tower/reference.json": REFERENCE_JSON,
    "runs/README.md": RUNS_README,
}


def init_workspace(path: Path) -> list[Path]:
    """Write a new workspace into the folder, which is made where it is missing; the files written, in order.

    Raises `InputError` for a folder that is not empty or cannot be written; on a failure nothing stays behind.
    """
    with whole_folder(path) as folder:
        for name, text in FILES.items():
            write_text(folder / name, text)
    return [path / name for name in FILES]


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to write into that takes its place at `path` once all is written, or vanishes.

    Raises `InputError` where `path` is a file or a folder that is not empty, or where the disk refuses.
    """
    check_empty(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", where=str(path)) from error
    try:
        yield folder
        folder.chmod(0o755)
        folder.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", where=str(path)) from error
    finally:
        rmtree(folder, ignore_errors=True)


def write_text(path: Path, text: str) -> None:
    """Write the file in UTF-8, with the folders it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def check_empty(path: Path) -> None:
    """Raise `InputError` unless the path is an empty folder or nothing at all."""
    if path.exists() and not path.is_dir():
        raise InputError("is a file, not a folder", where=str(path), remedy="Name a new folder.")
    if path.is_dir() and any(path.iterdir()):
        raise InputError("the folder is not empty", where=str(path), remedy="Name a new or an empty folder.")
