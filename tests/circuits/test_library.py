"""Every map of the library takes any number of features and qubits, lets all features in, and is the published one."""

import inspect
import json
import pickle
import re
from typing import Any

import numpy as np
import pennylane as qml
import pytest
from numpy.testing import assert_allclose
from qiskit.circuit.library import pauli_feature_map, zz_feature_map
from qiskit.quantum_info import Statevector

from mcquack.circuits import Circuit, FeatureMap, line, ring
from mcquack.circuits.library import (
    MAPS,
    Sized,
    amplitude,
    chebyshev,
    circuit_named,
    device,
    hardware_efficient,
    hubregtsen,
    iqp,
    paper,
    pauli,
    quack,
    reuploading,
    zz,
)
from mcquack.errors import InvalidInputError
from mcquack.simulators.gates import GateEngine
from tests.oracles import phase_aligned

SIZES = [(n_features, n_qubits) for n_features in range(1, 10) for n_qubits in range(1, 7)]


def starts(circuit: Circuit, *, noise: float = 0.0) -> tuple[Any, Any]:
    """The parameters that a map begins with, or some near them."""
    rng = np.random.default_rng(0)
    weights, bias = (
        circuit.weight_starts.reshape(circuit.weights_shape),
        circuit.bias_starts.reshape(circuit.bias_shape),
    )
    return weights + noise * rng.normal(size=weights.shape), bias + noise * rng.normal(size=bias.shape)


def states(circuit: Circuit, X: Any, *, noise: float = 0.0) -> Any:
    engine = GateEngine(circuit, dtype="float64")
    return engine.statevectors(engine.encode(np.asarray(X, dtype=float), *starts(circuit, noise=noise)))


def fidelity_changes(circuit: Circuit, *, noise: float) -> Any:
    """By how much the overlap with the state of a sample falls if one of its features moves, for each of them."""
    sample = np.random.default_rng(1).uniform(0.2, 0.8, size=circuit.n_features)
    first, *moved = states(circuit, [sample, *(sample + 0.15 * np.eye(circuit.n_features))], noise=noise)
    return np.array([1 - np.abs(np.vdot(first, other)) ** 2 for other in moved])


@pytest.mark.parametrize("name", MAPS)
def test_every_feature_enters_whatever_the_sizes(name: str) -> None:
    for n_features, n_qubits in SIZES:
        circuit = circuit_named(name, n_features=n_features, n_qubits=n_qubits)
        assert circuit.n_features == n_features
        assert circuit.n_qubits == n_qubits or name == "amplitude"
        assert circuit.n_embedding_parameters > 0
        entered = {feature for gate in circuit.gates for angle in gate.angles for _, feature in angle.inputs}
        assert entered == set(range(n_features))


@pytest.mark.parametrize("name", MAPS)
def test_no_fidelity_is_constant_in_a_feature(name: str) -> None:
    for n_features, n_qubits in SIZES:
        circuit = circuit_named(name, n_features=n_features, n_qubits=n_qubits)
        assert fidelity_changes(circuit, noise=0.3).min() > 1e-6, (n_features, n_qubits)


@pytest.mark.parametrize("name", [name for name in MAPS if name not in ("paper", "device", "quack")])
def test_a_map_tells_samples_apart_before_it_is_trained(name: str) -> None:
    """A kernel of the starts is of use itself, and its derivatives do not vanish."""
    for n_features, n_qubits in SIZES[::5]:
        circuit = circuit_named(name, n_features=n_features, n_qubits=n_qubits)
        assert fidelity_changes(circuit, noise=0).min() > 1e-5, (n_features, n_qubits)


@pytest.mark.parametrize("name", MAPS)
def test_all_weights_have_a_part_in_the_kernel(name: str) -> None:
    """Biases need not: what follows the last feature, and is the same for all, changes no fidelity."""
    circuit = circuit_named(name, n_features=4, n_qubits=3, n_repetitions=2)
    weights, bias = starts(circuit, noise=0.2)
    engine = GateEngine(circuit, dtype="float64")
    rows = np.random.default_rng(2).uniform(0.1, 0.9, size=(5, 4))
    left, right = engine.encode(rows[:3], weights, bias), engine.encode(rows[3:], weights, bias)
    gradient = engine.pullback(left, right, np.random.default_rng(3).normal(size=(3, 2)), wrt="embedding")
    assert gradient.weights is not None
    first_turns = circuit.n_qubits if name in ("paper", "device", "quack", "reuploading") else 0  # RZ leaves |0⟩
    assert np.sum(np.abs(gradient.weights) < 1e-9) == first_turns


