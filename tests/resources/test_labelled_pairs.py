from __future__ import annotations

from pathlib import Path

import pytest

from resources.labelled_pairs import read_labelled_pairs
from scoring.calibration import LabelledPair
from scoring.errors import InputError

WANTED = (
    LabelledPair(reference="oslo", candidate="oslo, norway", is_same=True, context="capital"),
    LabelledPair(reference="iran", candidate="iraq", is_same=False),
)


def test_pairs_come_from_csv(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text('reference,candidate,same,context\nOslo,"Oslo, Norway",yes,Capital\nIran,Iraq,0,\n')
    assert read_labelled_pairs(file) == WANTED


def test_pairs_come_from_json_lines(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"reference": "Oslo", "candidate": "Oslo, Norway", "same": true, "context": "Capital"}\n\n'
        '{"reference": "Iran", "candidate": "Iraq", "same": false}\n'
    )
    assert read_labelled_pairs(file) == WANTED


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.csv", "reference,candidate,same\nOslo,Oslo,perhaps\n", "line 2: same is 'perhaps'"),
        ("p.csv", "reference,same\nOslo,1\n", "line 2: candidate is None"),
        ("p.csv", "reference,candidate,same\n", "holds no pairs"),
        ("p.csv", "", "holds no pairs"),
        ("p.jsonl", '{"reference": 1, "candidate": "x", "same": true}', "line 1: reference is 1"),
        ("p.jsonl", "[]", "line 1: reference is None"),
        ("p.jsonl", "nonsense", "line 1"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, name: str, content: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(InputError) as caught:
        read_labelled_pairs(file)
    assert said in str(caught.value)


def test_a_missing_file_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read_labelled_pairs(tmp_path / "nothing.csv")
