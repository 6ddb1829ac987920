"""The statistical procedure: branches, known answers, edges."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from conftest import imports
from systola.errors import InputError
from systola.lab import statistics
from systola.lab.statistics import compare

# Dry weight of plants under a control and two treatments (Dobson 1983, table 7.1; "PlantGrowth" in R).
# R: summary(aov(weight ~ group)) gives F = 4.846, p = 0.0159; pairwise.t.test with Bonferroni and without
# pooled deviations finds the two treatments different and the control different from neither.
PLANTS = {
    "control": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
    "first": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
    "second": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
}


def draw(seed: int, *shapes: tuple[float, float, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(mean, deviation, size) for mean, deviation, size in shapes]


def test_textbook_anova() -> None:
    found = compare(PLANTS)
    assert found.omnibus == "anova"
    assert found.normal == (True, True, True)
    assert found.omnibus_p == pytest.approx(0.01591, abs=5e-6)
    assert found.posthoc == "t"
    assert found.verdict("first", "second") == 1
    assert found.verdict("second", "first") == -1
    assert found.verdict("control", "first") == found.verdict("control", "second") == 0


def test_lilliefors_matches_published_critical_values() -> None:
    # Lilliefors (1967), table 1: for n = 20 the 5 % point of the statistic is 0.190, the 1 % point 0.231.
    # Plain Kolmogorov-Smirnov would need 0.294.
    fit = stats.goodness_of_fit(
        stats.norm,
        np.random.default_rng(5).normal(size=20),
        statistic="ks",
        n_mc_samples=9999,
        random_state=np.random.default_rng(0),
    )
    assert np.quantile(fit.null_distribution, 0.95) == pytest.approx(0.192, abs=0.004)
    assert np.quantile(fit.null_distribution, 0.99) == pytest.approx(0.224, abs=0.008)


def test_lilliefors_rejects_where_plain_ks_does_not() -> None:
    skewed = np.random.default_rng(3).exponential(size=30)
    plain = stats.kstest((skewed - skewed.mean()) / skewed.std(ddof=1), "norm").pvalue
    assert plain > 0.05
    assert not compare({"a": skewed, "b": skewed + 1}).normal[0]


def test_lilliefors_keeps_its_level() -> None:
    samples = {str(i): sample for i, sample in enumerate(draw(11, *[(0, 1, 30)] * 200))}
    rejected = sum(not normal for normal in compare(samples).normal)
    assert 2 <= rejected <= 20  # binomial(200, 0.05), beyond 99.9 %


def test_anova_branch_equals_scipy() -> None:
    a, b, c = draw(1, (0, 1, 30), (0.2, 1, 25), (2, 1, 20))
    found = compare({"a": a, "b": b, "c": c})
    assert (found.omnibus, found.posthoc) == ("anova", "t")
    assert found.homogeneity == stats.levene(a, b, c, center="mean").pvalue
    assert found.omnibus_p == stats.f_oneway(a, b, c).pvalue
    assert found.adjusted[0][2] == pytest.approx(3 * stats.ttest_ind(a, c).pvalue)
    assert found.verdicts == ((0, 0, 1), (0, 0, 1), (-1, -1, 0))


def test_unequal_variances_without_welch() -> None:
    a, b = draw(2, (0, 1, 40), (3, 6, 40))
    found = compare({"a": a, "b": b})
    assert found.homogeneity is not None
    assert found.homogeneity < 0.05
    assert (found.omnibus, found.posthoc) == ("kruskal-wallis", "wilcoxon-mann-whitney")
    assert found.omnibus_p == stats.kruskal(a, b).pvalue
    assert found.adjusted[0][1] == stats.mannwhitneyu(a, b).pvalue


def test_unequal_variances_with_welch() -> None:
    a, b, c = draw(2, (0, 1, 40), (3, 6, 40), (0, 1, 30))
    found = compare({"a": a, "b": b, "c": c}, welch=True)
    assert (found.omnibus, found.posthoc) == ("welch", "welch-t")
    assert found.adjusted[0][1] == pytest.approx(3 * stats.ttest_ind(a, b, equal_var=False).pvalue)
    assert found.verdict("a", "b") == 1
    assert found.verdict("a", "c") == 0


def test_welch_changes_nothing_elsewhere() -> None:
    assert compare(PLANTS, welch=True) == compare(PLANTS)


def test_textbook_welch() -> None:
    # R: oneway.test(weight ~ group, PlantGrowth) gives F = 5.181 on 2 and 17.128 degrees, p = 0.01739.
    samples = [np.array(values) for values in PLANTS.values()]
    assert statistics._test_welch(samples) == pytest.approx(0.01739, abs=5e-6)
    assert statistics._welch_anova(samples) == pytest.approx(0.01739, abs=5e-6)
    # R: t.test(first, second) gives t = -3.0101 on 14.104 degrees, p = 0.009298.
    p, direction = statistics._compare_welch_t(samples[1], samples[2])
    assert p == pytest.approx(0.009298, abs=5e-7)
    assert direction == pytest.approx(-3.0101, abs=5e-5)


def test_welch_anova_known_answer() -> None:
    # For two samples Welch's analysis of variance is Welch's t test.
    a, b = draw(3, (0, 1, 12), (1, 3, 20))
    assert statistics._welch_anova([a, b]) == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_welch_anova_equals_scipy() -> None:
    samples = draw(4, (0, 1, 12), (1, 3, 20), (0.5, 2, 9), (0, 0.1, 5))
    try:
        expected = stats.f_oneway(*samples, equal_var=False).pvalue
    except TypeError:
        pytest.skip("this SciPy has no Welch's analysis of variance")
    assert statistics._welch_anova(samples) == pytest.approx(expected)


def test_not_normal() -> None:
    rng = np.random.default_rng(8)
    a, b, c = rng.exponential(1, 50), rng.exponential(5, 50), rng.exponential(1, 50)
    found = compare({"a": a, "b": b, "c": c}, minimise=False)
    assert found.homogeneity is None
    assert found.omnibus == "kruskal-wallis"
    assert found.adjusted[0][1] == pytest.approx(3 * stats.mannwhitneyu(a, b).pvalue)
    assert found.verdict("b", "a") == found.verdict("b", "c") == 1
    assert found.verdict("a", "c") == 0


def test_no_pairs_without_a_difference() -> None:
    a, b, c = draw(6, (0, 1, 30), (0, 1, 30), (0, 1, 30))
    found = compare({"a": a, "b": b, "c": c})
    assert found.omnibus_p >= 0.05
    assert found.posthoc is None
    assert all(verdict == 0 for row in found.verdicts for verdict in row)
    assert [math.isnan(p) for p in found.adjusted[0]] == [False, True, True]


def test_paper_case_one_spreads_others_constant() -> None:
    # As in Table 3 of the paper: some algorithms find the optimum in every run.
    rng = np.random.default_rng(9)
    rs, ega = rng.normal(1590, 86, 50), np.where(rng.random(50) < 0.1, rng.normal(50, 9, 50), 0.0)
    found = compare({"rs": rs, "ega": ega, "sgs-v": [0.0] * 50, "sgs-b": [0.0] * 50})
    assert found.normal == (True, False, False, False)
    assert [found.verdict("rs", name) for name in found.names[1:]] == [-1, -1, -1]
    assert found.verdict("sgs-v", "sgs-b") == 0
    assert found.adjusted[2][3] == 1.0


@pytest.mark.parametrize("welch", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e12])
def test_all_identical(value: float, welch: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare({name: [value] * 50 for name in "abc"}, welch=welch)
    assert found.omnibus_p == 1.0
    assert found.posthoc is None
    assert found.normal == (False, False, False)
    assert found.verdicts == ((0, 0, 0),) * 3


def test_constant_but_different() -> None:
    found = compare({"a": [1.0] * 30, "b": [2.0] * 30})
    assert found.verdict("a", "b") == 1


def test_two_valued_samples_do_not_warn() -> None:
    # Four values of two kinds pass as normal; all distances from the mean are equal: Levene divides by zero.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = compare({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]})
        other = compare({"a": [0, 1, 0, 1], "b": [0, 8, 0, 8]}, welch=True)
    assert (same.homogeneity, same.omnibus) == (1.0, "anova")
    assert (other.homogeneity, other.omnibus) == (0.0, "welch")


def test_equal_means_by_rounding() -> None:
    # SciPy's sums of squares cancel to just below zero here, and it returns NaN.
    found = compare({"a": [0.125, -0.25, 0.0], "b": [-0.25, 0.0, 0.125]})
    assert (found.omnibus, found.omnibus_p) == ("anova", 1.0)


def test_smallest_samples() -> None:
    found = compare({"a": [1.0, 2.0, 3.0], "b": [101.0, 102.0, 103.5]})
    assert found.verdict("a", "b") == 1


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ({}, "two samples or more, but got 0"),
        ({"a": [1, 2, 3]}, "two samples or more, but got 1"),
        ({"a": [1, 2, 3], "b": [1, 2]}, "'b' has 2"),
        ({"a": [1, 2, 3], "b": []}, "'b' has 0"),
        ({"a": [1, 2, 3], "b": [1, math.nan, 2]}, "value 2 of 'b' is nan"),
        ({"a": [1, 2, math.inf], "b": [1, 2, 3]}, "value 3 of 'a' is inf"),
        ({"a": [[1, 2, 3]], "b": [1, 2, 3]}, "shape"),
    ],
)
def test_bad_samples(samples: dict[str, list[float]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        compare(samples)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, math.nan])
def test_bad_alpha(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        compare(PLANTS, alpha=alpha)


def test_unknown_name() -> None:
    with pytest.raises(InputError, match="control, first, second"):
        compare(PLANTS).verdict("control", "third")


def test_scipy_is_imported_when_used() -> None:
    assert not imports("systola.lab.statistics", "scipy.stats")


numbers = st.integers(-1000, 1000).map(lambda k: k / 8)
families = st.dictionaries(st.sampled_from("abcde"), st.lists(numbers, min_size=3, max_size=12), min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(families, st.booleans(), st.booleans())
def test_shape_of_the_answer(samples: dict[str, list[float]], minimise: bool, welch: bool) -> None:
    found = compare(samples, minimise=minimise, welch=welch)
    verdicts, adjusted = np.array(found.verdicts), np.array(found.adjusted)
    assert (verdicts == -verdicts.T).all()
    assert (np.diag(adjusted) == 1).all()
    assert np.array_equal(adjusted, adjusted.T, equal_nan=True)
    assert 0 <= found.omnibus_p <= 1
    assert (found.posthoc is None) == (found.omnibus_p >= found.alpha)
    if found.posthoc is None:
        assert not verdicts.any()
    else:
        assert ((verdicts != 0) == (adjusted < found.alpha)).all()


@settings(max_examples=30, deadline=None)
@given(families, st.booleans())
def test_turning_the_axis_around_turns_the_sense_around(samples: dict[str, list[float]], welch: bool) -> None:
    low = compare(samples, minimise=True, welch=welch)
    high = compare({name: [-v for v in values] for name, values in samples.items()}, minimise=False, welch=welch)
    assert low.verdicts == high.verdicts


@settings(max_examples=30, deadline=None)
@given(families, st.randoms(use_true_random=False))
def test_order_of_runs_and_algorithms_does_not_matter(samples: dict[str, list[float]], random) -> None:
    names = list(samples)
    random.shuffle(names)
    shuffled = {name: random.sample(samples[name], len(samples[name])) for name in names}
    first, second = compare(samples), compare(shuffled)
    assert first.omnibus == second.omnibus
    assert first.omnibus_p == pytest.approx(second.omnibus_p)
    for row in names:
        p = second.normality[second.names.index(row)]
        assert first.normality[first.names.index(row)] == pytest.approx(p)


@pytest.mark.parametrize("minimise", [True, False])
def test_feasible_runs_are_better_whatever_their_value(minimise: bool) -> None:
    low, high = list(range(10)), list(range(100, 110))
    samples = {"forbidden": low if minimise else high, "allowed": high if minimise else low}
    violations = {"forbidden": [1e-9] * 10, "allowed": [0.0] * 10}
    assert compare(samples, minimise=minimise).verdict("forbidden", "allowed") == 1
    found = compare(samples, minimise=minimise, violations=violations)
    assert found.verdict("forbidden", "allowed") == -1
    assert (found.omnibus, found.normal) == ("kruskal-wallis", (False, False))
    assert compare(samples, violations={name: [0.0] * 10 for name in samples}) == compare(samples)


def test_infeasible_runs_are_ordered_by_violation_then_by_value() -> None:
    ten = list(range(10))
    near, far = [1.0] * 10, [math.inf] * 10
    assert compare({"near": ten, "far": ten}, violations={"near": near, "far": far}).verdict("near", "far") == 1
    twenty = [value + 10 for value in ten]
    assert compare({"a": ten, "b": twenty}, violations={"a": far, "b": far}).verdict("a", "b") == 1
    assert compare({"a": ten, "b": ten}, violations={"a": near, "b": near}).omnibus_p == 1.0


@pytest.mark.parametrize("violations", [[1.0] * 4, [-1.0, 0.0, 0.0], [math.nan, 0.0, 1.0]])
def test_bad_violations(violations: list[float]) -> None:
    with pytest.raises(InputError, match="each run of a sample has a violation, 0 or more"):
        compare({"a": [1, 2, 3], "b": [1, 2, 3]}, violations={"a": violations, "b": [0.0] * 3})
