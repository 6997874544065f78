"""Writes docs/rules.md from the docstrings of the modules that hold the rules: `python docs/rules_page.py`.

A rule stands once, beside the code that follows it; the page only brings them together.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "rules.md"
SECTIONS = {
    "Reading an output": ("reading",),
    "What kind a field is": ("kinds",),
    "The ladder": ("ladder", "accepted_parts"),
    "Text": ("text", "emptiness"),
    "Numbers": ("numbers",),
    "Dates": ("dates",),
    "Spelling variants": ("variants", "restated"),
    "What similarity may not decide": ("guards",),
    "Strictness": ("strictness",),
    "Contested values": ("contested",),
    "The judge": ("questions", "passages", "verdicts", "panel"),
    "Lists": ("lists", "item_keys", "evident_keys"),
    "Weights and scores": ("task", "scorecard"),
    "Ranking": ("ranking", "repetitions"),
}
HEAD = """\
# Rules

How values are compared, as the modules of `scoring/` state it. This page is made from their docstrings by
`python docs/rules_page.py`. Why a rule is as it is stands in [decisions.md](decisions.md) where it is not obvious.
"""


def page() -> str:
    """The text of docs/rules.md."""
    parts = [HEAD]
    for title, modules in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [f"{_docstring(module)}\n" for module in modules]
    return "\n".join(parts)


def _docstring(module: str) -> str:
    tree = ast.parse((ROOT / "scoring" / f"{module}.py").read_text(encoding="utf-8"))
    return (ast.get_docstring(tree) or "").strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
