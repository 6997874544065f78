"""A scoring round: ask and answer over many models in one process.

The core says what it still has to know; this module finds that out for all models of a chunk at once (one batch of
embeddings, then one batch of questions), asks the core again, and commits each model as soon as its score is whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING

from pipelines.attempts import Attempt, advanced, begin
from pipelines.judging import FoundOut, beside_others, judged
from pipelines.rectangles import Cell
from resources.full_disk import words_of
from resources.judge_prices import Spending
from resources.vectors import EmbeddingError as EmbeddingServiceError
from scoring.errors import EmbeddingError, InputError
from scoring.records import Mode, RunStatus, Vector
from scoring.repetitions import mean_of

if TYPE_CHECKING:
    from pipelines.session import Session
    from resources.references import MergeReport
    from resources.rounds import RoundTrigger
    from resources.scoring_records import JudgeCosts

OnProgress = Callable[[int, int, str], None]
"""Called with the models settled so far, all models of the round, and what goes on."""

# Outputs of so many characters are held at once, which with all that is made of them are 20 to 40 times as many bytes.
# A scenario is never cut: its models share texts and questions.
CHUNK_CHARACTERS = 8_000_000

COMMITTERS = 2
MOST_COMMITS_PENDING = 8

# After so many models in a row that no vectors could be had for, the others are not asked for.
FAILURES_IN_A_ROW = 2

Cells = Sequence[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What a round made of one model of one scenario.

    `error` is None where the score was committed; else it says why nothing of this model was kept. `quality` is the
    mean over the scored runs, 0..100, None where no run could be scored. `unreadable_runs` scored 0 for having no JSON.
    `questions` were needed of the judge, `cached` of them cost no call; `judge` is what the others came to, None where
    no judge was asked.
    """

    scenario_id: str
    model_id: str
    runs: int = 0
    failed_runs: int = 0
    unreadable_runs: int = 0
    quality: float | None = None
    mode: Mode | None = None
    model_score_id: int | None = None
    error: str | None = None
    questions: int = 0
    cached: int = 0
    judge: JudgeCosts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReport:
    """What a round did, a row a model. `texts` counts the distinct texts whose vectors were wanted, chunk by chunk.

    `merges` are those that ended it, where its findings were merged.
    """

    models: tuple[ModelReport, ...] = ()
    texts: int = 0
    duration_seconds: float = 0.0
    merges: tuple[MergeReport, ...] = ()

    @property
    def failed(self) -> tuple[ModelReport, ...]:
        """The models that have no score from this round."""
        return tuple(model for model in self.models if model.error is not None)


@dataclass(slots=True, kw_only=True)
class _Watch:
    """Who wants to hear of a round, and what was told so far."""

    total: int
    on_progress: OnProgress | None
    on_settled: Callable[[ModelReport], None] | None
    round_id: int
    spending: Spending
    settled: list[ModelReport] = field(default_factory=list)
    texts: int = 0

    def say(self, what: str) -> None:
        if self.on_progress:
            self.on_progress(len(self.settled), self.total, what)

    def settle(self, report: ModelReport) -> None:
        self.settled.append(report)
        if self.on_settled:
            self.on_settled(report)
        self.say(report.scenario_id)


def score_round(
    session: Session,
    cells: Cells,
    *,
    only_where_needed: bool = False,
    trigger: RoundTrigger | None = None,
    dagster_run_id: str | None = None,
    on_progress: OnProgress | None = None,
    on_settled: Callable[[ModelReport], None] | None = None,
    spending: Spending | None = None,
) -> RoundReport:
    """Score every (scenario id, model id) of `cells`; each whole score is committed in a transaction of its own.

    With `only_where_needed` those are left out, and not reported, that are unscored or stale no longer.
    A model that cannot be scored is reported with its error and leaves nothing behind; the others go on. What was found
    out for it (vectors, answers) is kept. The round is recorded with how it ended, and so is every scoring of a model.
    Judges may spend what `budgets.judge_usd` allows, or what `spending` leaves where several rounds share it.
    """
    from resources.rounds import RoundStatus
    from resources.rounds import RoundTrigger as Trigger

    started = monotonic()
    warehouse = session.warehouse
    heads = _heads(session, cells, only_where_needed=only_where_needed)
    round_id = warehouse.open_round(
        trigger or Trigger.COMMAND, planned_models=len(heads), dagster_run_id=dagster_run_id
    )
    watch = _Watch(
        total=len(heads),
        on_progress=on_progress,
        on_settled=on_settled,
        round_id=round_id,
        spending=spending or Spending(limit_usd=session.workspace.config.budgets.judge_usd),
    )
    try:
        for chunk in _chunks(session, heads, watch):
            _score_chunk(session, chunk, watch)
    except BaseException as error:
        warehouse.close_round(round_id, RoundStatus.FAILED, problem=_words(error))
        raise
    report = RoundReport(models=tuple(watch.settled), texts=watch.texts, duration_seconds=monotonic() - started)
    problem = f"{len(report.failed)} of {len(heads)} models have no score" if report.failed else ""
    warehouse.close_round(round_id, RoundStatus.FAILED if problem else RoundStatus.DONE, problem=problem)
    return report


