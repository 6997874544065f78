from typing import Any

import pytest

from scoring.kinds import is_iso_date, words_of
from scoring.records import Json, Kind
from scoring.schema import compile_schema

STRING = {"type": "string"}


def kind(name: str, schema: dict[str, Any], *values: Json) -> Kind:
    """The kind of one property, alone with one value or in the items of a list with several."""
    item: Json = {"type": "object", "properties": {name: schema}}
    if len(values) < 2:
        return compile_schema(item, {name: values[0]} if values else {}).property(name).kind
    reference: Json = [{name: value} for value in values]
    return compile_schema({"type": "array", "items": item}, reference).item(0).property(name).kind


def said(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


SENTENCES = "The ship sank in a storm. Nobody was saved from the cold water."


@pytest.mark.parametrize(
    ("expected", "name", "schema", "values"),
    [
        (Kind.NUMBER, "a", {"type": "integer"}, []),
        (Kind.NUMBER, "a", {"minimum": 0}, []),
        (Kind.NUMBER, "a", {"type": "number"}, ["12"]),
        (Kind.BOOLEAN, "a", {"type": "boolean"}, ["yes"]),
        (Kind.ENUM, "a", {"enum": ["x", "y"]}, ["x"]),
        (Kind.ENUM, "a", {"type": "integer", "enum": [1, 2]}, [1]),
        (Kind.BOOLEAN, "a", {"type": "boolean", "const": True}, [True]),
        (Kind.ENUM, "a", {"type": "string", "const": "x"}, []),
        (Kind.ENUM, "notes", {"type": ["string", "null"], "enum": ["x", None]}, []),
        (Kind.DATE, "a", {"type": "string", "format": "date"}, ["spring"]),
        (Kind.DATE, "a", {"type": "string", "format": "date-time"}, []),
        (Kind.DATE, "a", {"type": "string", "format": "time"}, []),
        (Kind.DATE, "a", {"format": "date"}, []),
        (Kind.DATE, "a", said("effective date in YYYY-MM-DD format"), []),
        (Kind.DATE, "a", said("date, ISO 8601"), ["June 2017"]),
        (Kind.TEXT, "a", said("date in YYYY-MM-DD, or 'ongoing'"), ["ongoing"]),
        (Kind.TEXT, "filename", said("file name with the date as YYYY-MM-DD"), ["report-2020-01-01.pdf"]),
        (Kind.DATE, "a", {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}, []),
        (Kind.DATE, "a", {"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-[0-9]{2}$"}, []),
        (Kind.DATE, "a", STRING, ["2020-02-29"]),
        (Kind.DATE, "a", STRING, ["2020-02-29", None, "n/a", "2021-01-01T10:00:00Z"]),
        (Kind.TEXT, "a", STRING, ["2020-02-29", "in spring"]),
        (Kind.TEXT, "a", STRING, ["2023-02-30"]),
        (Kind.DATE, "year", said("year of the battle"), ["333 BCE"]),
        (Kind.DATE, "paid", STRING, ["2011年07月05日"]),
        (Kind.DATE, "transactionTime", STRING, ["1:00:17 PM"]),
        (Kind.TEXT, "storeNumber", STRING, ["CA-1661"]),
        (Kind.TEXT, "commit", said("short commit hash"), ["12e4"]),
        (Kind.TEXT, "year", STRING, ["1999"]),
        (Kind.PROSE, "summary", STRING, []),
        (Kind.PROSE, "jobDescription", STRING, []),
        (Kind.PROSE, "notes", STRING, ["Stable."]),
        (Kind.PROSE, "description", STRING, ["A red boat"]),
        (Kind.TEXT, "description", STRING, ["A red boat", "Nut M8", "Bolt"]),
        (Kind.PROSE, "description", STRING, ["A red boat.", "It was the last boat.", "They left it there."]),
        (Kind.TEXT, "description_code", STRING, []),
        (Kind.PROSE, "s1", said("free-text summary"), ["A third thing happened."]),
        (Kind.PROSE, "a", said("A short description of the product"), []),
        (Kind.PROSE, "a", said("two or three sentences on the plot"), []),
        (Kind.TEXT, "a", said("the name as printed in the description column"), []),
        (Kind.PROSE, "a", {"type": "string", "maxLength": 500}, []),
        (Kind.TEXT, "a", {"type": "string", "maxLength": 80}, []),
        (Kind.PROSE, "a", STRING, [SENTENCES]),
        (Kind.PROSE, "a", STRING, ["short", SENTENCES, SENTENCES]),
        (Kind.TEXT, "a", STRING, ["short", "short", "short", SENTENCES]),
        (Kind.PROSE, "a", STRING, ["船は嵐で沈みました。誰も助かりませんでした。"]),
        (Kind.TEXT, "a", STRING, ["P.O. BOX 261131, Jebel Ali Free Zone, Dubai, U.A.E. Tel. 04 8815 Fax. 04 8816"]),
        (Kind.TEXT, "a", STRING, ["Dr. J. F. Kennedy Jr. vs. St. Mary Hospital Inc."]),
        (Kind.TEXT, "a", STRING, ["Harry Potter and the Order of the Phoenix"]),
        (Kind.IDENTIFIER, "a", {"type": "string", "format": "uuid"}, []),
        (Kind.IDENTIFIER, "a", {"type": "string", "format": "email"}, []),
        (Kind.IDENTIFIER, "a", {"type": "string", "format": "uri"}, []),
        (Kind.IDENTIFIER, "a", {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"}, []),
        (Kind.IDENTIFIER, "a", {"type": "string", "pattern": r"^\d{3}-\d{2}$"}, []),
        (Kind.TEXT, "a", {"type": "string", "pattern": "^.+$"}, []),
        (Kind.TEXT, "a", {"type": "string", "pattern": r"^\S.*\d?"}, []),
        (Kind.IDENTIFIER, "id", STRING, []),
        (Kind.IDENTIFIER, "vendorItemId", STRING, []),
        (Kind.IDENTIFIER, "isbn", STRING, []),
        (Kind.NUMBER, "id", {"type": "integer"}, []),
        (Kind.TEXT, "paid", STRING, []),
        (Kind.TEXT, "policyNumber", STRING, ["254H089SJ425"]),
        (Kind.NUMBER, "a", {}, [12]),
        (Kind.BOOLEAN, "a", {}, [True]),
        (Kind.TEXT, "a", {}, []),
    ],
)
def test_the_kind_comes_from_schema_and_reference(
    expected: Kind, name: str, schema: dict[str, Any], values: list[Json]
) -> None:
    assert kind(name, schema, *values) is expected


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vendorItemId", ("vendor", "item", "id")),
        ("vendor_item-ID", ("vendor", "item", "id")),
        ("HTTPUrl2", ("http", "url", "2")),
        ("Größe", ("größe",)),
        ("", ()),
    ],
)
def test_names_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize("text", ["2020-02-29", " 2020-02-29 ", "2020-02-29T10:00", "2020-02-29 10:00:00+02:00"])
def test_a_full_iso_date_is_one(text: str) -> None:
    assert is_iso_date(text)


@pytest.mark.parametrize("text", ["2023-02-29", "2020-02", "20-02-29", "2020-02-29x", "29-02-2020", ""])
def test_anything_less_is_no_iso_date(text: str) -> None:
    assert not is_iso_date(text)
