"""What the pages show exists: commands with their options, Make verbs, links."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pipelines.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "examples" / "README.md",
]
PRODUCT = [
    path
    for package in ("assets", "pipelines", "resources", "scoring", "sensors")
    for path in (ROOT / package).rglob("*.py")
]
VERBS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def shown_commands() -> list[tuple[str, str]]:
    """Every command line in a console block, with its page."""
    found = []
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            found += [(label(page), line) for line in block.splitlines() if line.strip()]
    return found


def parsed(words: list[str]) -> None:
    """Parse the words as the command line would, without running anything."""
    command: Any = get_command(app)
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    with command.make_context(command.name, list(words)):
        pass


@pytest.mark.parametrize(("page", "line"), shown_commands())
def test_every_command_line_shown_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] == "assay":
        parsed(words[1:])
    elif words[0] == "make":
        assert set(words[1:]) <= set(VERBS), page


def test_the_readme_leads_with_two_commands() -> None:
    first = re.search(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert first is not None
    assert [line.split("#")[0].strip() for line in first.group(1).splitlines()] == ["make demo", "make test"]


def test_every_make_verb_is_in_the_readme_and_does_something() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [verb for verb in VERBS if f"`{verb}`" not in readme and f"make {verb}" not in readme] == []


def test_every_command_is_in_the_readme_or_a_page() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    commands: Any = get_command(app)
    assert [name for name in commands.commands if f"assay {name}" not in text and f"`{name}" not in text] == []


def test_every_command_that_is_named_exists() -> None:
    commands: Any = get_command(app)
    named = {
        (label(path), name)
        for path in (*PAGES, *PRODUCT)
        for name in re.findall(r"(?:`|: )assay ([a-z]+)\b", path.read_text())
    }
    assert sorted(one for one in named if one[1] not in commands.commands) == []


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = {
        (ROOT / target).resolve() for target in re.findall(r"\]\((docs/[^)#]+)", (ROOT / "README.md").read_text())
    }
    reached = set(linked)
    for page in linked:
        reached |= {
            (page.parent / target).resolve() for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        }
    assert [label(page) for page in (ROOT / "docs").glob("*.md") if page.resolve() not in reached] == []


def test_the_page_of_rules_says_what_the_modules_say() -> None:
    made: Any = runpy.run_path(str(ROOT / "docs" / "rules_page.py"))
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == made["page"](), "run: python docs/rules_page.py"


def test_the_data_dictionary_says_what_contract_and_catalogue_say() -> None:
    made: Any = runpy.run_path(str(ROOT / "docs" / "data_dictionary_page.py"))
    written = (ROOT / "docs" / "data-dictionary.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run: python docs/data_dictionary_page.py"
