"""Several starts: their kernels are averaged, and all else is as with one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier, load
from mcquack.errors import InvalidInputError
from mcquack.kernels import CrossEntropy
from tests.models.sameness import assert_same_model

X, Y = load_iris(return_X_y=True)


def several(n_starts: int = 3, **settings: Any) -> McQuackClassifier:
    return McQuackClassifier(2, 2, epochs=4, n_starts=n_starts, random_state=7, **settings)


def test_the_kernel_is_the_mean_of_all_starts() -> None:
    model = several().fit(X, Y)
    kernels = [start.transform(X) for start in model.starts_]
    assert len(kernels) == 3
    assert_allclose(model.transform(X), np.mean(kernels, axis=0), rtol=1e-6)
    assert not np.allclose(kernels[0], kernels[1])
    assert_array_equal(model.predict(X), model.classes_[model.transform(X).argmax(axis=1)])


def test_the_first_start_is_the_model_of_one_start() -> None:
    model, alone = several().fit(X, Y), several(1).fit(X, Y)
    assert_array_equal(model.starts_[0].transform(X), alone.transform(X))
    assert not hasattr(alone, "starts_")
    assert model.n_parameters_ == 3 * alone.n_parameters_
    assert model.n_iter_ == len(model.history_) == 12


def test_one_start_after_several_leaves_none_of_them() -> None:
    model = several().fit(X, Y).set_params(n_starts=1).fit(X, Y)
    assert not hasattr(model, "starts_")
    assert_array_equal(model.transform(X), several(1).fit(X, Y).transform(X))


def test_a_model_file_has_all_starts(tmp_path: Path) -> None:
    model = several(loss=CrossEntropy(learned=True), n_components=2).fit(X, Y)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    for found, kept in zip(again.starts_, model.starts_, strict=True):
        assert_same_model(found, kept)
    # Components are products of matrices, whose last bits depend on the processor and on where arrays lie in memory.
    assert_allclose(again.transform(X), model.transform(X), rtol=1e-5)
    assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-5)
    assert again.beta_ == model.beta_
    assert again.history_ == model.history_


@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("stop", [2, 5, 11])
def test_training_resumes_to_the_same_bits(stop: int, warm_start: bool, tmp_path: Path) -> None:
    model = several(warm_start=warm_start)
    for number, _ in enumerate(model.fit_iter(X, Y), start=1):
        if number == stop:
            break
    assert model.predict(X).shape == Y.shape  # it can be used at any moment
    model.save(tmp_path / "part.mcq", resumable=True)
    again = load(tmp_path / "part.mcq")
    list(again.fit_iter(X, Y, resume=True))
    assert len(again.starts_) == 3
    assert_array_equal(again.transform(X), several().fit(X, Y).transform(X))


def test_a_warm_start_goes_on_with_all() -> None:
    model = several().fit(X, Y)
    before = model.transform(X)
    model.set_params(warm_start=True).fit(X, Y)
    assert not np.array_equal(model.transform(X), before)
    with pytest.raises(InvalidInputError, match="n_starts"):
        model.set_params(n_starts=2).fit(X, Y)
    with pytest.raises(InvalidInputError, match="n_starts"):
        several(1).fit(X, Y).set_params(n_starts=2, warm_start=True).fit(X, Y)


def test_a_fit_that_fails_changes_nothing() -> None:
    model = several().fit(X, Y)
    before = model.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        model.set_params(n_starts=1).fit(np.full_like(X, np.nan), Y)
    assert_array_equal(model.transform(X), before)


def test_a_stream_trains_all() -> None:
    model = several()
    for _ in range(3):
        model.partial_fit(X, Y, classes=[0, 1, 2])
    expected = [start.transform(X) for start in model.starts_]
    assert_allclose(model.transform(X), np.mean(expected, axis=0), rtol=1e-6)
    assert model.n_iter_ == 9


def test_what_has_one_circuit_only_is_asked_of_one_start() -> None:
    model = several().fit(X, Y)
    for asked in (lambda: model.kernel_, lambda: model.statevectors(X), lambda: model.overlap_circuits(X)):
        with pytest.raises(InvalidInputError, match="starts_"):
            asked()
    assert model.starts_[1].kernel_(X[:2]).shape == (2, 2)


def test_kernels_of_several_centroids_are_not_averaged() -> None:
    with pytest.raises(InvalidInputError, match="n_centroids_per_class"):
        several(n_centroids_per_class=2).fit(X, Y)
