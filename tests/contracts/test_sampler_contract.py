"""What every sampler promises, whatever runs its circuits. A new sampler adds one line to ``SAMPLERS``."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from scipy.stats import chisquare

from mcquack.circuits import Circuit, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits, Sampler
from mcquack.errors import InvalidInputError
from mcquack.hardware.sampler import device_sampler
from mcquack.hardware.services.options import Options
from mcquack.simulators.noise import NOISELESS, PITTSBURGH
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from mcquack.simulators.statevector.hamming import hamming_distributions
from tests.hardware.overlaps import paper_overlaps, ring_map
from tests.plain_states import states_of
from tests.problems import Problem, random_problem
from tests.random_circuits import random_circuit, random_point
from tests.simulators.hamming_oracle import oracle_weights

FloatArray = NDArray[np.floating]


class Implementation(NamedTuple):
    """How to make a sampler for circuits of so many qubits and layers, and what it can do."""

    name: str
    make: Callable[[int, int], Sampler]
    noiseless: bool = True
    max_layers: int = 2
    max_qubits: int = 7  # of those that the tests ask for; fewer where a sampler is slow
    make_for: Callable[[Circuit], Sampler] | None = None  # for any circuit; None where it knows the paper's alone


def simulated(n_qubits: int, n_layers: int, **settings: Any) -> Sampler:
    return SimulatedSampler(**settings)


def noisy(n_qubits: int, n_layers: int, *, factor: float) -> Sampler:
    return NoisySampler(PITTSBURGH.scaled(factor) if factor else NOISELESS, seed=3)


def device(n_qubits: int, n_layers: int, **options: Any) -> Sampler:
    """With the vendor's samplers and a ledger of ours between, as on a device."""
    return device_sampler("aer", circuit=ring_map(n_qubits, n_layers), options=Options(**options))


def device_for(circuit: Circuit, **options: Any) -> Sampler:
    return device_sampler("aer", circuit, options=Options(**options))


SAMPLERS = (
    Implementation("simulated", simulated, max_layers=3, make_for=lambda circuit: SimulatedSampler()),
    Implementation("simulated-ring", partial(simulated, engine="ring", seed=1)),
    Implementation("simulated-statevector", partial(simulated, engine="statevector", seed=2), max_layers=3),
    Implementation("noiseless", partial(noisy, factor=0)),
    Implementation("noisy", partial(noisy, factor=20), noiseless=False),
    Implementation("aer", device, max_layers=3, make_for=device_for),
    Implementation("aer-v2", partial(device, api="v2"), max_qubits=3, make_for=partial(device_for, api="v2")),
)
SIZES = ((1, 1), (1, 2), (2, 2), (3, 1), (3, 2), (3, 3), (7, 2))
SHOTS = 2000


def every_case(*, noiseless: bool = False) -> Any:
    """All samplers with all sizes that they take."""

    def cases() -> Iterator[Any]:
        for sampler in SAMPLERS:
            for n_qubits, n_layers in SIZES:
                possible = n_layers <= sampler.max_layers and n_qubits <= sampler.max_qubits
                if possible and (sampler.noiseless or not noiseless):
                    yield pytest.param(sampler, n_qubits, n_layers, id=f"{sampler.name}-{n_qubits}-{n_layers}")

    return pytest.mark.parametrize(("implementation", "n_qubits", "n_layers"), list(cases()))


every_sampler = pytest.mark.parametrize("implementation", SAMPLERS, ids=lambda implementation: implementation.name)


def problem_of(n_qubits: int, n_layers: int, **settings: Any) -> Problem:
    feature_map = FeatureMap(n_qubits=n_qubits, n_features=4, n_layers=n_layers, final_entangler=False)
    return random_problem(feature_map, spread=0.6, seed=n_qubits, **{"n_samples": 4, "n_classes": 2, **settings})