def _heads(session: Session, cells: Cells, *, only_where_needed: bool) -> dict[Cell, int | None]:
    """What to score, each with the id of the score that is its newest now; None where there is none.

    Whether a score is needed and which one it replaces are read together: between two readings another process could
    commit the same score, and it would be made twice.
    """
    scenario_ids = sorted({scenario_id for scenario_id, _ in cells})
    states = session.warehouse.cells(scenario_ids, sorted({model_id for _, model_id in cells}))
    found = {(one.scenario_id, one.model_id): one for one in states}
    heads = {cell: found[cell].head if cell in found else None for cell in sorted(cells)}
    return {
        cell: None if head is None else head.model_score_id
        for cell, head in heads.items()
        if not only_where_needed or (cell in found and found[cell].needs_scoring)
    }


def _chunks(session: Session, heads: Mapping[Cell, int | None], watch: _Watch) -> Iterator[list[Attempt]]:
    """Attempts on whole scenarios, as many at once as memory allows; what cannot begin is settled with its error."""
    chunk: list[Attempt] = []
    for scenario_id, group in groupby(heads, key=itemgetter(0)):
        watch.say(f"reading {scenario_id}")
        chunk += _begun(session, {cell: heads[cell] for cell in group}, watch)
        if sum(attempt.characters for attempt in chunk) > CHUNK_CHARACTERS:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _begun(session: Session, heads: Mapping[Cell, int | None], watch: _Watch) -> list[Attempt]:
    """Attempts on these cells of one scenario."""
    scenario_id, _ = next(iter(heads))
    try:
        preparation = session.preparation(scenario_id)
    except InputError as error:
        for cell in heads:
            watch.settle(_failure(cell, str(error)))
        return []
    recorded = session.warehouse.runs_of_many(list(heads))
    for cell in [cell for cell, runs in recorded.items() if not runs]:
        watch.settle(_failure(cell, "no runs are recorded; bring them in with `assay import`"))
        del recorded[cell]
    names = preparation.task.config.judge_models
    records = session.warehouse.open_scorings(watch.round_id, dict.fromkeys(recorded, names))
    attempts = [
        begin(cell, preparation, runs, replaces=heads[cell], record_id=records[cell]) for cell, runs in recorded.items()
    ]
    return beside_others(session, attempts)


def _score_chunk(session: Session, waiting: list[Attempt], watch: _Watch) -> None:
    found = FoundOut()
    with _committing(session, watch) as commits:
        while waiting:
            steps = [_step(session, attempt, found, commits, watch) for attempt in waiting]
            still_open = [attempt for attempt in steps if attempt is not None]
            with_texts = sorted((attempt for attempt in still_open if attempt.texts), key=_embedding_model)
            waiting = []
            for _, group in groupby(with_texts, key=_embedding_model):
                waiting += _embedded(session, list(group), found, watch)
            with_questions = [attempt for attempt in still_open if not attempt.texts]
            result = judged(session, with_questions, found, watch.spending, watch.say)
            for attempt, reason in result.failed:
                _give_up(session, attempt, reason, watch)
            waiting += result.able


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commits:
    """Commits that run beside the scoring of the next models: they mostly wait for disks."""

    session: Session
    watch: _Watch
    pool: ThreadPoolExecutor
    pending: dict[Future[int], Attempt]

    def begin(self, attempt: Attempt) -> None:
        """The attempt will be committed and settled; waits while too many others are."""
        scoring = attempt.scoring(self.watch.round_id)
        self.pending[self.pool.submit(self.session.warehouse.commit_model_score, scoring)] = attempt
        self.settle(most_pending=MOST_COMMITS_PENDING)

    def settle(self, *, most_pending: int) -> None:
        """What is committed is settled, and at most so many commits are left."""
        done = {future for future in self.pending if future.done()}
        while len(self.pending) - len(done) > most_pending:
            done |= wait(self.pending.keys() - done, return_when=FIRST_COMPLETED).done
        for future in done:
            attempt = self.pending.pop(future)
            try:
                score_id = future.result()
            except (InputError, OSError) as error:
                _give_up(self.session, attempt, words_of(error), self.watch)
            else:
                self.watch.settle(_success(attempt, score_id, _costs(self.session, attempt)))


