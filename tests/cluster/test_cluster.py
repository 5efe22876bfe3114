"""A real cluster of processes: work is done, done again where a worker was killed, and reported once."""

from __future__ import annotations

import os
import time
from functools import partial

import pytest

pytest.importorskip("distributed", reason="needs the extra `cluster`")

from posepipe.cluster import cluster as clusters
from posepipe.cluster.address import parse_address
from posepipe.cluster.cluster import open_cluster
from posepipe.errors import FormatError, PosepipeError
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_tree
from posepipe.learn.growing import GrowthRules
from posepipe.learn.shards.sharded_growth import ShardedGrower
from tests.learn.same_trees import assert_same_growth
from tests.support.toy_person import TOY, toy_frames
from tests.support.workers.local_cluster import KillingWorkers, listening_addresses

PARAMETERS = ForestParameters(
    trees=1,
    pixels_per_person=150,
    growth=GrowthRules(max_depth=6, candidates=40, min_gain=0.005, min_samples=8, split_samples=500),
    seed=3,
)


@pytest.fixture(scope="module")
def cluster():
    with open_cluster(parse_address("local:2")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def frames():
    return toy_frames(9)


@pytest.fixture(scope="module")
def tree(frames):
    return train_tree(frames, PARAMETERS, TOY, 0)


def double(number, report):
    report(1)
    return 2 * number


def fail(kind, report):
    raise kind("walk.mcap", "damaged; make it again")


def count_slowly(folder, report):
    """Report four times; the first run of this job is killed after its second report."""
    mark = folder / f"run-{len(list(folder.iterdir()))}"
    mark.touch()
    for step in range(4):
        report(1)
        time.sleep(0.3)
        if step == 1 and mark.name == "run-0":
            os._exit(9)
    return mark.name


def test_jobs_are_done_and_reported(cluster):
    progress = []
    assert sorted(cluster.run(double, range(9), progress.append)) == list(range(0, 18, 2))
    assert sum(progress) == 9


def test_an_error_of_a_worker_is_that_of_this_process(cluster):
    with pytest.raises(FormatError, match=r"walk\.mcap: damaged"):
        list(cluster.run(fail, [FormatError], lambda count: None))


def test_a_lost_scheduler_is_told_in_one_line(cluster):
    handle = cluster.submit(time.sleep, 1)
    handle.cancel()  # as dask cancels all that a lost scheduler had
    with pytest.raises(PosepipeError, match="the cluster's scheduler was lost; start it again"):
        cluster.result(handle)


def test_a_job_that_is_done_again_is_reported_once(cluster, tmp_path):
    progress = []
    assert list(cluster.run(count_slowly, [tmp_path], progress.append)) == ["run-1"]
    assert sum(progress) == 4


def test_trees_are_those_of_one_machine(cluster, frames, tree):
    read = []
    make = partial(ShardedGrower.read, cluster)
    assert_same_growth(train_tree(frames, PARAMETERS, TOY, 0, on_frame=lambda: read.append(1), make_grower=make), tree)
    assert len(read) == len(frames)


def test_workers_killed_in_mid_level_do_not_lose_the_run(cluster, frames, tree):
    """Their shards are read again, and go down the levels grown so far."""
    workers = KillingWorkers(cluster, "tell_samples", {2, 14})
    make = partial(ShardedGrower.read, workers)
    assert_same_growth(train_tree(frames, PARAMETERS, TOY, 0, make_grower=make), tree)
    assert workers.kills == 2


def test_nothing_listens_beyond_this_machine(cluster):
    assert listening_addresses() == {"127.0.0.1"}


def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch):
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    with (
        pytest.raises(PosepipeError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9"),
        open_cluster(parse_address("127.0.0.1:9")),
    ):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_workers_grow_the_same_tree_after_many_kills(workers, frames, tree):
    with open_cluster(parse_address(f"local:{workers}")) as cluster:
        killing = KillingWorkers(cluster, "tell_samples", set(range(3, 40, 3 * workers)))
        assert_same_growth(
            train_tree(frames, PARAMETERS, TOY, 0, make_grower=partial(ShardedGrower.read, killing)), tree
        )
        assert killing.kills >= 3
