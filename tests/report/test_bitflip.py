import numpy as np
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_array_equal

from mcquack.kernels.bitflip import calibrate
from mcquack.report.device import BLUE, plot_bitflip_calibration
from mcquack.report.device import DIAGONAL_GREEN as GREEN
from mcquack.report.device import OFF_DIAGONAL_RED as RED
from mcquack.report.style import new_axes

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
    (mark,) = [line for line in plot_bitflip_calibration(calibration).axes[0].lines if "b*" in line.get_label()]
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
