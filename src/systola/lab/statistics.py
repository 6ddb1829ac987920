"""Which of several algorithms is better, and can chance explain it?

The procedure of the systolic search papers: is every sample normal (Kolmogorov-Smirnov) and are the variances
equal (Levene)? Then analysis of variance, otherwise Kruskal-Wallis; and only if that test finds a difference
at all, every pair by a t test or a Wilcoxon-Mann-Whitney test, corrected for the number of pairs.

References
----------
M. Pedemonte, F. Luna, E. Alba (2014), section 4.4: the procedure. P. Vidal, F. Luna, E. Alba (2013), section
5.4: the same with Welch's test for normal samples of unequal variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from systola.errors import InputError
from systola.model.notebook import rows_html

Omnibus = Literal["anova", "welch", "kruskal-wallis"]
Posthoc = Literal["t", "welch-t", "wilcoxon-mann-whitney"]

SMALLEST_SAMPLE = 3
"""With two values the fitted normal is always equally far from the data, so normality cannot be tested."""

_MONTE_CARLO = 9999

_Sample = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What :func:`compare` found.

    Attributes
    ----------
    names
        The algorithms, in the order given; all tuples and matrices below follow it.
    alpha
        The significance level of every test.
    minimise
        Whether lower values are better.
    normality
        The p-value of the normality test of each sample (0 for a constant sample, NaN if there are infeasible runs).
    normal
        Whether each sample passes as normal: its p-value is not below `alpha`.
    homogeneity
        The p-value of Levene's test, or None if a sample is not normal: nothing depends on it then.
    omnibus
        The test of "no difference anywhere" that was chosen.
    omnibus_p
        Its p-value.
    posthoc
        The pairwise test, or None if the omnibus test found no difference.
    adjusted
        The p-value of each pair, times the number of pairs, at most 1. Symmetric; 1 on the diagonal, and
        NaN off the diagonal if no pairwise test was made.
    verdicts
        For each pair +1 if the row is significantly better, -1 if the column is, 0 if neither.
    """

    names: tuple[str, ...]
    alpha: float
    minimise: bool
    normality: tuple[float, ...]
    normal: tuple[bool, ...]
    homogeneity: float | None
    omnibus: Omnibus
    omnibus_p: float
    posthoc: Posthoc | None
    adjusted: tuple[tuple[float, ...], ...]
    verdicts: tuple[tuple[int, ...], ...]

    def verdict(self, row: str, column: str) -> int:
        """+1 if `row` is significantly better than `column`, -1 if worse, 0 if neither.

        Raises
        ------
        InputError
            If a name is not among the compared.
        """
        for name in (row, column):
            if name not in self.names:
                raise InputError(f"only compared algorithms have a verdict: {', '.join(self.names)}; got {name!r}")
        return self.verdicts[self.names.index(row)][self.names.index(column)]

    def _repr_html_(self) -> str:
        """For notebooks: what was found, in words, and the p-value of each pair."""
        from systola.lab.words import tell_instance  # which reads what this module makes

        shown = [[name, *(f"{p:.3g}" for p in row)] for name, row in zip(self.names, self.adjusted, strict=True)]
        told = escape(tell_instance("Comparison", self))
        return f"<p>{told}</p>" + rows_html("Adjusted p-values", ["", *self.names], shown)


