"""Recorded runs: stored for good, outputs byte for byte."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow.compute as pc
from sqlalchemy import Connection, Engine, Row, delete, select, tuple_

from resources.bulk import copy_rows
from resources.lake import Lake
from resources.lake_tables import lake_table
from resources.locks import lock
from resources.stored_text import storable
from resources.tables import models, run_claims, runs, scenarios
from scoring.errors import InputError
from scoring.records import Run, RunStatus

Identity = tuple[str, str, int]

_COLUMNS = (
    "scenario_id",
    "model_id",
    "repetition",
    "status",
    "output_sha256",
    "output_bytes",
    "lake_file",
    "duration_seconds",
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "error",
    "content_hash",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """A run with its identity in the warehouse."""

    run_id: int
    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """How many runs an import added, and how many were there already with the same content."""

    added: int
    unchanged: int


def import_runs(engine: Engine, lake: Lake, imported: Sequence[Run]) -> ImportReport:
    """All of `imported` is recorded, or nothing is and InputError says why."""
    given = _distinct(imported)
    with engine.begin() as connection:
        lock(connection, "import_runs")
        _require_known(connection, given.values())
        recorded = _recorded_hashes(connection, list(given))
        hashes = {identity: _content_hash(run) for identity, run in given.items()}
        for identity in recorded:
            if recorded[identity] != hashes[identity]:
                raise _conflict(identity)
        added = [given[identity] for identity in sorted(given) if identity not in recorded]
        files = _write(lake, added)
        copy_rows(
            connection, runs, _COLUMNS, [_row(run, files[run.scenario_id], hashes[_identity(run)]) for run in added]
        )
    return ImportReport(added=len(added), unchanged=len(imported) - len(added))


def record_run(engine: Engine, lake: Lake, run: Run) -> bool:
    """The run is recorded, and nobody claims it any more. False where another one has its repetition, which stays.

    May be done twice: the second time finds the run recorded.
    """
    _require_sound(run)
    identity, content_hash = _identity(run), _content_hash(run)
    file = _write(lake, [run])[run.scenario_id]
    with engine.begin() as connection:
        lock(connection, "import_runs")
        connection.execute(delete(run_claims).where(tuple_(*run_claims.primary_key.columns) == tuple_(*identity)))
        found = _recorded_hashes(connection, [identity]).get(identity)
        if found is None:
            copy_rows(connection, runs, _COLUMNS, [_row(run, file, content_hash)])
    return found in (None, content_hash)


def repetitions_of(engine: Engine, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], set[int]]:
    """The recorded repetitions of each (scenario id, model id); a key without runs has an empty set."""
    found: dict[tuple[str, str], set[int]] = {key: set() for key in keys}
    if found:
        query = select(runs.c.scenario_id, runs.c.model_id, runs.c.repetition)
        wanted = tuple_(runs.c.scenario_id, runs.c.model_id).in_(list(found))
        with engine.connect() as connection:
            for scenario_id, model_id, repetition in connection.execute(query.where(wanted)):
                found[(scenario_id, model_id)].add(repetition)
    return found


def runs_of_many(
    engine: Engine, lake: Lake, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], list[RecordedRun]]:
    """The recorded runs of many (scenario id, model id) by repetition; a key without runs has an empty list."""
    found: dict[tuple[str, str], list[RecordedRun]] = {key: [] for key in keys}
    if not found:
        return found
    query = (
        select(runs)
        .where(tuple_(runs.c.scenario_id, runs.c.model_id).in_(list(found)))
        .order_by(runs.c.lake_file, runs.c.scenario_id, runs.c.model_id, runs.c.repetition)
    )
    with engine.connect() as connection:
        rows = connection.execute(query).all()
    for file, named in groupby(rows, key=lambda row: row.lake_file):
        for row, run in _read(lake, file, list(named)):
            found[(run.scenario_id, run.model_id)].append(RecordedRun(run_id=row.run_id, run=run))
    for recorded in found.values():
        recorded.sort(key=lambda one: one.run.repetition)
    return found


def _identity(run: Run) -> Identity:
    return run.scenario_id, run.model_id, run.repetition


def _distinct(imported: Sequence[Run]) -> dict[Identity, Run]:
    distinct: dict[Identity, Run] = {}
    for run in imported:
        _require_sound(run)
        if distinct.setdefault(_identity(run), run) != run:
            raise _conflict(_identity(run))
    return distinct


def _require_sound(run: Run) -> None:
    where = _place(_identity(run))
    if run.repetition < 1:
        raise InputError(f"repetition is {run.repetition}", where=where, remedy="Repetitions count from 1")
    if (run.status is RunStatus.OK) != (run.output is not None):
        raise InputError(
            f"status is {run.status} but the output is {'missing' if run.output is None else 'there'}", where=where
        )
    for name in ("duration_seconds", "cost_usd", "input_tokens", "output_tokens"):
        value = getattr(run, name)
        if value is not None and not (math.isfinite(value) and 0 <= value < 2**63):
            raise InputError(f"{name} is {value}", where=where, remedy="Leave it out where it is unknown")


def _require_known(connection: Connection, imported: Iterable[Run]) -> None:
    known_scenarios = set(connection.execute(select(scenarios.c.scenario_id)).scalars())
    known_models = set(connection.execute(select(models.c.model_id)).scalars())
    for run in imported:
        for kind, name, known, remedy in (
            ("scenario", run.scenario_id, known_scenarios, "Add its folder below scenarios/ or correct the id"),
            ("model", run.model_id, known_models, "Add it to models.yaml or correct the id"),
        ):
            if name not in known:
                raise InputError(f"unknown {kind} '{storable(name)}'{_nearest(name, known)}", remedy=remedy)


def _nearest(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f", nearest is '{close[0]}'" if close else ""


def _place(identity: Identity) -> str:
    scenario_id, model_id, repetition = identity
    return storable(f"{scenario_id} / {model_id} / repetition {repetition}")


def _conflict(identity: Identity) -> InputError:
    return InputError(
        "this repetition is recorded with other content",
        where=_place(identity),
        remedy="Recorded runs stay as they are: give a new run a repetition number of its own",
    )


def _recorded_hashes(connection: Connection, identities: Sequence[Identity]) -> dict[Identity, str]:
    wanted = set(identities)
    found = {identity[0] for identity in identities}
    query = select(runs.c.scenario_id, runs.c.model_id, runs.c.repetition, runs.c.content_hash)
    rows = connection.execute(query.where(runs.c.scenario_id.in_(found)))
    return {(row[0], row[1], row[2]): row[3] for row in rows if (row[0], row[1], row[2]) in wanted}


def _content_hash(run: Run) -> str:
    facts = [run.duration_seconds, run.cost_usd, run.input_tokens, run.output_tokens, run.error]
    content = [*_identity(run), run.status.value, _sha256(run.output), *facts]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _sha256(output: str | None) -> str | None:
    return None if output is None else hashlib.sha256(_bytes(output)).hexdigest()


def _bytes(output: str) -> bytes:
    return output.encode("utf-8", "surrogatepass")


def _write(lake: Lake, added: Sequence[Run]) -> dict[str, str]:
    """The lake file of each scenario's added runs; `added` is sorted by scenario and model."""
    files = {}
    for scenario_id, group in groupby(added, key=lambda run: run.scenario_id):
        rows = [_lake_row(run) for run in group]
        files[scenario_id] = lake.write("runs", {"scenario": scenario_id}, lake_table("runs", rows))
    return files


