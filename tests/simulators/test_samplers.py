"""Samplers that need no device: what one would count, drawn from exact distributions or with its noise."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.overlap import OverlapCircuits
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.noise import AACHEN, NOISELESS, PITTSBURGH, noisy_hamming_counts
from mcquack.simulators.ring import RingEngine
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler, sampled_fidelities, sampled_hamming
from mcquack.simulators.statevector import StatevectorEngine
from tests.hardware.overlaps import paper_overlaps

ALL = [SimulatedSampler(seed=5), SimulatedSampler(engine="statevector"), NoisySampler(PITTSBURGH, seed=5)]


def random_circuits(n_qubits: int, n_layers: int = 2, *, n_samples: int = 6, n_centroids: int = 2) -> OverlapCircuits:
    draw = stream(n_qubits, "circuits")
    return paper_overlaps(
        draw.normal(size=(n_samples, n_layers, n_qubits, 3)), draw.normal(size=(n_centroids, n_layers, n_qubits, 3))
    )


# Engines


@pytest.mark.parametrize(
    ("engine", "n_qubits", "n_layers", "kind"),
    [
        ("auto", 4, 2, RingEngine),
        ("auto", 30, 1, RingEngine),
        ("auto", 1, 7, RingEngine),
        ("auto", 4, 3, StatevectorEngine),
        ("statevector", 4, 2, StatevectorEngine),
        ("ring", 4, 2, RingEngine),
    ],
)
def test_the_ring_runs_where_it_can(engine: Any, n_qubits: int, n_layers: int, kind: Any) -> None:
    chosen = SimulatedSampler(engine=engine)._engine_for(random_circuits(n_qubits, n_layers))
    assert isinstance(chosen, kind)
    assert not chosen.feature_map.final_entangler


@pytest.mark.parametrize(("n_qubits", "n_layers"), [(1, 3), (2, 2), (5, 2)])
def test_both_engines_see_the_same_circuits(n_qubits: int, n_layers: int) -> None:
    """The same distributions, from which the same seed draws the same."""
    circuits = random_circuits(n_qubits, n_layers)
    ring, states = (SimulatedSampler(engine=name, seed=2) for name in ("ring", "statevector"))
    assert_array_equal(ring.hamming_counts(circuits, shots=500), states.hamming_counts(circuits, shots=500))


@pytest.mark.parametrize(("engine", "layers"), [("ring", 3), ("statevector", 2)])
def test_what_no_engine_takes_says_so(engine: Any, layers: int) -> None:
    with pytest.raises(InvalidInputError, match=r"at most 2|1 to 20"):
        SimulatedSampler(engine=engine).hamming_counts(random_circuits(24, layers), shots=5)


def test_124_qubits_are_sampled_as_their_distribution_says() -> None:
    circuits = random_circuits(124, n_samples=3)
    feature_map = FeatureMap(n_qubits=124, n_features=744, n_layers=2, features_per_gate=3, final_entangler=False)
    engine, ones, zeros = RingEngine(feature_map), np.ones((2, 124, 3)), np.zeros((2, 124, 3))
    exact = engine.hamming_distributions(
        *(engine.encode(angles.reshape(-1, 744), ones, zeros) for angles in (circuits.samples, circuits.centroids)),
    )
    counts = SimulatedSampler(seed=1).hamming_counts(circuits, shots=10_000)
    means, squares = exact @ np.arange(125), exact @ np.arange(125) ** 2
    errors = (counts @ np.arange(125) / 10_000 - means) / np.sqrt((squares - means**2) / 10_000)
    assert np.abs(errors).max() < 4


def test_rows_beyond_what_fits_at_once_are_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    circuits, sampler = random_circuits(3), SimulatedSampler(engine="statevector")
    whole = sampler.hamming_counts(circuits, shots=50)
    monkeypatch.setattr(StatevectorEngine, "rows_at_once", 1)
    assert_array_equal(sampler.hamming_counts(circuits, shots=50), whole)


def test_no_samples_have_no_counts() -> None:
    none = random_circuits(3)[0:0]
    assert SimulatedSampler().hamming_counts(none, shots=5).shape == (0, 2, 4)
    assert NoisySampler(PITTSBURGH).hamming_counts(none, shots=5).shape == (0, 2, 4)


# Draws


@pytest.mark.parametrize("sampler", ALL, ids=repr)
def test_seed_circuits_and_shots_decide_and_nothing_else_does(sampler: Any) -> None:
    circuits = random_circuits(4)
    counts = sampler.hamming_counts(circuits, shots=64)
    settings = {"seed": sampler.seed, "n_threads": 1}
    again = type(sampler)(**{**vars(sampler), **settings})
    assert_array_equal(again.hamming_counts(circuits, shots=64), counts)
    other = type(sampler)(**{**vars(sampler), "seed": sampler.seed + 1})
    assert (other.hamming_counts(circuits, shots=64) != counts).any()
    turned = paper_overlaps(circuits.samples + 2 * np.pi, circuits.centroids)  # the same states
    assert (sampler.hamming_counts(turned, shots=64) != counts).any()
    assert (sampler.hamming_counts(circuits, shots=65)[..., :-1] != counts[..., :-1]).any()


def test_noise_is_that_of_the_calibration() -> None:
    """The sampler adds nothing to the simulator of noise but a seed from what it is asked."""
    circuits = random_circuits(4)
    own = paper_overlaps(circuits.samples, circuits.samples)
    diagonal = np.arange(6)
    ones = [
        (NoisySampler(calibration).hamming_counts(own, shots=400)[diagonal, diagonal] @ np.arange(5)).sum()
        for calibration in (NOISELESS, PITTSBURGH, AACHEN.scaled(10))
    ]
    assert 0 == ones[0] < ones[1] < ones[2]
    feature_map = FeatureMap(n_qubits=4, n_features=24, n_layers=2, features_per_gate=3, final_entangler=False)
    engine = RingEngine(feature_map)
    rows = [
        engine.encode(a.reshape(-1, 24), np.ones((2, 4, 3)), np.zeros((2, 4, 3))) for a in (own.samples, own.centroids)
    ]
    direct = noisy_hamming_counts(engine, *rows, calibration=AACHEN.scaled(10), shots=400, seed=1)
    assert (direct[diagonal, diagonal] @ np.arange(5)).sum() == pytest.approx(ones[2], rel=0.15)


# Values


@pytest.mark.parametrize("sampler", ALL, ids=repr)
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made)), lambda made: clone(made, safe=False)]
)
def test_copies_are_equal_and_draw_the_same(sampler: Any, copied: Any) -> None:
    twin, circuits = copied(sampler), random_circuits(2)
    assert twin == sampler
    assert_array_equal(twin.hamming_counts(circuits, shots=9), sampler.hamming_counts(circuits, shots=9))


@pytest.mark.parametrize("seed", [-1, 1.5, None, True])
def test_seeds_are_whole_numbers(seed: Any) -> None:
    with pytest.raises(InvalidInputError, match="seed"):
        SimulatedSampler(seed=seed)
    with pytest.raises(InvalidInputError, match="seed"):
        NoisySampler(PITTSBURGH, seed=seed)


def test_other_settings_are_checked_too() -> None:
    with pytest.raises(InvalidInputError, match="mps"):
        SimulatedSampler(engine="mps")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="pittsburgh"):
        NoisySampler("pittsburgh")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="2 layers"):
        NoisySampler(PITTSBURGH).hamming_counts(random_circuits(3, 3), shots=5)


KERNEL = stream(0, "kernel").uniform(size=(30, 4))
DISTRIBUTIONS = stream(0, "distributions").dirichlet(np.ones(6), size=(30, 4))


def test_sampled_fidelities_are_shares_of_the_shots():
    sampled = sampled_fidelities(KERNEL, shots=50, seed=0)
    assert sampled.shape == KERNEL.shape
    assert_allclose(sampled * 50, np.rint(sampled * 50), atol=1e-12)
    assert np.all((sampled >= 0) & (sampled <= 1))


def test_sampled_weights_count_every_shot():
    counts = sampled_hamming(DISTRIBUTIONS, shots=50, seed=0)
    assert counts.shape == DISTRIBUTIONS.shape
    assert counts.dtype == np.int64
    assert_array_equal(counts.sum(axis=-1), 50)


def test_many_shots_find_the_exact_numbers():
    shots = 10**6
    errors = (sampled_fidelities(KERNEL, shots=shots, seed=1) - KERNEL) / np.sqrt(KERNEL * (1 - KERNEL) / shots)
    assert np.abs(errors).max() < 4
    assert 0.8 < errors.std() < 1.2
    deviations = np.sqrt(DISTRIBUTIONS * (1 - DISTRIBUTIONS) / shots)
    errors = (sampled_hamming(DISTRIBUTIONS, shots=shots, seed=1) / shots - DISTRIBUTIONS) / deviations
    assert np.abs(errors).max() < 4.5
    assert 0.8 < errors.std() < 1.2


@pytest.mark.parametrize(("sample", "exact"), [(sampled_fidelities, KERNEL), (sampled_hamming, DISTRIBUTIONS)])
def test_a_seed_fixes_the_shots(sample, exact):
    assert_array_equal(sample(exact, shots=20, seed=3), sample(exact, shots=20, seed=3))
    assert np.any(sample(exact, shots=20, seed=3) != sample(exact, shots=20, seed=4))


def test_certain_outcomes_have_no_noise():
    assert_array_equal(sampled_fidelities([[0.0, 1.0]], shots=7, seed=0), [[0, 1]])
    assert_array_equal(sampled_hamming([0.0, 1.0, 0.0], shots=7, seed=0), [0, 7, 0])


def test_rounding_of_single_precision_is_forgiven():
    assert_array_equal(sampled_fidelities(np.array([[1 + 1e-6, -1e-7]]), shots=7, seed=0), [[1, 0]])
    off = (DISTRIBUTIONS * (1 + 1e-6)).astype(np.float32)
    assert_array_equal(sampled_hamming(off, shots=9, seed=0).sum(axis=-1), 9)


@pytest.mark.parametrize("shots", [0, -1, 2.5, True])
def test_shots_are_whole_numbers(shots):
    for sample, exact in ((sampled_fidelities, KERNEL), (sampled_hamming, DISTRIBUTIONS)):
        with pytest.raises(InvalidInputError, match="shots"):
            sample(exact, shots=shots, seed=0)


def test_what_is_no_probability_is_refused():
    with pytest.raises(InvalidInputError, match=r"0\.5 to 2"):
        sampled_fidelities([[0.5, 2.0]], shots=5, seed=0)
    with pytest.raises(InvalidInputError, match="nan"):
        sampled_hamming([np.nan, 1.0], shots=5, seed=0)
    with pytest.raises(InvalidInputError, match="distributions"):
        sampled_hamming([0.5, 0.4], shots=5, seed=0)
