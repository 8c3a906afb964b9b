import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from mcquack import datasets
from mcquack.bench.evaluation import outcome
from mcquack.bench.samples import estimator_class
from mcquack.bench.suite import read_suite
from mcquack.bench.task import Task
from mcquack.studies import hardware_twin
from mcquack.studies.hardware_twin import CONTENDERS, manifold_name
from tests.known import known

HOME = "mcquack.studies.hardware_twin:"


def test_the_suite_runs_every_contender_beside_the_paper_s_rivals():
    suite = read_suite("hardware-twin")
    rivals = ("svc", HOME + "CrossValidatedSVC", "centroid_kernel")
    assert suite.models == (*rivals, *(HOME + name for name in CONTENDERS))
    assert estimator_class(HOME + "CrossValidatedSVC") is hardware_twin.CrossValidatedSVC
    assert all(estimator_class(HOME + name) is made for name, made in CONTENDERS.items())
    assert dict(suite.cell(suite.datasets[0], "svc").space.fixed) == {"C": 10.0, "gamma": "scale", "scale": False}
    assert (suite.search, suite.seeds) == ("none", 3)


def test_the_small_test_part_is_the_beginning_of_the_large_one():
    small, large = (datasets.load(manifold_name(0, large=large)) for large in (False, True))
    for mine, other in zip(small.train, large.train, strict=True):
        assert_array_equal(mine, other)
    for mine, other in zip(known(small.test), known(large.test), strict=True):
        assert_array_equal(mine, other[:50])
    assert small.class_counts("train") == (50, 50)
    assert small.class_counts("test") == (25, 25)
    assert large.class_counts("test") == (1000, 1000)
    assert len(np.unique(known(large.test).X, axis=0)) == 2000


def test_a_task_of_the_suite_tells_its_tolerance():
    settings = {"n_qubits": 124, "shots": 2}
    task = Task.of(HOME + "twin_0", HOME + "UntrainedPittsburghPaper", settings, seed=1)
    done = outcome(task)
    assert done.error is None
    assert 0 <= known(done.score("test", "accuracy")) <= 1
    assert done.details["history"]["tolerance"][-1] in range(125)


def test_the_paper_s_own_tolerance_is_taken_by_the_untrained_model_alone():
    fixed = {name: made for name, made in CONTENDERS.items() if made.rule == "fixed"}
    assert list(fixed) == [f"Untrained{view}Fixed" for view in ("Exact", "Shots", "Pittsburgh", "Aachen")]
    done = outcome(Task.of(HOME + "twin_0", HOME + "UntrainedShotsFixed", {"shots": 20}))
    assert done.error is None
    assert done.details["history"]["tolerance"] == [45]


def test_tasks_of_the_other_contenders_are_what_they_were():
    task = Task.of(HOME + "twin_0", HOME + "UntrainedPittsburghPaper", {}, numerics=1, seed=2)
    assert task.id == "6d52de3ad358c8ef"


def test_the_cross_validated_rival_says_what_it_chose():
    done = outcome(Task.of(HOME + "twin_0", HOME + "CrossValidatedSVC", {"n_runs": 2}, seed=1))
    assert done.error is None
    chosen = done.details["study"]
    assert 0.5 < chosen.pop("cross_validation_accuracy") <= 1
    again = outcome(Task.of(HOME + "twin_0", "sklearn.svm:SVC", chosen))
    assert again.scores == done.scores


def test_the_cross_validated_rival_sees_what_a_grid_search_would_find():
    X, y = datasets.load(manifold_name(1)).train
    model = hardware_twin.CrossValidatedSVC(n_runs=1, random_state=3).fit(X, y)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=np.random.RandomState(3).randint(2**31))
    scores = {
        (C, gamma): cross_val_score(SVC(C=C, gamma=gamma), X, y, cv=folds).mean()
        for C in (0.1, 1.0, 10.0, 100.0)
        for gamma in ("scale", 0.001, 0.01, 0.1, 1.0)
    }
    assert (model.C_, model.gamma_) == max(scores, key=scores.__getitem__)
    assert model.n_parameters_ == len(model.machine_.support_vectors_)


def test_an_unknown_contender_is_refused():
    with pytest.raises(AttributeError, match="UntrainedOracle"):
        _ = hardware_twin.UntrainedOracle
