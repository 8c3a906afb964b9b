import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from mcquack.circuits import Circuit, b, line, ring, w, x
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.library import MAPS, circuit_named, zz
from mcquack.errors import InvalidInputError
from mcquack.report import plot_circuit


@pytest.mark.parametrize(("n_qubits", "n_layers"), [(1, 1), (1, 3), (2, 1), (6, 3), (12, 2), (16, 1)])
def test_draws_a_box_per_rotation_and_two_circles_per_cnot(n_qubits, n_layers):
    ax = plot_circuit(FeatureMap(n_qubits=n_qubits, n_features=5, n_layers=n_layers)).axes[0]
    n_cnots = n_layers * n_qubits if n_qubits > 1 else 0
    assert count(ax, FancyBboxPatch) == n_layers * n_qubits
    assert count(ax, Circle) == 2 * n_cnots


def test_the_device_variant_ends_with_rotations():
    ax = plot_circuit(FeatureMap(n_qubits=4, n_features=4, n_layers=2, final_entangler=False)).axes[0]
    assert count(ax, FancyBboxPatch) == 8
    assert count(ax, Circle) == 2 * 4


def test_many_layers_are_abridged_to_the_first_and_the_last():
    ax = plot_circuit(FeatureMap(n_qubits=3, n_features=30, n_layers=131), max_layers=3).axes[0]
    assert count(ax, FancyBboxPatch) == 9
    assert {"layer 1", "layer 2", "+ 128 layers", "layer 131"} <= texts(ax)


def test_many_qubits_are_abridged_to_the_outer_ones():
    ax = plot_circuit(FeatureMap(n_qubits=124, n_features=124, n_layers=1)).axes[0]
    assert count(ax, FancyBboxPatch) == 8
    assert {"$q_{0}$", "$q_{4}$", "$q_{121}$", "$q_{123}$", "⋮"} <= texts(ax)
    assert "$q_{5}$" not in texts(ax)


def test_boxes_name_the_features_they_encode():
    ax = plot_circuit(FeatureMap(n_qubits=2, n_features=12, n_layers=2, features_per_gate=3)).axes[0]
    assert {"Rot($x_{0}$,$x_{1}$,$x_{2}$)", "Rot($x_{9}$,$x_{10}$,$x_{11}$)"} <= texts(ax)


@pytest.mark.parametrize("n_qubits", [1, 2, 12])
def test_nothing_is_drawn_outside_the_figure_and_no_two_texts_overlap(n_qubits):
    figure = plot_circuit(FeatureMap(n_qubits=n_qubits, n_features=784, n_layers=12), max_layers=4)
    figure.draw_without_rendering()
    ax = figure.axes[0]
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert all(figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) for box in boxes)
    assert figure.bbox.containsx(ax.title.get_window_extent().x0)
    assert not any(first.overlaps(second) for index, first in enumerate(boxes) for second in boxes[:index])


def test_draws_into_given_axes():
    figure = Figure()
    _, right = figure.subplots(1, 2)
    assert plot_circuit(FeatureMap(n_qubits=2, n_features=2, n_layers=1), ax=right) is figure
    assert count(right, FancyBboxPatch) == 2


def test_max_layers_is_checked():
    with pytest.raises(InvalidInputError, match="max_layers"):
        plot_circuit(FeatureMap(n_qubits=2, n_features=2, n_layers=1), max_layers=0)


def test_any_circuit_has_boxes_circles_and_crosses():
    circuit = (
        Circuit(4, 2).h(range(4)).rx(1, w * x[1] + b).cnot(ring(4)).cz(0, 1).swap(2, 3).crz((0, 2), 0.5).rzz((0, 3), b)
    )
    ax = plot_circuit(circuit).axes[0]
    assert count(ax, FancyBboxPatch) == 4 + 1 + 1 + 2
    assert count(ax, Circle) == 2 * 4 + 2 + 1
    assert {"H", "RX(w·$x_{1}$+b)", "RZ(0.5)", "RZZ(b)", "RZZ"} <= texts(ax)
    crosses = [drawn for drawn in ax.lines if drawn.get_linewidth() == 1.2]
    assert len(crosses) == 2 * 2
    assert ax.get_title(loc="left") == str(circuit).splitlines()[0]


def test_wide_pictures_go_on_below_and_long_ones_are_abridged():
    ax = plot_circuit(zz(6, 4), max_gates=20).axes[0]
    names = [text.get_text() for text in ax.texts]
    assert names.count("$q_{0}$") == names.count("$q_{3}$") > 1
    assert f"+ {zz(6, 4).n_gates - 20} gates" in names
    assert ax.get_xlim()[1] < 32


def test_any_circuit_of_many_qubits_shows_the_outer_ones():
    ax = plot_circuit(Circuit(40, 1).h(range(40)).cnot(line(40))).axes[0]
    assert count(ax, FancyBboxPatch) == 8
    assert {"$q_{0}$", "$q_{4}$", "$q_{37}$", "$q_{39}$", "⋮"} <= texts(ax)


@pytest.mark.parametrize("name", MAPS)
def test_maps_of_the_library_fit_into_their_figures(name):
    figure = plot_circuit(circuit_named(name, n_features=7, n_qubits=3))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert all(figure.bbox.containsx(box.x0) and figure.bbox.containsx(box.x1) for box in boxes)
    assert all(figure.bbox.containsy(box.y0) and figure.bbox.containsy(box.y1) for box in boxes)
    assert not any(first.overlaps(second) for index, first in enumerate(boxes) for second in boxes[:index])


def test_an_empty_circuit_is_drawn():
    assert count(plot_circuit(Circuit(2, 1)).axes[0], FancyBboxPatch) == 0


def test_max_gates_is_checked():
    with pytest.raises(InvalidInputError, match="max_gates"):
        plot_circuit(Circuit(2, 2).h(0), max_gates=0)


def count(ax: Axes, kind: type) -> int:
    return sum(isinstance(patch, kind) for patch in ax.patches)


def texts(ax: Axes) -> set[str]:
    return {text.get_text() for text in ax.texts}
