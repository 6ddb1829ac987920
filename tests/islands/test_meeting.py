"""Threads that wait for each other in compiled code."""

import threading
import time

import pytest

from systola.islands.meeting import Meeting
from systola.islands.message import Message
from systola.islands.transport import BREAK, Mailboxes, Vote

ROUNDS = 200


def together(count, work):
    threads = [threading.Thread(target=work, args=(me,), daemon=True) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_nobody_goes_on_before_all_are_there_and_the_last_has_acted(count):
    made, acted, seen = [0] * count, [], []

    def act():
        acted.append(list(made))

    meeting = Meeting(count, act)

    def work(me):
        for round_ in range(ROUNDS):
            made[me] += 1
            meeting.wait()
            seen.append(len(acted) > round_)

    together(count, work)
    assert acted == [[k + 1] * count for k in range(ROUNDS)]
    assert all(seen)


def test_who_waits_for_long_sleeps_and_is_woken():
    meeting, spent = Meeting(2), []

    def work(me):
        if me:
            time.sleep(0.3)
        began = time.thread_time()
        meeting.wait()
        spent.append(time.thread_time() - began)

    together(2, work)
    assert max(spent) < 0.2  # of the processor, while 0.3 s passed; compiling may be among it


def test_a_meeting_that_is_broken_up_lets_all_go():
    meeting, broken = Meeting(3), []

    def work(me):
        if me == 2:
            time.sleep(0.1)
            meeting.abort()
            return
        with pytest.raises(threading.BrokenBarrierError):
            meeting.wait()
        with pytest.raises(threading.BrokenBarrierError):
            meeting.wait()
        broken.append(me)

    together(3, work)
    assert sorted(broken) == [0, 1]


def message(target, source, step):
    return Message(target, source, 0, step, None, [None])


def test_a_round_has_what_was_posted_before_it_and_frees_its_slots():
    """A worker that is ahead posts for the next round: others must not get that now, nor does it take a slot twice."""
    box, got, posted = Mailboxes(2, slots=1, rate=1), [], []

    def work(me):
        for step in range(1, ROUNDS + 1):
            posted.append(box.post(message(1 - me, me, step)))
            told, arrived = box.exchange(Vote(more=1), {me: step})
            if me:
                time.sleep(1e-4)
            assert not told.over
            got.append([m.step == step and m.source == 1 - me for m in arrived[me]])

    together(2, work)
    assert all(posted)
    assert got == [[True]] * (2 * ROUNDS)


def test_a_round_that_is_broken_off_leaves_messages_where_they_are():
    box = Mailboxes(1, slots=4, rate=1)
    box.post(message(0, 1, 5))
    told, arrived = box.exchange(Vote(halt=BREAK), {0: 5})
    assert (told.halt, arrived) == (BREAK, {})
    assert len(box.waiting(0)) == 1
