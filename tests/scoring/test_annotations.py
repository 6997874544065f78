import math

import pytest

from scoring.annotations import NOTHING, Annotation, annotation_of, merged
from scoring.errors import SchemaError
from scoring.records import Json, Kind, ListOrder


def test_all_keys_of_an_annotation_are_read() -> None:
    said: dict[str, Json] = {
        "kind": "prose",
        "weight": 2.5,
        "key": ["sku", "size"],
        "list": "sequence",
        "exact": True,
        "ignore": False,
    }
    assert annotation_of({"x-assay": said}, "/a") == Annotation(
        kind=Kind.PROSE,
        weight=2.5,
        keys=("sku", "size"),
        order=ListOrder.SEQUENCE,
        is_exact=True,
        is_ignored=False,
    )


def test_a_schema_without_annotation_says_nothing() -> None:
    assert annotation_of({"type": "string"}, "") is NOTHING


def test_one_key_may_be_written_without_a_list() -> None:
    assert annotation_of({"x-assay": {"key": "id"}}, "").keys == ("id",)


@pytest.mark.parametrize(
    ("said", "where", "words"),
    [
        ({"wieght": 1}, "/p/x-assay", ["'wieght'", "Did you mean 'weight'?"]),
        ({"kind": "numbr"}, "/p/x-assay/kind", ["'numbr'", "Did you mean 'number'?"]),
        ({"kind": None}, "/p/x-assay/kind", ["None", "Allowed are text, prose"]),
        ({"list": "ordered"}, "/p/x-assay/list", ["'ordered'", "set, sequence"]),
        ({"weight": -1}, "/p/x-assay/weight", ["-1", "0 or more"]),
        ({"weight": math.inf}, "/p/x-assay/weight", ["inf"]),
        ({"weight": math.nan}, "/p/x-assay/weight", ["nan"]),
        ({"weight": True}, "/p/x-assay/weight", ["True"]),
        ({"weight": "2"}, "/p/x-assay/weight", ["'2'"]),
        ({"key": []}, "/p/x-assay/key", ["name of a property"]),
        ({"key": [1]}, "/p/x-assay/key", ["[1]"]),
        ({"exact": "yes"}, "/p/x-assay/exact", ["true or false"]),
        ({"ignore": 1}, "/p/x-assay/ignore", ["true or false"]),
        ("prose", "/p/x-assay", ["Write an object"]),
    ],
)
def test_a_wrong_annotation_is_refused_with_its_place_and_the_nearest_name(
    said: Json, where: str, words: list[str]
) -> None:
    with pytest.raises(SchemaError) as refused:
        annotation_of({"x-assay": said}, "/p")
    text = str(refused.value)
    assert text.startswith(f"{where}: ")
    assert all(word in text for word in words)


def test_the_nearer_annotation_wins_where_both_say_something() -> None:
    far = Annotation(kind=Kind.TEXT, weight=3.0, keys=("a",), is_exact=True)
    near = Annotation(weight=0.0, is_exact=False)
    assert merged(far, near) == Annotation(kind=Kind.TEXT, weight=0.0, keys=("a",), is_exact=False)
