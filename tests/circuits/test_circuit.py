"""A circuit is a value: it does not change, equal ones are equal, and JSON, pickles and copies give it back."""

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from qiskit import QuantumCircuit
from qiskit.quantum_info import Statevector

from mcquack.circuits import Angle, Circuit, FeatureMap, arctan, b, ring, w, x
from mcquack.circuits.gates import GATES
from mcquack.errors import InvalidInputError
from mcquack.simulators.gates import GateEngine
from tests.circuits.strategies import circuits, parameters_of, unitary

EXAMPLE = (
    Circuit(2, 2, start="amplitudes", padding=0.5)
    .rot(0, w * x[0] + b, 2 * w("gain") * x[0] * x[1], 0.5)
    .ry([0, 1], b("tilt", start=0.25))
    .cnot(0, 1)
    .unitary((1, 0), unitary(4, seed=1))
)


def qiskit_circuit(circuit: Circuit) -> QuantumCircuit:
    """Gates of the same names on the same qubits, with angles of 0.1."""
    found = QuantumCircuit(circuit.n_qubits)
    for gate in circuit.gates:
        name = {"cnot": "cx", "rot": "u"}.get(gate.name, gate.name)
        if gate.matrix is not None:
            found.unitary(np.array(gate.matrix), gate.qubits)
        else:
            getattr(found, name)(*(0.1 for _ in gate.angles), *gate.qubits)
    return found


@given(circuit=circuits())
def test_counts_and_depth_are_those_of_qiskit(circuit: Circuit) -> None:
    other = qiskit_circuit(circuit)
    assert circuit.depth == other.depth()
    assert circuit.n_gates == other.size()
    assert circuit.counts == {{"cx": "cnot", "u": "rot"}.get(name, name): n for name, n in other.count_ops().items()}


@given(circuit=circuits())
def test_json_pickles_and_copies_give_the_same_circuit(circuit: Circuit) -> None:
    again = Circuit.from_json(json.loads(json.dumps(circuit.to_json(), allow_nan=False)))
    for other in (again, pickle.loads(pickle.dumps(circuit)), copy.copy(circuit), copy.deepcopy(circuit)):
        assert other == circuit
        assert hash(other) == hash(circuit)
        assert other.to_json() == circuit.to_json()
        assert str(other) == str(circuit)
        assert other.weight_names == circuit.weight_names
        assert_allclose(other.bias_starts, circuit.bias_starts)


@pytest.mark.parametrize("feature_map", [FeatureMap(n_qubits=2, n_features=3, n_layers=2, features_per_gate=3)])
def test_the_map_of_the_paper_comes_back_as_itself(feature_map: FeatureMap) -> None:
    for again in (Circuit.from_json(json.loads(json.dumps(feature_map.to_json()))), copy.deepcopy(feature_map)):
        assert type(again) is FeatureMap
        assert again == feature_map


@given(first=circuits(max_gates=3), second=circuits(max_gates=3))
def test_circuits_are_equal_if_they_are_described_alike(first: Circuit, second: Circuit) -> None:
    assert (first == second) == (first.to_json() == second.to_json())
    assert first != first.h(0)
    assert first != "circuit"


