"""Spellings that are the same without any model (SPEC 3, rung 5). First working version: words in another order."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+")


def is_variant(reference_normal: str, candidate_normal: str) -> str | None:
    """The name of the rule by which the two normal forms spell the same, None where no rule says so. Symmetric."""
    left, right = _WORD.findall(reference_normal), _WORD.findall(candidate_normal)
    if (
        left
        and left != right
        and sorted(left) == sorted(right)
        and ("," in reference_normal) != ("," in candidate_normal)
    ):
        return "word order"
    return None