def _lake_row(run: Run) -> tuple[Any, ...]:
    output = None if run.output is None else _bytes(run.output)
    measured = (run.duration_seconds, run.cost_usd, run.input_tokens, run.output_tokens, _error(run))
    return (*_identity(run), run.status.value, output, _sha256(run.output), *measured)


def _error(run: Run) -> str | None:
    return None if run.error is None else storable(run.error)


def _row(run: Run, file: str, content_hash: str) -> tuple[Any, ...]:
    size = None if run.output is None else len(_bytes(run.output))
    measured = (run.duration_seconds, run.cost_usd, run.input_tokens, run.output_tokens, _error(run))
    return (*_identity(run), run.status.value, _sha256(run.output), size, file, *measured, content_hash)


def _read(lake: Lake, file: str, rows: Sequence[Row[Any]]) -> Iterable[tuple[Row[Any], Run]]:
    wanted = pc.field("model_id").isin(sorted({row.model_id for row in rows}))
    table = lake.read(file, columns=["model_id", "repetition", "output"], where=wanted)
    keys = zip(table.column("model_id").to_pylist(), table.column("repetition").to_pylist(), strict=True)
    at = {key: index for index, key in enumerate(keys)}
    outputs = table.column("output")
    for row in rows:
        output = outputs[at[(row.model_id, row.repetition)]].as_py()
        yield row, _run(row, None if output is None else output.decode("utf-8", "surrogatepass"))


def _run(row: Row[Any], output: str | None) -> Run:
    return Run(
        scenario_id=row.scenario_id,
        model_id=row.model_id,
        repetition=row.repetition,
        status=RunStatus(row.status),
        output=output,
        duration_seconds=row.duration_seconds,
        cost_usd=row.cost_usd,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        error=row.error,
    )
