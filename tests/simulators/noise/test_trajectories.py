"""Shots follow the distribution of the noisy device, whatever the threads."""

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from qiskit.quantum_info import PTM, SuperOp
from scipy.stats import binom, chisquare

from mcquack.circuits.feature_map import FeatureMap
from mcquack.errors import InvalidInputError
from mcquack.randomness import stream
from mcquack.simulators.noise import AACHEN, NOISELESS, PITTSBURGH, DeviceCalibration, noisy_hamming_counts
from mcquack.simulators.ring import RingEngine
from tests.oracles import after_gate, after_ring, angles, rot
from tests.problems import random_problem
from tests.simulators.noise.compiled import compiled, device
from tests.simulators.noise.dense import device_weights

SHOTS = 100_000
FULL_LOSS = DeviceCalibration(sx_error=0.5, two_qubit_error=0.75, readout_error=0, t1_us=np.inf, t2_us=np.inf)


def encoded_problem(n_qubits, *, n_layers=2, n_samples=1, n_classes=1, n_threads=1, seed=0, final_entangler=False):
    feature_map = FeatureMap(
        n_qubits=n_qubits, n_features=2 * n_qubits, n_layers=n_layers, final_entangler=final_entangler
    )
    problem = random_problem(feature_map, n_samples=n_samples, n_classes=n_classes, seed=seed)
    engine = RingEngine(feature_map, n_threads=n_threads)
    samples = engine.encode(problem.X, problem.weights, problem.bias)
    return engine, samples, engine.encode(problem.centroids, problem.weights, problem.bias), problem


def noiseless_weights(problem):
    """P(k ones) of U†(c) U(x)|0…0⟩ from whole statevectors."""
    feature_map = problem.feature_map
    n_qubits = feature_map.n_qubits
    state = np.zeros((1, 2**n_qubits), dtype=complex)
    state[0, 0] = 1
    of_sample, of_centroid = (
        angles(feature_map, rows[:1], weights=problem.weights, bias=problem.bias)
        for rows in (problem.X, problem.centroids)
    )
    for layer in of_sample:
        for qubit, gate in enumerate(layer):
            state = after_gate(state, rot(*gate), qubit)
        state = after_ring(state)
    back = np.eye(2**n_qubits, dtype=complex)
    for layer in of_centroid:
        for qubit, gate in enumerate(layer):
            back = after_gate(back, rot(*gate), qubit)
        back = after_ring(back)
    chances = np.abs(np.sum(back.conj() * state, axis=1)) ** 2
    return np.bincount([index.bit_count() for index in range(2**n_qubits)], chances)


def strong_noise(n_qubits, *, t1_us, t2_us, seed=0):
    """Another rate for each qubit and coupler, so that none can be mistaken for another."""
    spread = stream(seed, "spread").uniform(0.3, 1.7, (5, n_qubits))
    return DeviceCalibration(
        sx_error=0.01 * spread[0],
        two_qubit_error=0.03 * spread[1],
        readout_error=0.02 * spread[2],
        t1_us=t1_us * spread[3],
        t2_us=np.minimum(t2_us * spread[4], 2 * t1_us * spread[3]),
    )


def assert_follows(counts, expected):
    assert_allclose(expected.sum(), 1)
    assert chisquare(counts, counts.sum() * expected / expected.sum()).pvalue > 1e-3


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n_layers", [1, 2])
@pytest.mark.parametrize("final_entangler", [False, True])
def test_without_noise_shots_follow_the_exact_distribution(n_qubits, n_layers, final_entangler):
    engine, samples, centroids, problem = encoded_problem(
        n_qubits, n_layers=n_layers, final_entangler=final_entangler, seed=n_qubits
    )
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=NOISELESS, shots=20_000, seed=1)
    # A last ring cancels, so that the oracle may always have it.
    assert_follows(counts[0, 0], noiseless_weights(problem))


@pytest.mark.parametrize("n_qubits", [2, 3, 4])
@pytest.mark.parametrize(("t1_us", "t2_us"), [(1.0, 2.0), (5.0, 0.3), (np.inf, np.inf)])
def test_shots_follow_the_density_matrix_of_the_device(n_qubits, t1_us, t2_us):
    engine, samples, centroids, _ = encoded_problem(n_qubits, seed=n_qubits)
    calibration = strong_noise(n_qubits, t1_us=t1_us, t2_us=t2_us)
    rates = {field.name: calibration.per_qubit(field.name, n_qubits) for field in fields(calibration)}
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=calibration, shots=SHOTS, seed=0)
    assert_follows(counts[0, 0], device_weights(samples.rotations[0], centroids.rotations[0], rates))


