"""One model of one scenario on its way to a score: its runs, what is scored, and what is still open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from pipelines.rectangles import Cell
from scoring.records import Kind, Known, Mode, Open, Question, Reading, RunStatus, Scorecard, Unreadable
from scoring.task import Task

if TYPE_CHECKING:
    from resources.recorded_runs import RecordedRun
    from resources.reference_versions import ReferenceVersion
    from resources.score_commits import ModelScoring
    from resources.scoring_records import ScoringEnd
    from resources.settings import EmbeddingSettings, JudgeSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """A scenario made ready once for all its models: the task, and what a score of it will name."""

    task: Task
    reference: ReferenceVersion
    config_hash: str
    embedding: EmbeddingSettings | None
    judge: JudgeSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The state of one model's scoring.

    `cards` and `open` map repetitions and together hold every run that ended well. `replaces` is the id of the score
    that was the newest before. `began_at` is a monotonic time in seconds, `record_id` that of its scoring record.
    `needed` are the questions that it needed answered so far, `cached` those of them that cost it no call, and
    `conflicts` those whose verdict flipped with the order of the values.
    """

    cell: Cell
    preparation: Preparation
    runs: tuple[RecordedRun, ...]
    replaces: int | None
    readings: Mapping[int, Reading | Unreadable]
    cards: Mapping[int, Scorecard]
    open: Mapping[int, Open]
    began_at: float = 0.0
    record_id: int | None = None
    needed: frozenset[str] = frozenset()
    cached: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether every run that ended well has its scorecard."""
        return not self.open

    @property
    def mode(self) -> Mode:
        """How much of the ladder the scoring has."""
        return self.preparation.task.config.mode

    @property
    def embedding_model(self) -> str | None:
        """The name of the embedding model; None in `exact_only`."""
        return self.preparation.task.config.embedding_model

    @property
    def characters(self) -> int:
        """How long the outputs are together."""
        return sum(len(one.run.output or "") for one in self.runs)

    @property
    def texts(self) -> tuple[str, ...]:
        """Distinct texts whose vectors are wanted."""
        return tuple(dict.fromkeys(text for one in self.open.values() for text in one.texts))

    @property
    def questions(self) -> tuple[Question, ...]:
        """Distinct questions whose answers are wanted."""
        return tuple({one.question_id: one for each in self.open.values() for one in each.questions}.values())

    def scoring(self, round_id: int) -> ModelScoring:
        """What is committed once the attempt is whole."""
        from resources.score_commits import ModelScoring

        scenario_id, model_id = self.cell
        return ModelScoring(
            scenario_id=scenario_id,
            model_id=model_id,
            round_id=round_id,
            reference=self.preparation.reference,
            config_hash=self.preparation.config_hash,
            mode=self.mode,
            embedding_model=self.embedding_model,
            runs=self.runs,
            cards=self.cards,
            replaces=self.replaces,
            end=self.end(),
        )

    def end(self) -> ScoringEnd | None:
        """How the scoring ended, were it to end now; None where no record was opened."""
        from resources.scoring_records import ScoringEnd

        if self.record_id is None:
            return None
        return ScoringEnd(
            scoring_record_id=self.record_id,
            duration_seconds=monotonic() - self.began_at,
            question_count=len(self.needed),
            cached_count=len(self.cached),
            position_conflict_count=len(self.conflicts),
        )


def begin(
    cell: Cell,
    preparation: Preparation,
    runs: Sequence[RecordedRun],
    *,
    replaces: int | None,
    record_id: int | None = None,
) -> Attempt:
    """The attempt on these runs before anything is known, all its outputs read, none of them scored."""
    from scoring.reading import read_output

    is_text_root = preparation.task.root.node.kind is Kind.TEXT and not preparation.task.root.fields
    readings = {
        one.run.repetition: read_output(one.run.output or "", is_text_root=is_text_root)
        for one in runs
        if one.run.status is RunStatus.OK
    }
    return Attempt(
        cell=cell,
        preparation=preparation,
        runs=tuple(runs),
        replaces=replaces,
        readings=readings,
        cards={},
        open={repetition: Open() for repetition in readings},
        began_at=monotonic(),
        record_id=record_id,
    )


def advanced(attempt: Attempt, known: Known) -> Attempt:
    """The attempt after asking the core once more about every open run. Raises EmbeddingError for a broken vector."""
    from scoring.scorecard import score

    cards: dict[int, Scorecard] = dict(attempt.cards)
    still_open: dict[int, Open] = {}
    for repetition in attempt.open:
        match score(attempt.preparation.task, attempt.readings[repetition], known):
            case Scorecard() as card:
                cards[repetition] = card
            case Open() as more:
                still_open[repetition] = more
    return replace(attempt, cards=cards, open=still_open)
