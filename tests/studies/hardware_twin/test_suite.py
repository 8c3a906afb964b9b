import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack import datasets
from mcquack.bench.evaluation import outcome
from mcquack.bench.samples import estimator_class
from mcquack.bench.suite import read_suite
from mcquack.bench.task import Task
from mcquack.studies import hardware_twin
from mcquack.studies.hardware_twin import CONTENDERS, manifold_name

HOME = "mcquack.studies.hardware_twin:"


def test_the_suite_runs_every_contender_beside_the_paper_s_rivals():
    suite = read_suite("hardware-twin")
    assert suite.models == ("svc", "centroid_kernel", *(HOME + name for name in CONTENDERS))
    assert all(estimator_class(HOME + name) is made for name, made in CONTENDERS.items())
    assert dict(suite.cell(suite.datasets[0], "svc").space.fixed) == {"C": 10.0, "gamma": "scale", "scale": False}
    assert (suite.search, suite.seeds) == ("none", 3)


def test_the_small_test_part_is_the_beginning_of_the_large_one():
    small, large = (datasets.load(manifold_name(0, large=large)) for large in (False, True))
    for mine, other in zip(small.train, large.train, strict=True):
        assert_array_equal(mine, other)
    for mine, other in zip(small.test, large.test, strict=True):
        assert_array_equal(mine, other[:50])
    assert small.class_counts("train") == (50, 50)
    assert small.class_counts("test") == (25, 25)
    assert large.class_counts("test") == (1000, 1000)
    assert len(np.unique(large.test.X, axis=0)) == 2000


def test_a_task_of_the_suite_tells_its_tolerance():
    settings = {"n_qubits": 124, "shots": 2}
    task = Task.of(HOME + "twin_0", HOME + "UntrainedPittsburghPaper", settings, seed=1)
    done = outcome(task)
    assert done.error is None
    assert 0 <= done.score("test", "accuracy") <= 1
    assert done.details["history"]["tolerance"][-1] in range(125)


def test_an_unknown_contender_is_refused():
    with pytest.raises(AttributeError, match="UntrainedOracle"):
        _ = hardware_twin.UntrainedOracle
