"""`assay demo`: with nothing set up it ends with a ranking; a second time it changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.tower import Assay

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.usefixtures("assay_home")
def test_the_demo_ranks_the_example_workspace_as_the_readme_shows(assay: Assay) -> None:
    first = assay("demo")
    second = assay("demo", "--json")

    assert first.code == 0, first.err
    ranked = re.findall(r"^ \d+ +(illustrative/\S+)", first.out, re.MULTILINE)
    assert ranked == re.findall(r"^ \d+ +(illustrative/\S+)", README.read_text(), re.MULTILINE)
    assert "Where things are" in first.out
    assert "up --workspace" in first.out
    assert second.code == 0
    assert second.json["imported"] == {"added": 0, "unchanged": 72}
    assert second.json["scored"] == []
    assert [place["model_id"] for place in second.json["ranking"]["places"]] == ranked
