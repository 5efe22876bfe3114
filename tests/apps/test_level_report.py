"""The time left that `posepipe train` prints after every level."""

from apps.training.train_stages import LevelReport
from posepipe.learn.depth.train_forest import TrainingProgress


def progress(level, seconds, done, done_by_level):
    return TrainingProgress(0, level, 3, 2, 50, 100, 100, 0.1, seconds, done, done_by_level)


def test_time_left_is_that_of_growing():
    told = []
    report = LevelReport(told.append)
    report(progress(0, seconds=60, done=0.1, done_by_level=0.1))
    report(progress(1, seconds=120, done=0.2, done_by_level=0.1))
    assert told[0].endswith("about 9 min left")  # of 10 that a minute for a tenth makes
    assert told[1].endswith("about 12 min left")  # three minutes for a fifth


def test_levels_of_an_earlier_run_took_no_time_of_this_one():
    told = []
    LevelReport(told.append)(progress(5, seconds=60, done=0.6, done_by_level=0.1))
    assert told[0].endswith("about 4 min left")


def test_a_first_level_that_compiles_tells_nothing():
    told = []
    report = LevelReport(told.append)
    report(progress(0, seconds=30, done=0.002, done_by_level=0.002))
    report(progress(1, seconds=10, done=0.04, done_by_level=0.038))
    assert told[0].endswith("30.0 s")
    assert told[1].endswith("about 16 min left")
