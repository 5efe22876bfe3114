"""Table learners against scikit-learn's compiled ones in one run: 100,000 rows of 20 numbers, 10 informative.

Each group compares one operation of both libraries. Forests have 10 trees of unlimited depth. Both sides use the
same number of threads, one or all: those of Numba, and ``n_jobs``. Out-of-bag predictions are off on both sides.
The first call, which compiles, is not timed. No test passes or fails by a time.
"""

import numba
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.tree import DecisionTreeClassifier

from posepipe.learn import CartClassifier, RandomForestClassifier

ROWS, COLUMNS, TREES = 100_000, 20, 10
ROUNDS = 3
CHAIN = 5_000
ALL = numba.config.NUMBA_NUM_THREADS
SIDES = {
    "cart": {"ours": lambda threads: CartClassifier(), "scikit-learn": lambda threads: DecisionTreeClassifier()},
    "forest": {
        "ours": lambda threads: RandomForestClassifier(n_estimators=TREES, oob_score=False, random_state=0),
        "scikit-learn": lambda threads: TheirForest(TREES, n_jobs=threads, random_state=0),
    },
}


@pytest.fixture(scope="module")
def table():
    return make_classification(ROWS, COLUMNS, n_informative=10, random_state=0)


@pytest.fixture(params=sorted({1, ALL}), ids=lambda threads: f"{threads} threads")
def threads(request):
    before = numba.get_num_threads()
    numba.set_num_threads(request.param)
    yield request.param
    numba.set_num_threads(before)


@pytest.mark.parametrize("side", ["ours", "scikit-learn"])
@pytest.mark.parametrize("learner", ["cart", "forest"])
def test_fit(learner, side, threads, table, benchmark):
    benchmark.group = f"fit a {learner}, {ROWS} x {COLUMNS}, {threads} threads"
    fresh = SIDES[learner][side]
    fresh(threads).fit(*(part[: ROWS // 4] for part in table))
    benchmark.pedantic(lambda: fresh(threads).fit(*table), rounds=ROUNDS)


@pytest.mark.parametrize("side", ["ours", "scikit-learn"])
@pytest.mark.parametrize("learner", ["cart", "forest"])
def test_predict(learner, side, threads, table, benchmark):
    benchmark.group = f"predict with a {learner}, {ROWS} x {COLUMNS}, {threads} threads"
    fitted = SIDES[learner][side](threads).fit(*(part[: ROWS // 4] for part in table))
    fitted.predict(table[0])
    benchmark.pedantic(lambda: fitted.predict(table[0]), rounds=3 * ROUNDS)


@pytest.mark.parametrize("side", ["ours", "scikit-learn"])
def test_fit_a_chain(side, benchmark):
    """Classes that alternate along one column: each split takes one row, so that the tree has a level a row."""
    benchmark.group = f"fit a chain of {CHAIN} levels"
    X, y = np.arange(CHAIN + 1.0)[:, None], np.arange(CHAIN + 1) % 2
    fresh = SIDES["cart"][side]
    fresh(1).fit(X[:200], y[:200])
    benchmark.pedantic(lambda: fresh(1).fit(X, y), rounds=ROUNDS)
