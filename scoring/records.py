"""Every record and enum of the core.

All records are frozen, slotted and keyword-only. Nothing in this package reads a network, a database, a file, a clock
or an environment: the core takes these records and returns these records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Vector = npt.NDArray[np.float32]


class Kind(StrEnum):
    """What a leaf of the schema holds; decides which rungs apply (SPEC 2 and 3)."""

    TEXT = "text"
    PROSE = "prose"
    NUMBER = "number"
    DATE = "date"
    BOOLEAN = "boolean"
    ENUM = "enum"
    IDENTIFIER = "identifier"


class Rung(StrEnum):
    """The step of the ladder that decided a field."""

    EXACT = "exact"
    NORMALIZED = "normalized"
    CALENDAR = "calendar"
    VARIANT = "variant"
    EMBEDDING = "embedding"
    JUDGE = "judge"
    MISSING = "missing"
    EXTRA = "extra"


class Outcome(StrEnum):
    """How a field ended."""

    MATCH = "match"
    PARTIAL = "partial"
    MISMATCH = "mismatch"
    MISSING = "missing"
    EXTRA = "extra"
    EMPTY = "empty"


class Side(StrEnum):
    """Whose document a path points into."""

    REFERENCE = "reference"
    CANDIDATE = "candidate"


class Mode(StrEnum):
    """How much of the ladder a round had: `exact_only` means that no embedding model was configured."""

    FULL = "full"
    EXACT_ONLY = "exact_only"


class ListOrder(StrEnum):
    """Whether a list is compared as a set (default) or in order."""

    SET = "set"
    SEQUENCE = "sequence"


class Origin(StrEnum):
    """Where a setting came from, nearest last."""

    DEFAULT = "default"
    ORGANISATION = "assay.yaml"
    SCENARIO = "scenario"
    ANNOTATION = "schema annotation"


class RunStatus(StrEnum):
    """How one repetition of one model ended. Only `ok` runs are scored; the others count in the success rate."""

    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting that decided something, in words for the field row, e.g. `strictness normal (cosine >= 0.97)`."""

    text: str
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Cosine limits of the embedding rung: `same` and above match, from `undecided` up to `same` the judge decides.

    Both lie in -1..1 and `undecided <= same`. `setting` says what they were derived from.
    """

    same: float
    undecided: float
    setting: Setting


DEFAULT_EMPTY_VALUES: tuple[str, ...] = (
    "n/a",
    "na",
    "n.a.",
    "none",
    "null",
    "nil",
    "unknown",
    "not available",
    "not applicable",
    "not specified",
    "not stated",
    "not provided",
    *("-", "--", "—", "?"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringConfig:
    """How one scenario is scored; the same for every model of it and never chosen at scoring time (SPEC 3).

    `embedding_model` is None in `exact_only` rounds, and `cutoffs` is None exactly then. `judge_models` is empty
    without a judge, holds one name for a single judge and two or more for a panel.
    """

    embedding_model: str | None = None
    cutoffs: Cutoffs | None = None
    judge_models: tuple[str, ...] = ()
    is_judge_swapped: bool = False
    empty_values: tuple[str, ...] = DEFAULT_EMPTY_VALUES
    accepted: Mapping[str, Sequence[Json]] = field(default_factory=dict)

    @property
    def mode(self) -> Mode:
        """`full` with an embedding model, else `exact_only`."""
        return Mode.EXACT_ONLY if self.embedding_model is None else Mode.FULL


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One source document of a scenario as text. `name` is its file name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What surrounds a scenario's values: only the judge and contested values look at it."""

    task: str = ""
    entity: str = ""
    documents: tuple[Document, ...] = ()
    examples: tuple[Json, ...] = ()
    other_outputs: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a model's recorded output holds.

    `value` is the JSON value. `repairs` says in words what was mended (empty for strict JSON), `problems` what was seen
    and left alone (duplicate keys, NaN read as no number, ...).
    """

    value: Json
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An output that is no JSON and cannot be mended with certainty; its run scores 0 with this reason."""

    kind: str
    reason: str


class QuestionKind(StrEnum):
    """`compare` two values, or `verify` one value where the reference is empty."""

    COMPARE = "compare"
    VERIFY = "verify"


