"""Published figures: complete, as printed, and consistent with each other."""

from __future__ import annotations

import math

import pytest

from systola.errors import InputError
from systola.lab.published import load_best, load_figures, load_verdicts
from systola.lab.tables import mean_table, render, significance_table

KNAPSACK = tuple(f"knapsack:{n}-{r}" for n in (100, 200, 500, 1000) for r in (1000, 10000))
MMDP = tuple(f"mmdp:{n}" for n in (300, 600, 900, 1200, 1500))
NRP = tuple(f"nrp:{name}" for name in ("100-20", "100-25", "35-35", "15-40", "50-80", "100-140", "2-200"))
ALL = ("rs", "sga", "ega", "sgs-t", "sgs-e", "sgs-v", "sgs-b")
WITHOUT_RS = ALL[1:]
ON_GPU = ("sga", "ega", "sgs-e", "sgs-v", "sgs-b")


@pytest.mark.parametrize(
    ("numbers", "measure", "algorithms"),
    [
        ((3, 5, 8), "error", ALL),
        ((10, 11, 12), "cpu seconds", WITHOUT_RS),
        ((16, 17, 18), "gpu seconds", ON_GPU),
        ((19, 20, 21), "cpu/gpu", ON_GPU),
    ],
)
def test_shape(numbers: tuple[int, ...], measure: str, algorithms: tuple[str, ...]) -> None:
    for number, instances in zip(numbers, (KNAPSACK, MMDP, NRP), strict=True):
        table = load_figures("sgs", number)
        assert (table.number, table.measure) == (number, measure)
        assert table.instances == instances
        assert table.algorithms == algorithms
        assert set(table.figures) == {(i, a) for i in instances for a in algorithms}
        for mean, deviation in table.figures.values():
            assert mean >= 0
            assert (deviation is None) == (measure == "cpu/gpu")


@pytest.mark.parametrize(
    ("number", "instance", "algorithm", "figure"),
    [
        (3, "knapsack:100-1000", "rs", (1590.0, 85.6)),
        (3, "knapsack:500-10000", "sgs-t", (15500.0, 33900.0)),
        (3, "knapsack:200-10000", "sgs-e", (0.2, 1.41)),
        (3, "knapsack:1000-10000", "ega", (400.0, 636.0)),
        (5, "mmdp:1500", "ega", (4.08, 1.11)),
        (5, "mmdp:600", "sgs-t", (0.395, 0.232)),
        (8, "nrp:100-140", "sgs-b", (0.09, 0.28)),
        (10, "knapsack:1000-1000", "sgs-v", (882.0, 5.35)),
        (11, "mmdp:900", "sga", (1850.0, 49.0)),
        (12, "nrp:2-200", "sgs-t", (100.0, 0.0804)),
        (16, "knapsack:100-10000", "sgs-b", (0.0341, 0.000373)),
        (17, "mmdp:1200", "ega", (53.7, 0.0802)),
        (18, "nrp:35-35", "sgs-v", (0.846, 0.000535)),
        (19, "knapsack:1000-1000", "sgs-b", (62.86, None)),
        (20, "mmdp:1500", "sgs-v", (112.74, None)),
        (21, "nrp:100-140", "sgs-b", (324.08, None)),
    ],
)
def test_spot_checks(number: int, instance: str, algorithm: str, figure: tuple[float, float | None]) -> None:
    assert load_figures("sgs", number).figures[instance, algorithm] == figure


def half_unit(printed: float) -> float:
    """Half of the last printed figure: of three figures, or of two decimals, as in 0.69e0."""
    digit = 10.0 ** (math.floor(math.log10(printed)) - 2)
    return max(digit, 0.01 if 0.1 <= printed < 1 else 0) / 2


@pytest.mark.parametrize(
    ("ratio", "cpu", "gpu", "misprints"),
    [
        (19, 10, 16, set()),
        (20, 11, 17, set()),
        (21, 12, 18, {("nrp:100-25", "sgs-e"), ("nrp:35-35", "sgs-v"), ("nrp:15-40", "sgs-v")}),
    ],
)
def test_ratios_follow_from_runtimes(ratio: int, cpu: int, gpu: int, misprints: set[tuple[str, str]]) -> None:
    over, under = load_figures("sgs", cpu).figures, load_figures("sgs", gpu).figures
    strange = set()
    for place, (printed, _) in load_figures("sgs", ratio).figures.items():
        c, g = over[place][0], under[place][0]
        low = (c - half_unit(c)) / (g + half_unit(g)) - 0.006
        high = (c + half_unit(c)) / (g - half_unit(g)) + 0.006
        if not low <= printed <= high:
            strange.add(place)
    assert strange == misprints


