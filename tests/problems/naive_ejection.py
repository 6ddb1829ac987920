"""Ejection chains by plain recursion, in Python's numbers."""

EJECTIONS = 3


class Balance:
    """What loads are charged: `low` for a unit too little, `high` for one too many."""

    def __init__(self, excess, low, high):
        self.excess, self.low, self.high = excess, low, high

    def of(self, agent, change=0):
        excess = self.excess[agent] + change
        return self.high[agent] * excess if excess > 0 else -self.low[agent] * excess

    def change(self, agent, change):
        return self.of(agent, change) - self.of(agent)


def best_chain(regrets, loads, ranked, x, balance, job, agent, patience):
    """The cheapest chain that begins with the job going to the agent, as a list of pairs, and what it costs; none if
    that is more than `patience`. [jobs, agents] regrets and loads, ranked [jobs, ranks] agents."""
    origin = x[job]
    best = [patience + 1, []]

    def offer(cost, chain):
        if cost < best[0]:
            best[:] = [cost, chain]

    def ends_elsewhere(spent, chain):
        last, receiver = chain[-1]
        change = balance.change(receiver, loads[last][receiver])
        offer(spent + change + balance.change(origin, -loads[job][origin]), chain)

    def extend(spent, chain):
        """The chain costs `spent` in regret and at all agents but the origin and the last, which may eject a job."""
        incoming, here = chain[-1]
        receivers = [receiver for _, receiver in chain]
        for item in (k for k in range(len(x)) if x[k] == here):
            rest = spent + balance.change(here, loads[incoming][here] - loads[item][here]) - regrets[item][here]
            if rest - balance.of(origin) >= best[0]:
                continue
            back = balance.change(origin, loads[item][origin] - loads[job][origin])
            offer(rest + regrets[item][origin] + back, [*chain, (item, origin)])
            for other in ranked[item]:
                total = rest + regrets[item][other]
                if total - balance.of(origin) >= best[0]:
                    break
                if other != origin and other not in receivers:
                    ends_elsewhere(total, [*chain, (item, other)])
                    hope = total - balance.of(other) - balance.of(origin)
                    if len(chain) < EJECTIONS and hope < best[0]:
                        extend(total, [*chain, (item, other)])

    spent = regrets[job][agent] - regrets[job][origin]
    if spent - balance.of(agent) - balance.of(origin) < best[0]:
        ends_elsewhere(spent, [(job, agent)])
        extend(spent, [(job, agent)])
    return best
