"""The quantum Boltzmann machine against the original code, the matrix exponential and finite differences."""

import json
import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import expm

from mcquack.models.quantum import thermal
from mcquack.models.quantum.thermal import BoltzmannMachine
from mcquack.simulators.compiled.team import Team

# Computed by the original code of the suite (Bowles, Ahmed and Schuld 2024, tag v0.1).
GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "qml_suite_models.json").read_text())
CASES = GOLDEN["models"]["QuantumBoltzmannMachine"]
LABELS = np.array([0, 1, 0, 1])

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
MACHINES = [
    *(
        BoltzmannMachine(n_qubits=n, visible_qubits=visible, zz=zz, temperature=temperature)
        for n, temperature in ((1, 2.0), (2, 1.0), (3, 0.7), (4, 10.0))
        for visible in ("single", "half", "full")
        for zz in ("shared", "each")
    ),
    *(BoltzmannMachine(n_qubits=n, n_classes=3, zz=zz) for n in (2, 4) for zz in ("shared", "each")),
    *(BoltzmannMachine(n_qubits=n, n_classes=5, zz=zz, temperature=3.0) for n in (3, 5) for zz in ("shared", "each")),
]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=str)


@pytest.fixture(params=["lanes", "LAPACK"])
def way(request, monkeypatch):
    """Both ways to decompose: small matrices side by side, and large ones one by one."""
    if request.param == "LAPACK":
        monkeypatch.setattr(thermal, "MOST_QUBITS_IN_LANES", 0)


def of(case) -> tuple[BoltzmannMachine, np.ndarray]:
    settings, n = case["hyperparameters"], case["n_features"]
    machine = BoltzmannMachine(
        n_qubits=n, visible_qubits=settings["visible_qubits"], temperature=settings["temperature"]
    )
    assert [machine.n_rows, n] == case["param_shapes"]["thetas"]
    return machine, 0.1 * np.arange(1, machine.n_rows * n + 1).reshape(machine.n_rows, n)


def problem(machine: BoltzmannMachine, n_samples: int = 11):
    draws = np.random.default_rng(machine.n_qubits)
    theta = draws.normal(size=(machine.n_rows, machine.n_qubits))
    X = draws.normal(size=(n_samples, machine.n_qubits))
    return theta, X, draws.integers(machine.n_classes, size=n_samples)


