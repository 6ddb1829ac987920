"""Problems with a declared structure, for the engines that need one."""

import systola as sy


class Tour(sy.Problem):
    """Cities on a lattice that is walked in an odd order."""

    encoding = sy.Permutation("cities")
    sense = sy.MINIMISE
    cities: int = 120

    def link(self, a, b):
        return abs(a * 37 % 101 - b * 37 % 101) + abs(a * 53 % 97 - b * 53 % 97)

    structure = sy.Chain(link, symmetric=True)


class Agreement(sy.Problem):
    """Bits that should differ from some and agree with others, more or less."""

    encoding = sy.Binary("n")
    n: int = 150

    def worth(self, x, k):
        i, j = k % self.n, k * 7 % self.n
        return (k * 29 % 41 - 20) * (1 if x[i] != x[j] else 0)

    def reads(self):
        return [(k % self.n, k * 7 % self.n) for k in range(6 * self.n)]

    structure = sy.Terms(worth, reads)
