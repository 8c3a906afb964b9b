from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.ring import RingEngine
from tests.oracles import slope
from tests.problems import Problem, random_problem
from tests.simulators.hamming_oracle import oracle_weights

few_examples = settings(max_examples=15)


def shallow(n_qubits: int, n_layers: int = 2, **settings: Any) -> FeatureMap:
    return FeatureMap(n_qubits=n_qubits, n_features=5, n_layers=n_layers, **settings)


@st.composite
def shallow_problems(draw: st.DrawFn) -> Problem:
    feature_map = shallow(draw(st.integers(1, 30)), draw(st.integers(1, 2)), final_entangler=draw(st.booleans()))
    return random_problem(feature_map, n_samples=draw(st.integers(1, 10)), seed=draw(st.integers(0, 2**32 - 1)))


def encoded(problem: Problem, n_threads: int | None = None) -> tuple[RingEngine, Any, Any]:
    engine = RingEngine(problem.feature_map, n_threads=n_threads)
    samples, centroids = (engine.encode(x, problem.weights, problem.bias) for x in (problem.X, problem.centroids))
    return engine, samples, centroids


def distributions(problem: Problem) -> Any:
    engine, samples, centroids = encoded(problem)
    return engine.hamming_distributions(samples, centroids)


def weighting(problem: Problem) -> Any:
    shape = len(problem.X), len(problem.centroids), problem.feature_map.n_qubits + 1
    return stream(0, "weighting").normal(size=shape)


# Values


@pytest.mark.parametrize("n_qubits", range(1, 8))
@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("final_entangler", [True, False])
def test_distributions_are_those_of_whole_statevectors(n_qubits: int, n_layers: int, final_entangler: bool) -> None:
    for features_per_gate in (1, 3):
        feature_map = shallow(n_qubits, n_layers, final_entangler=final_entangler, features_per_gate=features_per_gate)
        problem = random_problem(feature_map, n_samples=2, n_classes=2, seed=n_qubits)
        assert_allclose(distributions(problem), oracle_weights(problem), rtol=0, atol=1e-14)


@few_examples
@given(problem=shallow_problems())
def test_distributions_are_probabilities(problem: Problem) -> None:
    found = distributions(problem)
    assert found.shape == (len(problem.X), len(problem.centroids), problem.feature_map.n_qubits + 1)
    assert found.min() >= 0
    assert_allclose(found.sum(axis=-1), 1, rtol=0, atol=1e-13)


