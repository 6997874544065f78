"""What a JSON Schema says about one place, with references followed and combinations taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # it ships no types
from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

from scoring.errors import SchemaError
from scoring.paths import extend
from scoring.records import Json

MAX_OPTIONS = 256
"""More branches of one place than this are not told apart."""

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """One subschema: its keywords, what resolves its references, and its pointer in the schema document."""

    schema: dict[str, Json]
    resolver: Any
    specification: Specification[Any]
    pointer: str

    def below(self, child: Json, *steps: str | int) -> Fragment | None:
        """The subschema found under these steps; None where `child` is no object (a boolean schema says nothing)."""
        if not isinstance(child, dict):
            return None
        pointer = self.pointer
        for step in steps:
            pointer = extend(pointer, step)
        resolver = self.resolver
        resource = self.specification.create_resource(child)
        if resource.id() is not None:
            resolver = resolver.in_subresource(resource)
        return replace(self, schema=child, resolver=resolver, pointer=pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way a value may look: all fragments hold together. `type` is its one JSON type, None where none is said."""

    fragments: tuple[Fragment, ...]
    type: str | None


def root_fragment(schema: Json, specification: Specification[Any]) -> Fragment:
    """The fragment of the whole document; references resolve inside it and in the published meta-schemas only."""
    document = schema if isinstance(schema, dict) else {}
    resource = specification.create_resource(document)
    base = resource.id() or ""
    registry: Registry[Any] = REGISTRY.with_resource(base, resource)
    return Fragment(schema=document, resolver=registry.resolver(base), specification=specification, pointer="")


def options_of(fragments: Sequence[Fragment]) -> tuple[Option, ...]:
    """The options of a place, at most MAX_OPTIONS, `null` left out; never empty."""
    combined = [()] if not fragments else _product([_alternatives(fragment, frozenset()) for fragment in fragments])
    options = [option for alternative in combined for option in _by_type(tuple(alternative))]
    return tuple(islice(options, MAX_OPTIONS)) or (Option(fragments=tuple(fragments), type=None),)


def types_of(fragments: Sequence[Fragment]) -> tuple[str, ...]:
    """The JSON types that these fragments allow, `integer` read as `number`, `null` included; empty means any."""
    allowed: tuple[str, ...] = ()
    for fragment in fragments:
        named = _named_types(fragment.schema)
        if named:
            allowed = tuple(name for name in allowed if name in named) if allowed else named
    return allowed


def resolved(fragment: Fragment, keyword: str) -> Fragment:
    """What the reference under `keyword` leads to; raises SchemaError where it leads nowhere or to the network."""
    target = fragment.schema[keyword]
    where = extend(fragment.pointer, keyword)
    try:
        found = fragment.resolver.lookup(str(target))
    except (Unresolvable, ValueError) as error:
        raise SchemaError(
            f"{keyword} {target!r} cannot be resolved",
            where=where,
            remedy="Refer to a place inside this schema, such as '#/$defs/name'; nothing is ever fetched.",
        ) from error
    contents = found.contents if isinstance(found.contents, dict) else {}
    pointer = target[1:] if isinstance(target, str) and target.startswith("#/") else f"{where}"
    return replace(fragment, schema=contents, resolver=found.resolver, pointer=pointer)


def _alternatives(fragment: Fragment, seen: frozenset[int]) -> list[tuple[Fragment, ...]]:
    if id(fragment.schema) in seen:
        return [()]
    seen = seen | {id(fragment.schema)}
    parts: list[list[tuple[Fragment, ...]]] = [[(fragment,)]]
    parts += [_alternatives(resolved(fragment, name), seen) for name in REFERENCES if name in fragment.schema]
    parts += [_alternatives(part, seen) for part in _together(fragment)]
    for branches in _either(fragment):
        found = [alternative for branch in branches for alternative in _alternatives(branch, seen)]
        parts.append([one for one in found if types_of(one) != ("null",)] or [()])
    return _product(parts)


def _product(parts: list[list[tuple[Fragment, ...]]]) -> list[tuple[Fragment, ...]]:
    return [sum(choice, ()) for choice in islice(product(*parts), MAX_OPTIONS)]


def _together(fragment: Fragment) -> Iterator[Fragment]:
    for index, part in enumerate(_listed(fragment.schema.get("allOf"))):
        yield from _present(fragment.below(part, "allOf", index))
    for keyword in ("dependentSchemas", "dependencies"):
        for name, part in _named(fragment.schema.get(keyword)):
            yield from _present(fragment.below(part, keyword, name))


def _either(fragment: Fragment) -> Iterator[list[Fragment]]:
    for keyword in ("anyOf", "oneOf"):
        parts = _listed(fragment.schema.get(keyword))
        if parts:
            yield [_or_any(fragment, part, keyword, index) for index, part in enumerate(parts)]
    if "if" in fragment.schema and ("then" in fragment.schema or "else" in fragment.schema):
        yield [_conditional(fragment), _or_any(fragment, fragment.schema.get("else"), "else")]


def _conditional(fragment: Fragment) -> Fragment:
    both: dict[str, Json] = {"allOf": [fragment.schema.get("if", True), fragment.schema.get("then", True)]}
    return replace(fragment, schema=both, pointer=extend(fragment.pointer, "then"))


def _or_any(fragment: Fragment, part: Json, *steps: str | int) -> Fragment:
    return fragment.below(part, *steps) or replace(fragment, schema={})


def _by_type(fragments: tuple[Fragment, ...]) -> Iterator[Option]:
    types = [name for name in types_of(fragments) if name != "null"] or list(_implied_types(fragments))
    if not types:
        yield Option(fragments=fragments, type=None)
    for name in types:
        yield Option(fragments=fragments, type=name)


_IMPLIED = {
    "object": ("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("format", "pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}


def _implied_types(fragments: Sequence[Fragment]) -> Iterator[str]:
    if any("enum" in fragment.schema or "const" in fragment.schema for fragment in fragments):
        return
    for name, keywords in _IMPLIED.items():
        if any(keyword in fragment.schema for fragment in fragments for keyword in keywords):
            yield name


def _named_types(schema: dict[str, Json]) -> tuple[str, ...]:
    named = schema.get("type")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    found = ["number" if name == "integer" else str(name) for name in names]
    return tuple(dict.fromkeys(found))


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _named(value: Json) -> list[tuple[str, Json]]:
    return list(value.items()) if isinstance(value, dict) else []


def _present(fragment: Fragment | None) -> Iterator[Fragment]:
    if fragment is not None:
        yield fragment