def compare(
    samples: Mapping[str, Sequence[float]],
    alpha: float = 0.05,
    minimise: bool = True,
    welch: bool = False,
    violations: Mapping[str, Sequence[float]] | None = None,
) -> Comparison:
    """Compare algorithms by the values they reached in independent runs.

    Parameters
    ----------
    samples
        For each algorithm one value a run, at least three; the numbers of runs may differ.
    alpha
        The significance level: 0.05 is a confidence of 95 %.
    minimise
        Whether lower values are better (errors, times) or higher ones.
    welch
        What to do when all samples are normal but their variances differ: Kruskal-Wallis (False, the 2014
        paper) or Welch's analysis of variance and Welch's t test (True, the 2013 paper).
    violations
        For each algorithm by how much each run broke the constraints, 0 if it is feasible; without, all are. If any
        is not, runs have an order, feasible before infeasible, then less violation, then the better value, but
        no distances: Kruskal-Wallis and Wilcoxon-Mann-Whitney test their ranks.

    Returns
    -------
    Comparison
        The tests that were made, their p-values, and a verdict for each pair.

    Raises
    ------
    InputError
        If there are fewer than two samples, a sample has fewer than three values or one that is not finite,
        or `alpha` is not between 0 and 1.

    Notes
    -----
    Normality: the largest distance between the empirical distribution and the normal one whose mean and
    standard deviation (with n - 1) come from the sample. Against the tables of the plain Kolmogorov-Smirnov
    test that distance nearly always looks small, because the normal was fitted to the same data; so its
    p-value comes from 9,999 normal samples treated alike (Lilliefors' test), drawn from a fixed seed: equal
    data, equal answer. A constant sample is not normal.

    Levene's test uses distances from the mean, as the original does; the variant with medians is meant for
    skewed samples, which do not come this far. The Wilcoxon-Mann-Whitney test is exact for small samples
    without ties, and asymptotic with correction for ties and continuity otherwise. P-values of pairs are
    multiplied by the number of pairs (Bonferroni-Dunn).

    Examples
    --------
    >>> found = compare({"fast": [1, 2, 3, 4, 5, 6, 7, 8], "slow": [11, 12, 13, 14, 15, 16, 17, 18]})
    >>> found.omnibus, found.verdict("fast", "slow")
    ('anova', 1)
    """
    _check_alpha(alpha)
    names = tuple(samples)
    if len(names) < 2:
        raise InputError(f"a comparison needs two samples or more, but got {len(names)}; add another algorithm")
    values = [_read(name, samples[name]) for name in names]
    broken = [np.asarray(violations[name], dtype=np.float64) for name in names] if violations else []
    ordered = any(bool(amounts.any()) for amounts in broken)
    if ordered:
        values = _rank(values, broken, minimise)

    normality = tuple(math.nan if ordered else _test_normality(sample) for sample in values)
    normal = tuple(p >= alpha for p in normality)
    homogeneity = _test_homogeneity(values) if all(normal) else None

    omnibus: Omnibus
    pairwise: Posthoc
    if homogeneity is None or (homogeneity < alpha and not welch):
        omnibus, pairwise = "kruskal-wallis", "wilcoxon-mann-whitney"
    elif homogeneity < alpha:
        omnibus, pairwise = "welch", "welch-t"
    else:
        omnibus, pairwise = "anova", "t"

    omnibus_p = _OMNIBUS[omnibus](values)
    different = omnibus_p < alpha
    adjusted, verdicts = _judge_pairs(values, _PAIRWISE[pairwise] if different else None, alpha, minimise)
    return Comparison(
        names=names,
        alpha=alpha,
        minimise=minimise,
        normality=normality,
        normal=normal,
        homogeneity=homogeneity,
        omnibus=omnibus,
        omnibus_p=omnibus_p,
        posthoc=pairwise if different else None,
        adjusted=adjusted,
        verdicts=verdicts,
    )


def count_signs(differences: Sequence[float]) -> tuple[int, int, int, float]:
    """The one-sided sign test that differences are positive more often than negative.

    Parameters
    ----------
    differences
        Of pairs; zero where both are alike.

    Returns
    -------
    wins, ties, losses, p
        How many are positive, zero and negative, and the chance of as many positive ones among those that are not zero
        if both signs were equally likely.

    Examples
    --------
    >>> count_signs([3, 1, 0, 2, 5, -1, 4])
    (5, 1, 1, 0.109375)
    """
    from scipy import stats

    wins, losses = (sum(sign * value > 0 for value in differences) for sign in (1, -1))
    chance = stats.binomtest(wins, wins + losses, alternative="greater").pvalue if wins + losses else 1.0
    return wins, len(differences) - wins - losses, losses, float(chance)


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"`0 < alpha < 1` must hold, but got {alpha}; 0.05 is usual")


