"""Parameters that had other names before: an old name is refused by a sentence that tells the new one."""

from __future__ import annotations

_PROBABILITIES = {"crossover": "crossover_probability", "mutation": "mutation_probability"}
# Of each class: its old names and the new ones; `name=value` stands for an old value of a parameter.
RENAMED: dict[str, dict[str, str]] = {
    "HillClimbing": {
        "move": "improvement",
        "at_top": "on_local_optimum",
        "on_local_optimum=kick": "perturb",
        "kicks": "perturbation_strength",
    },
    "Tabu": {"spread": "tenure_range"},
    "IteratedGreedy": {"taken": "destruction_size"},
    "PLS": {"cap": "archive_size"},
    "Cellular": {
        "neighbourhood": "topology",
        "reach": "radius",
        "renew": "restart_duplicates",
        "every": "local_search_interval",
        "length": "local_search_steps",
        "local_search=refine": "problem",
    },
    "SteadyState": {"polish": "local_search"},
    **dict.fromkeys(("SGA", "EGA", "GA"), _PROBABILITIES),
    "SGS": {"crossover": "crossover_plan", "mutation": "mutation_plan"},
    "Islands": {"holding": "export_probability", "lags": "delays"},
}
