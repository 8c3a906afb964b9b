"""The models of the QML benchmark suite give what its own code gives, which computed the golden values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.models import catalog
from mcquack.models.quantum.base import DrawnClassifier
from mcquack.training.drawn import start_state

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "qml_suite_models.json").read_text(encoding="utf-8"))
CASES = [pytest.param(model, case, id=f"{model}-{case}") for model, cases in GOLDEN["models"].items() for case in cases]
NAMES = {entry.class_name: entry.name for entry in catalog.entries("quantum")}
EXACT: dict[str, Any] = {"rtol": 0, "atol": 1e-10}  # of values with twelve digits
LABELS = np.array([-1, 1, -1, 1])


def estimator(model: str, case: dict[str, Any]) -> DrawnClassifier:
    settings = {name: value for name, value in case["hyperparameters"].items() if name != "max_vmap"}
    class_name, _, published = model.partition("_published")
    if class_name == "DataReuploadingClassifier":
        settings["circuit"] = "published" if published else "shipped"
    if class_name in ("CircuitCentricClassifier", "TreeTensorClassifier"):
        settings["padding"] = "fill"
    found = catalog.entry(NAMES[class_name]).new(**settings, random_state=0)
    assert isinstance(found, DrawnClassifier)
    return found


def raw_samples(n_features: int) -> np.ndarray:
    i, j = np.meshgrid(np.arange(4), np.arange(n_features), indexing="ij")
    return np.cos(1 + 1.3 * i + 0.7 * j + 0.5 * i * j)


def parameters(case: dict[str, Any]) -> dict[str, np.ndarray]:
    found = {
        name: 0.1 * (1 + np.arange(int(np.prod(shape)))).reshape(shape) for name, shape in case["param_shapes"].items()
    }
    return found | {name: np.array(value) for name, value in case.get("param_override", {}).items()}


def flat(model: DrawnClassifier, named: dict[str, Any], n_inputs: int) -> np.ndarray:
    """Parameters of the suite as they lie here."""
    arrays = {name: np.asarray(array, dtype=float) for name, array in named.items()}
    if "omegas" in arrays:
        arrays["thetas"] = arrays["thetas"].swapaxes(0, 1)
    order = model._parameter_shapes(n_inputs, 2)
    assert set(order) == set(arrays)
    return np.concatenate([arrays[name].ravel() for name in order])


@pytest.mark.parametrize(("model", "case"), CASES)
def test_loss_gradient_and_five_steps_of_adam_are_those_of_the_original(model: str, case: str) -> None:
    golden = GOLDEN["models"][model][case]
    ours = estimator(model, golden)
    samples = ours._prepared(raw_samples(golden["n_features"]), LABELS)
    start = flat(ours, parameters(golden), golden["n_features"])
    every = np.array([[0, 2], [1, 3]]) if model == "QuantumMetricLearner" else np.arange(4)
    ours.set_params(batch_size=every.shape[-1])
    training: Any = ours._training(samples, 0)
    loss, gradient = training.loss_and_gradient(start, every)
    assert_allclose(loss, golden["loss"], **EXACT)
    assert_allclose(gradient, flat(ours, golden["grad"], golden["n_features"]), **EXACT)
    after = training(start_state(start), np.array([every] * 5), 0.01, 0)
    assert_allclose(after.losses, golden["adam_lr_0.01_full_batch_losses_steps_0_4"], **EXACT)
    # Where a derivative is zero but for rounding, Adam divides that by its epsilon of 1e-8.
    assert_allclose(np.abs(after.parameters.weights).sum(), golden["sum_abs_params_after_5_adam_steps"], rtol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "case"), CASES)
def test_prepared_samples_and_predictions_are_those_of_the_original(model: str, case: str) -> None:
    golden = GOLDEN["models"][model][case]
    ours, X = estimator(model, golden).set_params(max_steps=1), raw_samples(golden["n_features"])
    ours.fit(X, LABELS)
    ours.parameters_[0] = flat(ours, parameters(golden), golden["n_features"])
    prepared = ours.scaled(X)
    prepared = getattr(ours, "_starts", lambda rows: rows)(prepared)
    if model == "QuantumMetricLearner":
        expected = np.array([golden[part][k] for k in range(2) for part in ("A_prepared", "B_prepared")])
    else:
        expected = np.array(golden["X_prepared"])
    if prepared.shape == expected.shape:  # other models embed samples before training
        assert_allclose(prepared, expected, **EXACT)
    proba = np.clip(golden["predict_proba"], 0, 1)  # a bias takes some of the original's out of bounds
    assert_allclose(ours.predict_proba(X), proba, **EXACT)
    assert ours.predict(X).tolist() == golden["predict"]


@pytest.mark.campaign
@pytest.mark.parametrize(("model", "case"), CASES)
def test_single_precision_gives_the_same_to_six_digits(model: str, case: str) -> None:
    golden = GOLDEN["models"][model][case]
    ours = estimator(model, golden)
    if not hasattr(ours, "dtype"):
        pytest.skip("it has double precision alone")
    every = np.array([[0, 2], [1, 3]]) if model == "QuantumMetricLearner" else np.arange(4)
    ours.set_params(batch_size=every.shape[-1], dtype="float32")
    samples = ours._prepared(raw_samples(golden["n_features"]), LABELS)
    start = flat(ours, parameters(golden), golden["n_features"]).astype(np.float32)
    training: Any = ours._training(samples, 0)
    loss, gradient = training.loss_and_gradient(start, every)
    assert gradient.dtype == np.float32
    assert_allclose(loss, golden["loss"], rtol=1e-6, atol=1e-6)
    assert_allclose(gradient, flat(ours, golden["grad"], golden["n_features"]), atol=1e-6)
