"""Everything that is wrong with a set of files, told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from scoring.errors import InputError

T = TypeVar("T")

MAX_SHOWN = 20


@dataclass(slots=True)
class Complaints:
    """Collects input errors, so that a person mends all files in one go."""

    found: list[InputError] = field(default_factory=list)

    def attempt(self, read: Callable[[], T]) -> T | None:
        """What `read` returns, or None with its `InputError` kept."""
        try:
            return read()
        except InputError as error:
            self.found.append(error)
            return None

    def unless(self, result: T | list[InputError]) -> T | None:
        """The result, or None where it is a list of errors, which are kept."""
        if isinstance(result, list):
            self.extend(result)
            return None
        return result

    def extend(self, errors: Iterable[InputError]) -> None:
        """Keep these errors too."""
        self.found.extend(errors)

    def raise_any(self, where: str) -> None:
        """Raise nothing, the only error, or one error that lists up to `MAX_SHOWN` of them."""
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        shown = [f"  {str(error).rstrip()}" for error in self.found[:MAX_SHOWN]]
        if len(self.found) > MAX_SHOWN:
            shown.append(f"  ... and {len(self.found) - MAX_SHOWN} more")
        raise InputError(f"{len(self.found)} problems\n" + "\n".join(shown), where=where)
