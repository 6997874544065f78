import pytest

from scoring.records import Json
from scoring.schema import compile_schema


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date"}, "string (date)"),
        ({"type": "integer"}, "integer"),
        ({"type": ["number", "null"]}, "number or null"),
        ({"type": "string", "nullable": True}, "string or null"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}, "string or integer or null"),
        ({"type": "array", "items": {"type": "string"}}, "array of string"),
        ({"type": "array", "items": {"type": ["string", "number"]}}, "array of string or number"),
        ({"type": "array"}, "array"),
        ({"type": "object"}, "object"),
        ({"enum": ["a", 1, None]}, 'one of "a", 1 or null'),
        ({"const": "é"}, 'one of "é"'),
        ({"enum": [str(number) for number in range(30)]}, None),
        ({}, "any"),
    ],
)
def test_a_type_is_said_in_words(schema: Json, text: str | None) -> None:
    found = compile_schema(schema, None).type_text
    assert found == text if text else found.endswith("and 10 more")
