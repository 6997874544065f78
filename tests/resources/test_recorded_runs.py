from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from resources.warehouse import ImportReport, Warehouse
from scoring.errors import InputError
from scoring.records import Run
from tests.resources.stored_records import HOSTILE, failed_run_of, filled, run_of, scenario_of


@pytest.mark.parametrize(
    "output",
    ['{"year": 1942}', "", "no JSON at all", HOSTILE, "\r\n\ufeff{}\n", "🎬" * 1000, "\x00" * 10],
)
def test_an_output_comes_back_as_it_was_given(output: str, warehouse: Warehouse) -> None:
    filled(warehouse).import_runs([run_of(output=output)])
    assert [one.run for one in warehouse.runs_of("film", "m1")] == [run_of(output=output)]


def test_an_output_of_ten_megabytes_comes_back(warehouse: Warehouse) -> None:
    output = '{"a": "' + "x\n" * 5_000_000 + '"}'
    filled(warehouse).import_runs([run_of(output=output), run_of(model_id="m2")])
    assert warehouse.runs_of("film", "m1")[0].run.output == output


def test_all_that_was_recorded_comes_back_also_what_is_unknown(warehouse: Warehouse) -> None:
    unknown = run_of(repetition=2, duration_seconds=None, cost_usd=None, input_tokens=None, output_tokens=None)
    free = run_of(repetition=3, cost_usd=0.0)
    runs = [run_of(), unknown, free, failed_run_of(repetition=4)]
    filled(warehouse).import_runs(runs)
    assert [one.run for one in warehouse.runs_of("film", "m1")] == runs


def test_importing_the_same_again_changes_nothing(warehouse: Warehouse) -> None:
    runs = [run_of(), run_of(model_id="m2")]
    assert filled(warehouse).import_runs(runs) == ImportReport(added=2, unchanged=0)
    files = warehouse.lake.files()
    assert warehouse.import_runs([*runs, *runs, run_of(repetition=2)]) == ImportReport(added=1, unchanged=4)
    assert set(files) < set(warehouse.lake.files())
    assert warehouse.import_runs(runs) == ImportReport(added=0, unchanged=2)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (run_of(output="{}"), "this repetition is recorded with other content"),
        (run_of(cost_usd=0.6), "this repetition is recorded with other content"),
        (run_of("filn"), r"unknown scenario 'filn', nearest is 'film'"),
        (run_of(model_id="M1"), r"unknown model 'M1'.*models.yaml"),
        (run_of(scenario_id=HOSTILE), "unknown scenario"),
        (run_of(repetition=0), "Repetitions count from 1"),
        (run_of(repetition=2, duration_seconds=float("nan")), "duration_seconds is nan"),
        (run_of(repetition=2, cost_usd=-1.0), "cost_usd is -1"),
        (run_of(repetition=2, output=None), "status is ok but the output is missing"),
    ],
)
def test_one_bad_run_keeps_all_of_an_import_out(bad: Run, message: str, warehouse: Warehouse) -> None:
    filled(warehouse).import_runs([run_of()])
    with pytest.raises(InputError, match=message):
        warehouse.import_runs([run_of(model_id="m2"), bad])
    assert [one.run for one in warehouse.runs_of("film", "m1")] == [run_of()]
    assert warehouse.runs_of("film", "m2") == []


def test_two_outputs_for_one_repetition_in_one_import_are_a_conflict(warehouse: Warehouse) -> None:
    with pytest.raises(InputError, match="film / m1 / repetition 1: this repetition is recorded with other content"):
        filled(warehouse).import_runs([run_of(), run_of(output="{}")])


def test_imports_at_the_same_time_record_each_run_once(warehouse: Warehouse) -> None:
    filled(warehouse)
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(warehouse.import_runs, [[run_of(repetition=n) for n in range(1, 6)]] * 4))
    assert sum(report.added for report in reports) == 5
    assert len(warehouse.runs_of("film", "m1")) == 5


def test_runs_of_many_models_come_in_one_answer(warehouse: Warehouse) -> None:
    filled(warehouse, scenario_of(), scenario_of("firm / a"))
    runs = [run_of(scenario_id, model_id) for scenario_id in ("film", "firm / a") for model_id in ("m1", "m2")]
    warehouse.import_runs(runs)
    keys = [("film", "m1"), ("firm / a", "m2"), ("film", "nobody")]
    found = warehouse.runs_of_many(keys)
    assert list(found) == keys
    assert [one.run for one in found["firm / a", "m2"]] == [run_of("firm / a", "m2")]
    assert found["film", "nobody"] == []
    assert warehouse.runs_of_many([]) == {}
