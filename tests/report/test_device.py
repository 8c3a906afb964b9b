"""The map of a device shows all of it, and which part is the ring; a calibration shows how surely b* is known."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from numpy.testing import assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.hardware.layout import best_ring
from mcquack.kernels.bitflip import calibrate
from mcquack.report import plot_bitflip_calibration, plot_device_ring
from mcquack.report.device import BLUE, GREEN, RED
from mcquack.report.style import INK, PAPER, new_axes
from tests.hardware.layout.graphs import complete, heavy_hex, square
from tests.report.fakes import corners, known, xs, ys

LATTICE = replace(
    heavy_hex(),
    two_qubit_error=tuple(
        1.0 if edge == (15, 19) else 0.001 + 0.0001 * place for place, edge in enumerate(heavy_hex().edges)
    ),
    readout_error=tuple(1.0 if qubit == 35 else 0.01 + 0.001 * qubit for qubit in range(156)),
)
RING = best_ring(LATTICE, 124, allow_faulty=True)


def circles(ax, *, filled=True):
    return [patch for patch in ax.patches if isinstance(patch, Circle) and patch.get_fill() == filled]


def lines(ax):
    """The segments of all couplers, and those of the ring."""
    return [collection.get_segments() for collection in ax.collections]


def test_all_qubits_are_drawn_and_those_of_the_ring_are_black():
    ax = plot_device_ring(LATTICE, RING).axes[0]
    assert len(circles(ax)) == 156
    black = {qubit for qubit, circle in enumerate(circles(ax)) if to_hex(circle.get_facecolor()) == INK}
    assert black == set(RING.qubits)
    assert {text.get_text() for text in ax.texts} == {str(qubit) for qubit in range(156)}
    every, ring = lines(ax)
    assert (len(every), len(ring)) == (len(LATTICE.edges), 124)


def test_the_first_qubit_has_a_border_and_an_arrow_to_the_second():
    ring = (7, 8, 9, 10, 11, 18, 31, 30, 29, 28, 27, 17)
    ax = plot_device_ring(heavy_hex(), ring).axes[0]
    (border,) = circles(ax, filled=False)
    assert tuple(border.center) == (7, 0)
    assert to_hex(border.get_edgecolor()) == GREEN
    (arrow,) = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    tail, *_ = corners(arrow.get_path())
    assert 7 < tail[0] < 8


def test_faults_are_marked_and_explained():
    ax = plot_device_ring(LATTICE, RING).axes[0]
    (crosses,) = [line for line in ax.lines if line.get_marker() == "X"]
    assert (xs(crosses).tolist(), ys(crosses).tolist()) == ([15], [0.5])
    red = [circle for circle in circles(ax, filled=False) if to_hex(circle.get_edgecolor()) == RED]
    assert [tuple(circle.center) for circle in red] == [(15, 2)]
    assert legend(ax) == ["ring", "its first qubit", "faulty coupler", "faulty qubit"]
    assert legend(plot_device_ring(square(2, 2), (0, 1, 3, 2)).axes[0]) == ["ring", "its first qubit"]


def test_what_counts_as_faulty_can_be_said():
    (crosses,) = plot_device_ring(LATTICE, max_error=0.0175).axes[0].lines
    assert len(xs(crosses)) == sum(known(error) >= 0.0175 for error in LATTICE.two_qubit_error)


def test_a_device_may_be_drawn_without_a_ring():
    figure = plot_device_ring(heavy_hex())
    ax = figure.axes[0]
    assert {to_hex(circle.get_facecolor()) for circle in circles(ax)} == {PAPER}
    assert ax.get_legend() is None
    assert ax.get_title(loc="left") == "heavy-hex, 156 qubits"
    assert plot_device_ring(LATTICE, RING).axes[0].get_title(loc="left") == "heavy-hex, 124 of 156 qubits"


def test_errors_have_colours_and_scales_without_the_faults():
    figure = plot_device_ring(LATTICE, RING, errors=True)
    ax, *scales = figure.axes
    assert [scale.get_ylabel() for scale in scales] == ["readout error", "two-qubit error"]
    assert scales[1].get_ylim()[1] < 0.02
    good = [np.mean(circle.get_facecolor()[:3]) for qubit, circle in enumerate(circles(ax)) if qubit != 35]
    assert np.all(np.diff(good) <= 1e-9)  # darker from qubit to qubit, as their errors grow


@pytest.mark.parametrize("errors", [(), (0.01,) * 4, (0.0,) * 4, (None, 0.0, 0.02, 0.02)])
def test_unknown_equal_and_no_errors_can_be_drawn(errors):
    coupling = replace(square(2, 2), two_qubit_error=errors)
    figure = plot_device_ring(coupling, (0, 1, 3, 2), errors=True)
    figure.draw_without_rendering()
    assert len(figure.axes) == 1 + any(errors)


def test_qubits_that_no_couplers_join_may_be_shown():
    ax = plot_device_ring(heavy_hex(), best_ring(heavy_hex(), 5, n_layers=1)).axes[0]
    assert sum(to_hex(circle.get_facecolor()) == INK for circle in circles(ax)) == 5


def test_every_number_lies_in_the_figure():
    for coupling in (complete(12), square(1, 1), heavy_hex(3, 9)):
        figure = plot_device_ring(coupling)
        figure.draw_without_rendering()
        for text in figure.axes[0].texts:
            box = text.get_window_extent()
            assert figure.bbox.contains(box.x0, box.y0)
            assert figure.bbox.contains(box.x1, box.y1)


def test_draws_into_given_axes():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot_device_ring(square(2, 2), (0, 1, 3, 2), ax=right) is figure
    assert len(circles(right)) == 4
    assert not left.patches


def test_a_ring_of_another_device_is_refused():
    with pytest.raises(InvalidInputError, match="square"):
        plot_device_ring(square(2, 2), (0, 1, 4))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


COUNTS = np.array([[[30, 50, 20, 0], [0, 20, 50, 30]], [[5, 25, 40, 30], [40, 40, 20, 0]]])


@pytest.fixture
def calibration():
    return calibrate(COUNTS, n_resamples=50)


def test_the_three_curves_have_the_colours_of_the_paper(calibration):
    lines = {line.get_label(): line for line in plot_bitflip_calibration(calibration).axes[0].lines}
    for label, values, colour in (
        ("diagonal", calibration.diagonal, BLUE),
        ("off-diagonal", calibration.off_diagonal, GREEN),
        ("difference", calibration.difference, RED),
    ):
        assert_array_equal(lines[label].get_ydata(), values)
        assert_array_equal(lines[label].get_xdata(), np.arange(4))
        assert to_hex(lines[label].get_color()) == colour


def test_the_best_tolerance_is_marked_with_its_interval(calibration):
    (mark,) = [line for line in plot_bitflip_calibration(calibration).axes[0].lines if "b*" in str(line.get_label())]
    assert_array_equal(mark.get_xdata(), [calibration.tolerance] * 2)
    low, high = calibration.interval
    assert mark.get_label() == f"b* = {calibration.tolerance} (95%: {low} to {high})"


def test_exact_distributions_have_no_band(calibration):
    exact = calibrate(COUNTS / 100)
    assert len(plot_bitflip_calibration(calibration).axes[0].collections) == 1
    ax = plot_bitflip_calibration(exact).axes[0]
    assert not ax.collections
    assert ax.lines[-1].get_label() == f"b* = {exact.tolerance}"


def test_axes_can_be_given(calibration):
    ax = new_axes(4, 3)
    assert plot_bitflip_calibration(calibration, ax=ax) is ax.figure
