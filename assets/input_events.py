"""What Dagster is told of inputs that people own: what changed, what it was before, and where to look."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from assets.inputs import reference, runs, scenario_config
from pipelines.partitions import cell_key
from resources.cells import Cell
from resources.owner_changes import config_changes, saved_references
from resources.scenarios import Scenario
from resources.warehouse import Warehouse
from scoring.keys import safe_key

VERSION_TAG = "dagster/data_version"
MOST_PATHS = 20
STALE_PAGE = "/assets/model_scores?view=checks&checkDetail=scores_fresh"
"""In the Dagster UI; a webserver behind a path prefix has it below that."""

Told = Mapping[str, str]
"""The data versions that Dagster was told last, by partition key."""


def reference_events(warehouse: Warehouse, states: Sequence[Cell], told: Told) -> list[dg.AssetObservation]:
    """An observation for each reference whose owner saved other content than Dagster was told of."""
    now = {one.scenario_id: one.reference_hash for one in states if one.reference_hash}
    changed = _changed(now, told)
    saved = saved_references(warehouse.engine, list(changed))
    return [
        _observation(reference.key, id_, version, _saved_metadata(saved[id_]) | _stale(states, id_))
        for id_, version in changed.items()
    ]


def _saved_metadata(saved: Any) -> dict[str, Any]:
    shown = list(saved.paths[:MOST_PATHS])
    if len(saved.paths) > MOST_PATHS:
        shown.append(f"... and {len(saved.paths) - MOST_PATHS} more")
    more: dict[str, Any] = {}
    if saved.before is not None:
        more = {
            "changed_paths": ", ".join(shown) or "none: the same content, saved again",
            "see": f"assay reference diff {saved.scenario_id} --from {saved.before} --to {saved.number}",
        }
    return {
        "version": saved.number,
        "origin": saved.origin,
        "author": saved.author,
        "saved_at": saved.saved_at.isoformat(timespec="seconds"),
        "is_verified": saved.is_verified,
        **more,
    }


def config_events(
    warehouse: Warehouse, states: Sequence[Cell], told: Told, scenarios: Callable[[], Iterable[Scenario]]
) -> list[dg.AssetObservation]:
    """An observation for each scoring config that is another one than Dagster was told of, and where its files lie.

    `scenarios` reads the workspace's, and is called only where there is something to report.
    """
    changed = _changed({one.scenario_id: one.config_hash for one in states}, told)
    files = {one.scenario_id: _files(one) for one in scenarios()} if changed else {}
    events = []
    for id_, version in changed.items():
        before = told.get(safe_key(id_))
        settings = config_changes(warehouse.engine, id_, before, version) if before else ()
        more = {"changed_settings": "; ".join(settings), "config_hash_before": before} if before and settings else {}
        metadata = {"config_hash": version, **more, **_stale(states, id_), **files.get(id_, {})}
        events.append(_observation(scenario_config.key, id_, version, metadata))
    return events


def _files(scenario: Scenario) -> dict[str, Any]:
    """Where the scenario is written down, and the documents that its reference is drawn from."""
    named = [document.name for document in scenario.documents[:MOST_PATHS]]
    if len(scenario.documents) > MOST_PATHS:
        named.append(f"... and {len(scenario.documents) - MOST_PATHS} more")
    found = {"documents": ", ".join(named), "documents_folder": dg.MetadataValue.path(scenario.folder / "documents")}
    return {"scenario_folder": dg.MetadataValue.path(scenario.folder), **(found if named else {})}


def run_events(states: Sequence[Cell], told: Told) -> list[dg.AssetMaterialization]:
    """A materialisation for each cell with other runs recorded than Dagster was told of."""
    return [
        dg.AssetMaterialization(
            runs.key,
            partition=key,
            tags={VERSION_TAG: one.runs_hash},
            metadata={"recorded": one.recorded, "expected": one.expected_repetitions},
        )
        for one in states
        if one.runs_hash and told.get(key := str(cell_key((one.scenario_id, one.model_id)))) != one.runs_hash
    ]


def _changed(now: Mapping[str, str], told: Told) -> dict[str, str]:
    return {id_: version for id_, version in now.items() if told.get(safe_key(id_)) != version}


def _stale(states: Sequence[Cell], scenario_id: str) -> dict[str, Any]:
    """How many scores of the scenario are stale now, and the page that says why."""
    count = sum(one.is_stale for one in states if one.scenario_id == scenario_id)
    return {"stale_scores": count, **({"stale_scores_page": dg.MetadataValue.url(STALE_PAGE)} if count else {})}


def _observation(
    asset: dg.AssetKey, scenario_id: str, version: str, metadata: Mapping[str, Any]
) -> dg.AssetObservation:
    return dg.AssetObservation(
        asset,
        partition=safe_key(scenario_id),
        tags={VERSION_TAG: version},
        metadata={"scenario": scenario_id, **metadata},
    )
