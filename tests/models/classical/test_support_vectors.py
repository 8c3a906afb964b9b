"""Votes and scores of pairs are scikit-learn's."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from mcquack.errors import ModelFileError
from mcquack.models.classical import SupportVectorClassifier
from mcquack.models.model_file import read_model, write_model
from mcquack.randomness import stream
from tests.models.classical.kinds import samples


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
@pytest.mark.parametrize("settings", [{}, {"C": 0.01}, {"C": 100.0, "gamma": 0.1}, {"gamma": 1e3}])
def test_it_is_scikit_learns(n_classes: int, settings: dict[str, float]) -> None:
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
def test_gamma_in_a_file_is_a_positive_number(gamma: object, tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    SupportVectorClassifier().fit(*samples(3)).save(path)
    header, tensors = read_model(path)
    write_model(path, header={**header, "gamma": gamma}, tensors=tensors)
    with pytest.raises(ModelFileError, match="gamma"):
        SupportVectorClassifier.load(path)
