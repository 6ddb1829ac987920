"""Replications: planned, run once, stored as they finish, and gone on with after an interruption."""

import pickle

import pytest

import systola as sy
from conftest import story
from systola.formats import open_instance
from systola.lab import experiment
from systola.lab.experiment import Job, do_job, do_jobs, plan
from systola.lab.store import Store
from systola.run.budget import Stop

TINY = {"size": 8}
STOP = Stop(iterations=4)
JOBS = plan(["knapsack:20-100", "knapsack:25-100"], ["rs", "sga"], 2, settings=TINY, stop=STOP)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        yield store


@pytest.fixture
def in_process(monkeypatch):
    """This process does the work, so that a test can watch; gives the jobs in their order."""
    done = []
    real = experiment.do_job
    monkeypatch.setattr(experiment, "work", lambda do, tasks, count: ((task, do(task)) for task in tasks))
    monkeypatch.setattr(experiment, "do_job", lambda job: done.append(job) or real(job))
    return done


# Plans and keys


def test_a_plan_goes_seed_by_seed():
    jobs = plan(["mmdp:6", "mmdp:12"], ["rs", "sga"], 2, first_seed=5)
    assert [(job.seed, job.instance, job.algorithm) for job in jobs] == [
        *((5, "mmdp:6", "rs"), (5, "mmdp:6", "sga"), (5, "mmdp:12", "rs"), (5, "mmdp:12", "sga")),
        *((6, "mmdp:6", "rs"), (6, "mmdp:6", "sga"), (6, "mmdp:12", "rs"), (6, "mmdp:12", "sga")),
    ]
    assert plan([], ["rs"], 3) == plan(["mmdp:6"], [], 3) == plan(["mmdp:6"], ["rs"], 0) == []


def test_a_plan_takes_anything_that_can_be_gone_through():
    names = ["mmdp:6", "mmdp:12"]
    assert plan(iter(names), iter(["rs", "sga"]), 2) == plan(names, ["rs", "sga"], 2)


def test_a_key_has_all_that_decides_the_outcome():
    base = Job("knapsack:20-100", "sga", 1, {"size": 8, "crossover_probability": 0.5}, STOP)
    assert base.key("e") == Job(
        "knapsack:20-100", "sga", 1, {"crossover_probability": 0.5, "size": 8}, Stop(iterations=4)
    ).key("e")
    others = [
        Job("knapsack:21-100", "sga", 1, base.settings, STOP),
        Job("knapsack:20-100", "ega", 1, base.settings, STOP),
        Job("knapsack:20-100", "sga", 2, base.settings, STOP),
        Job("knapsack:20-100", "sga", 1, {"size": 9, "crossover_probability": 0.5}, STOP),
        Job("knapsack:20-100", "sga", 1, {"size": 8}, STOP),
        Job("knapsack:20-100", "sga", 1, base.settings, Stop(iterations=5)),
        Job("knapsack:20-100", "sga", 1, base.settings, Stop(evaluations=4)),
    ]
    assert len({job.key("e") for job in [base, *others]}) == 1 + len(others)
    assert base.key("e") != base.key("f")


def test_the_contents_of_a_file_are_part_of_the_key(tmp_path):
    path = tmp_path / "items.txt"
    keys = set()
    for weight in (6, 7, 6):
        path.write_text(f"3 10\n5 4\n6 5\n7 {weight}\n")
        (job,) = plan([str(path)], ["sga"], 1)
        keys.add(job.key("e"))
    assert len(keys) == 2


# Running


def test_a_job_is_a_run():
    job = Job("knapsack:20-100", "sga", 3, TINY, STOP)
    expected = sy.solve(open_instance(job.instance).problem, sy.SGA(size=8), stop=STOP, seed=3)
    data = do_job(job)
    assert story(sy.Result.from_json(data)) == story(expected)
    assert (data["threads"], data["instance"]) == (1, "knapsack:20-100")


def test_each_job_is_done_once_in_other_processes(store, monkeypatch):
    told = []
    rows = do_jobs(JOBS, store, "e", 2, lambda done, of, job: told.append((done, of)))
    assert told == [(0, 8), *((done, 8) for done in range(1, 9))]
    assert {(row["instance"], row["algorithm"], row["seed"]) for row in rows} == {
        (job.instance, job.algorithm, job.seed) for job in JOBS
    }
    for job in JOBS[::3]:
        here, there = do_job(job), store.result(job.key("e"))
        assert [here[k] for k in ("objective", "solution", "found_at")] == [
            there[k] for k in ("objective", "solution", "found_at")
        ]

    monkeypatch.setattr(experiment, "work", None)  # nothing is left to do
    told.clear()
    assert do_jobs(JOBS, store, "e", 2, lambda done, of, job: told.append((done, of))) == rows
    assert told == [(8, 8)]


def test_only_what_is_missing_is_done(store, in_process):
    do_jobs(JOBS[:3], store, "e")
    assert in_process == JOBS[:3]
    rows = do_jobs(JOBS, store, "e")
    assert in_process == JOBS
    assert len(rows) == len(JOBS)
    assert do_jobs(JOBS[:3], store, "e") == [row for row in rows if row["seed"] == 1][:3]


def test_experiments_do_not_mix(store, in_process):
    do_jobs(JOBS[:2], store, "e")
    do_jobs(JOBS[:2], store, "f")
    assert len(in_process) == 4


def test_an_interrupt_keeps_what_is_finished(store, in_process):
    def interrupt(done, of, job):
        if done == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        do_jobs(JOBS, store, "e", 1, interrupt)
    finished = len(store.rows("e"))
    assert 3 <= finished < len(JOBS)
    in_process.clear()
    assert len(do_jobs(JOBS, store, "e")) == len(JOBS)
    assert len(in_process) == len(JOBS) - finished


def test_an_error_of_a_run_comes_through(store):
    jobs = [JOBS[0], Job("knapsack:20-100", "sga", 1, {"size": 1}, STOP)]
    with pytest.raises(sy.InputError, match="2 <= size"):
        do_jobs(jobs, store, "e", 1)
    assert len(store.rows("e")) == 1


def test_nothing_to_do(store):
    assert do_jobs([], store, "e") == []


def test_workers_are_a_number_above_zero(store):
    with pytest.raises(sy.InputError, match="workers"):
        do_jobs(JOBS[:1], store, "e", -1)


@pytest.mark.parametrize(
    "error",
    [
        sy.InputError("a sentence"),
        sy.ObjectiveError("a sentence"),
        sy.CheckFailed("a sentence"),
        pytest.param(sy.MissingExtra("plots", "plots")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
