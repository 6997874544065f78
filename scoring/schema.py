"""A JSON Schema and a reference as one tree of nodes: what each place holds and how it is compared (SPEC 2 and 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from scoring.annotations import NOTHING, Annotation, annotation_of, merged
from scoring.conformance import Checker, checker_of, violations
from scoring.declarations import (
    declared_names,
    declares_properties,
    enum_values,
    is_nullable,
    item_names,
    keys_among,
    map_property,
    own_property,
    positional,
    rest_of,
    text_of,
    tuple_length,
)
from scoring.dialects import dialect_of
from scoring.evident_keys import evident_keys, label_of
from scoring.fragments import Fragment, Option, options_of, root_fragment
from scoring.kinds import kind_of, reads_as_number
from scoring.option_choice import best_option, json_type
from scoring.paths import extend
from scoring.records import DEFAULT_EMPTY_VALUES, Json, Kind, ListOrder, Origin, Setting
from scoring.schema_places import check_places
from scoring.type_text import type_text

__all__ = ["Checker", "Node", "Shape", "checker_of", "compile_schema", "violations"]


class Shape(StrEnum):
    """What a place holds. `any` is a place of which neither schema nor reference says anything."""

    LEAF = "leaf"
    OBJECT = "object"
    LIST = "list"
    ANY = "any"


_SHAPES = {"object": Shape.OBJECT, "array": Shape.LIST, None: Shape.ANY}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Node:
    """One place of the schema, seen together with all that the reference holds there.

    A place inside list items is one node for all items, so that its kind never depends on one item. `kind` and
    `kind_setting` matter for leaves (and say `text` elsewhere); `order`, `keys` and `label` for lists: the properties
    that identify an item (none where nothing does), and the property that names an item to people. `name` is the
    property's name, `*` for list items and map values, empty at the root. `is_outside_schema` marks a key that an
    object with declared properties does not declare. Children are made on first use and kept.
    """

    name: str
    place: str
    shape: Shape
    kind: Kind
    kind_setting: Setting
    weight: float
    weight_setting: Setting
    order: ListOrder
    keys: tuple[str, ...]
    keys_setting: Setting
    label: str | None
    is_exact: bool
    is_ignored: bool
    is_outside_schema: bool
    is_nullable: bool
    title: str
    description: str
    type_text: str
    enum_values: tuple[Json, ...]
    parent: Node | None
    _type: str | None
    _option: Option
    _options: tuple[Option, ...]
    _values: tuple[Json, ...]
    _memo: dict[object, Any] = field(default_factory=dict)

    @property
    def parents(self) -> tuple[Node, ...]:
        """The nodes above this one, the root first."""
        above: list[Node] = []
        node = self.parent
        while node is not None:
            above.append(node)
            node = node.parent
        return tuple(reversed(above))

    def for_value(self, value: Json) -> Node:
        """This place as it applies to one value: the fitting branch of a union, or a node inferred from the value.

        Hand in the reference's value where there is one, else the candidate's. The result has the shape of the value:
        an object for an object, a list for a list, a leaf for anything else; null gives this node itself.
        """
        found = json_type(value)
        if found is None or (found == self._type and len(self._options) == 1):
            return self
        return _variant(self, value, found)

    def properties(self) -> dict[str, Node]:
        """The declared properties in the schema's order; those of the reference where the schema declares none."""
        found: dict[str, Node] | None = self._memo.get(1)
        if found is None:
            names = list(declared_names(self._option)) or keys_among(self._values)
            found = self._memo[1] = {name: self.property(name) for name in names}
        return found

    def property(self, name: str) -> Node:
        """The node of any key: declared, matched by a pattern, one of a map, or outside the schema."""
        found: Node | None = self._memo.get(name)
        if found is None:
            found = _property_node(self, name)
        return found

    def item(self, index: int) -> Node:
        """The node of the item at this position, which is the same for all positions but those of a tuple."""
        items: tuple[list[Node], Node] | None = self._memo.get(0)
        if items is None:
            items = self._memo[0] = _item_nodes(self)
        positional, rest = items
        return positional[index] if index < len(positional) else rest