def test_a_circuit_does_not_change() -> None:
    before = EXAMPLE.to_json()
    for name in ("n_qubits", "gates", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(EXAMPLE, name, 1)
    assert EXAMPLE.h(0) is not EXAMPLE
    assert EXAMPLE.to_json() == before
    assert len({EXAMPLE, copy.deepcopy(EXAMPLE), EXAMPLE.x(1)}) == 2


@given(first=circuits(max_qubits=2), second=circuits(max_qubits=2))
def test_a_sum_runs_one_circuit_after_the_other_with_parameters_of_their_own(first: Circuit, second: Circuit) -> None:
    if (first.n_qubits, first.n_features, second.start) != (second.n_qubits, second.n_features, "zeros"):
        with pytest.raises(InvalidInputError, match="qubits"):
            first + second
        return
    both = first + second
    assert [gate.name for gate in both.gates] == [gate.name for part in (first, second) for gate in part.gates]
    for names in ("weight_names", "bias_names"):
        of_first, of_second = getattr(first, names), getattr(second, names)
        shared = {name for name in of_second if name in of_first and not name[1:].isdecimal()}
        assert len(getattr(both, names)) == len(of_first) + len(of_second) - len(shared)
    assert both.start == first.start
    assert first + Circuit(first.n_qubits, first.n_features) == first


def test_repetitions_have_parameters_of_their_own_but_for_named_ones() -> None:
    layer = Circuit(2, 1).rx([0, 1], w * x[0] + b("tilt")).ry([0, 1], w("gain") * x[0] + b).cnot(ring(2))
    repeated = layer.repeated(3)
    assert repeated == layer + layer + layer
    assert layer.repeated(1) == layer
    assert (layer.n_weights, layer.n_bias) == (3, 3)
    assert (repeated.n_weights, repeated.n_bias) == (3 * 2 + 1, 3 * 2 + 1)
    assert repeated.weight_names.count("gain") == repeated.bias_names.count("tilt") == 1
    for times in (0, -1, 1.5, True):
        with pytest.raises(InvalidInputError, match="times"):
            layer.repeated(times)  # type: ignore[arg-type]


def test_the_paper_s_map_takes_further_gates_and_is_a_circuit_like_others() -> None:
    feature_map = FeatureMap(n_qubits=2, n_features=3, n_layers=2)
    longer = feature_map.h(0)
    assert type(longer) is Circuit
    assert longer.n_weights == feature_map.n_weights == 12
    assert (feature_map + feature_map).n_embedding_parameters == 48
    rows = np.linspace(-1, 1, 6).reshape(2, 3)
    weights, bias = parameters_of(feature_map)
    expected = feature_map.angles(rows, weights, bias).reshape(2, -1)
    assert_allclose(longer.angles(rows, weights.reshape(-1), bias.reshape(-1)), expected)
    assert_allclose(feature_map.angle_table.angles(rows, weights, bias), expected)


def test_a_name_stands_for_one_parameter_with_one_start() -> None:
    circuit = Circuit(1, 1).rx(0, w("a", start=2) * x[0] + b("a", start=3))
    assert (circuit.weight_names, circuit.bias_names) == (("a",), ("a",))
    assert (circuit.weight_starts.tolist(), circuit.bias_starts.tolist()) == ([2], [3])
    assert circuit.ry(0, b("a", start=3)).n_bias == 1
    with pytest.raises(InvalidInputError, match="parameter a"):
        circuit.ry(0, b("a"))


def test_samples_begin_as_amplitudes() -> None:
    circuit = Circuit(2, 3, start="amplitudes", padding=2.0)
    rows = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]])
    assert_allclose(circuit.amplitudes(rows), [[0.2, 0.4, 0.8, 0.4], [0.0, 0.0, 0.0, 1.0]])
    assert_allclose(Circuit(2, 3, start="amplitudes").amplitudes(rows)[1], [1, 0, 0, 0])
    with pytest.raises(InvalidInputError, match="2 amplitudes"):
        Circuit(1, 3, start="amplitudes")


