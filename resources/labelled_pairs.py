"""Labelled pairs: texts of which people said whether they are the same, as files hold them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from resources.sources import json_value, read_text
from scoring.calibration import LabelledPair
from scoring.errors import InputError
from scoring.records import Json
from scoring.text import normal_form

MAX_PAIRS_BYTES = 64_000_000
LABELS: dict[str, bool] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
REMEDY = "Give each pair as reference, candidate and same (true or false), with context where the field has one"


def read_labelled_pairs(path: Path) -> tuple[LabelledPair, ...]:
    """The pairs of a CSV file with a header, or of a JSON Lines file. Raises InputError that names the line."""
    text = read_text(path, str(path), max_bytes=MAX_PAIRS_BYTES)
    rows = _csv_rows(text) if path.suffix.lower() == ".csv" else _json_rows(text, str(path))
    pairs = tuple(_pair(row, f"{path}, line {line}") for line, row in rows)
    if not pairs:
        raise InputError("the file holds no pairs", where=str(path), remedy=REMEDY)
    return pairs


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Json]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    for row in reader:
        yield reader.line_num, {name: value for name, value in row.items() if isinstance(name, str)}


def _json_rows(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Json]]]:
    for line, written in enumerate(text.splitlines(), 1):
        if written.strip():
            row = json_value(written, f"{name}, line {line}")
            yield line, row if isinstance(row, dict) else {}


def _pair(row: Mapping[str, Json], where: str) -> LabelledPair:
    texts = {name: row.get(name) for name in ("reference", "candidate")}
    label = LABELS.get(str(row.get("same")).strip().lower())
    missing = [name for name, text in texts.items() if not isinstance(text, str) or not text.strip()]
    if label is None:
        missing.append("same")
    if missing:
        raise InputError(f"{missing[0]} is {row.get(missing[0])!r}", where=where, remedy=REMEDY)
    return LabelledPair(
        reference=normal_form(str(texts["reference"])),
        candidate=normal_form(str(texts["candidate"])),
        is_same=bool(label),
        context=normal_form(str(row.get("context") or "")),
    )
