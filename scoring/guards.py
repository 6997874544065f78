"""What similarity may not be trusted with (SPEC 3): numbers, units, negations and opposites. First working version."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"\d+")


def guard_against(left_normal: str, right_normal: str) -> str | None:
    """Why similarity may not match these two normal forms, None where it may. Symmetric."""
    if sorted(_NUMBER.findall(left_normal)) != sorted(_NUMBER.findall(right_normal)):
        return "numbers differ"
    return None