def circuits_of(problem: Problem) -> OverlapCircuits:
    return OverlapCircuits.of(
        problem.feature_map, problem.X, problem.centroids, weights=problem.weights, bias=problem.bias
    )


def assert_follows(counts: NDArray[Any], expected: FloatArray) -> None:
    """By chi-square, rare outcomes taken together."""
    wanted = counts.sum() * expected
    rare = wanted < 5
    assert counts[wanted < 1e-9].sum() == 0
    observed, probable = (np.append(array[~rare], array[rare].sum()) for array in (counts, wanted))
    if probable[-1] < 1:
        observed, probable = observed[:-1], probable[:-1] * observed[:-1].sum() / probable[:-1].sum()
    if len(probable) > 1:
        assert chisquare(observed, probable * observed.sum() / probable.sum()).pvalue > 1e-4


# Values


@every_case()
def test_every_shot_of_every_circuit_is_counted(implementation: Implementation, n_qubits: int, n_layers: int) -> None:
    circuits = circuits_of(problem_of(n_qubits, n_layers, n_samples=5, n_classes=3))
    counts = implementation.make(n_qubits, n_layers).hamming_counts(circuits, shots=37)
    assert counts.shape == (5, 3, n_qubits + 1)
    assert counts.dtype == np.int64
    assert counts.min() >= 0
    assert_array_equal(counts.sum(axis=-1), 37)


@every_case(noiseless=True)
def test_counts_follow_the_exact_distribution(implementation: Implementation, n_qubits: int, n_layers: int) -> None:
    problem = problem_of(n_qubits, n_layers)
    counts = implementation.make(n_qubits, n_layers).hamming_counts(circuits_of(problem), shots=SHOTS)
    expected = oracle_weights(problem)
    for pair in np.ndindex(counts.shape[:2]):
        assert_follows(counts[pair], expected[pair])


@every_case(noiseless=True)
def test_a_point_with_itself_has_no_ones(implementation: Implementation, n_qubits: int, n_layers: int) -> None:
    circuits = circuits_of(problem_of(n_qubits, n_layers, n_samples=3))
    own = paper_overlaps(circuits.samples, circuits.samples)
    counts = implementation.make(n_qubits, n_layers).hamming_counts(own, shots=50)
    assert_array_equal(counts[np.arange(3), np.arange(3), 0], 50)


@every_sampler
def test_samples_and_centroids_are_told_apart(implementation: Implementation) -> None:
    """Row i, column m is U†(c_m) U(x_i): a point with itself has the fewest ones, noise or not."""
    circuits = circuits_of(problem_of(4, 2, n_samples=4))
    first = paper_overlaps(circuits.samples, circuits.samples[[2]])
    counts = implementation.make(4, 2).hamming_counts(first, shots=400)
    assert int(np.argmax(counts[:, 0, 0])) == 2


# Any circuit

GENERAL = [sampler for sampler in SAMPLERS if sampler.make_for]
PAPER_ALONE = [sampler for sampler in SAMPLERS if not sampler.make_for]


