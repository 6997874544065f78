import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.errors import SchemaError
from scoring.records import Json, Kind, ListOrder, Origin
from scoring.schema import Node, Shape, compile_schema

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"


def root(schema: Json, reference: Json = None) -> Node:
    return compile_schema(schema, reference)


def of(properties: dict[str, Any], reference: Json = None, **more: Any) -> Node:
    return root({"type": "object", "properties": properties, **more}, reference)


def test_a_node_says_what_its_place_holds() -> None:
    node = of(
        {
            "year": {
                "type": ["integer", "null"],
                "title": "Year",
                "description": "Year of release",
                "x-assay": {"weight": 2, "exact": True},
            }
        }
    )
    year = node.property("year")
    assert (year.name, year.place, year.shape, year.kind) == ("year", "/year", Shape.LEAF, Kind.NUMBER)
    assert (year.title, year.description, year.type_text) == ("Year", "Year of release", "integer or null")
    assert (year.weight, year.is_exact, year.is_ignored, year.is_nullable) == (2.0, True, False, True)
    assert year.kind_setting.origin is Origin.DEFAULT
    assert year.weight_setting.origin is Origin.ANNOTATION
    assert year.parents == (node,)
    assert list(node.properties()) == ["year"]
    assert node.property("year") is year


def test_an_annotated_kind_wins_and_says_so() -> None:
    node = of({"d": {"type": "string", "format": "date", "x-assay": {"kind": "text"}}}).property("d")
    assert node.kind is Kind.TEXT
    assert node.kind_setting.origin is Origin.ANNOTATION


@pytest.mark.parametrize("keyword", ["$defs", "definitions"])
@pytest.mark.parametrize("draft", [None, "http://json-schema.org/draft-07/schema#"])
def test_references_are_followed_and_texts_beside_them_are_nearer(keyword: str, draft: str | None) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {"home": {"$ref": f"#/{keyword}/address", "description": "where they live"}},
        keyword: {
            "address": {"type": "object", "description": "an address", "properties": {"zip": {"type": "string"}}}
        },
    }
    if draft:
        schema["$schema"] = draft
    home = root(schema).property("home")
    assert home.shape is Shape.OBJECT
    assert home.description == "where they live"
    assert home.property("zip").kind is Kind.TEXT


def test_a_recursive_schema_unfolds_as_far_as_it_is_walked() -> None:
    schema: Json = {
        "$ref": "#/$defs/part",
        "$defs": {
            "part": {
                "type": "object",
                "properties": {"n": {"type": "number"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}}},
            }
        },
    }
    node = root(schema, {"n": 1})
    for _ in range(300):
        node = node.property("parts").item(0)
    assert node.property("n").kind is Kind.NUMBER


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"anyOf": [{"$ref": "#"}, {"type": "string"}]}],
    ids=["itself", "all", "any"],
)
def test_a_reference_to_itself_ends(schema: Json) -> None:
    assert root(schema, "text").for_value("text").kind is Kind.TEXT


def test_all_of_is_one_object() -> None:
    node = root(
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "string", "description": "A"}}},
                {"properties": {"b": {"type": "number"}, "a": {"format": "date"}}},
            ],
            "properties": {"c": {"type": "boolean"}},
        }
    )
    assert list(node.properties()) == ["c", "a", "b"]
    assert [child.kind for child in node.properties().values()] == [Kind.BOOLEAN, Kind.DATE, Kind.NUMBER]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_nullable_union_is_its_other_branch(keyword: str) -> None:
    node = of({"a": {keyword: [{"type": "null"}, {"type": "number"}]}}).property("a")
    assert (node.shape, node.kind, node.is_nullable) == (Shape.LEAF, Kind.NUMBER, True)
    assert node.type_text == "number or null"


