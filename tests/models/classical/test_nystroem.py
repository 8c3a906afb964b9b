"""Landmarks and scores are scikit-learn's, and counts are the paper's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mcquack.models.classical import NystroemSVM
from tests.models.classical.kinds import samples

# Appendix C, the search space for the real-world datasets.
WIDTHS = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_scikit_learns_and_settles(n_classes: int, width: float) -> None:
    X, y = samples(n_classes)
    model = NystroemSVM(width, random_state=3).fit(X, y)
    features = Nystroem(gamma=1 / (2 * width**2), n_components=3 * n_classes, random_state=3)
    peer = make_pipeline(features, LinearSVC(dual=False, max_iter=10_000)).fit(model.scaler_.transform(X), y)
    rows = model.scaler_.transform(X)
    assert_array_equal(model.predict(X), peer.predict(rows))
    assert_allclose(model.decision_function(X), peer.decision_function(rows), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("n_classes", "n_parameters"), [(2, 7), (3, 30), (4, 52), (5, 80), (10, 310)])
def test_counts_are_the_papers(n_classes: int, n_parameters: int) -> None:
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    assert NystroemSVM(random_state=0).fit(X[:300], y[:300]).n_parameters_ == n_parameters


def test_there_are_no_more_landmarks_than_samples() -> None:
    X, y = samples(3)
    few = slice(None, None, 25)
    model = NystroemSVM(n_landmarks=100, random_state=0).fit(X[few], y[few])
    assert model.landmarks_.shape == (6, 4)
    assert NystroemSVM(n_landmarks=2).fit(X, y).n_parameters_ == 9


def test_landmarks_are_samples_that_the_seed_chooses() -> None:
    X, y = samples(3)
    first, second = (NystroemSVM(random_state=seed, scale=False).fit(X, y).landmarks_ for seed in (0, 1))
    assert {tuple(row) for row in first} <= {tuple(row) for row in X}
    assert not np.array_equal(first, second)


def test_all_samples_as_landmarks_in_any_order_are_the_same_machine() -> None:
    X, y = samples(3)
    models = [NystroemSVM(n_landmarks=len(X), random_state=seed).fit(X, y) for seed in (0, 1)]
    scores = [model.decision_function(X) for model in models]
    assert_allclose(*scores, atol=1e-2)  # up to the tolerance of the solver
