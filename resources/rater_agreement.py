"""Agreement between raters: Cohen's kappa of two, Krippendorff's alpha of any number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scoring.audit import CONFIDENCE, Estimate

RESAMPLES = 1_000
SEED = 20_240_607

Table = npt.NDArray[np.float64]
"""A row a rater, a column a thing, codes of ratings."""


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> Estimate | None:
    """Kappa of two raters over the same things, with its asymptotic 95% interval.

    None where it is not defined: nothing was rated, or both gave the same single rating throughout.
    """
    from statsmodels.stats.inter_rater import cohens_kappa as kappa_of

    ratings = sorted({*first, *second})
    if len(ratings) < 2:
        return None
    place = {rating: number for number, rating in enumerate(ratings)}
    table = np.zeros((len(ratings), len(ratings)))
    for one, other in zip(first, second, strict=True):
        table[place[one], place[other]] += 1
    found = kappa_of(table)
    return Estimate(
        value=float(found.kappa), low=max(-1.0, float(found.kappa_low)), high=min(1.0, float(found.kappa_upp))
    )


def krippendorffs_alpha(ratings: Sequence[Sequence[str]]) -> Estimate | None:
    """Alpha (nominal) of raters who each rated the same things, with a bootstrap interval over the things.

    `ratings` holds a row a rater. None where alpha is not defined: fewer than two raters or things, or one rating only.
    """
    codes = {rating: number for number, rating in enumerate(sorted({one for row in ratings for one in row}))}
    if len(ratings) < 2 or len(ratings[0]) < 2 or len(codes) < 2:
        return None
    table = np.array([[codes[one] for one in row] for row in ratings], dtype=float)
    value = _alpha(table)
    low, high = _interval(table)
    return Estimate(value=value, low=min(value, low), high=max(value, high))


def _interval(table: Table) -> tuple[float, float]:
    """The percentile bootstrap interval over the things that were rated; the same for the same table."""
    from scipy.stats import bootstrap

    found = bootstrap(
        (np.arange(table.shape[1]),),
        lambda drawn: _alpha(table[:, drawn]),
        vectorized=False,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _alpha(table: Table) -> float:
    """Alpha of this table; 1 for one rating throughout, on which all agree.

    `1 - observed / expected disagreement` for nominal ratings without gaps (Krippendorff 2011, "Computing
    Krippendorff's Alpha-Reliability"). Our own since the package for it is under the GPL.
    """
    raters, things = table.shape
    counts = np.array([(table == rating).sum(axis=0) for rating in np.unique(table)])
    total, by_rating = raters * things, counts.sum(axis=1)
    expected = (total**2 - (by_rating**2).sum()) / (total - 1)
    observed = (counts * (raters - counts)).sum() / (raters - 1)
    return 1.0 if expected == 0 else float(1 - observed / expected)
