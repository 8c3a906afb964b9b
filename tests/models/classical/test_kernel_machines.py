"""Centroids, landmarks and support vectors decide as scikit-learn's do, by the same kernel."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel as sklearn_rbf_kernel
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale
from sklearn.svm import SVC, LinearSVC

from mcquack.errors import ModelFileError
from mcquack.models.classical import CentroidKernelClassifier, NystroemSVM, SupportVectorClassifier
from mcquack.models.classical.kernel_machines import gamma_of_width, rbf_kernel, squared_distances
from mcquack.models.model_file import read_model, write_model
from mcquack.randomness import stream
from tests.models.classical.kinds import samples

CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 10])


# The kernel


@given(seed=st.integers(0, 99), n=st.integers(1, 9), m=st.integers(1, 9), d=st.integers(1, 9))
def test_kernel_is_scikit_learns(seed: int, n: int, m: int, d: int) -> None:
    X, points = stream(seed, "X").normal(size=(n, d)), stream(seed, "points").normal(size=(m, d))
    assert_allclose(rbf_kernel(X, points, 0.7), sklearn_rbf_kernel(X, points, gamma=0.7), rtol=1e-12)
    assert_allclose(squared_distances(X, points), ((X[:, None] - points) ** 2).sum(axis=2), atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e9])
def test_an_offset_costs_no_digits(offset: float) -> None:
    X = stream(0, "X").integers(-8, 9, size=(20, 3)) / 8  # whole eighths, so that adding the offset is exact
    assert_allclose(squared_distances(X + offset, X[:5] + offset), squared_distances(X, X[:5]), atol=1e-7)


def test_width_is_the_standard_deviation_of_the_bell() -> None:
    assert gamma_of_width(10) == 1 / 200
    assert_allclose(rbf_kernel(np.array([[3.0]]), np.array([[0.0]]), gamma_of_width(3)), np.exp(-0.5))


# The SimpleKernel is the nearest class mean, in the shape of a kernel


@CLASSES
@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")  # of the peer
def test_it_is_the_nearest_class_mean(n_classes: int) -> None:
    X, y = samples(n_classes)
    rows = minmax_scale(X)
    peer = NearestCentroid().fit(rows, y)
    model = CentroidKernelClassifier().fit(X, y)
    assert_allclose(model.centroids_, peer.centroids_, rtol=1e-12, atol=1e-15)
    assert_array_equal(model.predict(X), peer.predict(rows))
    assert_allclose(model.transform(X), sklearn_rbf_kernel(rows, peer.centroids_, gamma=1 / 200))
    assert model.n_parameters_ == n_classes * X.shape[1]
    assert_array_equal(model.get_feature_names_out(), [f"centroidkernelclassifier{m}" for m in range(n_classes)])


@CLASSES
def test_shares_are_kernel_values_over_their_sum(n_classes: int) -> None:
    X, y = samples(n_classes)
    model = CentroidKernelClassifier(width=0.5).fit(X, y)
    K = model.transform(X)
    assert_allclose(model.predict_proba(X), K / K.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("width", [1e-3, 0.1, 1.0, 1e6])
def test_no_width_changes_a_prediction(width: float) -> None:
    """Not even one that leaves all kernel values too small for a float."""
    X, y = samples(10)
    model = CentroidKernelClassifier(width).fit(X, y)
    assert_array_equal(model.predict(X), CentroidKernelClassifier().fit(X, y).predict(X))


def test_weights_are_repeats_and_order_is_nothing() -> None:
    X, y = samples(3)
    weights = stream(0, "weights").integers(0, 4, size=len(y))
    weighted = CentroidKernelClassifier().fit(X, y, weights)
    order = stream(0, "order").permutation(weights.sum())
    repeated = CentroidKernelClassifier().fit(np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order])
    assert_allclose(weighted.centroids_, repeated.centroids_, rtol=1e-12)
    assert_allclose(weighted.scaler_.data_max_, repeated.scaler_.data_max_)


def test_a_class_without_weight_is_no_class() -> None:
    X, y = samples(3)
    model = CentroidKernelClassifier().fit(X, y, y != 1)
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"classes|[Ss]ample weights"):  # newer scikit-learns refuse it first
        model.fit(X, y, np.zeros(len(y)))


# A linear machine on landmarks

# Appendix C, the search space for the real-world datasets.
WIDTHS = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]


@CLASSES
@pytest.mark.parametrize("width", WIDTHS)
def test_the_machine_on_landmarks_is_scikit_learns(n_classes: int, width: float) -> None:
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
    X, y = (part[::3] for part in samples(3))
    models = [NystroemSVM(n_landmarks=len(X), random_state=seed).fit(X, y) for seed in (0, 1)]
    first, second = (model.decision_function(X) for model in models)
    assert_allclose(first, second, atol=1e-2)  # up to the tolerance of the solver


# Votes of pairs


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
@pytest.mark.parametrize("settings", [{}, {"C": 0.01}, {"C": 100.0, "gamma": 0.1}, {"gamma": 1e3}])
def test_votes_and_scores_are_scikit_learns(n_classes: int, settings: dict[str, Any]) -> None:
    X, y = samples(n_classes)
    model, peer = SupportVectorClassifier(**settings).fit(X[::2], y[::2]), SVC(**settings)
    rows = model.scaler_.transform(X)
    peer.fit(rows[::2], y[::2])
    assert_array_equal(model.predict(X), peer.predict(rows))
    assert_allclose(model.decision_function(X), peer.decision_function(rows), atol=1e-9)
    assert model.n_parameters_ == peer.dual_coef_.size == (n_classes - 1) * len(peer.support_)


def test_votes_decide_before_margins() -> None:
    """Where there is nothing to learn, several classes win as many pairs, and the first of them is predicted."""
    X, y = stream(0, "X").normal(size=(2000, 2)), np.arange(2000) % 5
    model, peer = (kind.fit(X[:60], y[:60]) for kind in (SupportVectorClassifier(scale=False), SVC()))
    assert_array_equal(model.predict(X), peer.predict(X))
    assert (model.predict(X) != model.decision_function(X).argmax(axis=1)).any()


def test_the_papers_count_where_all_samples_are_support_vectors() -> None:
    """1,000 samples of four classes have 3,000 dual coefficients, as the paper's MNIST4."""
    X, y = stream(0, "X").normal(size=(1000, 2)), np.arange(1000) % 4
    assert SupportVectorClassifier(gamma=1e4, scale=False).fit(X, y).n_parameters_ == 3000


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_order_of_samples_does_not_matter(n_classes: int) -> None:
    X, y = samples(n_classes)
    order = stream(0, "order").permutation(len(y))
    model, other = (SupportVectorClassifier().fit(X[rows], y[rows]) for rows in (slice(None), order))
    assert_allclose(other._margins(X), model._margins(X), atol=5e-3)  # the tolerance of the solver is 1e-3


