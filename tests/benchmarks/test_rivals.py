"""The rivals that the benchmark writes in JAX compute what their originals do, to the digits that were kept."""

import json
import math
import warnings
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

import mcquack.models
from benchmarks.race import Timing
from benchmarks.rivals import Measured, Ours, Row, Whole, tables
from benchmarks.rivals_peers import MODELS, JaxModel, has_converged, training
from benchmarks.rivals_problem import INTERVAL, PROBLEMS, SIZES

pytest.importorskip("pennylane")
jax = pytest.importorskip("jax")

pytestmark = pytest.mark.campaign  # compiling the peers takes a minute

CASES = json.loads(Path(__file__).with_name("rivals.json").read_text(encoding="utf-8"))["cases"]
TOLERANCE = 1e-10
LABELS = np.array([-1, 1, -1, 1])

cases = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['model']}-{case['case']}")


@pytest.fixture(autouse=True)
def _double():
    from mcquack.simulators.jax.functions import precision

    with precision(np.dtype(np.float64)):
        yield


def jax_model(case: dict[str, Any], by: str = "expm") -> JaxModel:
    return MODELS[case["model"]](case["n_features"], {**case["settings"], "by": by})


def parameters(case: dict[str, Any]) -> dict[str, Any]:
    """0.1, 0.2, 0.3, … in every array, unless the case says otherwise."""
    found = {name: 0.1 * np.arange(1, 1 + math.prod(shape)).reshape(shape) for name, shape in case["shapes"].items()}
    found |= case.get("replaced", {})
    return {name: jax.numpy.asarray(array, float) for name, array in found.items()}


def samples(case: dict[str, Any]) -> np.ndarray:
    i, j = np.ogrid[:4, : case["n_features"]]
    return np.cos(1 + 1.3 * i + 0.7 * j + 0.5 * i * j)


def batch(case: dict[str, Any], model: JaxModel) -> tuple[Any, ...]:
    return tuple(map(jax.numpy.asarray, model.arrays(model.prepared(samples(case)), LABELS)))


@cases
def test_outputs_are_those_of_the_original(case):
    model, rows = jax_model(case), np.array(case["rows"])
    if case["settings"].get("n_input_copies") == 2:
        rows = np.kron(rows, rows)
    found = np.asarray(model.outputs(parameters(case), jax.numpy.asarray(rows)))
    if case["model"] == "QuantumMetricLearner":
        found = np.abs(np.vdot(*found)) ** 2
    assert_allclose(found.squeeze(), np.squeeze(case["outputs"]), atol=TOLERANCE, rtol=0)


@cases
def test_loss_and_gradients_are_those_of_the_original(case):
    model = jax_model(case)
    loss, gradients = jax.value_and_grad(model.loss)(parameters(case), *batch(case, model))
    assert_allclose(loss, case["loss"], atol=TOLERANCE, rtol=0)
    assert gradients.keys() == case["gradients"].keys()
    for name, gradient in gradients.items():
        assert_allclose(gradient, case["gradients"][name], atol=TOLERANCE, rtol=0, err_msg=name)


def test_eigenvectors_make_the_same_boltzmann_machine_as_exponentials():
    (case,) = (case for case in CASES if case["model"] == "QuantumBoltzmannMachine")
    values = [
        jax.value_and_grad(model.loss)(parameters(case), *batch(case, model))
        for model in (jax_model(case, by) for by in ("expm", "eigh"))
    ]
    jax.tree.map(lambda one, other: assert_allclose(one, other, atol=TOLERANCE, rtol=0), *values)


@cases
def test_parameters_start_with_the_shapes_of_the_original_and_their_number_is_told(case):
    model = jax_model(case)
    found = model.initial(jax.random.key(0))
    assert {name: list(array.shape) for name, array in found.items()} == case["shapes"]
    # A type that a value has only by default is replaced in the first update, and the step would be compiled anew.
    assert not any(array.weak_type for array in found.values())
    size = SIZES[case["model"]](case["n_features"], case["settings"])
    assert size.n_parameters == sum(array.size for array in found.values())