def test_noise_on_a_product_of_qubits_is_that_of_one_rotation_and_the_readout():
    engine, samples, centroids, _ = encoded_problem(4, n_layers=1)
    calibration = DeviceCalibration(sx_error=0.1, two_qubit_error=0.3, readout_error=0.05, t1_us=1.0, t2_us=1.0)
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=calibration, shots=SHOTS, seed=0)
    pair = samples.rotations[0, 0], centroids.rotations[0, 0].conj().swapaxes(-1, -2)
    expected = np.ones(1)
    for of_sample, of_centroid in zip(*pair, strict=True):
        one = abs((of_centroid @ of_sample)[1, 0]) ** 2
        # Two pulses lose 0.2 each, and what is lost is read as a coin.
        kept = 0.8**2 * 0.9
        expected = np.convolve(expected, [1 - kept * one - (1 - kept) / 2, kept * one + (1 - kept) / 2])
    assert_follows(counts[0, 0], expected)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_full_loss_leaves_coins(n_layers):
    engine, samples, centroids, _ = encoded_problem(9, n_layers=n_layers)
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=FULL_LOSS, shots=20_000, seed=0)
    assert_follows(counts[0, 0], binom.pmf(np.arange(10), 9, 0.5))


def test_a_sure_misreading_of_nothing_is_half():
    engine, samples, _, _ = encoded_problem(6)
    counts = noisy_hamming_counts(
        engine, samples, samples, calibration=replace(NOISELESS, readout_error=0.5), shots=20_000, seed=0
    )
    assert_follows(counts[0, 0], binom.pmf(np.arange(7), 6, 0.5))


@pytest.mark.parametrize("n_qubits", [124, 400])
def test_a_state_against_itself_reads_zero_without_noise_and_more_with_more(n_qubits):
    engine, samples, _, _ = encoded_problem(n_qubits)
    counts = [
        noisy_hamming_counts(engine, samples, samples, calibration=calibration, shots=64, seed=0)[0, 0]
        for calibration in (NOISELESS, PITTSBURGH.scaled(0.1), PITTSBURGH, AACHEN.scaled(3))
    ]
    assert counts[0][0] == 64
    means = [float(found @ np.arange(n_qubits + 1)) / 64 for found in counts]
    assert means == sorted(means)
    assert means[-1] < 0.55 * n_qubits


@pytest.mark.parametrize("n_layers", [1, 2])
def test_a_seed_gives_the_same_counts_whatever_the_threads_and_the_other_pairs(n_layers):
    def counts(seed=0, **sizes):
        engine, samples, centroids, _ = encoded_problem(5, n_layers=n_layers, n_samples=7, n_classes=2, **sizes)
        return noisy_hamming_counts(engine, samples, centroids, calibration=AACHEN.scaled(5), shots=37, seed=seed)

    found = counts()
    assert found.shape == (7, 2, 6)
    assert found.dtype == np.int64
    assert_array_equal(found.sum(axis=-1), 37)
    assert_array_equal(found, counts(n_threads=3))
    assert np.any(found != counts(seed=1))
    engine, samples, centroids, _ = encoded_problem(5, n_layers=n_layers, n_samples=7, n_classes=2)
    fewer = replace(samples, features=samples.features[:2], angles=samples.angles[:2], rotations=samples.rotations[:2])
    alone = noisy_hamming_counts(engine, fewer, centroids, calibration=AACHEN.scaled(5), shots=37, seed=0)
    assert_array_equal(found[:2], alone)


def test_pairs_are_drawn_apart():
    engine, samples, _, _ = encoded_problem(8)
    twice = replace(
        samples, **{name: np.repeat(getattr(samples, name), 2, axis=0) for name in ("features", "rotations")}
    )
    found = noisy_hamming_counts(engine, twice, twice, calibration=AACHEN.scaled(20), shots=500, seed=0).reshape(4, 9)
    assert len(np.unique(found, axis=0)) == 4