def general_circuits(seed: int) -> tuple[OverlapCircuits, FloatArray]:
    """The overlap circuits of three samples and two centroids, and how likely each number of ones is."""
    circuit = random_circuit(seed, n_qubits=1 + seed % 4, n_features=3, n_gates=12)
    X, weights, bias = random_point(circuit, seed, n_rows=5)
    found = OverlapCircuits.of(circuit, X[:3], X[3:], weights=weights, bias=bias)
    return found, hamming_distributions(
        circuit, states_of(circuit, X[:3], weights, bias), found.centroids, by_layers=False
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("implementation", GENERAL, ids=lambda implementation: implementation.name)
def test_counts_of_any_circuit_follow_the_exact_distribution(implementation: Implementation, seed: int) -> None:
    circuits, expected = general_circuits(seed)
    sampler = implementation.make_for(circuits.circuit)  # type: ignore[misc]
    counts = sampler.hamming_counts(circuits, shots=SHOTS)
    assert counts.shape == (3, 2, circuits.n_qubits + 1)
    for pair in np.ndindex(counts.shape[:2]):
        assert_follows(counts[pair], expected[pair])
    assert_array_equal(sampler.hamming_counts(circuits, shots=SHOTS), counts)
    own = OverlapCircuits(samples=circuits.samples, centroids=circuits.samples, circuit=circuits.circuit)
    assert_array_equal(np.diagonal(sampler.hamming_counts(own, shots=50)[..., 0]), 50)


@pytest.mark.parametrize("implementation", GENERAL, ids=lambda implementation: implementation.name)
def test_a_circuit_that_no_sample_changes_has_no_ones(implementation: Implementation) -> None:
    circuit = Circuit(2, 1).rz(0, x[0]).h([0, 1]).cnot(0, 1)
    nothing = OverlapCircuits.of(circuit, [[0.1], [0.2], [0.3]], [[0.4]], weights=np.zeros(0), bias=np.zeros(0))
    counts = implementation.make_for(circuit).hamming_counts(nothing, shots=20)  # type: ignore[misc]
    assert_array_equal(counts, [[[20, 0, 0]]] * 3)


@pytest.mark.parametrize("implementation", PAPER_ALONE, ids=lambda implementation: implementation.name)
def test_who_knows_the_papers_map_alone_says_what_to_use(implementation: Implementation) -> None:
    circuit = Circuit(2, 1).rx(0, x[0])
    circuits = OverlapCircuits(samples=np.zeros((1, 1)), centroids=np.zeros((1, 1)), circuit=circuit)
    with pytest.raises(InvalidInputError, match="paper"):
        implementation.make(2, 1).hamming_counts(circuits, shots=10)


# Repetition


@every_sampler
def test_the_same_call_has_the_same_counts(implementation: Implementation) -> None:
    circuits = circuits_of(problem_of(3, 2))
    sampler = implementation.make(3, 2)
    once = sampler.hamming_counts(circuits, shots=60)
    assert_array_equal(sampler.hamming_counts(circuits, shots=60), once)


@every_sampler
def test_the_same_circuit_twice_in_a_call_is_measured_twice(implementation: Implementation) -> None:
    circuits = circuits_of(problem_of(3, 2, n_samples=1))
    repeated = paper_overlaps(circuits.samples.repeat(12, axis=0), circuits.centroids)
    counts = implementation.make(3, 2).hamming_counts(repeated, shots=200)
    assert len(np.unique(counts.reshape(12, -1), axis=0)) > 1


@every_sampler
@pytest.mark.parametrize("rows", [slice(0, 1), slice(1, 3), slice(2, None), [3, 0]], ids=str)
def test_some_rows_can_be_asked_for(implementation: Implementation, rows: Any) -> None:
    circuits = circuits_of(problem_of(3, 2))
    some = circuits[rows]
    counts = implementation.make(3, 2).hamming_counts(some, shots=SHOTS)
    assert counts.shape == (len(circuits.samples[rows]), 2, 4)
    whole = implementation.make(3, 2).hamming_counts(circuits, shots=SHOTS)[rows]
    # Other draws of the same distributions: six deviations of a difference of two shares.
    assert np.abs(counts - whole).max() < 6 * np.sqrt(2 * SHOTS / 4)


@every_sampler
def test_circuits_are_left_as_they_were(implementation: Implementation) -> None:
    circuits = circuits_of(problem_of(3, 2))
    before = circuits.digest
    implementation.make(3, 2).hamming_counts(circuits, shots=5)
    assert circuits.digest == before


# Refusals


@every_sampler
@pytest.mark.parametrize("shots", [0, -1, 2.5, True, None, "100"])
def test_shots_are_whole_numbers(implementation: Implementation, shots: Any) -> None:
    with pytest.raises(InvalidInputError, match="shots"):
        implementation.make(2, 2).hamming_counts(circuits_of(problem_of(2, 2)), shots=shots)
