"""The similarity that the embedding rung compares with its limits: the cosine, and for a measured model a little more.

For a model without a measured combination it is the cosine itself, so that hosted models and explicit thresholds mean
exactly what they say.
"""

from __future__ import annotations


def combined_similarity(reference_normal: str, candidate_normal: str, cosine: float, *, model_name: str) -> float:
    """How alike two texts are, on the cosine scale of `model_name`, in -1..1.

    The texts are normal forms (SPEC 3.2). Symmetric in the two texts.
    """
    del reference_normal, candidate_normal, model_name
    return cosine