@pytest.mark.parametrize(
    ("setting", "value"), [("shots", 0), ("shots", 1.5), ("seed", -1), ("seed", None), ("calibration", "pittsburgh")]
)
def test_a_setting_that_cannot_be_is_refused(setting, value):
    engine, samples, centroids, _ = encoded_problem(3)
    settings = {"calibration": NOISELESS, "shots": 10, "seed": 0, setting: value}
    with pytest.raises(InvalidInputError, match=setting):
        noisy_hamming_counts(engine, samples, centroids, **settings)


def test_three_layers_are_refused_with_their_cost():
    engine, samples, centroids, _ = encoded_problem(3, n_layers=3)
    with pytest.raises(InvalidInputError, match=r"2 layers.*3.*256"):
        noisy_hamming_counts(engine, samples, centroids, calibration=NOISELESS, shots=10, seed=0)
    engine, samples, centroids, problem = encoded_problem(1, n_layers=3)
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=NOISELESS, shots=20_000, seed=0)
    assert_follows(counts[0, 0], noiseless_weights(problem))


def test_a_calibration_for_other_qubits_is_refused():
    engine, samples, centroids, _ = encoded_problem(3)
    calibration = replace(NOISELESS, sx_error=(0.1,) * 4)
    with pytest.raises(InvalidInputError, match=r"4 qubits.*3"):
        noisy_hamming_counts(engine, samples, centroids, calibration=calibration, shots=10, seed=0)


@pytest.mark.parametrize("n_qubits", [3, 5])
def test_shots_follow_aer_with_the_compiled_circuit(n_qubits):
    aer = pytest.importorskip("qiskit_aer")
    engine, samples, centroids, _ = encoded_problem(n_qubits, seed=n_qubits)
    calibration = DeviceCalibration(sx_error=0.01, two_qubit_error=0.03, readout_error=0.02, t1_us=4, t2_us=1.0)
    counts = noisy_hamming_counts(engine, samples, centroids, calibration=calibration, shots=SHOTS, seed=0)
    target = device(n_qubits, sx_us=0.032, two_qubit_us=np.full(n_qubits, 0.088), readout_us=2.584)
    circuit = compiled(samples.angles[0], centroids.angles[0], target)
    assert_follows(counts[0, 0], aer_weights(aer, circuit, calibration))


def aer_weights(aer, circuit, calibration):
    """P(k ones) of a compiled circuit, with the errors of the calibration at its gates and delays."""
    noise = aer.noise
    model = noise.NoiseModel(basis_gates=["rz", "sx", "cz", "delay"])
    model.add_all_qubit_quantum_error(noise.depolarizing_error(2 * calibration.sx_error, 1), "sx")
    model.add_all_qubit_quantum_error(noise.depolarizing_error(calibration.two_qubit_error * 4 / 3, 2), "cz")
    noisy = circuit.copy_empty_like()
    begun: set[object] = set()
    for instruction in circuit.data:
        name = instruction.operation.name
        if name == "delay" and begun.issuperset(instruction.qubits):
            twirled = twirled_wait(noise, instruction.operation.duration / 1000, calibration)
            noisy.append(twirled.to_instruction(), instruction.qubits)
        elif name in ("rz", "sx", "cz"):
            noisy.append(instruction)
            begun.update(instruction.qubits)
    noisy.save_probabilities()
    simulator = aer.AerSimulator(method="density_matrix", noise_model=model, max_parallel_threads=1)
    chances = simulator.run(noisy).result().data()["probabilities"].reshape((2,) * circuit.num_qubits)
    for axis in range(circuit.num_qubits):
        chances = (1 - calibration.readout_error) * chances + calibration.readout_error * np.flip(chances, axis=axis)
    return np.bincount(np.indices(chances.shape).sum(axis=0).ravel(), chances.ravel())


def twirled_wait(noise, time, calibration):
    """Aer's own relaxation, of which the twirl keeps the chances of the Paulis."""
    relaxed = noise.thermal_relaxation_error(calibration.t1_us, calibration.t2_us, time)
    transfer = np.diag(PTM(SuperOp(relaxed)).data).real
    signs = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    return noise.pauli_error(list(zip("IXYZ", signs @ transfer / 4, strict=True)))
