"""A scenario made ready for scoring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scoring.conformance import checker_of
from scoring.records import Context, Json, ScoringConfig
from scoring.schema import compile_schema
from scoring.spots import Spot, grow


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything about one scenario that does not depend on a run. Make it with `prepare`.

    `check` says in words where a value breaks the schema.
    """

    root: Spot
    schema: Json
    reference: Json
    config: ScoringConfig
    context: Context
    check: Callable[[Json], list[str]]
    problems: tuple[str, ...]

    @property
    def has_judge(self) -> bool:
        """Whether a judge can be asked."""
        return bool(self.config.judge_models)


def prepare(*, schema: Json, reference: Json, config: ScoringConfig, context: Context | None = None) -> Task:
    """The task of one scenario; raises SchemaError where the schema is none or an annotation is wrong.

    A reference that breaks its own schema is no error: the task's `problems` say so, and what is there is compared.
    """
    check = checker_of(schema)
    return Task(
        root=grow(compile_schema(schema, reference), reference, config.empty_values),
        schema=schema,
        reference=reference,
        config=config,
        context=context or Context(),
        check=check,
        problems=tuple(f"the reference breaks its schema: {text}" for text in check(reference)),
    )
