"""The warehouse: everything Assay records, in the words of the domain.

Postgres is the record and a row there is the commit; outputs and whole values lie in the lake, in files that rows name.
Each verb is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine

from resources import (
    cells,
    orphans,
    recorded_runs,
    reference_versions,
    results,
    rounds,
    scenario_rows,
    score_commits,
    scoring_records,
    vector_cache,
)
from resources.cells import Cell
from resources.database import patiently
from resources.judge_answers import StoredAnswers
from resources.judge_history import JudgeHistory
from resources.lake import Lake
from resources.recorded_runs import ImportReport, RecordedRun
from resources.reference_versions import ReferenceOrigin, ReferenceVersion
from resources.references import References
from resources.results import ScoredRuns
from resources.rounds import RoundStatus, RoundTrigger
from resources.run_store import RunStore
from resources.score_commits import ModelScoring
from resources.scoring_records import JudgeCosts, ScoringEnd
from scoring.records import Json, Model, Run, Vector

if TYPE_CHECKING:
    from resources.scenarios import Scenario
    from scoring.ranking import Result, Weights

__all__ = [
    "Cell",
    "ImportReport",
    "ModelScoring",
    "RecordedRun",
    "ReferenceOrigin",
    "ReferenceVersion",
    "RoundStatus",
    "RoundTrigger",
    "Warehouse",
]


@dataclass(frozen=True, slots=True)
class Warehouse:
    """The stores of one home. `engine` is a migrated database."""

    engine: Engine
    lake: Lake

    @property
    def references(self) -> References:
        """The references in all their versions, and what rounds and owners do to them."""
        return References(self.engine, self.lake)

    def sync_scenarios(self, given: Sequence[Scenario]) -> None:
        """The warehouse holds these scenarios as their files say, references included; only what changed is written."""
        scenario_rows.sync_scenarios(self.engine, self.lake, given)

    def sync_models(self, models: Sequence[Model]) -> None:
        """The warehouse holds these models; only what changed is written."""
        scenario_rows.sync_models(self.engine, models)

    def import_runs(self, runs: Sequence[Run]) -> ImportReport:
        """All these runs are recorded, or none and InputError says why.

        A run that is recorded already with the same content is counted as unchanged.
        """
        return recorded_runs.import_runs(self.engine, self.lake, runs)

    def runs_of(self, scenario_id: str, model_id: str) -> list[RecordedRun]:
        """The recorded runs of one model on one scenario by repetition, outputs as they were given."""
        return self.runs_of_many([(scenario_id, model_id)])[(scenario_id, model_id)]

    def runs_of_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[RecordedRun]]:
        """`runs_of` for many (scenario id, model id), every one a key of the answer, each lake file read once."""
        return recorded_runs.runs_of_many(self.engine, self.lake, keys)

    @property
    def run_store(self) -> RunStore:
        """Runs in the making: recorded one by one, and who is making which."""
        return RunStore(self.engine, self.lake)

    def repetitions_of(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], set[int]]:
        """The recorded repetitions of each (scenario id, model id); a key without runs has an empty set."""
        return recorded_runs.repetitions_of(self.engine, keys)

    def save_reference(
        self, scenario_id: str, content: Json, *, author: str, origin: ReferenceOrigin, is_verified: bool
    ) -> ReferenceVersion:
        """The newest version, which holds `content`; a new one unless the head already does, as verified as asked."""
        return self.references.save(scenario_id, content, author=author, origin=origin, is_verified=is_verified)

    def head_reference(self, scenario_id: str) -> ReferenceVersion | None:
        """The newest version, None where there is none."""
        return reference_versions.head_reference(self.engine, scenario_id)

    def reference_version(self, scenario_id: str, number: int) -> ReferenceVersion:
        """Any version ever made. Raises InputError where there is none of this number."""
        return reference_versions.reference_version(self.engine, scenario_id, number)

    def verify_reference(self, scenario_id: str, author: str) -> ReferenceVersion:
        """The head, verified by `author`: a new version of the same content unless it is verified already."""
        return self.references.verify(scenario_id, author)

    def cells(self, scenario_ids: Sequence[str] | None = None, model_ids: Sequence[str] | None = None) -> list[Cell]:
        """Every scenario x model (of those named), recorded or not, by scenario and model id."""
        return cells.cells(self.engine, scenario_ids, model_ids)

    def commit_model_score(self, scoring: ModelScoring) -> int:
        """The id of the model score, which is whole and visible, or an exception and nothing is."""
        return patiently(lambda: score_commits.commit_model_score(self.engine, self.lake, scoring))

    def open_round(self, trigger: RoundTrigger, *, planned_models: int, dagster_run_id: str | None = None) -> int:
        """The id of a round that has begun."""
        return rounds.open_round(self.engine, trigger, planned_models=planned_models, dagster_run_id=dagster_run_id)

    def close_round(self, round_id: int, status: RoundStatus, *, problem: str = "") -> None:
        """The round has ended this way. How many models it scored is counted from what it committed."""
        rounds.close_round(self.engine, round_id, status, problem=problem)

    @property
    def answers(self) -> StoredAnswers:
        """What judges answered, in the cache of each scenario, and the ledger of what they were asked."""
        return StoredAnswers(self.engine)

    def open_scorings(
        self, round_id: int, judges: Mapping[tuple[str, str], Iterable[str]]
    ) -> dict[tuple[str, str], int]:
        """The ids of records that say which (scenario id, model id) are being scored, and which judges they have."""
        return scoring_records.open_scorings(self.engine, round_id, judges)

    def fail_scoring(self, end: ScoringEnd, error: str) -> None:
        """The scoring has ended without a score. One that ended well is closed by `commit_model_score`."""
        with self.engine.begin() as connection:
            scoring_records.close_scoring(connection, end, error=error)

    def judge_costs(self, scoring_record_id: int) -> JudgeCosts:
        """What the judge cost one scoring so far."""
        return scoring_records.costs_of(self.engine, scoring_record_id)

    def scoring_records(
        self, scenario_id: str | None = None, *, model_id: str | None = None, limit: int = 1_000
    ) -> list[dict[str, Any]]:
        """The newest rows of `bi.scoring_records`, newest first."""
        return scoring_records.scoring_records_of(self.engine, scenario_id, model_id=model_id, limit=limit)

    @property
    def judge_history(self) -> JudgeHistory:
        """What judges were asked, question by question and call by call, and what that cost."""
        return JudgeHistory(self.engine)

    def judging_costs(self) -> list[dict[str, Any]]:
        """What judging each model came to over all its scorings, dearest first."""
        return scoring_records.judging_costs(self.engine)

    def judge_spending(self, dagster_run_ids: Sequence[str]) -> float:
        """What the judges of these Dagster runs cost so far, in USD."""
        return scoring_records.judge_spending(self.engine, dagster_run_ids)

    def known_vectors(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors of those of `texts` that have one."""
        return vector_cache.known_vectors(self.engine, model, texts)

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """These vectors are cached for good; one that is cached already stays as it is."""
        vector_cache.keep_vectors(self.engine, model, vectors)

    def results(self, scenario_id: str, *, model_id: str | None = None) -> list[dict[str, Any]]:
        """The latest model scores of one scenario as `bi.model_scores` has them, best quality first."""
        return results.model_scores(self.engine, scenario_id, model_id=model_id)

    def run_scores(self, scenario_id: str, *, model_id: str | None = None) -> list[dict[str, Any]]:
        """The latest run scores of one scenario as `bi.run_scores` has them, by model and repetition."""
        return results.run_scores(self.engine, scenario_id, model_id=model_id)

    def field_scores(self, scenario_id: str, model_id: str, repetition: int) -> list[dict[str, Any]]:
        """The latest field scores of one run as `bi.field_scores` has them, in the order of the document."""
        return results.field_scores(self.engine, scenario_id, model_id, repetition)

    def list_scores(self, scenario_id: str, model_id: str, repetition: int) -> list[dict[str, Any]]:
        """The latest list scores of one run as `bi.list_scores` has them, in the order of the document."""
        return results.list_scores(self.engine, scenario_id, model_id, repetition)

    def ranking_rows(self, scenario_ids: Sequence[str] | None = None, *, with_stale: bool = False) -> list[Result]:
        """What `scoring.ranking.rank` takes: the latest model scores that have a quality, by scenario and model."""
        return results.ranking_rows(self.engine, scenario_ids, with_stale=with_stale)

    def scored_runs(self, model_score_ids: Sequence[int]) -> dict[int, ScoredRuns]:
        """The runs behind each of these model scores: how many, how many failed, the qualities of the scored."""
        return results.scored_runs(self.engine, model_score_ids)

    def scored_scenarios(self) -> set[str]:
        """The ids of the scenarios on which some model has a score, stale or not."""
        return results.scored_scenarios(self.engine)

    def judge_kin(self, scenario_ids: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """The (scenario id, model id) whose latest score has a judge of the model's own family."""
        return results.judge_kin(self.engine, scenario_ids)

    def ranking_weights(self) -> dict[str, Weights]:
        """What quality, speed and cost count, by scenario."""
        return results.ranking_weights(self.engine)

    def leaderboard(self, scope: str = "overall", scenario_id: str | None = None) -> list[dict[str, Any]]:
        """The rows of `bi.leaderboard` in one scope (`overall` or `scenario`), best first."""
        return results.leaderboard(self.engine, scope, scenario_id)

    def spreads(self) -> list[dict[str, Any]]:
        """Lowest, mean and highest quality over repetitions, each averaged over a model's scenarios; best first."""
        return results.spreads(self.engine)

    def sweep_lake(self, *, older_than: timedelta = timedelta(days=1)) -> list[str]:
        """The lake files that no row names and that are older than this: their names, now removed."""
        return orphans.sweep(self.engine, self.lake, older_than=older_than)
