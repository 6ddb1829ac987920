"""What tests say of algorithms, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

from systola.lab.statistics import Comparison

_TESTS = {
    "anova": "an analysis of variance",
    "welch": "Welch's analysis of variance",
    "kruskal-wallis": "the Kruskal-Wallis test",
    "t": "t tests",
    "welch-t": "Welch's t tests",
    "wilcoxon-mann-whitney": "Wilcoxon-Mann-Whitney tests",
}


def tell_algorithms(names: Sequence[str], tests: Mapping[str, Comparison]) -> list[str]:
    """A sentence or two for each algorithm: than which others it is better or worse, and on how many instances."""
    return [_tell_one(name, [other for other in names if other != name], tests) for name in names]


def tell_instance(instance: str, test: Comparison) -> str:
    """Which tests were made on an instance, and what they gave."""
    k = len(test.names)
    normal = "all samples pass as normal" if all(test.normal) else "not all samples pass as normal"
    if any(p != p for p in test.normality):
        normal = "some runs are infeasible, so that ranks are tested"
    elif all(test.normal) and test.homogeneity is not None:
        normal += f" and their variances {'differ' if test.homogeneity < test.alpha else 'may be equal'}"
    found = f"{instance}: {normal}; {_TESTS[test.omnibus]} gives {show_p(test.omnibus_p)}."
    if test.posthoc is None:
        return f"{found} No difference was found at alpha {test.alpha:g}."
    pairs = [(i, j) for i in range(k) for j in range(k) if test.verdicts[i][j] > 0]
    means = f"By {_TESTS[test.posthoc]} (Bonferroni-Dunn, alpha {test.alpha:g})"
    if not pairs:
        return f"{found} {means}, no pair differs."
    told = []
    for i in dict.fromkeys(i for i, _ in pairs):
        others = [f"{test.names[j]} ({show_p(test.adjusted[i][j])})" for a, j in pairs if a == i]
        told.append(f"{test.names[i]} is better than {join(others)}")
    return f"{found} {means}, {'; '.join(told)}."


def tell_method(names: Sequence[str], alpha: float) -> str:
    """Which procedure the verdicts come from."""
    pairs = comb(len(names), 2)
    return (
        f"All tests are at alpha {alpha:g}. Samples that pass as normal (Kolmogorov-Smirnov) with equal variances "
        "(Levene) are compared by analysis of variance and t tests, others by Kruskal-Wallis and "
        "Wilcoxon-Mann-Whitney. Pairs are tested only if all together differ, with p-values multiplied by their "
        f"number, {pairs} (Bonferroni-Dunn)."
    )


def warn_of_few_runs(runs: int, names: Sequence[str], alpha: float) -> str:
    """A sentence if so many runs are too few for a test of ranks to find anything; otherwise nothing."""
    pairs = comb(len(names), 2)
    least = 2 / comb(2 * runs, runs) * pairs
    if least < alpha:
        return ""
    enough = next(n for n in range(runs + 1, 40) if 2 / comb(2 * n, n) * pairs < alpha)
    return (
        f"{runs} runs are too few for tests of ranks to find any difference among {pairs} pairs, however clear it is "
        f"(the smallest p-value is {min(least, 1):.2g}); make {enough} or more."
    )


def show_p(p: float) -> str:
    """A p-value for people."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def join(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _tell_one(name: str, others: Sequence[str], tests: Mapping[str, Comparison]) -> str:
    better = {other: sum(t.verdict(name, other) > 0 for t in tests.values()) for other in others}
    worse = {other: sum(t.verdict(name, other) < 0 for t in tests.values()) for other in others}
    parts = [
        f"{word} than {_count(counts, len(tests))}"
        for word, counts in (("better", better), ("worse", worse))
        if any(counts.values())
    ]
    if not parts:
        return f"{name}: no difference from any other was found."
    alike = [other for other in others if not better[other] and not worse[other]]
    rest = f" No difference from {join(alike)} was found." if alike else ""
    return f"{name} is {'; '.join(parts)}.{rest}"


def _count(counts: Mapping[str, int], total: int) -> str:
    named = {other: count for other, count in counts.items() if count}
    if total == 1:
        return join(list(named))
    return f"{join([f'{other} on {count}' for other, count in named.items()])} of {total} instances"
