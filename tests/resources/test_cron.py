from __future__ import annotations

import pytest
from dagster._utils.schedules import is_valid_cron_string
from hypothesis import given
from hypothesis import strategies as st

from resources.cron import cron_of, timezone_problem

_NUMBER = st.one_of(st.integers(0, 70).map(str), st.sampled_from(["*", "jan", "MON", "sun", "L", "?"]))
_PART = st.one_of(_NUMBER, st.tuples(_NUMBER, _NUMBER).map("-".join), _NUMBER.map(lambda n: f"{n}/5"))
_FIELD = st.lists(_PART, min_size=1, max_size=3).map(",".join)


@given(st.lists(_FIELD, min_size=5, max_size=5).map(" ".join))
def test_what_is_accepted_dagster_accepts_too(written: str) -> None:
    try:
        cron = cron_of(written)
    except ValueError:
        return
    assert is_valid_cron_string(cron)


@pytest.mark.parametrize(
    ("written", "cron"),
    [
        ("nightly", "0 3 * * *"),
        ("weekly", "0 3 * * 1"),
        ("*/15 * * * *", "*/15 * * * *"),
        (" 30  22 1,15 * mon-fri ", "30 22 1,15 * mon-fri"),
        ("0 0 29 2 *", "0 0 29 2 *"),
    ],
)
def test_words_and_expressions_are_read(written: str, cron: str) -> None:
    assert cron_of(written) == cron
    assert is_valid_cron_string(cron)


@pytest.mark.parametrize(
    "written", ["", "fortnightly", "@daily", "0 3 * *", "61 * * * *", "0 3 31 feb *", "* * * * * 1"]
)
def test_what_is_no_time_says_what_to_write(written: str) -> None:
    with pytest.raises(ValueError, match="write nightly, weekly, or"):
        cron_of(written)


def test_an_unknown_time_zone_has_near_ones() -> None:
    assert timezone_problem("Europe/Amsterdam") is None
    assert "Europe/Amsterdam" in str(timezone_problem("Europe/Amsterdm"))
