"""A made-up workspace of any size: scenarios x models x repetitions, written file by file in bounded memory.

`python -m benchmarks.synthetic FOLDER --scenarios 50 --models 20 --repetitions 3` writes it; `assay import` and
`assay score` read it like any other. The entities are measuring stations on rivers with 80 values each: nested objects,
lists of objects, plain lists, numbers, dates, identifiers and prose. Models differ in skill. What they get wrong is
dropped, replaced or invented; much of what they get right is written differently (dates, thousands, code fences). All
texts come from pools of fixed size, so that a larger workspace needs no more vectors than a small one. An example in
each scenario proves one value of its reference wrong, so that merges have something to do. Without a folder it writes
into a temporary one, and says how long that took and what it held at most.
"""

from __future__ import annotations

import argparse
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scoring.records import Json

SEED = 20
INSTRUMENTS, FLOODS, CARE = 8, 6, 5
BEST, WORST = 0.99, 0.55
FAILED_SHARE, UNREADABLE_SHARE, FENCED_SHARE = 0.01, 0.005, 0.2
DEVIATIONS = (-0.5, -0.12, 0.07, 0.4, 1.5)
"""By what share a wrong number is off."""

KINDS = ("gauge", "weir", "buoy", "probe")
PLACES = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Oak", "Pine", "Rowan", "Willow")
WATERS = ("Brook", "Bridge", "Ford", "Lock", "Mill", "Weir")
COUNTRIES = ("Austria", "Canada", "Chile", "Finland", "France", "Ghana", "India", "Japan", "Kenya", "Norway", "Peru")
DEVICES = ("pressure sensor", "radar level meter", "flow meter", "rain gauge", "turbidity probe", "thermometer")
GRADES = ("Mark I", "Mark II", "Mark III", "Series A", "Series B")
CAUSES = ("snow melt", "a thunderstorm", "three days of rain", "an ice jam", "a broken dam", "a spring tide")
TASKS = ("clean the intake", "calibrate the sensor", "change the battery", "check the datum", "cut the reeds", "grease")
SUBJECTS = ("The station", "The river", "The weir", "The record", "The site")
DOINGS = (
    "measures the flow below the confluence and warns the villages downstream when the water rises",
    "has been watched since the first bridge was built, with a gap of four years",
    "freezes for about ten weeks in most winters, when only the level under the ice is read",
    "was moved half a mile upstream after the bank gave way",
    "serves as the datum for all gauges of the lower valley",
    "is read twice a day by hand and every minute by the automatic recorder",
)
OTHER_WORDS = ("Mostly, ", "As far as known, ", "According to its operator, ")

NAMES = tuple(f"{place} {water}" for place in PLACES for water in WATERS)
PRODUCTS = tuple(f"{grade} {device}" for grade in GRADES for device in DEVICES)
PROSE = tuple(f"{subject} {doing}." for subject in SUBJECTS for doing in DOINGS)
REWORDED = {text: tuple(f"{start}{text[0].lower()}{text[1:]}" for start in OTHER_WORDS) for text in PROSE}
REGIONS = tuple(f"{place} Valley" for place in PLACES)
MAKERS = tuple(f"{place} Instruments" for place in PLACES)

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
DAY: Json = {"type": "string", "format": "date"}
PASSAGE: Json = {"type": "string", "x-assay": {"kind": "prose"}}


def an_object(**properties: Json) -> Json:
    """The schema of an object with these properties."""
    return {"type": "object", "properties": dict(properties)}


def a_list(items: Json) -> Json:
    """The schema of a list of these items."""
    return {"type": "array", "items": items}


