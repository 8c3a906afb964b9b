from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mcquack.datasets import Dataset, Part
from mcquack.errors import InvalidInputError
from mcquack.report import plot_dataset
from mcquack.report.dataset import MOST_DEVIATIONS, PICTURE_COLUMNS, principal_plane
from mcquack.report.style import MOST_SAMPLES


def dataset(n_classes=3, *, n_each=6, image_shape=None, X=None, **changes):
    """Classes of different sizes: the first has ``n_each`` training samples, each other one more."""
    y = np.repeat(np.arange(n_classes), n_each + np.arange(n_classes))
    n_features = int(np.prod(image_shape or 4))
    rows = np.random.default_rng(0).integers(0, 256, (len(y), n_features), dtype=np.uint8) if X is None else X
    given = {
        "name": "fake",
        "train": Part(rows, y),
        "validation": Part(rows[::2], y[::2]),
        "test": Part(rows[1::2], y[1::2]),
        "labels": tuple(range(n_classes)),
        "class_names": tuple(f"class {index}" for index in range(n_classes)),
        "feature_names": tuple(f"x{index}" for index in range(rows.shape[1])),
        "image_shape": image_shape,
        "origin": "drawn",
    }
    return Dataset(**{**given, **changes})


def axes_of(figure):
    """The balances, the plane, and the panel of pictures if there is one."""
    axes = figure.axes
    balances = [ax for ax in axes if ax.containers]
    plane, *pictures = (ax for ax in axes if not ax.containers)
    return balances, plane, pictures


@pytest.mark.parametrize("n_classes", [2, 3, 10, 26])
def test_bars_are_the_classes_of_each_part(n_classes):
    data = dataset(n_classes)
    balances, _, pictures = axes_of(plot_dataset(data))
    assert [ax.get_title(loc="left") for ax in balances] == list(data.parts)
    for ax, part in zip(balances, data.parts, strict=True):
        assert tuple(bar.get_width() for bar in ax.patches) == data.class_counts(part)
        assert ax.yaxis_inverted()
    assert [text.get_text() for text in balances[0].get_yticklabels()] == list(data.class_names)
    assert not pictures


def test_equal_validation_and_test_parts_are_shown_once():
    part = dataset().test
    balances, _, _ = axes_of(plot_dataset(dataset(validation=part, test=part)))
    assert [ax.get_title(loc="left") for ax in balances] == ["train", "validation = test"]


def test_one_part_is_enough():
    balances, plane, _ = axes_of(plot_dataset(dataset(validation=None, test=None)))
    assert len(balances) == 1
    assert plane.get_title(loc="left") == "21 training samples, standardised"


@pytest.mark.parametrize("n_classes", [2, 10])
def test_points_and_bars_of_a_class_share_its_colour_and_the_legend_names_it(n_classes):
    data = dataset(n_classes)
    balances, plane, _ = axes_of(plot_dataset(data))
    bars = {bar.get_width(): bar.get_facecolor() for bar in balances[0].patches}
    points = {len(of_class.get_offsets()): of_class.get_facecolor()[0] for of_class in plane.collections}
    assert list(points) == sorted(data.class_counts("train"), reverse=True)  # small classes lie above large ones
    for count, colour in points.items():
        assert_allclose(colour[:3], bars[count][:3])
    assert [text.get_text() for text in plane.get_legend().get_texts()] == list(data.class_names)
    looks = {(handle.get_color(), handle.get_marker()) for handle in plane.get_legend().legend_handles}
    assert len(looks) == n_classes


def points_of(data):
    collections = axes_of(plot_dataset(data))[1].collections
    return np.vstack([points.get_offsets() for points in collections])