def test_a_union_takes_the_branch_of_the_value() -> None:
    person = {"type": "object", "properties": {"type": {"const": "person"}, "born": {"type": "string"}}}
    firm = {"type": "object", "properties": {"type": {"const": "firm"}, "staff": {"type": "number"}}}
    items = {"type": "array", "items": {"anyOf": [person, firm, {"type": "string"}]}}
    ada: Json = {"type": "person", "born": "1815-12-10"}
    item = (
        of({"owners": items}, {"owners": [{"type": "firm", "staff": 5}, ada, "unknown owner"]})
        .property("owners")
        .item(0)
    )
    assert list(item.for_value({"type": "firm"}).properties()) == ["type", "staff"]
    assert item.for_value(ada).property("born").kind is Kind.DATE
    assert item.for_value("someone").kind is Kind.TEXT
    assert item.for_value(ada) is item.for_value({"type": "person", "x": 1})
    assert item.for_value(None) is item


def test_a_union_of_scalars_takes_the_type_of_the_value() -> None:
    node = of({"a": {"type": ["number", "string", "boolean"]}}, {"a": 12}).property("a")
    assert node.kind is Kind.NUMBER
    assert [node.for_value(value).kind for value in (1, "x", True)] == [Kind.NUMBER, Kind.TEXT, Kind.BOOLEAN]


def test_if_then_else_are_branches() -> None:
    schema: Json = {
        "type": "object",
        "if": {"properties": {"unit": {"const": "day"}}, "required": ["unit"]},
        "then": {"properties": {"length": {"type": "integer"}}},
        "else": {"properties": {"length": {"type": "string"}}},
    }
    node = root(schema, {"unit": "day", "length": 3})
    assert node.for_value({"unit": "day", "length": 3}).property("length").kind is Kind.NUMBER
    assert node.for_value({"unit": "word", "length": "x"}).property("length").kind is Kind.TEXT


@pytest.mark.parametrize(
    "keywords",
    [
        {"prefixItems": [{"type": "string"}, {"type": "number"}], "items": {"type": "boolean"}},
        {"items": [{"type": "string"}, {"type": "number"}], "additionalItems": {"type": "boolean"}},
    ],
    ids=["2020-12", "draft-07"],
)
def test_a_tuple_is_a_sequence_with_a_node_for_each_place(keywords: dict[str, Json]) -> None:
    node = of({"t": {"type": "array", **keywords}}, {"t": ["a", 1, True]}).property("t")
    assert node.order is ListOrder.SEQUENCE
    assert [node.item(index).kind for index in range(4)] == [Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN, Kind.BOOLEAN]
    assert node.item(2) is node.item(3)


def test_all_items_of_a_list_are_one_node() -> None:
    node = of({"l": {"type": "array", "items": {"type": "string"}, "x-assay": {"list": "sequence"}}}).property("l")
    assert node.item(0) is node.item(9_999)
    assert node.order is ListOrder.SEQUENCE
    assert of({"l": {"type": "array"}}).property("l").order is ListOrder.SET


def test_the_keys_of_a_map_share_one_node() -> None:
    node = of(
        {
            "m": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "patternProperties": {"^n_": {"type": "number"}},
            }
        },
        {"m": {"a": "2001-01-01", "b": "2002-02-02", "n_1": 3}},
    ).property("m")
    assert node.property("a") is node.property("never seen")
    assert node.property("a").kind is Kind.DATE
    assert node.property("n_7").kind is Kind.NUMBER
    assert not node.property("zzz").is_outside_schema
    assert list(node.properties()) == ["a", "b", "n_1"]


def test_a_key_that_is_not_declared_lies_outside() -> None:
    node = of({"a": {"type": "string"}}, {"a": "x", "b": 5})
    assert node.property("b").is_outside_schema
    assert node.property("b").kind is Kind.NUMBER
    assert node.property("c").is_outside_schema
    assert node.property("c").shape is Shape.ANY
    assert not node.property("a").is_outside_schema
    assert root({"type": "object", "additionalProperties": False}).property("x").is_outside_schema


