import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.report import plot_history
from tests.report.fakes import FakeModel


def test_every_panel_shows_its_columns():
    model = FakeModel(["a", "b"], validated=True)
    loss, alignment, accuracy = plot_history(model).axes
    assert set(curves(loss)) == {"alignment (KAO)", "centroids (CO)", "validation"}
    assert set(curves(alignment)) == {"training", "validation", "ceiling 1/√2 = 0.71"}
    assert set(curves(accuracy)) == {"training", "validation"}
    assert_array_equal(curves(loss)["alignment (KAO)"], [row["loss_kao"] for row in model.history_])
    assert_array_equal(curves(loss)["validation"], [1 - row["validation_alignment"] for row in model.history_])
    assert_array_equal(curves(accuracy)["validation"], [row["validation_accuracy"] for row in model.history_])


def test_without_validation_no_curve_is_drawn_for_it():
    assert not any("validation" in curves(ax) for ax in plot_history(FakeModel(["a", "b"])).axes)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_ceiling_is_one_over_the_root_of_the_number_of_classes(n_classes):
    ax = plot_history(FakeModel(list(range(n_classes)))).axes[1]
    (ceiling,) = [values for label, values in curves(ax).items() if label.startswith("ceiling")]
    assert_allclose(ceiling, 1 / np.sqrt(n_classes))


def test_an_epoch_without_validation_leaves_a_gap():
    model = FakeModel(["a", "b"], validated=True)
    model.history_[2]["validation_accuracy"] = None
    assert_array_equal(np.isnan(curves(plot_history(model).axes[2])["validation"]), [False, False, True, False, False])


def test_the_kept_epoch_is_marked_in_every_panel():
    model = FakeModel(["a", "b"])
    model.best_epoch_ = 3
    for ax in plot_history(model).axes:
        (mark,) = [line for line in ax.lines if line.get_label() == "kept: epoch 3"]
        assert_array_equal(mark.get_xdata(), [3, 3])


def test_a_loss_that_was_not_trained_is_not_drawn():
    model = FakeModel(["a", "b"])
    for row in model.history_:
        row["loss_kao"] = None
    assert set(curves(plot_history(model).axes[0])) == {"centroids (CO)"}


def test_a_single_epoch_is_a_visible_dot():
    (line,) = plot_history(FakeModel(["a", "b"], n_epochs=1)).axes[2].lines
    assert line.get_marker() == "o"


def test_a_model_without_history_is_refused():
    with pytest.raises(InvalidInputError, match="no training history"):
        plot_history(FakeModel(["a", "b"], n_epochs=0))


def curves(ax: Axes) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_ydata()) for line in ax.lines}
