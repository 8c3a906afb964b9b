"""The picture shows each gate once, where it acts, in the order of the circuit."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack.circuits import Circuit, b, line, pi_minus, w, x
from mcquack.circuits.drawing import (
    circuit_layout,
    circuit_text,
    gates_layout,
    gates_text,
    shown_layers,
    shown_qubits,
)
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.library import hubregtsen, zz
from mcquack.errors import InvalidInputError
from tests.circuits.strategies import circuits, unitary

GOLDEN = Path(__file__).parents[1] / "golden"

feature_maps = st.builds(
    FeatureMap,
    n_qubits=st.integers(1, 24),
    n_features=st.integers(1, 2000),
    n_layers=st.integers(1, 9),
    final_entangler=st.booleans(),
    features_per_gate=st.sampled_from([1, 3]),
)
layer_limits = st.integers(1, 6)


def ring_layers(feature_map: FeatureMap, max_layers: int) -> list[int]:
    """The shown layers that end in a ring."""
    if feature_map.n_qubits == 1:
        return []
    last = feature_map.n_layers - 1
    return [layer for layer in shown_layers(last + 1, max_layers) if feature_map.final_entangler or layer != last]


@given(feature_map=feature_maps, max_layers=layer_limits)
def test_layout_has_every_gate_of_the_shown_layers_in_order(feature_map: FeatureMap, max_layers: int) -> None:
    gates = circuit_layout(feature_map, max_layers)
    n = feature_map.n_qubits
    layers = shown_layers(feature_map.n_layers, max_layers)
    expected_labels = [
        f"Rot({','.join(f'x{index}' for index in feature_map.feature_index[layer, qubit][:width])})"
        for layer in layers
        for qubit in range(n)
        for width in [feature_map.features_per_gate]
    ]
    rotations = [gate for gate in gates if gate.is_box]
    assert [gate.marks[0] for gate in rotations] == expected_labels
    assert [gate.qubits for gate in rotations] == [(qubit,) for _ in layers for qubit in range(n)]
    cnots = [gate.qubits for gate in gates if gate.marks == ("●", "⊕")]
    assert cnots == [(qubit, (qubit + 1) % n) for _ in ring_layers(feature_map, max_layers) for qubit in range(n)]


@given(feature_map=feature_maps, max_layers=layer_limits)
def test_no_two_gates_of_a_column_meet_and_columns_are_numbered_without_gaps(
    feature_map: FeatureMap, max_layers: int
) -> None:
    gates = circuit_layout(feature_map, max_layers)
    columns = [gate.column for gate in gates]
    assert columns == sorted(columns)
    assert set(columns) == set(range(columns[-1] + 1))
    assert max(Counter((gate.column, qubit) for gate in gates for qubit in gate.qubits).values()) == 1


@given(feature_map=feature_maps, max_layers=layer_limits)
def test_an_ellipsis_stands_for_the_layers_that_are_not_shown(feature_map: FeatureMap, max_layers: int) -> None:
    gates = circuit_layout(feature_map, max_layers)
    n_hidden = feature_map.n_layers - len(shown_layers(feature_map.n_layers, max_layers))
    ellipses = [gate for gate in gates if gate.is_ellipsis]
    assert [gate.label.split()[0] for gate in ellipses] == ([str(n_hidden)] if n_hidden else [])
    assert all(gate.qubits == tuple(range(feature_map.n_qubits)) for gate in ellipses)


@given(n_layers=st.integers(1, 30), max_layers=layer_limits)
def test_shown_layers_are_at_most_the_limit_and_reach_from_first_to_last(n_layers: int, max_layers: int) -> None:
    layers = shown_layers(n_layers, max_layers)
    assert layers == sorted(set(layers))
    assert len(layers) == min(n_layers, max_layers)
    assert layers[0] == 0
    assert layers[-1] == n_layers - 1 or max_layers == 1


@pytest.mark.parametrize("n_qubits", [1, 2, 16, 17, 18, 124, 1000])
def test_shown_qubits_are_all_or_the_outer_ones(n_qubits: int) -> None:
    qubits = shown_qubits(n_qubits)
    assert qubits == sorted(set(qubits))
    assert (qubits[0], qubits[-1]) == (0, n_qubits - 1)
    assert len(qubits) == (n_qubits if n_qubits <= 16 else 8)


@given(feature_map=feature_maps, max_layers=layer_limits)
def test_text_agrees_with_the_layout(feature_map: FeatureMap, max_layers: int) -> None:
    """Each wire reads, from left to right, as the gates of the layout on its qubit."""
    text = circuit_text(feature_map, max_layers=max_layers)
    gates = circuit_layout(feature_map, max_layers)
    lines = [line for line in text.splitlines() if line.startswith("q")]
    wires = dict(line.split(":") for line in lines)
    assert list(wires) == [f"q{qubit}" for qubit in shown_qubits(feature_map.n_qubits)]
    for name, wire in wires.items():
        qubit = int(name[1:])
        symbols = wire.replace("┤ ", "").replace(" ├", "").replace("│", "").replace("─", " ").split()
        assert symbols == [gate.marks[gate.qubits.index(qubit)] for gate in gates if qubit in gate.qubits]
    assert len(set(map(len, lines))) == 1
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("n_qubits", [2, 3, 7, 16, 17, 124])
def test_controls_and_targets_of_the_text_are_joined(n_qubits: int) -> None:
    """Between the two ends of a CNOT its text column is a line, and beyond them it is not."""
    lines = circuit_text(FeatureMap(n_qubits=n_qubits, n_features=9, n_layers=1)).splitlines()
    lines = lines[next(row for row, line in enumerate(lines) if line.startswith("q0")) :]
    width = len(lines[0])
    columns = ["".join(line.ljust(width)[position] for line in lines) for position in range(width)]
    rings = [column for column in columns if any(symbol in column for symbol in "●⊕")]
    n_shown = len(shown_qubits(n_qubits))
    assert len(rings) == n_shown + (n_shown < n_qubits)  # a gap takes one CNOT in and one out
    for column in rings:
        joined = column.strip("─ ")
        assert set(joined[1:-1]) == {"│"}
        assert sorted(joined[0] + joined[-1]) in (sorted("●⊕"), sorted("●⋱"), sorted("⋱⊕"))
    assert rings[-1][0] == "⊕"
    assert rings[-1][-1] == "●"


def test_large_circuits_stay_readable_and_say_what_is_missing() -> None:
    text = FeatureMap(n_qubits=124, n_features=784, n_layers=50).draw()
    captions = text.splitlines()[:2]
    assert captions[0] == "124 qubits, 50 layers, 784 features, 37,200 parameters"
    assert captions[1] == "not drawn: … 47 layers, ⋮ 116 qubits"
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) < 24


@pytest.mark.parametrize("max_layers", [0, -1, 1.5, "2", None, True])
def test_max_layers_is_a_whole_number_of_at_least_one(max_layers: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_layers"):
        circuit_text(FeatureMap(n_qubits=2, n_features=2, n_layers=2), max_layers=max_layers)


@pytest.mark.parametrize(
    ("name", "feature_map", "max_layers"),
    [
        ("1_qubit", FeatureMap(n_qubits=1, n_features=3, n_layers=5), 3),
        ("2_qubits", FeatureMap(n_qubits=2, n_features=3, n_layers=2), 3),
        ("3_qubits", FeatureMap(n_qubits=3, n_features=4, n_layers=6), 2),
        ("3_qubits_device", FeatureMap(n_qubits=3, n_features=6, n_layers=2, final_entangler=False), 3),
        ("3_qubits_quack", FeatureMap(n_qubits=3, n_features=12, n_layers=2, features_per_gate=3), 1),
        ("124_qubits", FeatureMap(n_qubits=124, n_features=124, n_layers=2, final_entangler=False), 3),
    ],
)
def test_text_is_the_golden_one(name: str, feature_map: FeatureMap, max_layers: int) -> None:
    compare_with_golden(f"circuit_{name}.txt", circuit_text(feature_map, max_layers=max_layers) + "\n")


def compare_with_golden(name: str, text: str) -> None:
    golden = GOLDEN / name
    if not golden.exists() or golden.read_text(encoding="utf-8") != text:
        golden.with_suffix(".txt.new").write_text(text, encoding="utf-8")
        pytest.fail(f"{golden.name} differs; compare it with {golden.name}.new and rename that if it is right.")


# Circuits of any gates.

ALL_GATES = (
    Circuit(4, 3)
    .h(range(4))
    .rx(2, w * x[1] + b)
    .cnot(0, 2)
    .crz((1, 0), 2 * b("turn"))
    .swap(1, 3)
    .cz(2, 3)
    .unitary((0, 1), unitary(4, seed=0))
    .rxx((1, 3), 0.5)
    .cy(3, 2)
    .rot(0, 0.1, 0.2, b)
    .rot(1, w * x[0], w * x[0], w * x[0])
    .sx(3)
    .unitary(2, unitary(2, seed=0))
    .ry(3, -w("gain") * x[2] * pi_minus(x[0]) - 0.25)
)


@given(circuit=circuits(max_qubits=6, max_gates=20), max_gates=st.integers(1, 25))
def test_the_layout_of_any_circuit_keeps_the_order_on_each_qubit(circuit: Circuit, max_gates: int) -> None:
    symbols = gates_layout(circuit, max_gates)
    ellipses = [symbol for symbol in symbols if symbol.is_ellipsis]
    drawn = [symbol for symbol in symbols if not symbol.is_ellipsis]
    assert len(drawn) == min(max_gates, circuit.n_gates)
    hidden = circuit.n_gates - len(drawn)
    assert [symbol.label.split()[0] for symbol in ellipses] == ([str(hidden)] if hidden else [])
    assert all(symbol.column > other.column for symbol in ellipses for other in drawn)
    for qubit in range(circuit.n_qubits):
        expected = [gate.qubits for gate in circuit.gates[: len(drawn)] if qubit in gate.qubits]
        assert [symbol.qubits for symbol in drawn if qubit in symbol.qubits] == expected


@given(circuit=circuits(max_qubits=6, max_gates=20))
def test_no_two_gates_of_a_column_meet_nor_do_lines_cross_them(circuit: Circuit) -> None:
    symbols = gates_layout(circuit)
    spans = [(symbol.column, wire) for symbol in symbols for wire in range(min(symbol.qubits), max(symbol.qubits) + 1)]
    assert len(spans) == len(set(spans))
    columns = {symbol.column for symbol in symbols}
    assert columns == set(range(len(columns)))
    assert len(columns) >= circuit.depth


@given(circuit=circuits(max_qubits=6, max_gates=20), max_gates=st.integers(1, 25))
def test_the_text_of_any_circuit_agrees_with_its_layout(circuit: Circuit, max_gates: int) -> None:
    """Each wire reads, from left to right and strip by strip, as the symbols of the layout on its qubit."""
    lines = gates_text(circuit, max_gates=max_gates).splitlines()
    symbols = gates_layout(circuit, max_gates)
    for qubit in range(circuit.n_qubits):
        strips = [line.partition(":")[2] for line in lines if line.startswith(f"q{qubit}:")]
        marks = "".join(strips).replace("┤ ", "").replace(" ├", "").replace("│", "").replace("─", " ").split()
        assert marks == [symbol.marks[symbol.qubits.index(qubit)] for symbol in symbols if qubit in symbol.qubits]
    assert all(line == line.rstrip() and len(line) <= 180 for line in lines)


@given(circuit=circuits(max_qubits=6, max_gates=20))
def test_lines_of_the_text_end_on_what_they_join(circuit: Circuit) -> None:
    """Above and below each piece of a vertical line is another, or a gate."""
    rows = [line.ljust(200) for line in gates_text(circuit).splitlines()[1:]]
    for above, row, below in zip(rows, rows[1:], rows[2:], strict=False):
        for place in (place for place, character in enumerate(row) if character == "│"):
            assert above[place] not in "─ " or "┤" in above[:place].rpartition("├")[2]
            assert below[place] not in "─ " or "┤" in below[:place].rpartition("├")[2]


def test_labels_say_what_is_shared_and_shorten_what_is_long() -> None:
    named = Circuit(1, 2).rx(0, w * x[0] + b).ry(0, w("gain") * x[1] + b("tilt")).rot(0, b, b, b).rot(0, 0.1, 0.1, b)
    assert [symbol.marks for symbol in gates_layout(named)] == [
        ("RX(w·x0+b)",),
        ("RY(gain·x1+tilt)",),
        ("Rot(b)",),
        ("Rot(0.1,0.1,b)",),
    ]
    plain = Circuit(1, 1).rx(0, b).to_json()
    plain["gates"].append(plain["gates"][0])  # a parameter without a name that two gates have
    assert [symbol.marks for symbol in gates_layout(Circuit.from_json(plain))] == [("RX(b0)",)] * 2
    product = x[0]
    for _ in range(40):
        product = product * x[0]
    (mark,) = gates_layout(Circuit(1, 1).rx(0, product))[0].marks
    assert mark.startswith("RX(x0·x0")
    assert mark.endswith("…)")
    assert len(mark) < 50


def test_a_wide_circuit_says_what_is_missing_and_hides_gates_between_hidden_wires() -> None:
    circuit = Circuit(40, 2).h(range(40)).cnot(line(40)).cz(0, 39)
    symbols = gates_layout(circuit)
    assert all(not set(symbol.qubits).isdisjoint(shown_qubits(40)) for symbol in symbols)
    captions = gates_text(circuit).splitlines()[:2]
    assert captions == ["40 qubits, 2 features, 80 gates, depth 41, 0 parameters", "not drawn: ⋮ 32 qubits"]
    assert gates_text(circuit, max_gates=10).splitlines()[1] == "not drawn: … 38 gates, ⋮ 32 qubits"


def test_an_empty_circuit_is_wires() -> None:
    text = "2 qubits, 1 feature, 0 gates, depth 0, 0 parameters\nq0: ─\n\nq1: ─"
    assert str(Circuit(2, 1)) == text


@pytest.mark.parametrize("max_gates", [0, -1, 1.5, "2", None, True])
def test_max_gates_is_a_whole_number_of_at_least_one(max_gates: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_gates"):
        Circuit(1, 1).h(0).draw(max_gates=max_gates)


@pytest.mark.parametrize(
    ("name", "circuit", "max_gates"),
    [
        ("all_gates", ALL_GATES, 60),
        ("zz", zz(5, 4, n_repetitions=1), 60),
        ("hubregtsen_wide", hubregtsen(40, 20, n_repetitions=1), 40),
        ("amplitudes", Circuit(2, 4, start="amplitudes").ry([0, 1], b).cz(0, 1), 60),
    ],
)
def test_text_of_any_circuit_is_the_golden_one(name: str, circuit: Circuit, max_gates: int) -> None:
    compare_with_golden(f"gates_{name}.txt", gates_text(circuit, max_gates=max_gates) + "\n")
