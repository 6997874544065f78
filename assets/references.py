"""The reference that improves itself: what scores found about it, and what merges made of that."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg

from assets.descriptions import OWNERS, cell_text, column_schema, markdown_table
from assets.scores import REFERENCE_FINDINGS
from pipelines.merging import merge_references
from pipelines.partitions import by_scenario, one_run, scenario_partitions
from resources import tables
from resources.references import MergeReport
from resources.warehouse import Warehouse
from scoring.edits import Edit
from scoring.keys import id_of, safe_key

REFERENCES = "references"
MERGED_REFERENCE = dg.AssetKey("merged_reference")
POOL = "merge"
COLUMNS = ("scenario_id", "path", "before", "after", "evidence", "models")


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            MERGED_REFERENCE,
            group_name=REFERENCES,
            deps=[dg.AssetDep(REFERENCE_FINDINGS, partition_mapping=by_scenario)],
            kinds={"python", "postgres", "parquet"},
            owners=OWNERS,
            description=(
                "Each scenario's reference with what the findings of all rounds change in it. One more opinion never "
                "outweighs an edit in place; a rejected path stays as its owner left it. Makes no score stale. Read "
                "`bi.reference_versions` and `bi.reference_edits`, or `assay reference log SCENARIO`."
            ),
            metadata=column_schema(tables.reference_versions),
        )
    ],
    partitions_def=scenario_partitions,
    backfill_policy=one_run,
    pool=POOL,  # coarse: what makes two merges of one scenario wait for each other is a lock in Postgres
)
def merged_reference(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> Iterator[dg.MaterializeResult[Any]]:
    """Merge what is unmerged of the scenarios of this run."""
    scenario_ids = [id_of(key) for key in context.partition_keys]
    reports = merge_references(warehouse.references, scenario_ids)
    yield dg.MaterializeResult(asset_key=MERGED_REFERENCE, metadata=merge_metadata(reports))


def merge_metadata(reports: Sequence[MergeReport]) -> dict[str, Any]:
    """What these merges did, as metadata of bounded size."""
    rows = [_row(report.scenario_id, edit) for report in reports for edit in report.changed]
    return {
        "dagster/row_count": sum(len(report.edits) for report in reports),
        "versions_made": sum(report.is_new for report in reports),
        "edits_in_place": sum(len(report.edits) for report in reports),
        "edits_made": len(rows),
        "scores_merged": sum(report.scores for report in reports),
        "edits": markdown_table(COLUMNS, rows),
    }


def merge_events(reports: Sequence[MergeReport]) -> Iterator[dg.AssetMaterialization]:
    """Materialisations that tell Dagster of merges that no run of its own made."""
    for report in reports:
        yield dg.AssetMaterialization(
            MERGED_REFERENCE, partition=safe_key(report.scenario_id), metadata=merge_metadata([report])
        )


def _row(scenario_id: str, edit: Edit) -> dict[str, Any]:
    return {
        "scenario_id": scenario_id,
        "path": edit.path,
        "before": cell_text(edit.before),
        "after": cell_text(edit.after),
        "evidence": edit.evidence.value,
        "models": len(edit.model_ids),
    }
