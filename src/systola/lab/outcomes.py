"""What the runs of an experiment reached, by instance and algorithm, feasible ones told from infeasible ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Samples = dict[str, dict[str, list[float]]]  # by instance, then by algorithm, one number a run


@dataclass(frozen=True)
class Outcomes:
    """Objectives, and by how much each run broke the constraints: 0 if it is feasible."""

    objectives: Samples
    violations: Samples

    @property
    def runs(self) -> dict[str, dict[str, int]]:
        """How many there are."""
        return _count(self.objectives)

    @property
    def feasible(self) -> Samples:
        """Objectives of the feasible ones."""
        return self._select(True)

    @property
    def infeasible(self) -> Samples:
        """Objectives of the others."""
        return self._select(False)

    @property
    def feasible_runs(self) -> dict[str, dict[str, int]]:
        """How many are feasible."""
        return _count(self.feasible)

    def _select(self, feasible: bool) -> Samples:
        chosen: Samples = {}
        for instance, by_name in self.objectives.items():
            chosen[instance] = {}
            for name, values in by_name.items():
                pairs = zip(values, self.violations[instance][name], strict=True)
                chosen[instance][name] = [value for value, broken in pairs if (broken == 0) == feasible]
        return chosen


def gather(rows: Iterable[Mapping[str, Any]], instances: Sequence[str], algorithms: Sequence[str]) -> Outcomes:
    """The outcomes of the rows of a store."""
    objectives: Samples = {spec: {name: [] for name in algorithms} for spec in instances}
    violations: Samples = {spec: {name: [] for name in algorithms} for spec in instances}
    for row in rows:
        objectives[row["instance"]][row["algorithm"]].append(row["objective"])
        violations[row["instance"]][row["algorithm"]].append(row["violation"])
    return Outcomes(objectives, violations)


def _count(samples: Samples) -> dict[str, dict[str, int]]:
    return {instance: {name: len(v) for name, v in by_name.items()} for instance, by_name in samples.items()}