class Verdict(StrEnum):
    """What the judge may say. The first six answer `compare`, the last three `verify`."""

    BOTH_CORRECT = "both_correct"
    A_BETTER = "a_better"
    B_BETTER = "b_better"
    A_WRONG = "a_wrong"
    B_WRONG = "b_wrong"
    BOTH_WRONG = "both_wrong"
    CORRECT = "correct"
    WRONG = "wrong"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One blind question for the judge.

    `question_id` is a hash of all that the judge sees and of nothing else, so that equal questions are one question.
    `message` is the JSON text of the user message. `path` tells people where it arose; the judge's own view of the
    place stands in the message.
    """

    question_id: str
    kind: QuestionKind
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A judge's answer to one question. `credit` is 0..1 for the weaker value; `reason` is one sentence.

    Where several votes were combined (a panel, both orders), `votes` counts them and `worths` holds what A and B are
    each worth, 0..1, which then counts instead of verdict and credit; `is_position_conflict` says that a verdict
    flipped with the order of the two values.
    """

    verdict: Verdict
    credit: float
    basis: str
    reason: str
    worths: tuple[float, float] | None = None
    votes: int = 1
    is_position_conflict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the caller has found out so far.

    `vectors` maps a text exactly as it stood in `Open.texts` to its unit vector (float32, any one length). `answers`
    maps a `question_id` to the judge's answer.
    """

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """What must be answered before there is a score: distinct texts to embed, distinct questions to judge.

    At least one of the two is not empty. Questions are only asked once no text is open, since vectors decide pairings.
    """

    texts: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldScore:
    """One row a compared leaf (or unpaired list item, or structural mismatch).

    `path` is a JSON Pointer into the document of `side`; leaves of a paired item stand under the reference's index.
    `kind` is a `Kind`, or `list`/`object` where a whole subtree is reported at once. The weights are this row's share
    of the totals of SPEC 5: E += reference_weight, G += candidate_weight, B += shared_weight and
    C += shared_weight * credit.
    `similarity` is the cosine where one was computed, else None. `reason` says why the outcome is not better, empty for
    a match. `setting` is what decided, where one did. `is_contested` marks a value that went to the judge as contested.
    `list_path` is the pointer of the innermost list the row belongs to, else None.
    """

    path: str
    side: Side
    kind: str
    outcome: Outcome
    rung: Rung | None
    credit: float
    similarity: float | None
    reference: Json
    candidate: Json
    reference_weight: float
    candidate_weight: float
    shared_weight: float
    reason: str = ""
    setting: Setting | None = None
    question_id: str | None = None
    is_contested: bool = False
    list_path: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListScore:
    """One row a compared list. `matched` counts pairs; precision, recall and f1 lie in 0..1 (1 for two empty lists).

    `missed` holds reference items without partner, `extra` candidate items without partner, `duplicates` how many of
    those are surplus copies of an item, `hallucinated` those of `extra` that no judge confirmed. Items are as given.
    """

    path: str
    order: ListOrder
    matched: int
    missed: tuple[Json, ...]
    extra: tuple[Json, ...]
    hallucinated: tuple[Json, ...]
    duplicates: int
    precision: float
    recall: float
    f1: float


class Evidence(StrEnum):
    """Why the reference should change, strongest first (SPEC 7)."""

    EXAMPLE = "example"
    REFERENCE_WRONG = "reference_wrong"
    BETTER = "better"
    FILLED_GAP = "filled_gap"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Recorded evidence that the reference should change at `path`.

    `has_proposal` is False for a value found wrong without a right one; such a finding is shown and edits nothing.
    """

    path: str
    evidence: Evidence
    has_proposal: bool
    proposal: Json
    question_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The four scores of one run, each 0..100 and never NaN, with the weights they come from (SPEC 5)."""

    quality: float
    completeness: float
    correctness: float
    hallucination: float
    reference_weight: float
    candidate_weight: float
    shared_weight: float
    earned_weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """A whole score of one run. `problems` are things a person should know (repairs, schema violations, ...)."""

    scores: Scores
    mode: Mode
    fields: tuple[FieldScore, ...]
    lists: tuple[ListScore, ...]
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
    unreadable: Unreadable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A candidate under test. Prices are USD per million tokens; None means unknown, never free."""

    model_id: str
    provider: str = ""
    name: str = ""
    family: str = ""
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One repetition of one model on one scenario, recorded for good.

    `repetition` counts from 1. `output` is the text as the model gave it (JSON values are kept as their JSON text),
    None for a failed run. `cost_usd`, `duration_seconds` and the token counts are None where nobody recorded them.
    """

    scenario_id: str
    model_id: str
    repetition: int
    status: RunStatus
    output: str | None
    duration_seconds: float | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str | None = None
