import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scoring.reading import MAX_DEPTH, MAX_OUTPUT_BYTES, dumps, read_output
from scoring.records import Json, Reading, Unreadable

CASES = Path(__file__).parents[2] / ".." / "shared" / "cases" / "cases.jsonl"


def value_of(text: str) -> Any:
    read = read_output(text)
    assert isinstance(read, Reading), read
    return read.value


def kind_of(text: str) -> str:
    read = read_output(text)
    assert isinstance(read, Unreadable), read
    assert read.reason
    return read.kind


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}', " [1, 2.5, -0] \n", '"plain"', "null", "true", "12", '{"a": "x, y}"}', '{"a": "```json"}', "{}", "[]"],
)
def test_strict_json_is_read_without_repairs(text: str) -> None:
    assert read_output(text) == Reading(value=json.loads(text))


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}, "code fence removed"),
        ("```\n[1]\n```\n", [1], "code fence removed"),
        ('```json\n{"a": 1}', {"a": 1}, "code fence removed"),
        ('The `answer` follows.\n{"a": 1}\nHope that helps.', {"a": 1}, "text around the JSON left out"),
        ('Use {braces} well: {"a": 1}', {"a": 1}, "text around the JSON left out"),
        ('As said in [1] and [2, 3]: {"a": 1}', {"a": 1}, "text around the JSON left out"),
        ('{"a": 1} and again {"a": 1}', {"a": 1}, "text around the JSON left out"),
        ("The years are [1999, 2004].", [1999, 2004], "text around the JSON left out"),
        ('<think>maybe {"a": 2}</think>{"a": 1}', {"a": 1}, "reasoning before the answer left out"),
        ('\ufeff{"a": 1}', {"a": 1}, "byte order mark removed"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "trailing comma removed"),
        ("{'a': None, 'b': True, 'c': \"it's\"}", {"a": None, "b": True, "c": "it's"}, "Python literals read as JSON"),
        (r"{'a': 'it\'s \x41 \ud83d\ude00'}", {"a": "it's A 😀"}, "single quotes read as double quotes"),
        ('{a: 1, b_2: "x"}', {"a": 1, "b_2": "x"}, "quotes around keys added"),
        ('{"a": 1, // one\n "b": /* two */ 2}', {"a": 1, "b": 2}, "comments removed"),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, "line breaks or control characters inside strings kept"),
        ('{"a":\u00a01}', {"a": 1}, "unusual white space removed"),
        (r"""{"a": "it\'s"}""", {"a": "it's"}, "escapes read as Python writes them"),
        ('{"a": 1}}', {"a": 1}, "surplus closing bracket removed"),
        ('"{\\"a\\": 1}"', {"a": 1}, "JSON inside a JSON string read"),
    ],
)
def test_a_slip_with_one_reading_is_mended_and_said(text: str, value: Json, repair: str) -> None:
    read = read_output(text)
    assert isinstance(read, Reading), read
    assert read.value == value
    assert repair in read.repairs


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "invalid"),
        (" \n", "invalid"),
        ("I don't know.", "invalid"),
        ('```json\n{"items": ["alpha", "be', "truncated"),
        ('{"items": ["alpha", "beta"]', "truncated"),
        ('{"items": ["alpha", "be\n```', "truncated"),
        ('{"a": 1,', "truncated"),
        ('{"a":', "truncated"),
        ('{\n"response": "Hello there , but not ...}\n', "truncated"),
        ('{"a": 2}\nCorrected:\n{"a": 1}', "ambiguous"),
        ('{"a": 1}\n{"b": 1}', "ambiguous"),
        ("[1] or [2]", "ambiguous"),
        ('{"a": true} {"a": 1}', "ambiguous"),
        ('{"a": "x" "b": 2}', "invalid"),
        ('{"a": "said "no" to it"}', "invalid"),
        ("{'a': 'it's'}", "invalid"),
        ('{"a": 1,, "b": 2}', "invalid"),
        ('{"a": 1}, "b": 2}', "invalid"),
        ('"a": {"b": 1}', "invalid"),
        ('{"a": {"b": 1}}, {"c": 2}]', "ambiguous"),
        ('{result: {"a": 1} oops}', "invalid"),
        ('[[x, {"a": 1}', "invalid"),
        ('{"a": nul', "truncated"),
        ('{"a": -', "truncated"),
        ('{"a": 1.', "truncated"),
        ('{"a": 01}', "invalid"),
        ('{"a": .5}', "invalid"),
        ('{"a": undefined}', "invalid"),
        ('{"a": __import__("os")}', "invalid"),
        (r'{"a": "C:\Users"}', "invalid"),
        (r"{'a': '\U00110000'}", "invalid"),
        ("{“a”: 1}", "invalid"),
        ("{1: 2, 'a': {}}", "invalid"),
    ],
)
def test_what_is_not_certain_is_refused_with_its_kind(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_of_duplicate_keys_the_last_counts_and_is_reported() -> None:
    for text in ('{"a": 1, "b": {"a": 1, "a": 2}, "a": 3}', "{'a': 1, 'b': {'a': 1, 'a': 2}, 'a': 3}"):
        read = read_output(text)
        assert isinstance(read, Reading)
        assert read.value == {"a": 3, "b": {"a": 2}}
        assert read.problems == ("key 'a' is given more than once: the last one counts",)


def test_many_duplicate_keys_are_reported_in_few_words() -> None:
    read = read_output("{" + ",".join(f'"k{i}": 1, "k{i}": 2' for i in range(1000)) + "}")
    assert isinstance(read, Reading)
    assert len(read.problems) == 1
    assert "and 995 more" in read.problems[0]


@pytest.mark.parametrize(
    ("literal", "kept"),
    [("NaN", "NaN"), ("Infinity", "Infinity"), ("-Infinity", "-Infinity"), ("1e999", "1e999"), ("-1E+400", "-1E+400")],
)
@pytest.mark.parametrize("form", ['{{"a": {}, "b": 0.5}}', "{{'a': {}, 'b': 0.5}}"])
def test_what_is_no_finite_number_becomes_its_own_text(form: str, literal: str, kept: str) -> None:
    read = read_output(form.format(literal))
    assert isinstance(read, Reading)
    assert read.value == {"a": kept, "b": 0.5}
    assert read.problems
    assert json.loads(dumps(read.value)) == read.value


def test_big_integers_stay_exact_up_to_the_limit_and_are_text_beyond() -> None:
    assert value_of('{"a": 9007199254740993}')["a"] == 9007199254740993
    assert value_of('{"a": ' + "9" * 4000 + "}")["a"] == 10**4000 - 1
    read = read_output('{"a": ' + "9" * 100_000 + "}")
    assert isinstance(read, Reading)
    assert read.value == {"a": "9" * 100_000}
    assert read.problems == ("an integer of more than 4000 digits is no number here and kept as text",)


@pytest.mark.parametrize("text", ['{"name": "A\\ud800a"}', '{"name": "A\ud800a"}', "{'name': 'A\\ud800a'}"])
def test_a_lone_surrogate_becomes_visible_and_can_be_encoded(text: str) -> None:
    read = read_output(text)
    assert isinstance(read, Reading)
    assert read.value == {"name": "A\\ud800a"}
    assert read.problems
    assert dumps(read.value).encode("utf-8")


def test_surrogate_pairs_are_characters_and_no_problem() -> None:
    assert read_output('{"a": "\\ud83d\\ude00"}') == Reading(value={"a": "😀"})


@pytest.mark.parametrize("text", ['{"a\\u0000": "x\\u0000y"}', '{"a\x00": "x\x00y"}'])
def test_nul_characters_become_visible_in_keys_and_values(text: str) -> None:
    assert value_of(text) == {"a\\u0000": "x\\u0000y"}


@pytest.mark.parametrize("opening", ["[", '{"a": ', "[[", "{'a': ", '```json\n[{"a": '])
def test_a_thousand_levels_are_too_deep_and_never_a_recursion_error(opening: str) -> None:
    closing = "".join({"[": "]", "{": "}"}.get(char, "") for char in reversed(opening))
    for levels in (1_000, 100_000):
        assert kind_of(opening * levels + "1" + closing * levels) == "too_deep"
        assert kind_of(opening * levels) in ("too_deep", "truncated")


@pytest.mark.parametrize("prefix", ["", "Here: "])
def test_the_depth_limit_is_exact(prefix: str) -> None:
    assert value_of(prefix + "[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert kind_of(prefix + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == "too_deep"
    brackets_in_strings = json.dumps({"a": "[" * 10_000, "b": '\\"{' * 1000})
    assert value_of(prefix + brackets_in_strings) == json.loads(brackets_in_strings)


def test_the_size_limit_counts_bytes() -> None:
    assert kind_of('"' + "é" * (MAX_OUTPUT_BYTES // 2) + '"') == "too_large"


def test_ten_megabytes_are_read_whole() -> None:
    items = [{"name": f"item {i}", "value": i, "text": "x" * 60} for i in range(100_000)]
    assert value_of(json.dumps(items)) == items
    assert value_of(f"```json\n{json.dumps(items[:5_000])}\n```") == items[:5_000]


HOSTILE = (
    *("{", '{"', '"', '\\"', "[1 ", "[1,", "{}", "[x ", "'", "{/*", "```json\n", "{a:1}/*", "<think>", '"\\', "//"),
    *("{'a':1}{\"b\":", "[0//", '["', "{'", "[1] ", " ", "\ufeff", "{a", "]", "{a:", "[[1]x "),
)


@pytest.mark.parametrize("start", ["", "[", '"', "{'a': "])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_end_with_an_answer(text: str, start: str) -> None:
    assert isinstance(read_output(start + text * 20_000), Reading | Unreadable)


def test_brackets_without_end_in_prose_are_given_up_on() -> None:
    read = read_output("{, } " * 50_000 + '{"a": 1}')
    assert isinstance(read, Unreadable)
    assert "brackets that begin no JSON" in read.reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Dune Road", "Dune Road"),
        ('"Dune Road"', "Dune Road"),
        (" 12 \n", "12"),
        ("true", "true"),
        ("null", None),
        ('{"a": 1}', '{"a": 1}'),
        ('"{}"', "{}"),
        ("A\x00B", "A\\u0000B"),
    ],
)
def test_where_the_schema_wants_a_text_the_output_is_that_text(text: str, value: Json) -> None:
    read = read_output(text, is_text_root=True)
    assert isinstance(read, Reading)
    assert read.value == value


CLEAN = st.characters(exclude_characters="\x00", exclude_categories=["Cs"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(CLEAN, max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(CLEAN, max_size=5), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES)
def test_what_was_written_is_read_back(value: Json) -> None:
    read = read_output(dumps(value), is_text_root=isinstance(value, str))
    assert read == Reading(value=value)


@given(st.dictionaries(st.text(CLEAN, max_size=5), VALUES, max_size=4), st.sampled_from(["", "```json\n", "Sure! "]))
def test_python_literals_and_fences_change_nothing(value: dict[str, Json], before: str) -> None:
    assert value_of(f"{before}{value!r}\n```") == value


@given(st.text() | st.text(alphabet="{}[]\"':,\\/*1aTNe \n`"))
@example("{'\\")
@example('{"a":1e5//')
def test_no_text_raises(text: str) -> None:
    for is_text_root in (False, True):
        read = read_output(text, is_text_root=is_text_root)
        if isinstance(read, Reading):
            assert json.loads(dumps(read.value)) == read.value
            if not read.repairs and not is_text_root:
                json.loads(text)


@given(VALUES, st.data())
@settings(max_examples=50)
def test_a_text_cut_short_is_never_taken_for_whole(value: Json, data: st.DataObject) -> None:
    text = json.dumps({"a": value, "b": "end"})
    cut = data.draw(st.integers(1, len(text) - 1))
    assert kind_of(text[:cut]) == "truncated"


@given(st.dictionaries(st.text(), st.text() | st.floats(), max_size=4))
def test_any_value_can_be_written_as_strict_ascii_json(value: dict[str, Json]) -> None:
    text = dumps(value)
    assert text.isascii()
    assert "\\u0000" not in text.replace("\\\\u0000", "")
    json.dumps(json.loads(text), ensure_ascii=False, allow_nan=False).encode()


def _raw_cases() -> Iterator[tuple[str, str, dict[str, Any]]]:
    if not CASES.exists():
        return
    for line in CASES.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        for candidate in case["candidates"]:
            expected = case["expected"].get(candidate["name"]) if isinstance(case["expected"], dict) else None
            if "raw" in candidate and case["kind"] in ("parsing", "structure", "number") and expected:
                yield f"{case['id']}-{candidate['name']}", candidate["raw"], expected


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases stand beside the repository")
@pytest.mark.parametrize(("name", "raw", "expected"), list(_raw_cases()))
def test_the_shared_cases_are_read_or_refused_as_expected(name: str, raw: str, expected: dict[str, Any]) -> None:
    read = read_output(raw)
    assert isinstance(read, Unreadable) == ("error" in expected), name