@few_examples
@given(problem=shallow_problems())
def test_a_point_measured_against_itself_has_no_ones(problem: Problem) -> None:
    engine, samples, _ = encoded(problem)
    found = engine.hamming_distributions(samples, samples)
    assert_allclose(np.einsum("iik->ik", found)[:, 0], 1, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n_qubits", [40, 124])
def test_no_ones_are_as_likely_as_the_fidelity_however_small(n_qubits: int) -> None:
    problem = random_problem(FeatureMap(n_qubits=n_qubits, n_features=2 * n_qubits, n_layers=2), n_samples=3)
    fidelities = RingEngine.fidelities(*encoded(problem))
    assert fidelities.max() < 1e-8
    assert_allclose(distributions(problem)[..., 0], fidelities, rtol=1e-9)


def test_a_layer_without_entanglement_flips_every_qubit_by_itself() -> None:
    """The mean and the variance are sums over the qubits."""
    problem = random_problem(FeatureMap(n_qubits=50, n_features=50, n_layers=1), n_samples=2, n_classes=2)
    engine, samples, centroids = encoded(problem)
    kept = np.einsum("iqk,mqk->imq", samples.rotations[:, 0, :, :, 0], centroids.rotations[:, 0, :, :, 0].conj())
    flips = 1 - np.abs(kept) ** 2
    found, ones = engine.hamming_distributions(samples, centroids), np.arange(51)
    means = (found * ones).sum(axis=-1)
    assert_allclose(means, flips.sum(axis=-1), rtol=1e-12)
    assert_allclose((found * ones**2).sum(axis=-1) - means**2, (flips * (1 - flips)).sum(axis=-1), rtol=1e-10)


def test_samples_and_centroids_may_not_change_places() -> None:
    problem = random_problem(shallow(4))
    engine, samples, centroids = encoded(problem)
    there, back = engine.hamming_distributions(samples, centroids), engine.hamming_distributions(centroids, samples)
    assert_allclose(there[..., 0], back[..., 0].T, rtol=0, atol=1e-13)
    assert np.abs(there - back.transpose(1, 0, 2)).max() > 0.01


# Derivatives


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 8, 9, 20])
@pytest.mark.parametrize("n_layers", [1, 2])
def test_pull_is_the_derivative(n_qubits: int, n_layers: int) -> None:
    """Also where the way back crosses several marks."""
    problem = random_problem(shallow(n_qubits, n_layers), n_samples=3, n_classes=2, seed=n_qubits)
    cotangent = weighting(problem)
    gradient = RingEngine.pull_hamming(*encoded(problem), cotangent, wrt="embedding")
    gradient = gradient._replace(
        centroids=RingEngine.pull_hamming(*encoded(problem), cotangent, wrt="centroids").centroids
    )
    for name in ("weights", "bias", "centroids"):

        def value(moved: Any, name: str = name) -> float:
            return float(np.sum(cotangent * distributions(replace(problem, **{name: moved}))))

        start, found = getattr(problem, name), getattr(gradient, name)
        direction = stream(1, name).normal(size=start.shape)
        assert found.shape == start.shape
        assert_allclose(np.sum(found * direction), slope(value, start, direction), rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("n_qubits", [1, 5, 12])
def test_pulling_at_no_ones_is_the_pullback_of_fidelities(n_qubits: int, n_layers: int) -> None:
    problem = random_problem(shallow(n_qubits, n_layers))
    cotangent = np.zeros((5, 3, n_qubits + 1))
    cotangent[..., 0] = problem.cotangent
    for wrt in ("embedding", "centroids"):
        found = RingEngine.pull_hamming(*encoded(problem), cotangent, wrt=wrt)
        expected = RingEngine.pullback(*encoded(problem), problem.cotangent, wrt=wrt)
        for left, right in zip(found, expected, strict=True):
            assert (left is None) == (right is None)
            if left is not None and right is not None:
                assert_allclose(left, right, rtol=0, atol=1e-12)


@few_examples
@given(problem=shallow_problems())
def test_their_sum_cannot_be_moved(problem: Problem) -> None:
    pulled = RingEngine.pull_hamming(*encoded(problem), np.ones_like(weighting(problem)), wrt="embedding")
    assert pulled.weights is not None
    assert pulled.bias is not None
    assert_allclose(pulled.weights, 0, rtol=0, atol=1e-11)
    assert_allclose(pulled.bias, 0, rtol=0, atol=1e-11)


# Handling


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    problem = random_problem(shallow(10), n_samples=20)
    one, three = encoded(problem, n_threads=1), encoded(problem, n_threads=3)
    assert_array_equal(RingEngine.hamming_distributions(*one), RingEngine.hamming_distributions(*three))
    cotangent = weighting(problem)
    pulled = [RingEngine.pull_hamming(*some, cotangent, wrt="embedding") for some in (one, three)]
    for left, right in zip(*pulled, strict=True):
        assert_array_equal(left, right)


def test_a_read_only_cotangent_is_left_alone() -> None:
    problem = random_problem(shallow(3))
    cotangent = weighting(problem)
    cotangent.setflags(write=False)
    assert RingEngine.pull_hamming(*encoded(problem), cotangent, wrt="centroids").centroids is not None


def test_more_than_two_layers_are_refused_with_their_cost() -> None:
    problem = random_problem(shallow(30, 4))
    for refused in (
        lambda: distributions(problem),
        lambda: RingEngine.pull_hamming(*encoded(problem), weighting(problem), wrt="centroids"),
    ):
        with pytest.raises(InvalidInputError, match=r"2 layers.*4.*65,536"):
            refused()


def test_wrong_questions_are_refused() -> None:
    problem = random_problem(shallow(3))
    with pytest.raises(InvalidInputError, match=r"\(5, 3, 4\).*\(5, 3\)"):
        RingEngine.pull_hamming(*encoded(problem), problem.cotangent, wrt="centroids")
    with pytest.raises(InvalidInputError, match="samples"):
        RingEngine.pull_hamming(*encoded(problem), weighting(problem), wrt="samples")  # type: ignore[arg-type]