@pytest.mark.parametrize(
    ("builder", "repetitions", "expected"),
    [
        (paper, 2, 2 * 6 * 4 * 3),
        (device, 1, 6 * 4 * 3),
        (quack, 1, 6 * 4 * 1),
        (zz, 2, 2 * 3 * (4 + 4 + 6)),
        (pauli, 1, 3 * (4 + 4 + 6)),
        (iqp, 2, 2 * 3 * (4 + 4 + 6)),
        (hardware_efficient, 2, 2 * 3 * 4 * 4),
        (reuploading, 2, 2 * 3 * 4 * 6),
        (chebyshev, 2, 2 * 3 * 4 + (2 * 3 - 1) * 4 * 3),
        (hubregtsen, 1, 3 * (4 + 4 + 4)),
        (amplitude, 1, 3 * 4 * 4),
    ],
)
def test_parameters_of_four_qubits_and_nine_or_twelve_features(builder: Any, repetitions: int, expected: int) -> None:
    for n_features in (9, 12):
        assert builder(n_features, 4, n_repetitions=repetitions).n_embedding_parameters == expected


@pytest.mark.parametrize("name", MAPS)
def test_repetitions_multiply_layers(name: str) -> None:
    once, thrice = (circuit_named(name, n_features=7, n_qubits=3, n_repetitions=times) for times in (1, 3))
    rotations = [sum(bool(gate.angles) for gate in circuit.gates) for circuit in (once, thrice)]
    if name == "chebyshev":  # whose trained layers stand between the others
        rotations = [n_gates + 3 for n_gates in rotations]
    assert rotations[1] == 3 * rotations[0]


def test_without_a_number_of_repetitions_maps_have_the_layers_that_they_promise() -> None:
    assert isinstance(paper(14), FeatureMap)
    assert [paper(d).n_layers for d in (1, 6, 14, 784)] == [20, 20, 21, 131]
    assert not device(14).final_entangler
    assert quack(36).features_per_gate == 3
    assert quack(36).n_layers == 20
    for builder, per_layer in ((hardware_efficient, 12), (reuploading, 6), (amplitude, 12)):
        for n_features, n_layers in ((6, 6), (12, 6), (24, 8), (60, 10)):
            named = {"ry", "rz", "rot"}
            found = sum(count for name, count in builder(n_features).counts.items() if name in named)
            assert found == per_layer * n_layers


@pytest.mark.parametrize("n_qubits", [1, 2, 3, 4])
@pytest.mark.parametrize("entangler", [("all_to_all", "full"), ("line", "linear")])
def test_the_published_zz_map_is_that_of_qiskit(n_qubits: int, entangler: tuple[Any, str]) -> None:
    rows = np.random.default_rng(4).uniform(0, 2, size=(3, n_qubits))
    ours = zz(n_qubits, n_qubits, n_repetitions=2, entangler=entangler[0], trainable=False)
    theirs = zz_feature_map(n_qubits, reps=2, entanglement=entangler[1]) if n_qubits > 1 else None
    theirs = theirs or pauli_feature_map(1, reps=2, paulis=["Z"])
    expected = [Statevector(theirs.assign_parameters(row).reverse_bits()).data for row in rows]
    assert_allclose(phase_aligned(states(ours, rows), np.array(expected)), expected, atol=1e-12)


