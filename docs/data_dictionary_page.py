"""Writes docs/data-dictionary.md from the contract of the views and the catalogue of columns: run me.

    python docs/data_dictionary_page.py

What a column means stands once, in resources/columns.py, which also comments the database and the Parquet files.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "data-dictionary.md"
VIEWS = (
    ("Where models stand", ("leaderboard", "model_scores")),
    ("What is behind a score", ("run_scores", "field_scores", "list_scores", "findings")),
    ("What no longer holds", ("stale_scores",)),
    ("The reference", ("reference_versions", "reference_edits", "reference_rejections")),
    ("The judge", ("scoring_records", "judge_calls")),
    ("Dimensions, and what is recorded", ("scenarios", "models", "rounds", "runs", "lake_files")),
)
HEAD = """\
# Data dictionary

For whoever builds on the data: every view of schema `bi` with its grain and key, and every dataset of the lake. The
same words are comments on the views and columns in Postgres, and metadata of the fields in Parquet. This page is made
by `python docs/data_dictionary_page.py`. How to connect, what to ask and how views change stands in [BI](bi.md).

Everywhere: `<thing>_id` names a thing, `is_` and `has_` begin a boolean, `_at` ends a time in UTC, `_usd`, `_seconds`,
`_bytes`, `_tokens` and `_weight` name the unit, `_json` is JSON in ASCII, scores are 0..100 and shares 0..1.
"""
LAKE = """\
## The lake

Parquet below the lake's root, a folder a dataset, hive-partitioned by `scenario` (a file-safe form of the id; the id
itself is a column). A file counts only where `bi.lake_files` has it.
"""


def page() -> str:
    """The text of docs/data-dictionary.md."""
    from resources.bi_contract import agreed
    from resources.lake_tables import DATASETS

    contract = agreed()
    listed = {f"bi.{view}" for _, views in VIEWS for view in views}
    if listed != set(contract):
        raise SystemExit(f"the page and the contract differ in {sorted(listed ^ set(contract))}")
    parts = [HEAD]
    for title, views in VIEWS:
        parts.append(f"## {title}\n")
        parts += [_view(f"bi.{view}", contract[f"bi.{view}"]) for view in views]
    parts.append(LAKE)
    parts += [_dataset(name, DATASETS[name]) for name in sorted(DATASETS)]
    return "\n".join(parts)


def _view(view: str, one: dict) -> str:
    from resources.columns import meaning_of

    rows = [(name, kind, meaning_of(name, view)) for name, kind in one["columns"].items()]
    return f"### {view}\n\n{_grain(one)}\n\n{_table(rows)}"


def _grain(one: dict) -> str:
    words = one["grain"].removeprefix("Grain: ").rpartition(" Key: ")[0]
    return f"{words[0].upper()}{words[1:]} Key: {', '.join(f'`{name}`' for name in one['key'])}."


def _dataset(name: str, schema: object) -> str:
    rows = [(field.name, str(field.type), field.metadata[b"comment"].decode()) for field in schema]
    return f"### {name}\n\n{_table(rows)}"


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| column | type | means |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {kind} | {meaning.replace('|', chr(92) + '|')} |" for name, kind, meaning in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PAGE.write_text(page(), encoding="utf-8")
