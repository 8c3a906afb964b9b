import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.errors import InvalidInputError
from mcquack.report import plot_kernel
from tests.report.fakes import FakeModel


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_rows_are_the_kernel_sorted_by_class(n_classes):
    model = FakeModel([f"class {index}" for index in range(n_classes)])
    X, y = model.samples(40)
    (image,) = kernel_axes(plot_kernel(model, X, y)).images
    expected = np.concatenate([model.transform(X[y == name]) for name in model.classes_])
    assert image.get_array().shape == (40, n_classes)
    assert_allclose(image.get_array(), expected, rtol=1e-12)


def test_lines_part_the_classes():
    model = FakeModel(["a", "b", "c"])
    X, _ = model.samples(10)
    ax = kernel_axes(plot_kernel(model, X, list("aaabbbbbcc")))
    rows, columns = ax.collections
    assert_array_equal([segment[0, 1] for segment in rows.get_segments()], [2.5, 7.5])
    assert_array_equal([segment[0, 0] for segment in columns.get_segments()], [0.5, 1.5])


def test_classes_are_named_at_the_middle_of_their_rows_and_at_their_column():
    model = FakeModel(["a", "b", "c"])
    X, _ = model.samples(10)
    ax = kernel_axes(plot_kernel(model, X, list("aaaabbbbcc")))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b", "c"]
    assert_array_equal(ax.get_yticks(), [1.5, 5.5, 8.5])


def test_centroids_of_a_class_stand_side_by_side_below_its_name():
    model = FakeModel(["a", "b", "c"], k=2)
    X, y = model.samples(9)
    ax = kernel_axes(plot_kernel(model, X, y))
    assert ax.images[0].get_array().shape == (9, 6)
    rows, columns = ax.collections
    assert_array_equal([segment[0, 0] for segment in columns.get_segments()], [1.5, 3.5])
    assert_array_equal([segment[:, 0] for segment in rows.get_segments()], [[-0.5, 5.5]] * 2)
    assert_array_equal(ax.get_xticks(), [0.5, 2.5, 4.5])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]


def test_a_class_without_samples_keeps_its_column_and_has_no_rows():
    model = FakeModel(["a", "b", "c"])
    X, _ = model.samples(4)
    ax = kernel_axes(plot_kernel(model, X, list("aacc")))
    assert ax.images[0].get_array().shape == (4, 3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "c"]
    assert len(ax.collections[0].get_segments()) == 1


def test_names_of_classes_too_small_to_name_are_left_out():
    model = FakeModel([0, 1])
    X, _ = model.samples(200)
    ax = kernel_axes(plot_kernel(model, X, np.r_[1, np.zeros(199, dtype=int)]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0"]


def test_a_kernel_of_zeros_can_be_drawn():
    model = FakeModel(["a", "b"])
    X, y = model.samples(4)
    (image,) = kernel_axes(plot_kernel(model, 0 * X, y)).images
    assert image.get_clim() == (0, 1)


def test_draws_into_given_axes():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    model = FakeModel(["a", "b"])
    assert plot_kernel(model, *model.samples(6), ax=right) is figure
    assert len(right.images) == 1
    assert not left.images


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"], "X has 3 rows but y has 2 labels"),
        (["a", "b", "z"], "labels z, which the model was not trained on"),
        ([["a"], ["b"], ["a"]], r"array of shape \(3, 1\)"),
        ([], "no samples"),
    ],
)
def test_bad_labels_are_refused(labels, message):
    model = FakeModel(["a", "b"])
    X, _ = model.samples(3)
    with pytest.raises(InvalidInputError, match=message):
        plot_kernel(model, X, labels)


def kernel_axes(figure: Figure) -> Axes:
    return figure.axes[0]