def test_misprints_are_noted() -> None:
    assert "3.39e4" in load_figures("sgs", 3).notes[0]
    assert "8.46e-2" in load_figures("sgs", 18).notes[0]
    assert "13.27" in load_figures("sgs", 21).notes[0]


def test_best_solutions() -> None:
    best = load_best("sgs", 7)
    assert tuple(best.solutions) == NRP
    assert best.solutions["nrp:100-20"][0.1] == (9, 495.55)
    assert best.solutions["nrp:100-25"][0.0] == (0, 2433)
    assert best.solutions["nrp:2-200"][1.0] == (987, 461.04)
    for by_weight in best.solutions.values():
        assert list(by_weight) == [round(0.1 * k, 1) for k in range(11)]
        costs, values = zip(*by_weight.values(), strict=True)
        assert list(costs) == sorted(costs)
        assert list(values) == sorted(values)


@pytest.mark.parametrize("instance", NRP)
def test_best_solutions_balance_cost_and_value(instance: str) -> None:
    # Eq. 12: the best solution makes the weighted cost and the weighted lack of value about equal.
    solutions = load_best("sgs", 7).solutions[instance]
    total_cost = 672 if instance == "nrp:100-140" else solutions[1.0][0]
    for weight, (cost, value) in solutions.items():
        lack = weight * (1 - value / solutions[1.0][1])
        assert (1 - weight) * cost / total_cost == pytest.approx(lack, abs=0.0125)


@pytest.mark.parametrize(("number", "instances", "errors"), [(4, KNAPSACK, 3), (6, MMDP, 5), (9, NRP, 8)])
def test_verdicts_agree_with_means(number: int, instances: tuple[str, ...], errors: int) -> None:
    table, figures = load_verdicts("sgs", number), load_figures("sgs", errors).figures
    assert table.instances == instances
    assert table.algorithms == ALL
    for instance, matrix in table.verdicts.items():
        for i, row in enumerate(ALL):
            for j, column in enumerate(ALL):
                verdict, back = matrix[i][j], matrix[j][i]
                assert back == (None if verdict is None else -verdict)
                (a, spread_a), (b, spread_b) = figures[instance, row], figures[instance, column]
                if spread_a == spread_b == 0:
                    assert verdict == (b > a) - (b < a)
                elif row == "rs" and column != "rs":
                    assert verdict == -1
                elif verdict and instance != "nrp:15-40":
                    # In 15-40 the ranks of sga and sgs-t differ while their means hardly do.
                    assert verdict == (b > a) - (b < a)


@pytest.mark.parametrize(("number", "unknown"), [(4, 4), (6, 0), (9, 37)])
def test_what_cannot_be_read(number: int, unknown: int) -> None:
    table = load_verdicts("sgs", number)
    upper = [m[i][j] for m in table.verdicts.values() for i in range(7) for j in range(i + 1, 7)]
    assert upper.count(None) == unknown
    assert table.notes


def test_verdicts_as_described_in_the_paper() -> None:
    def against(number: int, row: int, column: int) -> list[int | None]:
        return [matrix[row][column] for matrix in load_verdicts("sgs", number).verdicts.values()]

    assert against(4, 2, 6) == [0, 0, 0, -1, -1, -1, -1, -1]
    assert against(4, 2, 3) == [1] * 8
    assert against(6, 2, 3) == [0, 1, 0, -1, 0]
    assert against(9, 4, 6) == [0, 0, 0, 0, 0, -1, 0]


def test_tables_take_them_as_they_are() -> None:
    figures = load_figures("sgs", 3)
    ours = {figures.instances[0]: {"rs": [1500.0, 1600.0]}}
    assert "1.59e3 ± 8.56e1" in render(mean_table(ours, "Error", published=figures.figures), "text")
    verdicts = load_verdicts("sgs", 4)
    table = significance_table(verdicts.algorithms, verdicts.verdicts, "Significance")
    assert table.rows[2][3].text == "▲ ▲ ▲ ▲ ▲ ▲ ▲ ▲"


def test_unknown() -> None:
    with pytest.raises(InputError, match="sgs"):
        load_figures("nobody", 3)
    with pytest.raises(InputError, match="3, 5, 8"):
        load_figures("sgs", 4)
    with pytest.raises(InputError, match="4, 6, 9"):
        load_verdicts("sgs", 3)
    with pytest.raises(InputError, match="7"):
        load_best("sgs", 8)