@pytest.mark.parametrize(
    "words", [("Z", "YY"), ("Y",), ("X", "ZZ"), ("Z", "XX"), ("Z", "ZY"), ("Z", "ZZZ"), ("Z", "XYZ")]
)
def test_published_pauli_maps_are_those_of_qiskit(words: tuple[str, ...]) -> None:
    rows = np.random.default_rng(5).uniform(0, 2, size=(2, 3))
    ours = pauli(3, 3, n_repetitions=2, words=words, trainable=False)
    # Qiskit reads a word from its last letter on.
    theirs = pauli_feature_map(3, reps=2, paulis=[word[::-1] for word in words])
    expected = [Statevector(theirs.assign_parameters(row).reverse_bits()).data for row in rows]
    assert_allclose(phase_aligned(states(ours, rows), np.array(expected)), expected, atol=1e-12)


def test_the_published_iqp_map_is_that_of_pennylane() -> None:
    rows = np.random.default_rng(6).uniform(-1, 1, size=(3, 4))

    @qml.qnode(qml.device("default.qubit", wires=4))
    def theirs(row: Any) -> Any:
        qml.IQPEmbedding(row, wires=range(4), n_repeats=2)
        return qml.state()

    expected = np.array([theirs(row) for row in rows])
    assert_allclose(phase_aligned(states(iqp(4, 4, trainable=False), rows), expected), expected, atol=1e-12)


@pytest.mark.parametrize("builder", [zz, pauli, iqp, chebyshev, hubregtsen])
def test_a_trainable_map_starts_as_the_published_one(builder: Any) -> None:
    rows = np.random.default_rng(7).uniform(-0.9, 0.9, size=(4, 5))
    free, fixed = builder(5, 3, n_repetitions=2), builder(5, 3, n_repetitions=2, trainable=False)
    assert free.n_weights > 0
    assert fixed.n_weights == 0
    assert_allclose(states(free, rows), states(fixed, rows), atol=1e-12)


def test_amplitudes_start_as_the_published_kernel_and_keep_the_length_of_samples() -> None:
    rows = np.random.default_rng(8).uniform(0.1, 0.9, size=(4, 5))
    free, fixed = amplitude(5, 3), amplitude(5, 3, trainable=False)
    kernels = [np.abs(found.conj() @ found.T) ** 2 for found in (states(free, rows), states(fixed, rows))]
    assert_allclose(kernels[0], kernels[1], atol=1e-12)
    published = amplitude(5, 3, padding=0.0, trainable=False)
    assert_allclose(states(published, rows), states(published, 2 * rows), atol=1e-12)
    assert np.abs(np.vdot(*states(fixed, [rows[0], 2 * rows[0]]))) < 0.999
    assert np.sum(fixed.amplitudes(np.zeros((1, 5))) ** 2) == pytest.approx(1)
    assert [amplitude(d, 2).n_qubits for d in (1, 4, 5, 8, 9, 784)] == [2, 2, 3, 3, 4, 10]


def test_the_chebyshev_tower_has_the_polynomials_in_its_amplitudes() -> None:
    values = np.linspace(-1, 1, 9)[:, None]
    for degree in (1, 2, 3):
        one_qubit = Circuit(3, 1) + chebyshev(1, 3, n_repetitions=1, trainable=False)
        found = states(one_qubit, values).reshape(-1, 2, 2, 2)
        # ⟨Z⟩ of RY(2k arccos x)|0⟩ is the polynomial of degree 2k.
        other = tuple(axis for axis in (1, 2, 3) if axis != degree)
        shares = np.sum(np.abs(found) ** 2, axis=other)
        expected = np.polynomial.chebyshev.Chebyshev.basis(2 * degree)(values[:, 0])
        assert_allclose(shares[:, 0] - shares[:, 1], expected, atol=1e-12)


def test_hardware_efficient_maps_have_the_gates_that_are_asked_for() -> None:
    couplings = [(0, 1), (1, 0), (1, 3)]
    entanglers: list[tuple[Any, list[tuple[int, int]]]] = [("line", line(4)), ("ring", ring(4)), (couplings, couplings)]
    for entangler, pairs in entanglers:
        made = hardware_efficient(4, 4, n_repetitions=2, entangler=entangler, gate="cnot", rotations=("rx",))
        assert [gate.qubits for gate in made.gates if gate.name == "cnot"] == pairs
        assert made.counts["rx"] == 8
    assert hardware_efficient(4, 4, n_repetitions=2, entangler=couplings).counts["cz"] == 2
    assert hardware_efficient(4, 4, n_repetitions=2, entangler="all_to_all").counts["cz"] == 6


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_told_apart_by_their_description_and_built_alike(name: str) -> None:
    first, second = (circuit_named(name, n_features=5, n_qubits=3) for _ in range(2))
    assert first == second
    assert Circuit.from_json(json.loads(json.dumps(first.to_json()))) == first
    assert first.draw()
    others = [circuit_named(other, n_features=5, n_qubits=3) for other in MAPS if other != name]
    assert first not in others