def by_definition(machine: BoltzmannMachine, theta, x):
    """p(c) from Kronecker products and the matrix exponential."""
    n = machine.n_qubits

    def on(*placed):
        matrix: np.ndarray = np.eye(1)
        for qubit in range(n):
            matrix = np.kron(matrix, dict(placed).get(qubit, np.eye(2)))
        return matrix

    Z, X = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    fields = theta @ x
    H = sum(fields[2 * i] * on((i, Z)) + fields[2 * i + 1] * on((i, X)) for i in range(n))
    for k, (i, j) in enumerate(combinations(range(n), 2)):
        H = H + fields[2 * n + (k if machine.zz == "each" else 0)] * on((i, Z), (j, Z))
    rho = expm(-H / machine.temperature)
    rho /= np.trace(rho)
    if machine.n_classes == 2:
        n_visible = {"single": 1, "half": max(1, n // 2), "full": n}[machine.visible_qubits]
        f = np.mean([np.trace(rho @ on((i, Z))) for i in range(n_visible)])
        return np.array([1 - f, 1 + f]) / 2
    n_measured = int(np.ceil(np.log2(machine.n_classes)))
    strings = np.diag(rho).reshape(2**n_measured, -1).sum(axis=1)
    used = strings[: machine.n_classes][::-1]
    return used / used.sum()


@pytest.mark.usefixtures("way")
@every_case
def test_outputs_losses_and_gradients_are_the_original_ones(case) -> None:
    machine, theta = of(case)
    (measured,) = machine.probabilities(theta, np.array([case["x_prepared"]]))
    assert_allclose(measured[1] - measured[0], case["expectation"], rtol=0, atol=1e-10)
    X = np.array(case["X_prepared"])
    assert_allclose(machine.probabilities(theta, X), case["predict_proba"], rtol=0, atol=1e-10)
    loss, gradient = machine.loss_and_gradient(theta, X, LABELS)
    assert_allclose(loss, case["loss"], rtol=0, atol=1e-10)
    assert_allclose(gradient, case["grad"]["thetas"], rtol=0, atol=1e-10)


@every_case
def test_five_steps_of_adam_are_the_original_ones(case) -> None:
    machine, theta = of(case)
    X = np.array(case["X_prepared"])
    mean, square, losses = np.zeros_like(theta), np.zeros_like(theta), []
    for step in range(1, 6):
        loss, gradient = machine.loss_and_gradient(theta, X, LABELS)
        losses.append(loss)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        theta = theta - 0.01 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    assert_allclose(losses, case["adam_lr_0.01_full_batch_losses_steps_0_4"], rtol=0, atol=1e-10)
    assert_allclose(np.abs(theta).sum(), case["sum_abs_params_after_5_adam_steps"], rtol=0, atol=1e-10)


@pytest.mark.usefixtures("way")
@every_machine
def test_probabilities_are_those_of_the_matrix_exponential(machine: BoltzmannMachine) -> None:
    theta, X, labels = problem(machine)
    expected = np.array([by_definition(machine, theta, x) for x in X])
    found = machine.probabilities(theta, X)
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-15)
    loss, _ = machine.loss_and_gradient(theta, X, labels)
    assert_allclose(loss, -np.log(expected[np.arange(len(X)), labels]).mean(), rtol=1e-9)


@pytest.mark.usefixtures("way")
@every_machine
def test_gradients_are_finite_differences(machine: BoltzmannMachine) -> None:
    theta, X, labels = problem(machine)
    _, gradient = machine.loss_and_gradient(theta, X, labels)
    step = 1e-5
    for place in np.ndindex(theta.shape):
        ahead, behind = theta.copy(), theta.copy()
        ahead[place] += step
        behind[place] -= step
        rise = machine.loss_and_gradient(ahead, X, labels)[0] - machine.loss_and_gradient(behind, X, labels)[0]
        assert_allclose(gradient[place], rise / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_qubits", [6, 7])
def test_both_ways_agree_on_larger_matrices(n_qubits: int, monkeypatch) -> None:
    machine = BoltzmannMachine(n_qubits=n_qubits, visible_qubits="half")
    theta, X, labels = problem(machine)
    loss, gradient = machine.loss_and_gradient(theta, X, labels)
    monkeypatch.setattr(thermal, "MOST_QUBITS_IN_LANES", 0)
    other_loss, other_gradient = machine.loss_and_gradient(theta, X, labels)
    assert_allclose(loss, other_loss, rtol=1e-12)
    assert_allclose(gradient, other_gradient, rtol=0, atol=1e-12)


def test_eight_qubits() -> None:
    machine = BoltzmannMachine(n_qubits=8, n_classes=3)
    theta, X, labels = problem(machine, 3)
    assert_allclose(machine.probabilities(theta, X), [by_definition(machine, theta, x) for x in X], rtol=0, atol=1e-11)
    assert np.isfinite(machine.loss_and_gradient(theta, X, labels)[1]).all()


def test_two_classes_are_two_strings_of_one_qubit() -> None:
    """What more than two classes measure, for two: the second class is |0⟩."""
    machine = BoltzmannMachine(n_qubits=3)
    assert_array_equal(machine._observables, [[0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0, 0]])
    assert_array_equal(BoltzmannMachine(n_qubits=2, n_classes=3)._observables, np.eye(4)[[2, 1, 0]])


@pytest.mark.parametrize("n_qubits", [2, 3, 5])
def test_shared_couplings_use_only_the_first_row_of_pairs(n_qubits: int) -> None:
    machine = BoltzmannMachine(n_qubits=n_qubits)
    theta, X, labels = problem(machine)
    other = theta.copy()
    other[2 * n_qubits + 1 :] += 7
    loss, gradient = machine.loss_and_gradient(theta, X, labels)
    assert not gradient[2 * n_qubits + 1 :].any()
    assert gradient[: 2 * n_qubits + 1].all()
    other_loss, other_gradient = machine.loss_and_gradient(other, X, labels)
    assert loss == other_loss
    assert_array_equal(gradient, other_gradient)
    assert_array_equal(machine.probabilities(theta, X), machine.probabilities(other, X))


@pytest.mark.usefixtures("way")
@every_machine
def test_saturated_samples_have_finite_losses_and_gradients(machine: BoltzmannMachine) -> None:
    theta, X, labels = problem(machine)
    for scale in (30.0, 1e3, 1e6, 1e12):
        for still in (False, True):  # without anything that flips, H is diagonal and probabilities underflow
            large = scale * theta
            large[1 : 2 * machine.n_qubits : 2] *= not still
            probabilities = machine.probabilities(large, X)
            loss, gradient = machine.loss_and_gradient(large, X, labels)
            assert (probabilities > 0).all()
            assert 0 <= loss < 70
            assert np.isfinite(gradient).all()
            assert np.abs(gradient).max() < 1e3 / machine.temperature


@pytest.mark.usefixtures("way")
def test_small_probabilities_keep_their_digits() -> None:
    """One qubit is known in closed form: p = (1 - (z/h) tanh h) / 2 with h² = z² + x²."""

    def exact(theta) -> float:
        z, x = theta[:, 0]
        h = np.hypot(z, x)
        return (x**2 / (h * (h + z)) + (z / h) * 2 / (np.exp(2 * h) + 1)) / 2  # the same without a difference

    machine, sample = BoltzmannMachine(n_qubits=1), np.ones((1, 1))
    for scale in (1, 3, 5, 8, 10):
        theta = scale * np.array([[2.0], [1e-4]])
        assert_allclose(machine.probabilities(theta, sample)[0, 1], exact(theta), rtol=1e-9)
        loss, gradient = machine.loss_and_gradient(theta, sample, np.array([1]))
        assert_allclose(loss, -np.log(exact(theta)), rtol=1e-10)
        steps = [1e-5 * theta * row for row in np.eye(2)[..., None]]
        slopes = [np.log(exact(theta - step) / exact(theta + step)) / (2 * step.sum()) for step in steps]
        assert_allclose(gradient[:, 0], slopes, rtol=1e-6, atol=1e-6)


def test_a_sample_without_features_is_undecided() -> None:
    for machine in MACHINES:
        theta, _, _ = problem(machine)
        zeros = np.zeros((1, machine.n_qubits))
        assert_allclose(machine.probabilities(theta, zeros), 1 / machine.n_classes, rtol=1e-14)
        loss, gradient = machine.loss_and_gradient(theta, zeros, np.array([0]))
        assert_allclose(loss, np.log(machine.n_classes), rtol=1e-14)
        assert not gradient.any()


@pytest.mark.usefixtures("way")
def test_parameters_that_are_no_numbers_give_a_loss_that_is_none() -> None:
    machine = BoltzmannMachine(n_qubits=3)
    theta, X, labels = problem(machine)
    theta[0, 0] = np.nan
    loss, gradient = machine.loss_and_gradient(theta, X, labels)
    assert np.isnan(loss)
    assert np.isnan(gradient[:7]).all()


@pytest.mark.usefixtures("way")
def test_threads_change_no_bit(monkeypatch) -> None:
    monkeypatch.setattr(thermal, "WORK_WORTH_A_THREAD", 1)
    machine = BoltzmannMachine(n_qubits=4)
    theta, X, labels = problem(machine, 37)
    loss, gradient = machine.loss_and_gradient(theta, X, labels, team=Team(1, patient=True))
    probabilities = machine.probabilities(theta, X, team=Team(1, patient=True))
    for team in (Team(2, patient=True), Team(3, patient=False), None):
        other_loss, other_gradient = machine.loss_and_gradient(theta, X, labels, team=team)
        assert loss == other_loss
        assert_array_equal(gradient, other_gradient)
        assert_array_equal(machine.probabilities(theta, X, team=team), probabilities)


def test_many_rows_are_measured_in_blocks(monkeypatch) -> None:
    machine = BoltzmannMachine(n_qubits=2, n_classes=3)
    theta, X, _ = problem(machine, 50)
    whole = machine.probabilities(theta, X)
    monkeypatch.setattr(thermal, "ROWS_AT_ONCE", 7)
    assert_allclose(machine.probabilities(theta, X), whole, rtol=1e-13)
    assert machine.probabilities(theta, X[:0]).shape == (0, 3)


def test_a_used_machine_can_be_pickled() -> None:
    machine = BoltzmannMachine(n_qubits=3)
    theta, X, labels = problem(machine)
    machine.loss_and_gradient(theta, X, labels)
    again = pickle.loads(pickle.dumps(machine))
    assert again == machine
    assert_array_equal(again.probabilities(theta, X), machine.probabilities(theta, X))
