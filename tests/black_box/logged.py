"""A problem that writes down what it evaluates, in a module that workers can import."""

import os
import time

import systola as sy


class Logged(sy.Problem):
    encoding = sy.Binary("n")
    n: int

    def evaluate(self, x):
        with open(os.environ["SYSTOLA_TEST_LOG"], "a") as file:
            file.write("".join(map(str, x.tolist())) + "\n")
        time.sleep(0.2)
        return int(x.sum())
