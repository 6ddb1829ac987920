"""Liu, Wang 2015, Table 2: what our islands have by default beside the paper's configuration."""

from __future__ import annotations

from systola.engines.steady_state import SteadyState
from systola.islands.islands import Islands
from systola.lab.published import load_text
from systola.lab.tables import Cell, Table


def configuration() -> Table:
    """Ours and the published one, row by row."""
    engine, islands = SteadyState(), Islands()
    ours = {
        "population size per deme": f"{engine.size}",
        "initial population generation": "random, then improved in feasibility",
        "selection": "binary tournament" if engine.selection == "tournament" else f"{engine.selection}",
        "crossover": f"1-point, probability {engine.crossover_probability:g}",
        "mutation": f"1-item mutation, probability {engine.mutation_probability:g}",
        "replacement": "the unfittest or worst",
        "elitism": "yes",
        "stopping rules": "any budget",
        "connectivity d": "4, fewer where there are few demes",
        "migration rate r": f"{islands.rate}",
        "export interval M_expt": f"{islands.export_every}",
        "import interval M_impt": f"{islands.import_every}",
        "probability of holding": f"{islands.export_probability:g}",
        "sending buffer size K_sendbuf": f"{islands.send_slots} solutions",
        "import pool size K_impt": f"{islands.pool} solutions",
    }
    printed = load_text("pgap", 2)
    rows = tuple((Cell(name), Cell(ours[name]), Cell(value)) for name, value in printed.rows)
    notes = tuple(f"Paper: {note}" for note in printed.notes)
    return Table("Table 2: default configuration", ("", "ours", "published"), rows, notes)
