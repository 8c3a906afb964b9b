"""What becomes of features before a model scales them: learned from training samples alone, and kept in its file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA, FastICA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import Normalizer, QuantileTransformer, RobustScaler, StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from mcquack import McQuackClassifier, load
from mcquack.errors import InvalidInputError, ModelFileError
from mcquack.models import SupportVectorClassifier, VariationalEnsembleClassifier
from mcquack.models.features import Features, learned_features, reduced_features
from mcquack.models.model_file import read_model, write_model
from mcquack.randomness import stream
from tests.models.sameness import assert_same_model

IRIS = load_iris(return_X_y=True)
WINE, WINE_LABELS = load_wine(return_X_y=True)
ONES = np.ones(len(WINE))
AFFINE = [
    PCA(3),
    PCA(3, whiten=True),
    StandardScaler(),
    RobustScaler(),
    LinearDiscriminantAnalysis(),
    SelectKBest(k=4),
    GaussianRandomProjection(5, random_state=0),
    FastICA(3, random_state=0, max_iter=1000),
]


def made(**settings: Any) -> Features:
    found = learned_features(WINE, WINE_LABELS, ONES, **settings)
    assert found is not None
    return found


def test_nothing_is_made_where_nothing_is_asked_for() -> None:
    assert learned_features(WINE, WINE_LABELS, ONES) is None
    assert learned_features(WINE, WINE_LABELS, ONES, n_components=13) is None
    assert learned_features(WINE, WINE_LABELS, ONES, scale=(-1, 1)) is None


@pytest.mark.parametrize("count", [1, 4, 12])
def test_components_are_those_of_scikit_learn(count: int) -> None:
    expected = PCA(count, svd_solver="full").fit_transform(WINE)
    found = made(n_components=count)(WINE)
    assert_allclose(np.abs(found), np.abs(expected), rtol=0, atol=1e-9)


def test_a_large_offset_costs_no_digits() -> None:
    far = learned_features(WINE + 1e8, WINE_LABELS, ONES, n_components=2)
    assert far is not None
    assert_allclose(far(WINE + 1e8), made(n_components=2)(WINE), rtol=0, atol=1e-4)


@pytest.mark.parametrize("transformer", AFFINE, ids=lambda each: type(each).__name__)
def test_a_transformer_that_is_affine_becomes_a_matrix(transformer: Any) -> None:
    found = made(transformer=transformer)
    assert found.other is None
    expected = transformer.fit(WINE, WINE_LABELS).transform(WINE)
    assert_allclose(found(WINE), expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))
    assert not hasattr(McQuackClassifier(transformer=transformer).transformer, "unknown")


@pytest.mark.parametrize(
    "transformer", [Normalizer(), RBFSampler(n_components=6, random_state=0), QuantileTransformer(n_quantiles=50)]
)
def test_one_that_is_not_stays_what_it_is(transformer: Any) -> None:
    found = made(transformer=transformer, n_components=3, scale="common")
    assert found.other is not None
    assert found(WINE).shape == (len(WINE), 3)
    with pytest.raises(InvalidInputError, match="holds no code"):
        found.to_file()


def test_what_is_given_is_not_fitted() -> None:
    given = PCA(2)
    McQuackClassifier(2, epochs=1, transformer=given).fit(*IRIS)
    assert not hasattr(given, "components_")


def test_a_common_scale_keeps_what_is_small_small() -> None:
    found = made(n_components=5, scale="common")(WINE)
    assert np.abs(found).max() == pytest.approx(0.5)
    assert (np.diff(found.std(axis=0)) < 0).all()
    expected = made(n_components=5)(WINE)
    assert_allclose(found * np.abs(expected).max() * 2, expected, rtol=1e-9, atol=1e-9)


def test_a_standard_scale_gives_mean_0_and_variance_1() -> None:
    found = made(scale="standard")(WINE)
    assert_allclose(found, StandardScaler().fit_transform(WINE), rtol=1e-9, atol=1e-9)


def test_quantiles_are_shares_of_the_samples_below() -> None:
    rng = stream(0, "skewed")
    X = np.exp(3 * rng.normal(size=(400, 2)))
    found = learned_features(X, np.zeros(400, np.int64), np.ones(400), scale="quantile")
    assert found is not None
    shares = (X[:, None, :] > X[None, :, :]).mean(axis=1)
    assert_allclose(found(X), shares, rtol=0, atol=0.01)
    assert found(np.array([[-1.0, 1e9]])).tolist() == [[0.0, 1.0]]


def test_quantiles_of_many_equal_values_are_in_the_middle_of_them() -> None:
    X = np.concatenate([np.zeros((90, 1)), np.arange(1.0, 11.0)[:, None]])
    found = learned_features(X, np.zeros(100, np.int64), np.ones(100), scale="quantile")
    assert found is not None
    assert found(np.zeros((1, 1)))[0, 0] == pytest.approx(0.45, abs=0.02)


@pytest.mark.parametrize(
    "settings", [{"n_components": 3}, {"scale": "common"}, {"scale": "standard"}, {"scale": "quantile"}]
)
def test_a_weight_of_two_is_a_sample_given_twice(settings: dict[str, Any]) -> None:
    weights = 1.0 + (np.arange(len(WINE)) % 2)
    rows = np.repeat(np.arange(len(WINE)), weights.astype(int))
    by_weight = learned_features(WINE, WINE_LABELS, weights, **settings)
    by_repeats = learned_features(WINE[rows], WINE_LABELS[rows], np.ones(len(rows)), **settings)
    assert by_weight is not None
    assert by_repeats is not None
    assert_allclose(by_weight(WINE), by_repeats(WINE), rtol=0, atol=1e-8)


@pytest.mark.parametrize("n_rows", [3, 40, 178])
@pytest.mark.parametrize("pattern", [(1, 2), (0, 1, 3), (2,), (5, 0)], ids=str)
def test_quantiles_count_rows_by_their_weight(n_rows: int, pattern: tuple[int, ...]) -> None:
    weights = np.resize(np.array(pattern, np.float64), n_rows)
    rows = np.repeat(np.arange(n_rows), weights.astype(int))
    by_weight = learned_features(WINE[:n_rows], WINE_LABELS[:n_rows], weights, scale="quantile")
    by_repeats = learned_features(WINE[rows], WINE_LABELS[rows], np.ones(len(rows)), scale="quantile")
    assert by_weight is not None
    assert by_repeats is not None
    assert by_weight.quantiles is not None
    assert_array_equal(by_weight.quantiles, by_repeats.quantiles)


def test_weights_that_are_shares_keep_as_many_quantiles_as_there_are_distinct_rows() -> None:
    shares = np.full(len(WINE), 1 / len(WINE))
    found = learned_features(WINE, WINE_LABELS, shares, scale="quantile")
    assert found is not None
    assert found.quantiles is not None
    assert len(found.quantiles) == len(np.unique(WINE, axis=0))


def test_a_column_that_never_changes_is_no_trouble() -> None:
    X = np.column_stack([WINE, np.full(len(WINE), 7.0)])
    for scale in ("common", "standard", "quantile"):
        found = learned_features(X, WINE_LABELS, ONES, scale=scale)
        assert found is not None
        assert np.isfinite(found(X)).all()


# Models. Behind a product of matrices the last bits depend on the processor and on where arrays lie in memory: what is
# learned is held to its bits, and what models say of it to the digits of single precision.

CLOSE: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-6}


def fitted(**settings: Any) -> McQuackClassifier:
    return McQuackClassifier(3, epochs=6, random_state=0, **settings).fit(WINE, WINE_LABELS)


SETTINGS: list[dict[str, Any]] = [
    {"n_components": 4},
    {"n_components": 4, "scale": "common", "steps": "joint"},
    {"scale": "standard"},
    {"scale": "quantile"},
    {"transformer": LinearDiscriminantAnalysis()},
    {"transformer": PCA(6), "n_components": 3, "scale": "quantile"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_model_file_has_what_becomes_of_features(settings: dict[str, Any], tmp_path: Path) -> None:
    model = fitted(**settings)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert model.features_
    assert again.features_
    kept, read = model.features_.to_file(), again.features_.to_file()
    assert kept.keys() == read.keys()
    for name in kept:
        assert_array_equal(read[name], kept[name], strict=True)
    assert_same_model(again, model)
    assert_allclose(again.transform(WINE), model.transform(WINE), **CLOSE)
    assert_allclose(again.predict_proba(WINE), model.predict_proba(WINE), **CLOSE)
    assert again.n_features_in_ == 13


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_training_resumes_to_the_same_model(settings: dict[str, Any], tmp_path: Path) -> None:
    model = McQuackClassifier(3, epochs=6, random_state=0, **settings)
    for row in model.fit_iter(WINE, WINE_LABELS):
        if row["epoch"] == 3:
            break
    model.save(tmp_path / "half.mcq", resumable=True)
    again = load(tmp_path / "half.mcq")
    list(again.fit_iter(WINE, WINE_LABELS, resume=True))
    assert_allclose(again.transform(WINE), fitted(**settings).transform(WINE), **CLOSE)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_kernel_takes_features_as_they_come(settings: dict[str, Any]) -> None:
    model = fitted(**settings)
    exact = model.kernel_(WINE[:5], WINE[:7])
    states = model.statevectors(WINE[:7])
    assert_allclose(exact, np.abs(states[:5].conj() @ states.T) ** 2, rtol=0, atol=1e-5)


@pytest.mark.parametrize("model", [SupportVectorClassifier(), VariationalEnsembleClassifier(2, 1, epochs=2)])
def test_other_models_take_the_same_features(model: Any, tmp_path: Path) -> None:
    model.set_params(n_components=3, scale="quantile", random_state=0).fit(WINE, WINE_LABELS)
    model.save(tmp_path / "model.mcq")
    again = load(tmp_path / "model.mcq")
    assert_allclose(again.decision_function(WINE), model.decision_function(WINE), **CLOSE)


def test_features_are_learned_from_the_training_part_alone() -> None:
    X, y = IRIS
    far = np.concatenate([X, 1e3 * X[:3]])
    held = (far[-3:], y[:3])
    model = McQuackClassifier(2, epochs=2, n_components=2, scale="standard", random_state=0)
    alone = model.fit(X, y).features_
    watched = model.fit(X, y, validation_data=held).features_
    assert alone is not None
    assert watched is not None
    assert_allclose(alone(far), watched(far), rtol=1e-9, atol=1e-9)


def test_components_help_on_pictures() -> None:
    X, y = load_digits(return_X_y=True)
    model = McQuackClassifier(4, epochs=15, n_components=16, scale="common", steps="joint", loss="cross_entropy")
    assert model.set_params(random_state=0).fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.85


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("n_components", 0),
        ("n_components", 2.5),
        ("n_components", True),
        ("scale", "unit"),
        ("scale", (1, 0)),
        ("transformer", PCA),
        ("transformer", "pca"),
        ("n_starts", 0),
    ],
)
def test_impossible_settings_are_refused(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match=name):
        McQuackClassifier(2, epochs=1, **{name: wrong}).fit(*IRIS)


class Nonsense(StandardScaler):  # scikit-learn has no types
    def transform(self, X: NDArray[Any], copy: bool | None = None) -> NDArray[Any]:
        return np.full((len(X), 2), np.nan)


def test_a_transformer_that_makes_no_numbers_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="finite numbers"):
        McQuackClassifier(2, epochs=1, transformer=Nonsense()).fit(*IRIS)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("features.factor", lambda array: array[:-1]),
        ("features.matrix", lambda array: array[:-1]),
        ("features.quantiles", lambda array: array[::-1].copy()),
        ("features.center", lambda array: array.astype(np.float32)),
    ],
)
def test_a_file_with_features_that_do_not_fit_is_refused(name: str, change: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.mcq"
    fitted(n_components=4, scale="quantile").save(path)
    header, tensors = read_model(path)
    fields = {key: value for key, value in header.items() if key not in ("format", "format_version", "sha256")}
    write_model(path, header=fields, tensors={**tensors, name: change(tensors[name])})
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.parametrize("scale", ["standard", "angles", "none"])
@pytest.mark.parametrize("n_components", [4, 13])
def test_reduced_features_are_scaled_and_have_derivatives(n_components: int, scale: Any) -> None:
    found = reduced_features(WINE, ONES, n_components=n_components, scale=scale)
    rows = found(WINE)
    assert rows.shape == (len(WINE), n_components)
    if scale == "standard":
        assert_allclose(
            (rows.mean(axis=0), rows.std(axis=0)), (np.zeros(n_components), np.ones(n_components)), atol=1e-9
        )
    elif scale == "angles":
        assert_allclose(
            (rows.min(axis=0), rows.max(axis=0)), np.pi / 2 * np.array([[-1.0], [1.0]]) * np.ones(n_components)
        )
    rng = stream(0, "reduced")
    slopes, step = rng.normal(size=(3, n_components)), rng.normal(size=(3, 13))
    along = (found.pulled(WINE[:3], slopes) * step).sum()
    assert_allclose(along, ((found(WINE[:3] + step) - found(WINE[:3])) * slopes).sum(), rtol=1e-9)