def compile_schema(schema: Json, reference: Json) -> Node:
    """The root node. Raises SchemaError, naming the JSON Pointer, for what is no JSON Schema, for a reference that does
    not resolve inside it, and for a wrong `x-assay` annotation. Nothing is fetched.
    """
    _, specification = dialect_of(schema)
    root = root_fragment(schema, specification)
    check_places(root)
    return _node("", "", (root,), (reference,), None)


def _node(
    name: str,
    place: str,
    fragments: Sequence[Fragment],
    values: Sequence[Json],
    parent: Node | None,
    *,
    is_outside_schema: bool = False,
) -> Node:
    options = options_of(fragments)
    held = tuple(value for value in values if value is not None)
    index = best_option(options, held[0]) if held and len(options) > 1 else 0
    option = options[0 if index is None else index]
    known = option.type or _common_type(option, held)
    return _build(name, place, option, known, options, held, parent, is_outside_schema)


def _build(
    name: str,
    place: str,
    option: Option,
    known: str | None,
    options: tuple[Option, ...],
    values: tuple[Json, ...],
    parent: Node | None,
    is_outside_schema: bool,
) -> Node:
    said = _annotation(option.fragments)
    shape = _SHAPES.get(known, Shape.LEAF)
    option = replace(option, type=known)
    kind, kind_setting = _kind(said, name, place, option, values)
    keys, keys_setting = _keys(said, name, option, shape, values)
    return Node(
        name=name,
        place=place,
        shape=shape,
        kind=kind,
        kind_setting=kind_setting,
        weight=1.0 if said.weight is None else said.weight,
        weight_setting=_setting(f"weight {1 if said.weight is None else said.weight:g}", said.weight is not None),
        order=said.order or (ListOrder.SEQUENCE if tuple_length(option) else ListOrder.SET),
        keys=keys,
        keys_setting=keys_setting,
        label=label_of(keys, item_names(option, values)) if shape is Shape.LIST else None,
        is_exact=bool(said.is_exact),
        is_ignored=bool(said.is_ignored),
        is_outside_schema=is_outside_schema,
        is_nullable=is_nullable(option.fragments),
        title=text_of(option, "title"),
        description=text_of(option, "description"),
        type_text=type_text(options, kind),
        enum_values=enum_values(option),
        parent=parent,
        _type=known,
        _option=option,
        _options=options,
        _values=values,
    )


def _variant(node: Node, value: Json, found: str) -> Node:
    if len(node._options) == 1 and node.shape is Shape.LEAF and _stays(node, value, found):
        return node
    index = best_option(node._options, value)
    key = (index, found)
    variant: Node | None = node._memo.get(key)
    if variant is None:
        held = tuple(other for other in node._values if _choice(node, other) == key)
        option = replace(node._options[index or 0], type=found)
        variant = node._memo[key] = _build(
            node.name, node.place, option, found, (option,), held, node.parent, node.is_outside_schema
        )
    return variant


def _choice(node: Node, value: Json) -> tuple[int | None, str | None]:
    return best_option(node._options, value), json_type(value)


def _stays(node: Node, value: Json, found: str) -> bool:
    if found in ("object", "array"):
        return False
    if node.kind not in (Kind.NUMBER, Kind.BOOLEAN) or not isinstance(value, str):
        return True
    return node.kind is Kind.BOOLEAN or reads_as_number(value)


def _common_type(option: Option, values: Sequence[Json]) -> str | None:
    if enum_values(option):
        return "string"
    types = {json_type(value) for value in values}
    return types.pop() if len(types) == 1 else None


def _property_node(node: Node, name: str) -> Node:
    own = tuple(own_property(node._option.fragments, name))
    if own:
        values = [value[name] for value in node._values if isinstance(value, dict) and name in value]
        made = _node(name, extend(node.place, name), own, values, node)
        node._memo[name] = made
        return made
    shared = tuple(map_property(node._option.fragments, name))
    return _map_node(node, shared) if shared else _undeclared_node(node, name)


def _map_node(node: Node, shared: tuple[Fragment, ...]) -> Node:
    """One node for all keys of a map that the same subschemas describe: such keys are data, not names."""
    key = tuple(id(fragment.schema) for fragment in shared)
    made: Node | None = node._memo.get(key)
    if made is None:
        made = node._memo[key] = _node("*", extend(node.place, "*"), shared, _map_values(node, key), node)
    return made


