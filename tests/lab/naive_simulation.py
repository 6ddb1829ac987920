"""Demes in virtual time, obviously: objects, deques, and a heap of events. The naive twin of `lab.simulation`."""

import heapq
import math
from collections import Counter, deque

from systola.model.rng import SEARCH, STEP, draw

RANDOM = math.inf


class Message:
    def __init__(self, sender, arrival, solutions):
        self.sender, self.arrival, self.solutions = sender, arrival, solutions


class Deme:
    def __init__(self, number, world):
        self.number, self.world = number, world
        self.made = self.stretch = 0
        self.communication = 0.0
        self.gap, self.improved = 1.0, False
        self.free_slots = world.migration.messages
        self.pool = deque()
        self.inbox = {side: deque() for side in ("up", "down", "left", "right")}
        self.begin(0.0)

    def chances(self, purpose):
        return [int(word) / 2**32 for word in draw(self.world.seed, purpose, self.stretch, self.number, 0)]

    def next_migration(self):
        made = self.made + 1
        while made % self.world.migration.export_every and made % self.world.migration.import_every:
            made += 1
        return made

    def begin(self, time):
        machine = self.world.machine
        a, b, c, _ = self.chances(STEP)
        normal = math.sqrt(-2 * math.log(a + 2.0**-32)) * math.cos(2 * math.pi * b)
        factor = math.exp(machine.spread * (normal - machine.spread / 2))
        seconds = (self.next_migration() - self.made) * machine.iteration_seconds * factor
        if c < machine.stall_chance:
            seconds += machine.stall_seconds
        self.began, self.clock = time, time + seconds

    def search(self):
        iterations = self.next_migration() - self.made
        for _ in range(iterations):
            if self.pool:
                solution = self.pool.popleft()
                self.world.counts["injected"] += 1
                if solution < self.gap:
                    self.gap, self.improved = solution, True
        a, b, _, _ = self.chances(SEARCH)
        model = self.world.search
        if a < 1 - math.exp(-(iterations * model.improvements * self.gap**model.hardness)):
            self.gap *= 1 - model.stride * b
            self.improved = True
            for threshold in self.world.thresholds:
                if self.gap <= threshold:
                    found = (self.clock, self.made + iterations)
                    known = self.world.reached[threshold]
                    if known is None or found[0] < known[0]:
                        self.world.reached[threshold] = found

    def export(self, time):
        """To the neighbours in the order up, down, left, right; how many messages were posted."""
        if not self.improved and self.chances(SEARCH)[2] >= self.world.migration.export_probability:
            self.world.counts["held"] += 1
            return 0
        posted = 0
        elite = self.gap if self.improved else RANDOM
        for row, column, side in ((-1, 0, "down"), (1, 0, "up"), (0, -1, "right"), (0, 1, "left")):
            if not self.free_slots:
                self.world.counts["skipped"] += 1
                continue
            solutions = [elite] + [RANDOM] * (self.world.migration.rate - 1)
            message = Message(self, time + self.world.transfer, solutions)
            self.world.neighbour(self, row, column).inbox[side].append(message)
            self.free_slots -= 1
            posted += 1
        self.world.counts["sent"] += posted
        if posted:
            self.improved = False
        return posted

    def take(self, time):
        """Import what has arrived; how many messages there were."""
        received = 0
        for box in self.inbox.values():
            while box and box[0].arrival <= time:
                message = box.popleft()
                message.sender.free_slots += 1
                received += 1
                for solution in message.solutions:
                    self.pool.append(solution)
                    if len(self.pool) > self.world.migration.pool:
                        self.pool.popleft()
                        self.world.counts["overwritten"] += 1
        self.world.counts["received"] += received
        return received


class World:
    def __init__(self, height, width, rounds, machine, migration, search, thresholds, seed):
        self.height, self.width = height, width
        self.last = rounds * migration.export_every
        self.machine, self.migration, self.search, self.seed = machine, migration, search, seed
        self.transfer = machine.latency + machine.message_bytes * machine.byte_seconds
        self.thresholds = thresholds
        self.counts, self.reached = Counter(), dict.fromkeys(thresholds)
        self.demes = [Deme(number, self) for number in range(height * width)]

    def neighbour(self, deme, row, column):
        i, j = divmod(deme.number, self.width)
        return self.demes[(i + row) % self.height * self.width + (j + column) % self.width]

    def exports(self, made):
        return made % self.migration.export_every == 0

    def imports(self, made):
        return made % self.migration.import_every == 0

    def run_asynchronously(self):
        events = [(deme.clock, deme.number) for deme in self.demes]
        heapq.heapify(events)
        while True:
            time, number = heapq.heappop(events)
            deme = self.demes[number]
            deme.search()
            made, spent = deme.next_migration(), 0.0
            if self.exports(made):
                spent += deme.export(time) * self.machine.export_seconds
            if self.imports(made):
                spent += self.machine.probe_seconds + deme.take(time) * self.machine.import_seconds
            deme.communication += spent
            deme.made, deme.stretch = made, deme.stretch + 1
            deme.begin(time + spent)
            if made >= self.last:
                return deme.began
            heapq.heappush(events, (deme.clock, number))

    def run_synchronously(self):
        barrier = self.machine.barrier_seconds * math.ceil(math.log2(len(self.demes)))
        while True:
            made = self.demes[0].next_migration()
            for deme in self.demes:
                deme.search()
            now = {deme: deme.clock for deme in self.demes}
            if self.exports(made):
                together = max(now.values()) + barrier
                for deme in self.demes:
                    posted = deme.export(together)
                    now[deme] = together + posted * self.machine.export_seconds
                    now[deme] += self.transfer if posted else 0
            if self.imports(made):
                together = max(now.values()) + barrier
                for deme in self.demes:
                    received = deme.take(together)
                    now[deme] = together + self.machine.probe_seconds + received * self.machine.import_seconds
            for deme in self.demes:
                deme.communication += now[deme] - deme.clock
                deme.made, deme.stretch = made, deme.stretch + 1
                deme.begin(now[deme])
            if made >= self.last:
                return max(now.values())


def simulate_naively(height, width, rounds, mode, machine, migration, search, thresholds, seed):
    """All that a run gives, but for each deme where `Simulation` has sums."""
    world = World(height, width, rounds, machine, migration, search, thresholds, seed)
    seconds = world.run_asynchronously() if mode == "asynchronous" else world.run_synchronously()
    rates = []
    for deme in world.demes:
        part = min(max((seconds - deme.began) / (deme.clock - deme.began), 0.0), 1.0)
        rates.append((deme.made + part * (deme.next_migration() - deme.made)) / seconds)
    return {
        "seconds": seconds,
        "rates": rates,
        "shares": [(deme.communication - max(deme.began - seconds, 0)) / seconds for deme in world.demes],
        "gap": min(deme.gap for deme in world.demes),
        "reached": world.reached,
        "under_way": sum(len(box) for deme in world.demes for box in deme.inbox.values()),
        "pooled": sum(len(deme.pool) for deme in world.demes),
        **{name: world.counts[name] for name in ("sent", "received", "skipped", "held", "injected", "overwritten")},
    }
