from __future__ import annotations

import json
from pathlib import Path

import dagster as dg

from assets.checks import CHECKS
from assets.input_events import MOST_PATHS, VERSION_TAG
from assets.inputs import scenario_config
from pipelines.round import score_round
from pipelines.session import Session
from sensors.changed_inputs import changed_inputs
from tests.sensors.ticks import ticked
from tests.small_workspace import CELLS, MODELS, REFERENCE, run_of, write_workspace

Event = dg.AssetObservation | dg.AssetMaterialization | dg.AssetCheckEvaluation


def tick(session: Session, instance: dg.DagsterInstance, cursor: str | None = None) -> dg.SensorResult:
    return ticked(changed_inputs, session.warehouse, instance, cursor)


def places(result: dg.SensorResult, kind: type[Event]) -> list[tuple[str, str | None]]:
    return sorted(
        (event.asset_key.to_user_string(), getattr(event, "partition", None))
        for event in result.asset_events
        if isinstance(event, kind)
    )


def test_everything_is_reported_once(session: Session, instance: dg.DagsterInstance) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    first = tick(session, instance)
    assert places(first, dg.AssetObservation) == [
        ("reference", "alpha"),
        ("reference", "beta~20~2f~20b"),
        ("scenario_config", "alpha"),
        ("scenario_config", "beta~20~2f~20b"),
    ]
    assert len(places(first, dg.AssetMaterialization)) == len(CELLS)
    assert len(places(first, dg.AssetCheckEvaluation)) == len(CHECKS)
    second = tick(session, instance, first.cursor)
    assert not second.asset_events
    assert not second.dynamic_partitions_requests


def test_a_restarted_daemon_without_its_cursor_repeats_nothing(session: Session, instance: dg.DagsterInstance) -> None:
    tick(session, instance)
    assert not tick(session, instance, cursor=None).asset_events


def test_an_edited_reference_file_is_one_observation_of_one_scenario_and_a_stale_check(
    session: Session, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    session.warehouse.import_runs([run_of(*cell) for cell in CELLS])
    score_round(session, CELLS)
    first = tick(session, instance)
    file = tmp_path / "ws" / "scenarios" / "s0" / "reference.json"
    file.write_text(json.dumps(REFERENCE | {"year": 1816}))  # type: ignore[operator]  # an object
    second = tick(session, instance, first.cursor)
    assert places(second, dg.AssetObservation) == [("reference", "alpha")]
    (check,) = [event for event in second.asset_events if isinstance(event, dg.AssetCheckEvaluation)]
    assert (check.check_name, check.passed) == ("scores_fresh", False)
    assert "assay score --stale" in str(check.description)
    (observation,) = [event for event in second.asset_events if isinstance(event, dg.AssetObservation)]
    said = {name: value.value for name, value in observation.metadata.items()}
    assert (said["version"], said["changed_paths"], said["stale_scores"]) == (2, "/year", len(MODELS))
    assert said["see"] == "assay reference diff alpha --from 1 --to 2"
    assert not tick(session, instance, second.cursor).asset_events


def test_another_setting_is_an_observation_that_names_it(
    session: Session, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    first = tick(session, instance)
    write_workspace(tmp_path / "ws", scoring={"strictness": "strict"})
    second = tick(session, instance, first.cursor)
    assert places(second, dg.AssetObservation) == [
        ("scenario_config", "alpha"),
        ("scenario_config", "beta~20~2f~20b"),
    ]
    (observation, _) = [event for event in second.asset_events if isinstance(event, dg.AssetObservation)]
    assert str(observation.metadata["changed_settings"].value).startswith("strictness [")


def test_a_config_observation_leads_to_the_files_and_documents_of_its_scenario(
    session: Session, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    folder = tmp_path / "ws" / "scenarios" / "s0"
    (folder / "documents").mkdir()
    for number in range(MOST_PATHS + 2):
        (folder / "documents" / f"letter-{number:02}.txt").write_text("Ada Lovelace was born in 1815.")
    alpha, beta = [event for event in tick(session, instance).asset_events if event.asset_key == scenario_config.key]
    said = {name: value.value for name, value in alpha.metadata.items()}
    assert said["scenario_folder"] == str(folder)
    assert said["documents_folder"] == str(folder / "documents")
    assert str(said["documents"]).startswith("letter-00.txt, letter-01.txt, ")
    assert str(said["documents"]).endswith("letter-19.txt, ... and 2 more")
    assert "documents" not in beta.metadata
    assert beta.metadata["scenario_folder"].value == str(folder.with_name("s1"))


def test_a_file_edited_back_is_reported_as_the_version_it_was(
    session: Session, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    file = tmp_path / "ws" / "scenarios" / "s0" / "reference.json"
    before = file.read_text()
    versions = []
    cursor = None
    for text in (before, json.dumps({"name": "Somebody", "year": 1}), before):
        file.write_text(text)
        result = tick(session, instance, cursor)
        cursor = result.cursor
        versions += [
            (event.tags or {})[VERSION_TAG]
            for event in result.asset_events
            if isinstance(event, dg.AssetObservation)
            and (event.asset_key.to_user_string(), event.partition) == ("reference", "alpha")
        ]
    assert len(versions) == 3
    assert versions[0] == versions[2] != versions[1]


def test_a_check_that_is_older_than_the_scores_is_told_again(session: Session, instance: dg.DagsterInstance) -> None:
    cursor = tick(session, instance).cursor
    instance.report_runless_asset_event(dg.AssetMaterialization("model_scores", partition="lab~2ftwo|alpha"))
    told = tick(session, instance, cursor)
    assert {event.asset_key.to_user_string() for event in told.asset_events} == {"model_scores"}
    assert not tick(session, instance, told.cursor).asset_events
