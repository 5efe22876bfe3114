"""Categories that training did not have: reported, refused, or sent down the most common branch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
from posepipe.learn.tables.splitting.unseen import UnseenCategoryWarning

ROWS = [["red", "3"]] * 4 + [["green", "4"]] * 2 + [["blue", "5"]] * 3
TARGET = [0] * 4 + [1] * 2 + [1] * 3
LEARNERS = [Id3Classifier(), C45Classifier(prune=None), CartClassifier(), CartRegressor()]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)


@every_learner
def test_known_categories_and_missing_cells_warn_of_nothing(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for unseen in ("warn", "error", "majority"):
            learner.set_params(unseen=unseen).fit(ROWS, TARGET).predict([["green", "3"], [None, None]])
    learner.set_params(unseen="warn")


@every_learner
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["Red", "3"], r"'Red' in column 'column 0' \(training had 'red'\)"),
        (["gren", "3"], r"'gren' in column 'column 0' \(training had 'green'\)"),
        (["violet", "3"], "'violet' in column 'column 0', which training did not have"),
        (["red", 3.0], "3.0 in column 'column 1', where training had strings such as '3'"),
    ],
)
def test_an_unseen_category_is_named_with_the_closest_known_one(learner, row, message):
    learner.set_params(unseen="warn").fit(ROWS, TARGET)
    row = np.array([row], object)
    with pytest.warns(UnseenCategoryWarning, match=message):
        found = learner.predict(row)
    gap = row.copy()
    gap[0, int("column 1" in message)] = None
    np.testing.assert_array_equal(found, learner.predict(gap))  # treated as missing
    with pytest.raises(ValueError, match=message):
        learner.set_params(unseen="error").predict(row)
    learner.set_params(unseen="warn")


def test_numbers_in_a_column_of_strings_are_told():
    learner = C45Classifier(unseen="error").fit(np.array(ROWS)[:, 1:], TARGET)
    with pytest.raises(ValueError, match="where training had strings such as '3'"):
        learner.predict(np.array([[3.0]]))


def test_an_unseen_category_follows_the_majority_when_asked_to():
    # the branch of red has 4 of 9 rows, and the rest of CART's first split 5
    for kind, shares in ((Id3Classifier, [1, 0]), (CartClassifier, [0, 1])):
        learner = kind(unseen="majority").fit(np.array(ROWS)[:, :1], TARGET)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert learner.predict_proba([["violet"]])[0].tolist() == shares
        assert learner.predict_proba([[None]])[0].tolist() == pytest.approx([4 / 9, 5 / 9])


def test_forests_tell_too():
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(ROWS, TARGET)
    with pytest.warns(UnseenCategoryWarning, match="'violet'"):
        forest.predict([["violet", "3"]])