def test_states_are_those_of_qiskit_for_each_gate() -> None:
    """The order of qubits, of controls and targets, and of the entries of a matrix."""
    for name, kind in GATES.items():
        if name == "rot":  # another gate of Qiskit up to a phase
            continue
        circuit = Circuit(3, 1).rx([0, 1, 2], [0.3, 0.9, 1.4]).rz([0, 1, 2], [0.2, -0.5, 1.0])
        other = QuantumCircuit(3)
        for qubit, (turn, phase) in enumerate([(0.3, 0.2), (0.9, -0.5), (1.4, 1.0)]):
            other.rx(turn, qubit)
            other.rz(phase, qubit)
        place = (2, 0) if kind.n_qubits != 1 else (1,)
        if name == "unitary":
            circuit = circuit.unitary(place, unitary(4, seed=2))
            other.unitary(unitary(4, seed=2), place[::-1])
        else:
            circuit = getattr(circuit, name)(place, *[0.8] * kind.n_angles)
            getattr(other, "cx" if name == "cnot" else name)(*[0.8] * kind.n_angles, *place)
        engine = GateEngine(circuit, dtype="float64")
        found = engine.statevectors(engine.encode(np.zeros((1, 1)), np.zeros(0), np.zeros(0)))
        assert_allclose(found[0], Statevector(other.reverse_bits()).data, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Circuit(0, 1),
        lambda: Circuit(1, 0),
        lambda: Circuit(True, 1),
        lambda: Circuit(1.0, 1),  # type: ignore[arg-type]
        lambda: Circuit(10**6, 1),
        lambda: Circuit(1, 1, start="ones"),  # type: ignore[arg-type]
        lambda: Circuit(1, 1, padding=math.nan),
        lambda: Circuit(1, 1, padding=10**400),
        lambda: Circuit(2, 1).h(2),
        lambda: Circuit(2, 1).h(-1),
        lambda: Circuit(2, 1).h(True),
        lambda: Circuit(2, 1).h(None),  # type: ignore[arg-type]
        lambda: Circuit(2, 1).h(0.5),  # type: ignore[arg-type]
        lambda: Circuit(2, 1).h("01"),  # type: ignore[arg-type]
        lambda: Circuit(2, 1).cnot(0, 0),
        lambda: Circuit(3, 1).cnot([0, 1, 2]),  # type: ignore[list-item]
        lambda: Circuit(3, 1).cnot((0, 1, 2)),  # type: ignore[arg-type]
        lambda: Circuit(3, 1).cz([(0, 1, 2)]),  # type: ignore[list-item]
        lambda: Circuit(2, 1).cnot(0),
        lambda: Circuit(2, 1).rx(0, x[1]),
        lambda: Circuit(2, 1).rx(0, w),
        lambda: Circuit(2, 1).rx(0, w + 1),
        lambda: Circuit(2, 1).rx(0, math.inf),
        lambda: Circuit(2, 1).rx(0, "x"),  # type: ignore[arg-type]
        lambda: Circuit(2, 1).rx(0, None),  # type: ignore[arg-type]
        lambda: Circuit(2, 1).rx([0, 1], [0.1]),
        lambda: Circuit(2, 1).unitary(0, np.ones((2, 2))),
        lambda: Circuit(2, 1).unitary(0, np.eye(3)),
        lambda: Circuit(2, 1).unitary(0, [[1, 0], [0]]),
        lambda: Circuit(2, 1).unitary(0, "matrix"),
        lambda: Circuit(2, 1).unitary(0, np.full((2, 2), 1e308)),
        lambda: Circuit(2, 1).unitary(0, np.full((2, 2), np.nan)),
        lambda: Circuit(2, 1).unitary((0, 1), np.eye(2)),
        lambda: Circuit(2, 1).unitary(0, np.eye(4)),
        lambda: Circuit(2, 1).angles(np.zeros((1, 2)), np.zeros(0), np.zeros(0)),
        lambda: Circuit(2, 1).angles(np.zeros(1), np.zeros(0), np.zeros(0)),
    ],
)
def test_what_cannot_be_built_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidInputError):
        wrong()


def test_only_circuits_are_added() -> None:
    with pytest.raises(TypeError):
        EXAMPLE + 1  # type: ignore[operator]


# Descriptions that are broken, by accident or on purpose.

HOSTILE: list[Any] = [
    None,
    True,
    -1,
    0,
    2,
    10**6,
    10**400,
    10**5000,
    1.5,
    1e308,
    -1e308,
    math.nan,
    math.inf,
    "",
    "h",
    "w0",
    "zeros",
    [],
    [[]],
    [None, None, None],
    {},
    {"n_layers": 1},
]


