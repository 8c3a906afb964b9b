"""Parameters that no fidelity depends on.

They are the biases of ω in the last layer, by which samples and centroids turn alike, and the weights and biases of φ
in the first layer, as RZ only changes the phase of |0⟩.

Their derivative is 0, and in single precision rounding stands in its place, which Adam turns into steps. That these do
not matter is shown here. To hold the biases where they start would round every angle of their gates differently.
"""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier
from mcquack.circuits.feature_map import FeatureMap
from mcquack.simulators import RingEngine, StatevectorEngine
from mcquack.training.optimizer import BETA_1, BETA_2
from tests.problems import random_problem

X, Y = load_iris(return_X_y=True)
# No step of Adam is longer than this many learning rates, whatever its gradients are (Kingma and Ba, section 2.1).
LONGEST_STEP = (1 - BETA_1) / np.sqrt(1 - BETA_2)
SETTINGS: dict[str, Any] = {"n_qubits": 3, "n_repetitions": 2, "random_state": 0}
MAPS = [
    FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=2, final_entangler=final, features_per_gate=per_gate)
    for n_qubits in (1, 3)
    for final in (True, False)
    for per_gate in (1, 3)
]


def moved(bias: Any, by: float) -> Any:
    found = bias.copy()
    found[-1, :, 2] += by
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("circuit", MAPS, ids=repr)
def test_no_fidelity_depends_on_them(circuit: FeatureMap, dtype: str) -> None:
    problem = random_problem(circuit, n_samples=10)
    for engine in (StatevectorEngine(circuit, dtype=dtype), RingEngine(circuit, dtype=dtype)):
        eps = float(np.finfo(dtype).eps)
        weights, bias = problem.weights.astype(dtype), problem.bias.astype(dtype)
        expected = engine.kernel(problem.X, problem.centroids, weights=weights, bias=bias)
        for by in (0.3, -7.0, 50.0):
            found = engine.kernel(problem.X, problem.centroids, weights=weights, bias=moved(bias, by))
            # The angles are rounded in units of their own size.
            assert_allclose(found, expected, rtol=0, atol=50 * eps * (1 + abs(by)))


@pytest.mark.parametrize("circuit", MAPS, ids=repr)
def test_no_fidelity_depends_on_the_first_angles_about_z(circuit: FeatureMap) -> None:
    problem = random_problem(circuit, n_samples=10)
    engine = StatevectorEngine(circuit, dtype="float64")
    expected = engine.kernel(problem.X, problem.centroids, weights=problem.weights, bias=problem.bias)
    weights, bias = problem.weights.copy(), problem.bias.copy()
    weights[0, :, 0] += np.linspace(-3, 3, circuit.n_qubits)
    bias[0, :, 0] -= np.linspace(1, 2, circuit.n_qubits)
    found = engine.kernel(problem.X, problem.centroids, weights=weights, bias=bias)
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    weights[0, :, 1] += 0.5  # θ of the same gates does matter
    assert np.abs(engine.kernel(problem.X, problem.centroids, weights=weights, bias=bias) - expected).max() > 1e-3


@pytest.mark.parametrize("circuit", MAPS, ids=repr)
def test_their_derivative_is_rounding(circuit: FeatureMap) -> None:
    problem = random_problem(circuit, n_samples=10)
    engine = StatevectorEngine(circuit, dtype="float64")
    samples, centroids = (engine.encode(rows, problem.weights, problem.bias) for rows in (problem.X, problem.centroids))
    slopes = np.linspace(-1, 1, len(problem.X) * len(problem.centroids)).reshape(len(problem.X), -1)
    bias = engine.pullback(samples, centroids, slopes, wrt="embedding").bias
    assert bias is not None
    assert_allclose(bias[-1, :, 2], 0, atol=1e-13)
    assert np.abs(bias[-1, :, 1]).max() > 1e-3


@pytest.mark.parametrize("settings", [{}, {"loss": "alignment", "steps": "alternating"}], ids=str)
def test_their_drift_is_bounded_and_changes_nothing(settings: dict[str, Any]) -> None:
    common = {**SETTINGS, "batch_size": 10, "patience": None, **settings}
    start = McQuackClassifier(**common, epochs=0).fit(X, Y).bias_
    model = McQuackClassifier(**common, epochs=40, decay_rate=1.0).fit(X, Y)
    drift = np.abs(model.bias_[-1, :, 2] - start[-1, :, 2])
    n_steps = 15 * 40
    assert drift.max() <= LONGEST_STEP * model.lr_ka * n_steps
    assert drift.max() < np.abs(model.bias_ - start).max(), "rounding should move them less than slopes move others"
    kernel, predicted = model.transform(X), model.predict(X)
    model.bias_ = model.bias_.copy()
    model.bias_[-1, :, 2] = start[-1, :, 2]
    assert_allclose(model.transform(X), kernel, rtol=0, atol=1e-5)
    apart = np.diff(np.sort(kernel, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
    assert apart.mean() > 0.9
    assert_array_equal(model.predict(X)[apart], predicted[apart])


def test_in_double_precision_they_stay() -> None:
    common = {**SETTINGS, "engine": StatevectorEngine(dtype="float64")}
    start, model = (McQuackClassifier(**common, epochs=epochs).fit(X, Y).bias_ for epochs in (0, 20))
    assert_allclose(model[-1, :, 2], start[-1, :, 2], rtol=0, atol=1e-5)
    assert np.abs(model - start).max() > 0.1