@pytest.mark.filterwarnings("ignore:jax.core:DeprecationWarning")  # PennyLane asks an older JAX
def test_training_follows_the_losses_of_the_original(monkeypatch):
    pytest.importorskip("optax")
    (case,) = (case for case in CASES if "losses" in case)
    model = replace(jax_model(case), initial=lambda _: parameters(case))
    monkeypatch.setattr(jax.random, "choice", lambda _, n_rows, shape: jax.numpy.arange(n_rows))
    losses = training(model, samples(case), LABELS, learning_rate=0.01, batch_size=4)
    assert_allclose(list(islice(losses, 5)), case["losses"], atol=TOLERANCE, rtol=0)


def test_the_rule_first_looks_after_two_intervals_and_a_step():
    flat = [1.0] * (2 * INTERVAL + 1)
    assert not has_converged(flat)
    assert has_converged([*flat, 1.0])


def test_the_rule_waits_while_losses_fall():
    falling = list(np.linspace(1, 0, 1000))
    noisy = list(np.resize([0.0, 1.0], 1000))
    assert not has_converged(falling)
    assert has_converged(noisy)


class Estimator:
    """Fits in no time, and diverges after three hundred steps."""

    def __init__(self, *, max_steps, random_state, **settings):
        self.max_steps = max_steps

    def fit(self, X, y):
        self.n_iter_ = min(self.max_steps, 300)
        self.losses_ = np.arange(float(self.n_iter_))
        warnings.warn("not converged", ConvergenceWarning, stacklevel=2)
        return self


def test_our_side_counts_the_steps_that_were_taken(monkeypatch):
    monkeypatch.setattr(mcquack.models, "TreeTensorClassifier", Estimator, raising=False)
    ours = Ours(PROBLEMS["tree"])
    ours.first()
    assert all(pace < 1e-3 for pace in ours.turn(steps=400, budget=0.01))
    assert ours.fit(None)[1:] == (300, 199.5)
    assert ours.fit(250)[1:] == (250, 149.5)


def row(*, peer_fit: Whole | None) -> Row:
    ours = Measured(steps=Timing([0.001]), first=1.0, whole=Whole(2.0, 1000, 0.5))
    peer = Measured(steps=Timing([0.02]), first=5.0, whole=peer_fit)
    return Row(problem=PROBLEMS["tree"], ours=ours, peers={"peer": peer})


def test_a_peer_is_charged_with_its_first_step_and_as_many_as_ours_took():
    found = row(peer_fit=None)
    assert found.step_ratio("peer") == 20
    assert found.fit_seconds("peer") == 5 + 1000 * 0.02
    assert found.fit_ratio("peer") == 12.5
    assert found.fit_ratio("peer", both_start=True) == 25 / 3
    assert "≈ 25.0" in tables([found])[1].lines[0]


def test_a_fit_that_was_run_counts_as_measured():
    found = row(peer_fit=Whole(15.0, 1000, 0.5))
    assert found.fit_seconds("peer") == 20
    assert "20.0" in tables([found])[1].lines[0]


def test_what_failed_leaves_its_reason_and_empty_cells():
    failed = Measured(steps=Timing(note="not installed"))
    found = Row(problem=PROBLEMS["tree"], ours=row(peer_fit=None).ours, peers={"peer": failed})
    line, seconds = (table.lines[0] for table in tables([found]))
    assert "not installed" in line
    assert seconds == ["tree tensor", "1.0", "", "2.00", "", ""]
    assert json.loads(json.dumps(found.record()))["peers"]["peer"]["note"] == "not installed"


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=str)
def test_every_problem_has_a_size_and_a_peer(problem):
    assert problem.size.n_parameters > problem.size.n_qubits
    assert problem.model in MODELS
    assert set(problem.data()[1]) == {-1, 1}