def nested(depth: int) -> list[Any]:
    """A list in a list in a list and so on."""
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def places(plain: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all that is in a description."""
    parts = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [path, *(deeper for key, part in parts for deeper in places(part, (*path, key)))]


def changed(plain: Any, path: tuple[Any, ...], change: str, value: Any) -> Any:
    """The description with one of its parts put in place of, left out, or twice."""
    if not path:
        return value
    found = copy.deepcopy(plain)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if change == "replace":
        inner[path[-1]] = value
    elif change == "remove":
        del inner[path[-1]]
    elif isinstance(inner, list):
        inner.insert(path[-1], copy.deepcopy(inner[path[-1]]))
    else:
        inner["more"] = value
    return found


def is_read_or_refused(plain: Any) -> bool:
    """Whether a description gives a circuit that is described so, or else InvalidInputError."""
    try:
        circuit = Circuit.from_json(plain)
    except InvalidInputError as error:
        return bool(str(error))
    assert Circuit.from_json(circuit.to_json()) == circuit
    if isinstance(circuit, FeatureMap):
        return circuit.to_json() == plain
    with np.errstate(over="ignore", invalid="ignore"):  # numbers may be as large as floats are
        angles = circuit.angles(np.zeros((1, circuit.n_features)), *parameters_of(circuit))
    return angles.shape == (1, circuit.n_angles)


@pytest.mark.parametrize("value", [*HOSTILE, nested(900), nested(100_000)], ids=range(len(HOSTILE) + 2))
def test_any_part_of_a_description_may_be_anything(value: Any) -> None:
    for plain in (EXAMPLE.to_json(), FeatureMap(n_qubits=2, n_features=3, n_layers=1).to_json()):
        for path in places(plain):
            assert is_read_or_refused(changed(plain, path, "replace", value)), path


@given(circuit=circuits(max_qubits=3, max_gates=5), data=st.data())
@example(circuit=EXAMPLE, data=None)
def test_broken_descriptions_are_refused_and_no_others(circuit: Circuit, data: st.DataObject | None) -> None:
    plain = circuit.to_json()
    if data is None:
        for path in places(plain)[1:]:
            for change in ("remove", "repeat"):
                assert is_read_or_refused(changed(plain, path, change, 1)), (change, path)
        return
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(plain)))
        change = data.draw(st.sampled_from(["replace", "remove", "repeat"]))
        plain = changed(plain, path, change, data.draw(st.sampled_from(HOSTILE)))
        if not isinstance(plain, dict | list):
            break
    assert is_read_or_refused(plain)


def test_a_description_says_what_is_wrong_with_it() -> None:
    plain = Circuit(1, 1).h(0).to_json()
    for key, value, reason in [
        ("n_qubits", True, "whole sizes"),
        ("start", "ones", "starts with"),
        ("padding", math.inf, "padding"),
        ("gates", [["h", [0, 1], []]], "qubits"),
        ("gates", [["g", [0], []]], "gates"),
        ("gates", [["rx", [0], []]], "angles"),
        ("gates", [["rx", [0], [[[["x", 1]], None, 1, None, 1, 0]]]], "features"),
        ("gates", [["rx", [0], [[[], None, 1, 0, 1, 0]]]], "parameters"),
        ("weights", [[None, 0.0]], "used"),
        ("bias", [["b0", 0.0]], "names"),
        ("bias", [["a", 0.0], ["a", 0.0]], "a name stands"),
    ]:
        with pytest.raises(InvalidInputError, match=reason):
            Circuit.from_json({**plain, key: value})


def test_an_angle_of_another_circuit_is_refused() -> None:
    other = Circuit(1, 1).ry(0, w * x[0] + b)
    with pytest.raises(InvalidInputError, match="circuits with"):
        Circuit(1, 1).ry(0, other.gates[0].angles[0])


@pytest.mark.parametrize(("weights", "bias"), [([], [0.0]), ([1.0], []), ([1.0, 2.0], [0.0])])
def test_angles_take_all_parameters_and_no_others(weights: list[float], bias: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="shape"):
        Circuit(1, 1).rx(0, w * x[0] + b).angles([[2.0]], np.array(weights), np.array(bias))


def test_whole_numbers_have_angles_too() -> None:
    assert_allclose(Circuit(1, 1).rx(0, arctan(x[0])).angles([[1]], np.zeros(0), np.zeros(0)), [[np.pi / 4]])


@pytest.mark.parametrize("factor", [("sin", 0), ("x", -1), ("x", 0.5)])
def test_an_angle_takes_functions_and_features_that_there_are(factor: Any) -> None:
    with pytest.raises(InvalidInputError, match="functions"):
        Angle((factor,))
