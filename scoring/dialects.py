"""Which draft of JSON Schema a document is written in, and whether it is one at all."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from jsonschema import (
    Draft3Validator,
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)
from jsonschema.exceptions import best_match
from referencing import Specification
from referencing.jsonschema import DRAFT3, DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

from scoring.errors import SchemaError
from scoring.paths import pointer_of
from scoring.plain_schemas import PLAIN_DRAFTS, is_plainly_valid
from scoring.records import Json

_DRAFTS: dict[str, tuple[Any, Specification[Any]]] = {
    "json-schema.org/draft/2020-12/schema": (Draft202012Validator, DRAFT202012),
    "json-schema.org/draft/2019-09/schema": (Draft201909Validator, DRAFT201909),
    "json-schema.org/draft-07/schema": (Draft7Validator, DRAFT7),
    "json-schema.org/draft-06/schema": (Draft6Validator, DRAFT6),
    "json-schema.org/draft-04/schema": (Draft4Validator, DRAFT4),
    "json-schema.org/draft-03/schema": (Draft3Validator, DRAFT3),
}
_NEWEST = "json-schema.org/draft/2020-12/schema"
_UNNAMED = (_NEWEST, "json-schema.org/draft-07/schema", "json-schema.org/draft-04/schema")


def dialect_of(schema: Json) -> tuple[Any, Specification[Any]]:
    """The validator class and the referencing rules for this schema.

    `$schema` decides; 2020-12 where it names no known draft. A schema without `$schema` that is wrong as 2020-12 but
    right as draft-07 or draft-04 is read as that (an `items` list, a boolean `exclusiveMinimum`). Raises SchemaError
    where it is no JSON Schema.
    """
    if not isinstance(schema, dict | bool):
        raise SchemaError(
            "the schema is no object", where="/", remedy="Write a JSON Schema, such as {'type': 'object'}."
        )
    try:
        return _DRAFTS[_draft_of(json.dumps(schema))]
    except RecursionError:
        raise SchemaError("the schema is nested too deep to be read", where="/", remedy="Flatten it.") from None


@lru_cache(maxsize=64)
def _draft_of(schema_text: str) -> str:
    schema: Json = json.loads(schema_text)
    named = schema.get("$schema") if isinstance(schema, dict) else None
    tried = [_key(named)] if isinstance(named, str) and _key(named) in _DRAFTS else list(_UNNAMED)
    if tried[0] in PLAIN_DRAFTS and is_plainly_valid(schema):
        return tried[0]
    for draft in tried:
        if _fault(schema, draft) is None:
            return draft
    fault = _fault(schema, tried[0])
    raise SchemaError(
        f"no valid JSON Schema ({fault.message[:200]})",
        where=pointer_of(fault.absolute_path) or "/",
        remedy=f"It is read as {tried[0]}.",
    )


def _key(named: str) -> str:
    return named.strip().removeprefix("https://").removeprefix("http://").rstrip("#")


def _fault(schema: Json, draft: str) -> Any:
    validator = _DRAFTS[draft][0]
    return best_match(validator(validator.META_SCHEMA).iter_errors(schema))
