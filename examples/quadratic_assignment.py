"""Rooms of a hospital: which ward goes where, so that people walk as little as possible."""

import numpy as np

import systola as sy

WARDS = ("emergency", "X-ray", "laboratory", "surgery", "intensive care", "beds A", "beds B", "kitchen", "pharmacy")
WALKS = {  # how often a day, to and fro
    ("emergency", "X-ray"): 60,
    ("emergency", "laboratory"): 45,
    ("emergency", "surgery"): 25,
    ("emergency", "pharmacy"): 10,
    ("X-ray", "surgery"): 20,
    ("X-ray", "beds A"): 15,
    ("laboratory", "intensive care"): 30,
    ("laboratory", "beds B"): 15,
    ("surgery", "intensive care"): 50,
    ("intensive care", "pharmacy"): 15,
    ("beds A", "kitchen"): 30,
    ("beds B", "kitchen"): 30,
    ("beds A", "pharmacy"): 10,
    ("beds B", "pharmacy"): 10,
}


def distances_of_rooms(rows, columns):
    """Metres between rooms of ten by ten metres, along corridors."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    return 10 * (np.abs(row[:, None] - row) + np.abs(column[:, None] - column))


if __name__ == "__main__":
    flows = np.zeros((len(WARDS), len(WARDS)), int)
    for (one, other), walks in WALKS.items():
        flows[WARDS.index(one), WARDS.index(other)] = walks
    problem = sy.QuadraticAssignment(flows, distances_of_rooms(3, 3))
    result = sy.solve(problem, stop=sy.Iterations(10), seed=1)
    ward_of_room = np.argsort(result.solution)  # a solution says the room of each ward
    for rooms in ward_of_room.reshape(3, 3):
        print("".join(f"{WARDS[ward]:<16}" for ward in rooms).rstrip())
    print(f"{result.objective:,} metres a day, after {result.evaluations:,} solutions in {result.seconds:.2f} s")
