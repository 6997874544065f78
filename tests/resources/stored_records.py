"""Records for tests of the stores."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from resources.scenarios import Scenario
from resources.settings import ScoringSettings, Weights
from resources.warehouse import ModelScoring, Warehouse
from scoring.records import (
    Evidence,
    FieldScore,
    Finding,
    Json,
    Kind,
    ListOrder,
    ListScore,
    Mode,
    Model,
    Outcome,
    Run,
    Rung,
    RunStatus,
    Scorecard,
    Scores,
    Side,
)

HOSTILE = "a\x00b\ud800c\td\\ne\u202e é"


def scenario_of(scenario_id: str = "film", **changes: Any) -> Scenario:
    plain = Scenario(
        scenario_id=scenario_id,
        type="enrichment",
        title="A film",
        prompt="Tell",
        entity="Casablanca",
        repetitions=1,
        schema={"type": "object"},
        reference={"year": 1942},
        reference_is_verified=True,
        reference_author=None,
        documents=(),
        examples=(),
        scoring=ScoringSettings(),
        weights=Weights(),
        folder=Path("film"),
    )
    return dataclasses.replace(plain, **changes)


def run_of(scenario_id: str = "film", model_id: str = "m1", repetition: int = 1, **changes: Any) -> Run:
    plain = Run(
        scenario_id=scenario_id,
        model_id=model_id,
        repetition=repetition,
        status=RunStatus.OK,
        output='{"year": 1942}',
        duration_seconds=2.0,
        cost_usd=0.5,
        input_tokens=100,
        output_tokens=10,
    )
    return dataclasses.replace(plain, **changes)


def failed_run_of(scenario_id: str = "film", model_id: str = "m1", repetition: int = 1) -> Run:
    return run_of(scenario_id, model_id, repetition, status=RunStatus.FAILED, output=None, error="timeout")


def field_of(path: str = "/year", reference: Json = 1942, candidate: Json = 1942, **changes: Any) -> FieldScore:
    plain = FieldScore(
        path=path,
        side=Side.REFERENCE,
        kind=Kind.NUMBER,
        outcome=Outcome.MATCH,
        rung=Rung.EXACT,
        credit=1.0,
        similarity=None,
        reference=reference,
        candidate=candidate,
        reference_weight=1.0,
        candidate_weight=1.0,
        shared_weight=1.0,
    )
    return dataclasses.replace(plain, **changes)


def list_of(path: str = "/cast", missed: tuple[Json, ...] = ("Ilsa",), extra: tuple[Json, ...] = ()) -> ListScore:
    return ListScore(
        path=path,
        order=ListOrder.SET,
        matched=1,
        missed=missed,
        extra=extra,
        hallucinated=extra,
        duplicates=0,
        precision=1.0,
        recall=0.5,
        f1=2 / 3,
    )


def card_of(quality: float = 80.0, **changes: Any) -> Scorecard:
    plain = Scorecard(
        scores=Scores(
            quality=quality,
            completeness=90.0,
            correctness=70.0,
            hallucination=10.0,
            reference_weight=4.0,
            candidate_weight=3.0,
            shared_weight=2.0,
            earned_weight=1.0,
        ),
        mode=Mode.FULL,
        fields=(field_of(),),
        lists=(list_of(),),
    )
    return dataclasses.replace(plain, **changes)


def finding_of(path: str = "/year", proposal: Json = 1943) -> Finding:
    return Finding(path=path, evidence=Evidence.BETTER, has_proposal=True, proposal=proposal, question_id="q1")


def row_of(table: Table, **values: Any) -> dict[str, Any]:
    """A row of the table with these values; columns that must hold something hold nothing much."""
    blanks: dict[type, Any] = {str: "", int: 0, float: 0.0, bool: False, bytes: b""}
    must = [c for c in table.columns if not c.nullable and c.server_default is None and c.identity is None]
    return {column.name: blanks[column.type.python_type] for column in must} | values


def filled(warehouse: Warehouse, *scenarios: Scenario, models: tuple[str, ...] = ("m1", "m2")) -> Warehouse:
    """The warehouse with these scenarios (one film without any) and models."""
    warehouse.sync_scenarios(scenarios or (scenario_of(),))
    warehouse.sync_models(
        [Model(model_id=model_id, provider="lab", family=f"family {model_id}") for model_id in models]
    )
    return warehouse


def scoring_of(warehouse: Warehouse, scenario_id: str = "film", model_id: str = "m1", **changes: Any) -> ModelScoring:
    """A scoring of what is recorded, as a round would make it: every ok run scores 80."""
    (cell,) = warehouse.cells([scenario_id], [model_id])
    reference = warehouse.head_reference(scenario_id)
    assert reference is not None
    runs = warehouse.runs_of(scenario_id, model_id)
    plain = ModelScoring(
        scenario_id=scenario_id,
        model_id=model_id,
        round_id=None,
        reference=reference,
        config_hash=cell.config_hash,
        mode=Mode.FULL,
        embedding_model="local",
        runs=runs,
        cards={one.run.repetition: card_of() for one in runs if one.run.status is RunStatus.OK},
        replaces=None if cell.head is None else cell.head.model_score_id,
    )
    return dataclasses.replace(plain, **changes)
