"""What a person did that Assay cannot go on with."""

from __future__ import annotations


class InputError(Exception):
    """Input that a person can mend. `str()` reads `where: message. remedy`; commands print it and exit 2."""

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        self.message = message
        self.where = where
        self.remedy = remedy
        super().__init__(message)

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text.rstrip('.')}. {self.remedy}" if self.remedy else text


class SchemaError(InputError):
    """A schema that is no JSON Schema, or that cannot be resolved."""


class EmbeddingError(ValueError):
    """A vector that says nothing (zero, not finite, no numbers): a broken service, never evidence of a difference."""
