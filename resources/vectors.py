"""Vectors as they must be: float32, unit length, and nothing that only looks like one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scoring.records import Vector

SHOWN_CHARS = 60


class EmbeddingError(Exception):
    """An embedding service that is broken or answers nonsense. The message names the model, and the text if any."""


def shown(text: str) -> str:
    """The text in quotes for a message, shortened to 60 characters."""
    return repr(text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…")


def unit_vector(numbers: object, text: str, model: str) -> Vector:
    """The numbers scaled to length 1 as float32. Raises EmbeddingError where they are no finite vector above zero."""
    try:
        vector: npt.NDArray[np.float64] = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 and vector.size else 0.0
    if not np.isfinite(length) or length == 0.0:
        raise EmbeddingError(f"{model} gave no usable vector for {shown(text)}: {_fault_of(vector)}")
    return (vector / length).astype(np.float32)


def _fault_of(vector: npt.NDArray[np.float64]) -> str:
    if vector.ndim != 1 or not vector.size:
        return "it is no list of numbers"
    return "it holds null, NaN or infinite numbers" if not np.isfinite(vector).all() else "all its numbers are zero"