def test_samples_that_are_all_alike_can_be_told_apart_by_none() -> None:
    X, y = np.ones((6, 2)), np.arange(6) % 2
    model = SupportVectorClassifier().fit(X, y)
    assert model.gamma_ == 1
    assert_array_equal(model.predict(X), SVC().fit(np.zeros((6, 2)), y).predict(np.zeros((6, 2))))


@pytest.mark.parametrize("counts", [[60, -10, 5], [1, 1, 1], [2**62, 2**62, 2**63 - 1]])
def test_numbers_of_support_vectors_must_add_up(counts: list[int], tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    SupportVectorClassifier().fit(*samples(3)).save(path)
    header, tensors = read_model(path)
    write_model(path, header=header, tensors={**tensors, "n_support": np.array(counts)})
    with pytest.raises(ModelFileError, match="add up"):
        SupportVectorClassifier.load(path)


@pytest.mark.parametrize("gamma", [0.0, -1.0, 1e200, "scale", None, True])
def test_gamma_in_a_file_is_a_positive_number(gamma: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    SupportVectorClassifier().fit(*samples(3)).save(path)
    header, tensors = read_model(path)
    write_model(path, header={**header, "gamma": gamma}, tensors=tensors)
    with pytest.raises(ModelFileError, match="gamma"):
        SupportVectorClassifier.load(path)
