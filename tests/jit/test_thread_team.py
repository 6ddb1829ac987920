"""Threads of our own: every part of the work is done once, whoever does it; failures end all; nobody waits for ever."""

import os
import threading
import time

import numba
import numpy as np
import pytest

from systola.jit import team as orders
from systola.jit.thread_team import ThreadTeam

ADD, FAIL = orders.STOP + 1, orders.STOP + 2


def add(total, met, team, me):
    """Adds one to each place, COUNT times; the last to arrive counts the rounds. With FAIL, one thread raises."""
    while True:
        if me > 0 and not orders.await_order(team, me):
            return orders.SLEEP
        if team[orders.KIND] == orders.STOP:
            return orders.EXIT
        for _ in range(team[orders.COUNT]):
            if team[orders.KIND] == FAIL and me == met[1]:
                raise ValueError("as told")
            for k in range(team[orders.THREADS]):
                owner = orders.neighbour(team, me, k)
                first, last = orders.next_part(team, owner)
                while first < last:
                    for place in range(first, last):
                        total[place] += 1
                    first, last = orders.next_part(team, owner)
            here = orders.arrive(team, me)
            if here < 0:
                return orders.EXIT
            if here > 0:
                met[0] += 1
                orders.release(team)
        if me == 0:
            return met[0]


compiled = numba.njit(nogil=True)(add)


def team_of(work, places, threads, failing=-1):
    total, met = np.zeros(places, np.int64), np.array([0, failing])
    return ThreadTeam(work, (total, met), threads), total, met


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("places", [0, 1, 5, 64, 1000])
def test_each_part_is_done_once(places, threads):
    team, total, met = team_of(compiled, places, threads)
    for rounds in (1, 50, 3):
        before = total.copy(), met[0]
        team.execute(ADD, threads, 0, places, 0, rounds)
        assert (total == before[0] + rounds).all()
        assert met[0] == before[1] + rounds
    team.stop()


def test_interpreted_by_one():
    team, total, _ = team_of(add, 20, 1)
    assert team.execute(ADD, 1, 0, 20, 0, 4) == 4
    assert (total == 4).all()


def test_a_part_of_the_team_and_of_the_work():
    team, total, _ = team_of(compiled, 100, 3)
    for threads in (3, 1, 2, 1, 3, 2) * 50:
        team.execute(ADD, threads, 10, 90, 0, 1)
    assert (total[10:90] == 300).all()
    assert total[:10].sum() + total[90:].sum() == 0
    team.stop()


def test_those_who_sleep_are_woken():
    team, total, _ = team_of(compiled, 64, 2)
    for _ in range(5):
        time.sleep(0.05)  # long enough to fall asleep
        team.execute(ADD, 2, 0, 64, 0, 10)
    assert (total == 50).all()
    team.stop()


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_failure_in_any_thread_ends_all(failing):
    team, _, _ = team_of(compiled, 64, 3, failing)
    team.execute(ADD, 3, 0, 64, 0, 5)
    with pytest.raises(ValueError, match="as told"):
        team.execute(FAIL, 3, 0, 64, 0, 5)
    assert team.is_stopped
    assert not any(thread.is_alive() for thread in team._threads)


def test_threads_end_with_their_team():
    before = threading.active_count()
    team, _, _ = team_of(compiled, 64, 3)
    team.execute(ADD, 1, 0, 64, 0, 5)
    assert threading.active_count() == before
    team.execute(ADD, 3, 0, 64, 0, 5)
    threads = team._threads
    assert threading.active_count() == before + 2
    del team
    for thread in threads:
        thread.join(10)
    assert threading.active_count() == before


def test_teams_side_by_side():
    """More threads than cores, several callers."""
    outcomes = []

    def use():
        team, total, _ = team_of(compiled, 64, 3)
        for _ in range(50):
            team.execute(ADD, 3, 0, 64, 0, 3)
        team.stop()
        outcomes.append(int(total.sum()))

    callers = [threading.Thread(target=use) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert outcomes == [64 * 150] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_fork_has_no_team():
    team, _, _ = team_of(compiled, 64, 2)
    team.execute(ADD, 2, 0, 64, 0, 1)
    child = os.fork()
    if child == 0:
        team.stop()  # as the child's own end would
        os._exit(0 if team.is_stopped else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not team.is_stopped
    team.stop()


@pytest.mark.long
def test_ten_thousand_teams():
    for k in range(10_000):
        threads = 2 + k % 3
        team, total, _ = team_of(compiled, 64, threads, 1)
        team.execute(ADD, threads, 0, 64, 0, 3)
        if k % 5 == 0:
            with pytest.raises(ValueError, match="as told"):
                team.execute(FAIL, threads, 0, 64, 0, 3)
        team.stop()
        assert (total[:1] >= 3).all()
