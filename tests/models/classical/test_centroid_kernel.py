"""The SimpleKernel is the nearest class mean, in the shape of a kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import minmax_scale

from mcquack.models.classical import CentroidKernelClassifier
from mcquack.randomness import stream
from tests.models.classical.kinds import samples

CLASSES = pytest.mark.parametrize("n_classes", [2, 3, 10])


@CLASSES
@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_")  # of the peer
def test_it_is_the_nearest_class_mean(n_classes: int) -> None:
    X, y = samples(n_classes)
    rows = minmax_scale(X)
    peer = NearestCentroid().fit(rows, y)
    model = CentroidKernelClassifier().fit(X, y)
    assert_allclose(model.centroids_, peer.centroids_, rtol=1e-12, atol=1e-15)
    assert_array_equal(model.predict(X), peer.predict(rows))
    assert_allclose(model.transform(X), rbf_kernel(rows, peer.centroids_, gamma=1 / 200))
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