def test_of_many_samples_the_same_are_drawn_every_time_in_proportion():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [3 * MOST_SAMPLES, MOST_SAMPLES])
    data = dataset(2, train=Part(rng.normal(size=(len(y), 4)), y))
    first, second = (axes_of(plot_dataset(data))[1] for _ in range(2))
    assert [len(points.get_offsets()) for points in first.collections] == [3 * MOST_SAMPLES // 4, MOST_SAMPLES // 4]
    assert first.get_title(loc="left") == "1,000 of 4,000 training samples, standardised"
    assert_array_equal(first.collections[0].get_offsets(), second.collections[0].get_offsets())


def test_units_of_a_table_do_not_matter_but_those_of_pixels_do():
    rows = np.random.default_rng(0).normal(size=(21, 4))
    stretched = rows * [1, 1000, 1, 1]
    assert_allclose(points_of(dataset(X=stretched)), points_of(dataset(X=rows)), atol=1e-9)
    pictures = [points_of(dataset(X=X, image_shape=(2, 2))) for X in (rows, stretched)]
    assert np.ptp(pictures[1]) > 100 * np.ptp(pictures[0])


def test_one_far_sample_does_not_decide_on_the_axes_alone():
    rows = np.random.default_rng(0).normal(size=(1000, 4))
    rows[0, 2] = 1e6
    labels = np.arange(1000) % 2
    data = dataset(2, train=Part(rows, labels))
    assert np.abs(points_of(data)).max() < 2 * MOST_DEVIATIONS
    assert axes_of(plot_dataset(data))[1].get_title(loc="left").endswith("standardised and clipped at ±5")


def test_the_plane_shows_most_of_the_variance():
    X = np.random.default_rng(0).normal(size=(40, 6)) * [9, 1, 5, 1, 1, 1]
    points, shares = principal_plane(X)
    total = np.sum(np.var(X, axis=0))
    assert_allclose(np.var(points, axis=0) / total, shares)
    assert shares[0] > shares[1] > np.var(X[:, 1]) / total
    assert_allclose(np.corrcoef(points.T)[0, 1], 0, atol=1e-9)
    assert_allclose(np.abs(np.corrcoef(points[:, 0], X[:, 0])[0, 1]), 1, atol=0.01)


def test_samples_in_a_plane_keep_their_distances():
    flat = np.random.default_rng(0).normal(size=(10, 2))
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(5, 2)))
    points, shares = principal_plane(flat @ turn.T)
    distances = [np.linalg.norm(rows[:, None] - rows, axis=-1) for rows in (flat, points)]
    assert_allclose(distances[1], distances[0], atol=1e-9)
    assert_allclose(sum(shares), 1)


@pytest.mark.parametrize("X", [np.zeros((5, 3)), np.arange(5.0)[:, None], np.ones((1, 3))], ids=str)
def test_what_spans_no_plane_is_drawn_on_a_line_or_point(X):
    points, shares = principal_plane(X)
    assert points.shape == (len(X), 2)
    assert_allclose(points[:, 1], 0, atol=1e-12)
    assert shares[1] == 0


@pytest.mark.parametrize("n_classes", [2, 4, 10, 12])
def test_pictures_stand_in_the_rows_of_their_class(n_classes):
    height, width = 3, 2
    data = dataset(n_classes, n_each=2 * PICTURE_COLUMNS, image_shape=(height, width))
    ((ax,),) = [axes_of(plot_dataset(data))[2]]
    (image,) = ax.get_images()
    mosaic = image.get_array().filled(np.nan)
    rows_per_class = mosaic.shape[0] // n_classes
    assert rows_per_class % (height + 2) == 0
    for index, label in enumerate(data.labels):
        own = mosaic[index * rows_per_class : (index + 1) * rows_per_class]
        pictures = data.train.X[data.train.y == label].reshape(-1, height, width)
        assert_array_equal(own[1 : height + 1, 1 : width + 1], pictures[0])
        assert_array_equal(own[1 : height + 1, width + 3 : 2 * width + 3], pictures[1])
        shown = np.isfinite(own).sum() // (height * width)
        assert shown == min(len(pictures), rows_per_class // (height + 2) * PICTURE_COLUMNS)
        assert own[0, 0] != own[0, 0]
    assert [text.get_text() for text in ax.get_yticklabels()] == list(data.class_names)


@pytest.mark.parametrize("name", ["$5 to $9", "猫", "a_b^c"])
@pytest.mark.filterwarnings("ignore:Glyph")  # no font is obliged to have a cat
def test_any_class_name_can_be_drawn(name):
    picture = BytesIO()
    plot_dataset(dataset(2, class_names=(name, "other"), image_shape=(2, 2))).savefig(picture)
    assert picture.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("image_shape", [None, (2, 2)])
def test_the_size_of_numbers_does_not_matter(image_shape):
    rows = np.random.default_rng(0).normal(size=(21, 4))
    planes = [points_of(dataset(X=factor * rows, image_shape=image_shape)) for factor in (1.0, 1e300)]
    usual, large = (plane / np.abs(plane).max() for plane in planes)
    assert_allclose(large, usual, atol=1e-9)
    plot_dataset(dataset(X=1e300 * rows, image_shape=image_shape)).savefig(BytesIO())


def test_values_that_are_not_finite_are_refused():
    rows = np.full((21, 4), np.nan)
    with pytest.raises(InvalidInputError, match=dataset(X=rows).name):
        plot_dataset(dataset(X=rows))