@pytest.mark.parametrize("name", MAPS)
def test_every_builder_is_called_alike_and_tells_its_source(name: str) -> None:
    builder = MAPS[name]
    assert list(inspect.signature(builder).parameters)[:3] == ["n_features", "n_qubits", "n_repetitions"]
    text = inspect.getdoc(builder) or ""
    assert ">>> " in text
    assert re.search(r"McQuack|\(20\d\d\)", text)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_features": 0}, "n_features"),
        ({"n_qubits": 0}, "n_qubits"),
        ({"n_qubits": 1.5}, "n_qubits"),
        ({"n_repetitions": 0}, "n_repetitions"),
        ({"n_repetitions": True}, "n_repetitions"),
    ],
)
def test_sizes_are_whole_numbers_from_one(name: str, sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        circuit_named(name, **{"n_features": 3, "n_qubits": 2, **sizes})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: circuit_named("papier", n_features=2), "paper"),
        (lambda: circuit_named("??", n_features=2), "paper, device"),
        (lambda: circuit_named(None, n_features=2), "None"),  # type: ignore[arg-type]
        (lambda: pauli(2, 2, words="ZZ"), "words"),
        (lambda: pauli(2, 2, words=()), "words"),
        (lambda: pauli(2, 2, words=("ZI",)), "words"),
        (lambda: pauli(2, 2, words=3), "words"),  # type: ignore[arg-type]
        (lambda: pauli(2, 1, words=("ZZ",)), "2 of 2"),
        (lambda: pauli(3, 3, words=("ZZ",), entangler=[(0, 1)]), "1 of 3"),
        (lambda: zz(2, 2, entangler="rnig"), "ring"),  # type: ignore[arg-type]
        (lambda: iqp(2, 2, entangler=[(0, 2)]), "0 to 1"),
        (lambda: hardware_efficient(2, 2, rotations="ry"), "rotations"),
        (lambda: hardware_efficient(2, 2, rotations=("rz",)), "RZ"),
        (lambda: hardware_efficient(2, 2, rotations=("h",)), "rotations"),
        (lambda: hardware_efficient(2, 2, rotations=5), "rotations"),  # type: ignore[arg-type]
        (lambda: hardware_efficient(2, 2, rotations=[]), "rotations"),
        (lambda: hardware_efficient(2, 2, gate="cy"), "gate"),  # type: ignore[arg-type]
    ],
)
def test_what_there_is_not_is_refused_with_a_hint(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        wrong()


@pytest.mark.parametrize("name", MAPS)
def test_a_sized_map_has_the_repetitions_that_come_closest(name: str) -> None:
    for n_features, n_qubits, wanted in [(1, 3, 40), (7, 2, 1), (5, 4, 130), (9, 3, 200)]:
        every = [circuit_named(name, n_features=n_features, n_qubits=n_qubits, n_repetitions=r) for r in range(1, 40)]
        closest = min(every, key=lambda circuit: abs(circuit.n_embedding_parameters - wanted))
        assert Sized(name, wanted, n_qubits=n_qubits)(n_features) == closest


def test_sized_maps_are_values() -> None:
    sized = Sized("iqp", 100)
    assert repr(sized) == "Sized(name='iqp', n_parameters=100, n_qubits=6)"
    assert pickle.loads(pickle.dumps(sized)) == sized
    assert len({sized, Sized("iqp", 100), Sized("zz", 100)}) == 2
    with pytest.raises(InvalidInputError, match="n_parameters"):
        Sized("iqp", 0)
    with pytest.raises(InvalidInputError, match="'ipq'"):
        Sized("ipq", 100)(3)