SCHEMA = an_object(
    name=TEXT,
    code={"type": "string", "x-assay": {"kind": "identifier"}},
    kind={"enum": list(KINDS)},
    opened=DAY,
    is_automatic={"type": "boolean"},
    location=an_object(
        river=TEXT, region=TEXT, country=TEXT, elevation_m=NUMBER, point=an_object(latitude=NUMBER, longitude=NUMBER)
    ),
    flow=an_object(mean_m3_per_s=NUMBER, highest_m3_per_s=NUMBER, lowest_m3_per_s=NUMBER, years={"type": "integer"}),
    instruments=a_list(an_object(name=TEXT, maker=TEXT, installed=DAY, accuracy_percent=NUMBER, unit=TEXT)),
    floods=a_list(an_object(date=DAY, peak_m3_per_s=NUMBER, cause=TEXT)),
    care=a_list(TEXT),
    description=PASSAGE,
    history=PASSAGE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of a workspace there is."""

    scenarios: int = 50
    models: int = 20
    repetitions: int = 3

    @property
    def partitions(self) -> int:
        """Scenarios x models."""
        return self.scenarios * self.models

    def __str__(self) -> str:
        return f"{self.scenarios} x {self.models} x {self.repetitions}"


def scenario_ids(count: int) -> list[str]:
    """Ids of so many scenarios, in order."""
    return [f"station-{number:05}" for number in range(1, count + 1)]


def model_ids(count: int) -> list[str]:
    """Ids of so many models, in order; the first is the most able."""
    return [f"synthetic/model-{number:04}" for number in range(1, count + 1)]


def texts() -> list[str]:
    """Every text that references and outputs draw from, as they are written in references."""
    reworded = [text for each in REWORDED.values() for text in each]
    return [*NAMES, *PRODUCTS, *PROSE, *reworded, *REGIONS, *MAKERS, *COUNTRIES, *CAUSES, *TASKS]


def write_workspace(folder: Path, size: Size) -> int:
    """The bytes of the recorded outputs in the new workspace; the same size and seed give the same files."""
    folder.mkdir(parents=True)
    _write(folder / "assay.yaml", {"embedding": "local", "judge": None})
    _write(folder / "models.yaml", [_model(id_, number) for number, id_ in enumerate(model_ids(size.models))])
    (folder / "runs").mkdir()
    written = 0
    for scenario_id in scenario_ids(size.scenarios):
        truth = truth_of(scenario_id)
        _write_scenario(folder / "scenarios" / scenario_id, scenario_id, truth, size.repetitions)
        with (folder / "runs" / f"{scenario_id}.jsonl").open("w", encoding="utf-8") as file:
            for run in runs_of(scenario_id, truth, size):
                written += file.write(json.dumps(run, ensure_ascii=False) + "\n")
    return written


def _model(model_id: str, number: int) -> Json:
    family = f"family-{number % 5}"
    return {"id": model_id, "provider": "synthetic", "name": model_id.partition("/")[2], "family": family}


def _write_scenario(folder: Path, scenario_id: str, truth: dict[str, Any], repetitions: int) -> None:
    (folder / "examples").mkdir(parents=True)
    flow = truth["flow"]
    believed = {**truth, "flow": {**flow, "years": flow["years"] + 10}}
    _write(folder / "schema.json", SCHEMA)
    _write(folder / "reference.json", believed)
    _write(folder / "examples" / "flow.json", {"flow": {"years": flow["years"]}})
    about = {
        "title": truth["name"],
        "entity": f"The measuring station {truth['name']} on the {truth['location']['river']}",
        "prompt": "Fill in the schema. Leave out what you do not know.",
        "repetitions": repetitions,
        "reference": {"verified": True},
    }
    _write(folder / "scenario.yaml", {"id": scenario_id, **about})


def _write(path: Path, content: Json) -> None:
    """JSON, which YAML reads too."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def truth_of(scenario_id: str) -> dict[str, Any]:
    """What is true of the scenario's station."""
    chance = random.Random(f"{SEED} {scenario_id}")
    mean = round(chance.uniform(5, 900), 1)
    return {
        "name": chance.choice(NAMES),
        "code": f"GS-{chance.randrange(10**6):06}",
        "kind": chance.choice(KINDS),
        "opened": _day(chance),
        "is_automatic": chance.random() < 0.5,
        "location": {
            "river": f"{chance.choice(PLACES)} {WATERS[0]}",
            "region": chance.choice(REGIONS),
            "country": chance.choice(COUNTRIES),
            "elevation_m": chance.randrange(1, 2500),
            "point": {"latitude": _degrees(chance, 60), "longitude": _degrees(chance, 170)},
        },
        "flow": {
            "mean_m3_per_s": mean,
            "highest_m3_per_s": round(mean * chance.uniform(3, 20), 1),
            "lowest_m3_per_s": round(mean * chance.uniform(0.05, 0.4), 2),
            "years": chance.randrange(8, 120),
        },
        "instruments": [_instrument(chance, name) for name in chance.sample(PRODUCTS, INSTRUMENTS)],
        "floods": [_flood(chance, mean) for _ in range(FLOODS)],
        "care": chance.sample(TASKS, CARE),
        "description": chance.choice(PROSE),
        "history": chance.choice(PROSE),
    }


def _instrument(chance: random.Random, name: str) -> dict[str, Any]:
    accuracy = round(chance.uniform(0.1, 5), 2)
    maker, unit = chance.choice(MAKERS), chance.choice(("m", "m3/s", "mm", "K"))
    return {"name": name, "maker": maker, "installed": _day(chance), "accuracy_percent": accuracy, "unit": unit}


def _flood(chance: random.Random, mean: float) -> dict[str, Any]:
    peak = round(mean * chance.uniform(2, 20), 1)
    return {"date": _day(chance), "peak_m3_per_s": peak, "cause": chance.choice(CAUSES)}


def _day(chance: random.Random) -> str:
    return (date(1900, 1, 1) + timedelta(days=chance.randrange(45_000))).isoformat()


def _degrees(chance: random.Random, most: float) -> float:
    return round(chance.uniform(-most, most), 4)


def runs_of(scenario_id: str, truth: dict[str, Any], size: Size) -> Iterator[dict[str, Json]]:
    """The recorded runs of every model on one scenario, as the importer reads them."""
    for number, model_id in enumerate(model_ids(size.models)):
        skill = BEST - (BEST - WORST) * number / max(1, size.models - 1)
        for repetition in range(1, size.repetitions + 1):
            chance = random.Random(f"{SEED} {scenario_id} {model_id} {repetition}")
            facts: dict[str, Json] = {"scenario": scenario_id, "model": model_id, "repetition": repetition}
            yield {**facts, **_measured(chance, skill), **_said(chance, truth, skill)}


def _measured(chance: random.Random, skill: float) -> dict[str, Json]:
    tokens: Json = {"input": chance.randrange(700, 900), "output": chance.randrange(900, 1400)}
    return {"seconds": round(chance.uniform(1, 4) * skill**-3, 2), "tokens": tokens, "cost": round(skill**8 / 100, 6)}


def _said(chance: random.Random, truth: dict[str, Any], skill: float) -> dict[str, Json]:
    if chance.random() < FAILED_SHARE:
        return {"status": "failed", "error": "the provider closed the connection"}
    text = json.dumps(_Speaker(chance=chance, skill=skill).answer(truth), ensure_ascii=False)
    if chance.random() < UNREADABLE_SHARE:
        return {"output": text[: len(text) // 2]}
    return {"output": f"```json\n{text}\n```" if chance.random() < FENCED_SHARE else json.loads(text)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Speaker:
    """A model at one run. `skill` is the chance that it gets a value right."""

    chance: random.Random
    skill: float

    def answer(self, truth: dict[str, Any]) -> dict[str, Any]:
        """The truth as this model tells it."""
        told = {key: self._value(key, value) for key, value in truth.items()}
        return {key: value for key, value in told.items() if value is not None}

    def _value(self, key: str, value: Any) -> Any:
        match value:
            case dict():
                return self.answer(value)
            case list():
                return self._items(key, value)
            case _ if self.chance.random() < self.skill:
                return self._right(key, value)
            case _:
                return None if self.chance.random() < 0.4 else self._wrong(key, value)

    def _items(self, key: str, items: Sequence[Any]) -> list[Any]:
        kept = [self._value(key, item) for item in items if self.chance.random() < (1 + self.skill) / 2]
        found = [item for item in kept if item is not None]
        if self.chance.random() > self.skill:
            found.append(self._invented(key))
        if self.chance.random() < 0.3:
            self.chance.shuffle(found)
        return found

    def _invented(self, key: str) -> Any:
        made: dict[str, Callable[[], Any]] = {
            "instruments": lambda: _instrument(self.chance, self.chance.choice(PRODUCTS)),
            "floods": lambda: _flood(self.chance, 50),
        }
        return made.get(key, lambda: self.chance.choice(TASKS))()

    def _right(self, key: str, value: Any) -> Any:
        if isinstance(value, bool) or self.chance.random() < 0.7:
            return value
        if isinstance(value, int | float):
            return f"{value:,}" if value >= 1000 else value
        if key in ("opened", "installed", "date"):
            day = date.fromisoformat(value)
            return f"{day:%B} {day.day}, {day.year}"
        return self.chance.choice(REWORDED[value]) if value in REWORDED else value

    def _wrong(self, key: str, value: Any) -> Any:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return round(value * (1 + self.chance.choice(DEVIATIONS)), 2)
        if key in ("opened", "installed", "date"):
            return _day(self.chance)
        return self.chance.choice(_pool_of(key, value))


def _pool_of(key: str, value: str) -> Sequence[str]:
    """What a wrong text is drawn from: texts of the same kind."""
    pools = (NAMES, PRODUCTS, PROSE, REGIONS, MAKERS, COUNTRIES, CAUSES, TASKS, KINDS)
    found = next((pool for pool in pools if value in pool), None)
    return found or tuple(f"{key[:2].upper()}-{number:06}" for number in range(40))


def main() -> None:
    """Writes a workspace."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    for name, default in (("scenarios", 50), ("models", 20), ("repetitions", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    size = Size(scenarios=given.scenarios, models=given.models, repetitions=given.repetitions)
    with TemporaryDirectory(prefix="assay-synthetic-") as folder:
        tracemalloc.start()
        begun = time.process_time()
        written = write_workspace(given.folder or Path(folder) / "workspace", size)
        spent, held = time.process_time() - begun, tracemalloc.get_traced_memory()[1] / 2**20
    runs = size.partitions * size.repetitions
    print(f"synthetic: {size} = {runs} runs of {written // runs} bytes in {spent:.1f} s, {held:.1f} MiB held at most")


if __name__ == "__main__":
    main()
