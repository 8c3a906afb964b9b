import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mcquack.datasets import synthetic
from mcquack.errors import InvalidInputError

GENERATORS = {
    "linearly_separable": {"n_features": 5},
    "hidden_manifold": {"n_features": 5, "manifold_dimension": 3},
    "two_curves": {"n_features": 5, "degree": 3},
    "hyperplanes": {"n_hyperplanes": 4},
}
seeds = st.integers(0, 2**32 - 1)


def everything(dataset):
    parts = dataset.parts.values()
    return np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])


@pytest.mark.parametrize("name", GENERATORS)
@given(n_samples=st.integers(20, 200), test=st.sampled_from([0.0, 0.1, 0.5]), seed=seeds)
def test_size_share_and_seed_are_free(name, n_samples, test, seed):
    generate, arguments = getattr(synthetic, name), {**GENERATORS[name], "n_samples": n_samples, "test": test}
    made = generate(**arguments, seed=seed)
    X, y = everything(made)
    assert X.shape == (n_samples, made.n_features)
    assert set(np.unique(y)) <= {-1, 1}
    assert (0 if made.test is None else len(made.test.y)) == int(np.ceil(n_samples * test))
    assert made.fingerprint == generate(**arguments, seed=seed).fingerprint
    assert made.fingerprint != generate(**arguments, seed=(seed + 1) % 2**32).fingerprint


@given(n_features=st.integers(1, 12), margin=st.floats(0, 0.2), seed=seeds)
def test_separable_points_keep_their_distance_from_the_plane(n_features, margin, seed):
    made = synthetic.linearly_separable(n_features=n_features, margin=margin, n_samples=50, seed=seed)
    X, y = everything(made)
    assert np.all(-y * X.sum(axis=1) > margin * n_features)
    assert np.abs(X).max() <= 1


@pytest.mark.parametrize("name", ["hidden_manifold", "two_curves", "hyperplanes"])
@given(half=st.integers(10, 60), seed=seeds)
def test_classes_are_of_equal_size(name, half, seed):
    _, y = everything(getattr(synthetic, name)(**GENERATORS[name], n_samples=2 * half, seed=seed))
    assert np.sum(y == 1) == half


@given(manifold_dimension=st.integers(1, 4), seed=seeds)
def test_the_manifold_has_the_dimension_asked_for(manifold_dimension, seed):
    made = synthetic.hidden_manifold(n_features=12, manifold_dimension=manifold_dimension, n_samples=100, seed=seed)
    X, _ = everything(made)
    flat = np.arctanh(X)  # undoes the bending; what is left is linear in the coordinates on the manifold
    singular = np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False)
    assert np.sum(singular > 1e-6 * singular[0]) == manifold_dimension


@pytest.mark.parametrize("n_features", [1, 4])
def test_without_noise_the_second_curve_is_the_first_one_moved(n_features):
    arguments = {"n_features": n_features, "noise": 0.0, "n_samples": 4000, "test": 0.0, "degree": 2}
    made = synthetic.two_curves(**arguments, offset=0.5)
    X, y = everything(made)
    # Both classes sample the same curve, so the means differ by the offset, in units of the spread of all.
    together = synthetic.two_curves(**arguments, offset=0.0)
    gap = (X[y == 1].mean(axis=0) - X[y == -1].mean(axis=0)) / 2
    assert np.all(gap > 0.1)
    assert_allclose(together.train.X[y == 1].mean(axis=0), 0, atol=0.1)


@given(n_hyperplanes=st.integers(2, 6), seed=seeds)  # a single one may lie beyond all points
def test_hyperplane_points_fill_the_space_they_were_drawn_in(n_hyperplanes, seed):
    X, _ = everything(synthetic.hyperplanes(n_hyperplanes=n_hyperplanes, dimension=2, n_features=6, seed=seed))
    centred = X - X.mean(axis=0)
    assert np.linalg.matrix_rank(centred, tol=1e-8 * len(X)) == 2


@pytest.mark.parametrize("name", ["two_curves", "hyperplanes"])
@given(seed=seeds)
def test_features_are_standardised_over_the_training_part_alone(name, seed):
    made = getattr(synthetic, name)(**GENERATORS[name], seed=seed)
    assert_allclose(made.train.X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(made.train.X.std(axis=0), 1)
    assert np.abs(made.test.X.mean(axis=0)).max() > 1e-6


def test_one_hyperplane_can_be_learned_by_a_line():
    from sklearn.linear_model import LogisticRegression

    X, y = everything(synthetic.hyperplanes(n_hyperplanes=1, seed=2))
    assert LogisticRegression(C=1e4, max_iter=10_000).fit(X, y).score(X, y) > 0.98


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_signs_are_pictures_that_differ_by_class(n_classes):
    made = synthetic.plus_minus(n_classes=n_classes, n_train=40, n_validation=10, n_test=5)
    assert made.image_shape == (16, 16)
    assert made.class_counts("train") == (40,) * n_classes
    assert made.class_counts("test") == (5,) * n_classes
    assert 0 <= made.train.X.min() <= made.train.X.max() <= 1
    rows = np.concatenate([part.X for part in made.parts.values()])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_each_sign_has_the_bars_of_its_class():
    X, y = synthetic.plus_minus(n_train=100).train
    border = X.reshape(-1, 16, 16)
    left, right, top, bottom = border[:, :, 0], border[:, :, -1], border[:, 0], border[:, -1]
    expected = {0: (1, 1, 0, 0), 1: (1, 1, 1, 1), 2: (0, 1, 1, 1), 3: (1, 0, 1, 1)}
    for label, ends in expected.items():
        for side, reached in zip((left, right, top, bottom), ends, strict=True):
            assert np.all((side[y == label].max(axis=1) > 0.1) == bool(reached))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("linearly_separable", {"n_features": 0}, "n_features"),
        ("linearly_separable", {"n_features": 3, "margin": 1.0}, "margin"),
        ("linearly_separable", {"n_features": 60, "margin": 0.9}, "choose a smaller"),
        ("hidden_manifold", {"n_features": 3, "manifold_dimension": 0}, "manifold_dimension"),
        ("two_curves", {"n_features": 3, "noise": -1}, "noise"),
        ("two_curves", {"n_features": 3, "offset": np.inf}, "offset"),
        ("two_curves", {"n_features": 3, "test": 1.0}, "test"),
        ("two_curves", {"n_features": 3, "noise": 1e308}, "choose smaller"),
        ("two_curves", {"n_features": 3, "offset": 1e308}, "choose smaller"),
        ("two_curves", {"n_features": 3, "n_samples": 1}, "1 of 1 samples"),
        ("linearly_separable", {"n_features": 3, "test": 0.999}, "takes 300 of 300 samples"),
        ("hyperplanes", {"n_hyperplanes": 2, "n_samples": 1.5}, "n_samples"),
        ("hyperplanes", {"n_hyperplanes": 2, "seed": -1}, "seed"),
        ("plus_minus", {"n_classes": 5}, "n_classes"),
        ("plus_minus", {"n_test": 0}, "n_test"),
    ],
)
def test_impossible_parameters_are_refused(name, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        getattr(synthetic, name)(**arguments)