def _read(name: str, sample: Sequence[float]) -> _Sample:
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1:
        raise InputError(f"a sample is a flat list of numbers, but that of {name!r} has shape {values.shape}")
    if len(values) < SMALLEST_SAMPLE:
        raise InputError(
            f"a sample needs {SMALLEST_SAMPLE} values or more, but that of {name!r} has {len(values)}; "
            "make more independent runs (the papers make 30 or 50)"
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(
            f"samples hold finite numbers, but value {bad[0] + 1} of {name!r} is {values[bad[0]]}; "
            "leave runs without a result out, or give them a finite penalty"
        )
    return values


def _rank(values: list[_Sample], violations: list[_Sample], minimise: bool) -> list[_Sample]:
    """Places of all runs in their common order, alike for equal ones; as good as the values for tests of ranks."""
    sizes = [len(sample) for sample in values]
    if sizes != [len(amounts) for amounts in violations] or not all((amounts >= 0).all() for amounts in violations):
        raise InputError("each run of a sample has a violation, 0 or more, but some have none or another number")
    sign = 1 if minimise else -1
    runs = np.column_stack([np.concatenate(violations), sign * np.concatenate(values)])
    places = np.unique(runs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.float64)
    return np.split(sign * places, np.cumsum(sizes)[:-1])


def _test_normality(sample: _Sample) -> float:
    from scipy import stats

    low, high = sample.min(), sample.max()
    if low == high:
        return 0.0
    unit = (sample - low) / (high - low)  # the statistic ignores place and scale; rounding does not
    fit = stats.goodness_of_fit(
        stats.norm, unit, statistic="ks", n_mc_samples=_MONTE_CARLO, random_state=np.random.default_rng(0)
    )
    return float(fit.pvalue)


def _test_homogeneity(values: list[_Sample]) -> float:
    from scipy import stats

    with np.errstate(divide="ignore", invalid="ignore"):  # two-valued samples have no spread of distances
        return _or_one(stats.levene(*values, center="mean").pvalue)


def _test_anova(values: list[_Sample]) -> float:
    from scipy import stats

    return _or_one(stats.f_oneway(*values).pvalue)


def _or_one(p: float) -> float:
    # Where all groups agree, SciPy finds 0 / 0, or by rounding a ratio just below zero, and then no p-value.
    return 1.0 if math.isnan(p) else float(p)


def _test_welch(values: list[_Sample]) -> float:
    from scipy import stats

    try:
        return _or_one(stats.f_oneway(*values, equal_var=False).pvalue)
    except TypeError:  # SciPy before 1.16, the last for Python 3.10
        return _welch_anova(values)


def _welch_anova(values: list[_Sample]) -> float:
    # B. L. Welch (1951), On the comparison of several mean values
    from scipy import stats

    k = len(values)
    size = np.array([len(sample) for sample in values], dtype=np.float64)
    mean = np.array([sample.mean() for sample in values])
    weight = size / np.array([sample.var(ddof=1) for sample in values])
    share = weight / weight.sum()
    lam = float((((1 - share) ** 2) / (size - 1)).sum())
    between = float((weight * (mean - (share * mean).sum()) ** 2).sum()) / (k - 1)
    statistic = between / (1 + 2 * (k - 2) * lam / (k**2 - 1))
    return float(stats.f.sf(statistic, k - 1, (k**2 - 1) / (3 * lam)))


def _test_kruskal_wallis(values: list[_Sample]) -> float:
    from scipy import stats

    if _all_equal(values):
        return 1.0
    return float(stats.kruskal(*values).pvalue)


def _all_equal(values: Sequence[_Sample]) -> bool:
    first = values[0][0]
    return all(bool((sample == first).all()) for sample in values)


# A pairwise test returns its p-value, and a number that is negative if the first sample is the lower one.


def _compare_means(a: _Sample, b: _Sample, equal_var: bool) -> tuple[float, float]:
    from scipy import stats

    result = stats.ttest_ind(a, b, equal_var=equal_var)
    return float(result.pvalue), float(result.statistic)


def _compare_t(a: _Sample, b: _Sample) -> tuple[float, float]:
    return _compare_means(a, b, equal_var=True)


def _compare_welch_t(a: _Sample, b: _Sample) -> tuple[float, float]:
    return _compare_means(a, b, equal_var=False)


def _compare_ranks(a: _Sample, b: _Sample) -> tuple[float, float]:
    from scipy import stats

    if _all_equal((a, b)):
        return 1.0, 0.0
    result = stats.mannwhitneyu(a, b, alternative="two-sided")
    return float(result.pvalue), float(result.statistic) - len(a) * len(b) / 2


_OMNIBUS: dict[Omnibus, Callable[[list[_Sample]], float]] = {
    "anova": _test_anova,
    "welch": _test_welch,
    "kruskal-wallis": _test_kruskal_wallis,
}
_PAIRWISE: dict[Posthoc, Callable[[_Sample, _Sample], tuple[float, float]]] = {
    "t": _compare_t,
    "welch-t": _compare_welch_t,
    "wilcoxon-mann-whitney": _compare_ranks,
}


def _judge_pairs(
    values: list[_Sample],
    test: Callable[[_Sample, _Sample], tuple[float, float]] | None,
    alpha: float,
    minimise: bool,
) -> tuple[tuple[tuple[float, ...], ...], tuple[tuple[int, ...], ...]]:
    k = len(values)
    pairs = list(combinations(range(k), 2))
    adjusted: list[list[float]] = [[1.0 if i == j else math.nan for j in range(k)] for i in range(k)]
    verdicts: list[list[int]] = [[0] * k for _ in range(k)]
    for i, j in pairs:
        if test is None:
            break
        p, direction = test(values[i], values[j])
        adjusted[i][j] = adjusted[j][i] = min(1.0, p * len(pairs))
        if adjusted[i][j] < alpha:
            row_is_lower = direction < 0
            verdicts[i][j] = 1 if row_is_lower == minimise else -1
            verdicts[j][i] = -verdicts[i][j]
    return _freeze(adjusted), _freeze(verdicts)


def _freeze(matrix: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in matrix)
