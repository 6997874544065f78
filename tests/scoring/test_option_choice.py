import pytest

from scoring.dialects import dialect_of
from scoring.fragments import options_of, root_fragment
from scoring.option_choice import best_option, json_type
from scoring.records import Json


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, None), (True, "boolean"), (1, "number"), (1.5, "number"), ("", "string"), ([], "array"), ({}, "object")],
)
def test_every_value_has_a_json_type(value: Json, name: str | None) -> None:
    assert json_type(value) == name


CIRCLE = {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["r"]}
SQUARE = {
    "type": "object",
    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
    "required": ["side"],
}
LABEL = {"type": "object", "properties": {"text": {"type": "string"}, "side": {"type": "string"}}}


@pytest.mark.parametrize(
    ("branches", "value", "index"),
    [
        ([CIRCLE, SQUARE], {"kind": "square", "r": 1}, 1),
        ([CIRCLE, SQUARE], {"side": 2}, 1),
        ([CIRCLE, SQUARE, LABEL], {"side": "left"}, 2),
        ([CIRCLE, SQUARE], {}, 0),
        ([CIRCLE, {"type": "string"}], "x", 1),
        ([CIRCLE, {"type": "string"}], 5, None),
        ([{"type": "string"}, {"enum": ["a", "b"]}], "b", 1),
        ([{"enum": ["a", "b"]}, {"type": "string"}], "c", 1),
        ([{"type": "string"}, {"type": "string", "format": "date"}], "2020-01-01", 1),
        ([{"type": "string", "format": "date"}, {"type": "string"}], "soon", 1),
        ([{"type": "integer"}, {"type": "array"}], 1.5, 0),
    ],
)
def test_a_value_chooses_the_branch_that_fits_best(branches: list[Json], value: Json, index: int | None) -> None:
    schema: Json = {"anyOf": branches}
    options = options_of([root_fragment(schema, dialect_of(schema)[1])])
    assert best_option(options, value) == index


def test_more_branches_than_the_limit_are_cut_and_never_multiply() -> None:
    many: Json = {"anyOf": [{"properties": {f"p{number}": {}}} for number in range(30)]}
    schema: Json = {"allOf": [many, many, many, many]}
    assert 1 <= len(options_of([root_fragment(schema, dialect_of(schema)[1])])) <= 256
