"""Regular expressions out of schemas, which may be written for other engines or be made to run for ever."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

MAX_STEPS = 1_000_000
"""A match that might take more steps than this is not tried."""

_QUANTIFIER = re.compile(r"[*+]|\{\d+,\d*\}|\{\d{2,}\}")
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[:=!<>a-zA-Z]*)?|[*+?]\??\+?|\{\d*,?\d*\}\??|.", re.DOTALL)


def matches(pattern: str, text: str) -> bool | None:
    """Whether the pattern is found in the text; None where that cannot be told safely.

    That is a pattern Python does not read, or one with repetitions inside repetitions, or so many repetitions for so
    long a text that a search could take more than a million steps.
    """
    compiled, degree = _compiled(pattern)
    if compiled is None or (degree and (len(text) + 1) ** degree > MAX_STEPS):
        return None
    return compiled.search(text) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[re.Pattern[str] | None, int]:
    degree = _degree(pattern)
    if degree is None:
        return None, 0
    try:
        with warnings.catch_warnings():
            # `[[` may mean something else in a later Python; what it means today is what is asked.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(pattern), degree
    except (re.error, OverflowError, RecursionError):
        return None, 0


def _degree(pattern: str) -> int | None:
    """How many repetitions follow one another, plus one for the search; None where one stands inside another."""
    atoms = _ATOM.findall(pattern)
    groups: list[int] = [0]
    closed = 0
    for atom in atoms:
        if atom.startswith("("):
            groups.append(0)
        elif atom == ")" and len(groups) > 1:
            closed = groups.pop()
            groups[-1] += closed
            continue
        elif _QUANTIFIER.match(atom):
            if closed:
                return None
            groups[-1] += 1
        elif atom[0] in "|?" and len(groups) > 1:
            groups[-1] += 1
        closed = 0
    return sum(groups) + (0 if pattern.startswith("^") else 1)