@pytest.mark.parametrize("schema", [{}, True, {"type": "object"}, {"description": "anything"}], ids=str)
def test_where_the_schema_says_nothing_the_reference_does(schema: Json) -> None:
    node = root(schema, {"name": "Ada", "born": "1815-12-10", "children": [{"age": 3}, {"age": None}], "m": None})
    assert node.shape is Shape.OBJECT
    assert {name: child.shape for name, child in node.properties().items()} == {
        "name": Shape.LEAF,
        "born": Shape.LEAF,
        "children": Shape.LIST,
        "m": Shape.ANY,
    }
    assert node.property("born").kind is Kind.DATE
    assert node.property("children").item(0).property("age").kind is Kind.NUMBER
    assert not node.property("new").is_outside_schema
    assert (
        node.property("m").for_value([{"x": 1}]).item(0).for_value({"x": 1}).property("x").for_value(1).kind
        is Kind.NUMBER
    )


def test_a_reference_that_breaks_its_schema_is_read_as_what_it_is() -> None:
    item = {"type": "object", "properties": {"title": {"type": "string"}}}
    node = of({"citations": {"type": "array", "items": item}}, {"citations": ["Berg, 'On Rain', 2001"]})
    place = node.property("citations").item(0)
    assert place.shape is Shape.OBJECT
    assert place.for_value("Berg, 'On Rain', 2001").shape is Shape.LEAF
    assert place.for_value("Berg").kind is Kind.TEXT
    assert place.for_value({"title": "On Rain"}) is place
    number = of({"n": {"type": "number"}}, {"n": "about twelve"}).property("n")
    assert number.for_value("about twelve").kind is Kind.TEXT
    assert number.for_value("12 kg").kind is Kind.NUMBER
    text = of({"t": {"type": "string"}}, {"t": {"a": [1]}}).property("t")
    assert text.for_value({"a": [1]}).property("a").item(0).kind is Kind.NUMBER
    assert text.for_value([1]).item(0).for_value(1).kind is Kind.NUMBER


def test_the_candidate_never_changes_a_kind() -> None:
    node = of({"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "string"}}}, {"a": "x", "l": ["x"]})
    before = [node.property("a").kind, node.property("l").item(0).kind]
    long = "It rained for a whole week. Then the river rose over the banks."
    for value in (long, "2001-01-01", "u@example.org"):
        assert node.property("a").for_value(value).kind is before[0]
        assert node.property("l").item(0).for_value(value).kind is before[1]


def test_keys_are_annotated_or_evident() -> None:
    item = {"type": "object", "properties": {"sku": {"type": "string"}, "name": {"type": "string"}}}
    reference: Json = {"l": [{"sku": "a", "name": "Nut"}, {"sku": "b", "name": "Bolt"}]}
    evident = of({"l": {"type": "array", "items": item}}, reference).property("l")
    assert (evident.keys, evident.label, evident.keys_setting.origin) == (("sku",), "name", Origin.DEFAULT)
    for schema in (
        {"type": "array", "items": item, "x-assay": {"key": "name"}},
        {"type": "array", "items": {**item, "x-assay": {"key": ["name"]}}},
    ):
        annotated = of({"l": schema}, reference).property("l")
        assert (annotated.keys, annotated.keys_setting.origin) == (("name",), Origin.ANNOTATION)


@pytest.mark.parametrize(
    ("schema", "where", "words"),
    [
        (5, "/", "no object"),
        ({"type": "strng"}, "/type", "no valid JSON Schema"),
        ({"properties": {"a": {"type": 5}}}, "/properties/a/type", "no valid JSON Schema"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "/properties/a/$ref", "cannot be resolved"),
        (
            {"properties": {"a": {"$ref": "https://example.org/s.json"}}},
            "/properties/a/$ref",
            "nothing is ever fetched",
        ),
        ({"$defs": {"a/b": {"x-assay": {"wieght": 2}}}}, "/$defs/a~1b/x-assay", "weight"),
        ({"items": {"anyOf": [{}, {"x-assay": {"list": "bag"}}]}}, "/items/anyOf/1/x-assay/list", "sequence"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_its_place(schema: Json, where: str, words: str) -> None:
    with pytest.raises(SchemaError) as refused:
        root(schema)
    assert str(refused.value).startswith(f"{where}: ")
    assert words in str(refused.value)


def test_a_schema_nested_too_deep_is_refused() -> None:
    schema: dict[str, Json] = {}
    for _ in range(5_000):
        schema = {"items": schema}
    with pytest.raises(SchemaError, match="nested too deep"):
        root(schema)


def test_a_property_named_like_a_keyword_is_a_property() -> None:
    names = ("$ref", "type", "properties", "items", "x-assay", "enum", "$id", "required")
    node = of({name: {"type": "number"} for name in names})
    assert all(node.property(name).kind is Kind.NUMBER for name in names)


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.org/a", "$ref": "#/$defs/s", "$defs": {"s": {"type": "number"}}},
        {"$ref": "#named", "$defs": {"s": {"$anchor": "named", "type": "number"}}},
        {"$ref": "inner", "$id": "https://example.org/", "$defs": {"s": {"$id": "inner", "type": "number"}}},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "number",
            "minimum": 1,
            "exclusiveMinimum": True,
        },
        {"type": "number", "minimum": 1, "exclusiveMinimum": True},
        {"$schema": "https://example.org/house-style", "type": "number"},
        {"$dynamicRef": "#n", "$defs": {"s": {"$dynamicAnchor": "n", "type": "number"}}},
    ],
    ids=["$id", "anchor", "embedded", "draft-04", "draft-04 unnamed", "unknown draft", "dynamic"],
)
def test_every_way_of_saying_number_is_a_number(schema: Json) -> None:
    assert root(schema).kind is Kind.NUMBER


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
SCHEMAS: list[Json] = [
    {},
    {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}, "b": {"type": "string"}}},
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}, {"type": "null"}]},
    {
        "type": ["object", "array", "boolean"],
        "additionalProperties": {"type": "number"},
        "items": {"enum": ["a", None]},
    },
    {"type": "array", "prefixItems": [{"type": "string"}]},
]


