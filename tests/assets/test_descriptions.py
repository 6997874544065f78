from __future__ import annotations

import json

import pytest

from assets.descriptions import MOST_BYTES, MOST_ROWS, cell_text, markdown_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (True, "yes"),
        (97.64999, "97.6"),
        (12345.678, "12,345.7"),
        (0.0238312, "0.02383"),
        (float("nan"), "-"),
        (float("inf"), "-"),
        (0.0, "0.0"),
        (-0.0238312, "-0.02383"),
        (3, "3"),
        ("a|b\nc", "a\\|b c"),
    ],
)
def test_a_cell_is_short_plain_and_never_nan(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_a_table_of_huge_values_stays_small_and_says_what_it_left_out() -> None:
    rows = [{"id": number, "text": "x" * 9_000_000} for number in range(MOST_ROWS + 5)]
    table = markdown_table(("id", "text"), rows)
    assert len(json.dumps(table.value)) < 65_536
    assert "5 more rows" in str(table.value)


def test_many_columns_of_letters_that_take_many_bytes_leave_out_rows_instead() -> None:
    columns = [f"column {number}" for number in range(13)]
    rows = [dict.fromkeys(columns, "\U0001f600" * 1_000) for _ in range(MOST_ROWS)]
    table = markdown_table(columns, rows)
    assert len(json.dumps(table.value)) <= MOST_BYTES + 100
    assert "more rows" in str(table.value)
