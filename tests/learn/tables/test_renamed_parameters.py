"""Former parameter names work with a warning and never reach `get_params`."""

from __future__ import annotations

import warnings

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from posepipe.learn.tables.estimators.ensembles.bagging import BaggingClassifier
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier

RENAMED = [
    *[(kind, "n_trees", "n_estimators", 7) for kind in (RandomForestClassifier, RandomForestRegressor)],
    *[
        (kind, "min_gain", "min_impurity_decrease", 0.25)
        for kind in (Id3Classifier, C45Classifier, CartClassifier, CartRegressor)
    ],
]
each_renamed = pytest.mark.parametrize(("kind", "old", "new", "value"), RENAMED)


@each_renamed
def test_a_former_name_sets_the_parameter_and_warns(kind, old, new, value):
    with pytest.warns(FutureWarning, match=f"{kind.__name__}: parameter {old} is renamed to {new}") as caught:
        learner = kind(**{old: value})
    assert learner.get_params()[new] == value
    assert caught[0].filename == __file__


@each_renamed
def test_set_params_accepts_a_former_name(kind, old, new, value):
    with pytest.warns(FutureWarning, match=new):
        learner = kind().set_params(**{old: value})
    assert getattr(learner, new) == value


@each_renamed
def test_new_names_alone_are_parameters(kind, old, new, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = clone(kind(**{new: value}))
    assert getattr(learner, new) == value
    assert new in learner.get_params()
    assert old not in learner.get_params()


@each_renamed
def test_both_names_together_are_refused(kind, old, new, value):
    with pytest.raises(TypeError, match=f"got both {new} and its former name {old}"):
        kind(**{old: value, new: value})


def test_former_names_reach_nested_learners():
    with pytest.warns(FutureWarning, match="min_impurity_decrease"):
        bagging = BaggingClassifier(CartClassifier()).set_params(estimator__min_gain=0.5)
    assert bagging.estimator.min_impurity_decrease == 0.5
    with pytest.warns(FutureWarning, match="n_estimators"):
        pipeline = make_pipeline(RandomForestClassifier()).set_params(randomforestclassifier__n_trees=3)
    assert pipeline[-1].n_estimators == 3


def test_the_warning_tells_that_the_definition_has_changed():
    with pytest.warns(FutureWarning, match="weighted by the share of rows at the node"):
        CartClassifier(min_gain=0.1)


def test_an_unknown_name_is_still_refused():
    with pytest.raises(TypeError, match="n_forests"):
        RandomForestClassifier(n_forests=3)