def _map_values(node: Node, key: tuple[int, ...]) -> list[Json]:
    fragments = node._option.fragments
    return [
        item
        for value in node._values
        if isinstance(value, dict)
        for name, item in value.items()
        if not any(own_property(fragments, name))
        and tuple(id(fragment.schema) for fragment in map_property(fragments, name)) == key
    ]


def _undeclared_node(node: Node, name: str) -> Node:
    if name not in _held_names(node):
        return _unheld_node(node, name)
    values = [value[name] for value in node._values if isinstance(value, dict) and name in value]
    is_outside = declares_properties(node._option)
    made = node._memo[name] = _node(name, extend(node.place, name), (), values, node, is_outside_schema=is_outside)
    return made


_HELD_NAMES, _UNHELD = object(), object()


def _held_names(node: Node) -> frozenset[str]:
    found: frozenset[str] | None = node._memo.get(_HELD_NAMES)
    if found is None:
        found = node._memo[_HELD_NAMES] = frozenset(keys_among(node._values))
    return found


def _unheld_node(node: Node, name: str) -> Node:
    """A key that only candidates hold: all such keys are alike but for their names, and there is no end to them."""
    model: Node | None = node._memo.get(_UNHELD)
    if model is None:
        is_outside = declares_properties(node._option)
        model = node._memo[_UNHELD] = _node("", node.place, (), (), node, is_outside_schema=is_outside)
    return replace(model, name=name, place=extend(node.place, name), _memo={})


def _item_nodes(node: Node) -> tuple[list[Node], Node]:
    fragments = node._option.fragments
    length = tuple_length(node._option)
    lists = [value for value in node._values if isinstance(value, list)]
    places: list[Node] = []
    for index in range(length):
        held = [items[index] for items in lists if index < len(items)]
        declared = [child for fragment in fragments for child in positional(fragment, index)]
        places.append(_node(str(index), extend(node.place, index), declared, held, node))
    rest = [child for fragment in fragments for child in rest_of(fragment)]
    held = [item for items in lists for item in items[length:]]
    return places, _node("*", extend(node.place, "*"), rest, held, node)


def _annotation(fragments: Sequence[Fragment]) -> Annotation:
    said = NOTHING
    for fragment in reversed(fragments):
        said = merged(said, annotation_of(fragment.schema, fragment.pointer))
    return said


def _kind(said: Annotation, name: str, place: str, option: Option, values: Sequence[Json]) -> tuple[Kind, Setting]:
    if said.kind is not None:
        return said.kind, _setting(f"kind {said.kind}", is_annotated=True)
    if option.type in ("object", "array"):
        return Kind.TEXT, _setting(option.type, is_annotated=False)
    held = [value for value in values if not _is_blank(value)]
    basis = kind_of(name, option, held, is_in_list="/*/" in place)
    return basis.kind, _setting(f"kind {basis.kind}: {basis.why}", is_annotated=False)


def _keys(
    said: Annotation, name: str, option: Option, shape: Shape, values: Sequence[Json]
) -> tuple[tuple[str, ...], Setting]:
    if shape is not Shape.LIST:
        return (), _setting("no list", is_annotated=False)
    items = [child for fragment in option.fragments for child in rest_of(fragment)]
    annotated = said.keys or next((found.keys for found in map(_own_annotation, items) if found.keys), ())
    if annotated:
        return annotated, _setting(f"key {', '.join(annotated)}", is_annotated=True)
    found = evident_keys(name, values)
    return found, _setting(
        f"key {found[0]}: identifies every reference item" if found else "no key", is_annotated=False
    )


def _own_annotation(fragment: Fragment) -> Annotation:
    return annotation_of(fragment.schema, fragment.pointer)


def _setting(text: str, is_annotated: bool) -> Setting:
    return Setting(text=text, origin=Origin.ANNOTATION if is_annotated else Origin.DEFAULT)


def _is_blank(value: Json) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _BLANKS


_BLANKS = frozenset({"", *DEFAULT_EMPTY_VALUES})