def walk(node: Node, value: Json) -> Iterator[Node]:
    here = node.for_value(value)
    yield here
    if isinstance(value, dict):
        for name, item in value.items():
            yield from walk(here.property(name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(here.item(index), item)


@given(st.sampled_from(SCHEMAS), JSON_VALUES, JSON_VALUES)
def test_any_value_can_be_walked_beside_any_reference(schema: Json, reference: Json, value: Json) -> None:
    node = root(schema, reference)
    for document in (reference, value):
        for here in walk(node, document):
            assert here.type_text
            assert here.parents[:1] in ((), (node,)) or here.parents[0].place == ""


@given(st.sampled_from(SCHEMAS), JSON_VALUES)
def test_the_shape_is_that_of_the_value(schema: Json, value: Json) -> None:
    shapes = {dict: Shape.OBJECT, list: Shape.LIST}
    node = root(schema, value).for_value(value)
    if value is not None:
        assert node.shape is shapes.get(type(value), Shape.LEAF)


def _pairs() -> Iterator[tuple[str, Path, Path]]:
    for schema in sorted((SHARED / "docubench" / "schema").glob("*.json")):
        yield schema.stem, schema, SHARED / "docubench" / "reference" / schema.name
    for schema in (SHARED / "extractbench_academic" / "schema").glob("*.json"):
        for reference in sorted((SHARED / "extractbench_academic" / "reference").glob("*.json")):
            yield reference.stem, schema, reference


@pytest.mark.skipif(not SHARED.exists(), reason="the shared data stand beside the repository")
@pytest.mark.parametrize(("name", "schema", "reference"), list(_pairs()))
def test_real_schemas_compile_with_their_references(name: str, schema: Path, reference: Path) -> None:
    gold = json.loads(reference.read_text(encoding="utf-8"))
    node = compile_schema(json.loads(schema.read_text(encoding="utf-8")), gold)
    leaves = [here for here in walk(node, gold) if here.shape is Shape.LEAF]
    assert leaves, name
    for leaf in leaves:
        if "YYYY-MM-DD" in leaf.description or leaf.type_text == "string (date)":
            assert leaf.kind in (Kind.DATE, Kind.PROSE), leaf.place
        if leaf.name == "abstract":
            assert leaf.kind is Kind.PROSE
        if "ddress" in leaf.name or leaf.name == "title":
            assert leaf.kind is Kind.TEXT, leaf.place