@contextmanager
def _committing(session: Session, watch: _Watch) -> Iterator[_Commits]:
    with ThreadPoolExecutor(max_workers=COMMITTERS) as pool:
        commits = _Commits(session=session, watch=watch, pool=pool, pending={})
        yield commits
        commits.settle(most_pending=0)


def _embedding_model(attempt: Attempt) -> str:
    return attempt.embedding_model or ""


def _step(session: Session, attempt: Attempt, found: FoundOut, commits: _Commits, watch: _Watch) -> Attempt | None:
    """The attempt with what it now waits for; None where it has failed or is being committed."""
    watch.say(f"scoring {attempt.cell[0]}")
    try:
        attempt = advanced(attempt, found.known_to(attempt))
    except (InputError, EmbeddingError) as error:
        _give_up(session, attempt, str(error), watch)
        return None
    except Exception as error:  # a fault of ours in one output must not cost the other models theirs
        logging.getLogger(__name__).exception("scoring %s failed", " / ".join(attempt.cell))
        _give_up(session, attempt, f"a fault in the scoring itself: {_words(error)}", watch)
        return None
    if not attempt.is_whole:
        return attempt
    commits.begin(attempt)
    return None


def _give_up(session: Session, attempt: Attempt, error: str, watch: _Watch) -> None:
    """The attempt is settled without a score, and its record says why."""
    end = attempt.end()
    if end is not None:
        session.warehouse.fail_scoring(end, error)
    report = _failure(attempt.cell, error)
    costs = _costs(session, attempt)
    watch.settle(replace(report, questions=len(attempt.needed), cached=len(attempt.cached), judge=costs))


def _costs(session: Session, attempt: Attempt) -> JudgeCosts | None:
    if attempt.record_id is None or not attempt.preparation.task.has_judge:
        return None
    return session.warehouse.judge_costs(attempt.record_id)


def _embedded(session: Session, attempts: list[Attempt], found: FoundOut, watch: _Watch) -> list[Attempt]:
    """Those of these attempts, all of one embedding model, whose texts have their vectors now.

    One batch for the texts of all; where that fails, one for each model, so that a bad text costs one model.
    """
    name = attempts[0].embedding_model
    known = found.vectors.get(name, {})
    texts = list(dict.fromkeys(text for attempt in attempts for text in attempt.texts if text not in known))
    watch.texts += len(texts)

    def on_texts(done: int, total: int) -> None:
        watch.say(f"embedding {done} of {total} texts")

    try:
        found.vectors[name] = {**known, **_vectors(session, attempts[0], texts, on_texts)}
        return attempts
    except (EmbeddingServiceError, InputError) as error:
        if len(attempts) == 1:
            _give_up(session, attempts[0], str(error), watch)
            return []
    return _embedded_one_by_one(session, attempts, found, watch)


def _embedded_one_by_one(session: Session, attempts: list[Attempt], found: FoundOut, watch: _Watch) -> list[Attempt]:
    able: list[Attempt] = []
    failures = 0
    error = ""
    for attempt in attempts:
        if failures == FAILURES_IN_A_ROW:  # the service is down; asking on would only wait for it again and again
            _give_up(session, attempt, error, watch)
            continue
        known = found.vectors.get(attempt.embedding_model, {})
        try:
            found.vectors[attempt.embedding_model] = {**known, **_vectors(session, attempt, attempt.texts)}
        except (EmbeddingServiceError, InputError) as problem:
            failures, error = failures + 1, str(problem)
            _give_up(session, attempt, error, watch)
        else:
            failures = 0
            able.append(attempt)
    return able


def _vectors(
    session: Session, attempt: Attempt, texts: Sequence[str], on_texts: Callable[[int, int], None] | None = None
) -> Mapping[str, Vector]:
    return session.embeddings(attempt.preparation.embedding).vectors(texts, on_texts)


def _failure(cell: Cell, error: str) -> ModelReport:
    return ModelReport(scenario_id=cell[0], model_id=cell[1], error=error)


def _success(attempt: Attempt, score_id: int, costs: JudgeCosts | None) -> ModelReport:
    cards = attempt.cards.values()
    return ModelReport(
        scenario_id=attempt.cell[0],
        model_id=attempt.cell[1],
        runs=len(attempt.runs),
        failed_runs=sum(one.run.status is not RunStatus.OK for one in attempt.runs),
        unreadable_runs=sum(card.unreadable is not None for card in cards),
        quality=mean_of(card.scores.quality for card in cards),
        mode=attempt.mode,
        model_score_id=score_id,
        questions=len(attempt.needed),
        cached=len(attempt.cached),
        judge=costs,
    )


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
