import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from mcquack import McQuackClassifier
from mcquack.errors import InvalidInputError
from mcquack.report import (
    EmbeddingDisplay,
    KernelDisplay,
    TrainingDisplay,
    plot_embedding,
    plot_history,
    plot_importances,
    plot_kernel,
)
from mcquack.report.model import fidelity_plane
from mcquack.report.style import MOST_SAMPLES
from tests.report.fakes import FakeModel, known, lengths, random_states


def test_every_panel_shows_its_columns():
    model = FakeModel(["a", "b"], validated=True)
    loss, alignment, accuracy = plot_history(model).axes
    assert set(curves(loss)) == {"circuit (KAO)", "centroids (CO)", "validation"}
    assert set(curves(alignment)) == {"training", "validation", "ceiling 1/√2 = 0.71"}
    assert set(curves(accuracy)) == {"training", "validation"}
    assert_array_equal(curves(loss)["circuit (KAO)"], [row["loss_kao"] for row in model.history_])
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


@pytest.mark.parametrize(
    ("settings", "name", "labels"),
    [
        ({}, "cross entropy", ["training"]),
        ({"loss": "alignment", "steps": "alternating"}, "1 - alignment", ["circuit (KAO)", "centroids (CO)"]),
        ({"steps": "alternating"}, "cross entropy", ["circuit (KAO)", "centroids (CO)"]),
        ({"loss": "log_cross_entropy"}, "log cross entropy", ["training"]),
    ],
    ids=["cross_entropy", "alignment", "alternating", "log_cross_entropy"],
)
def test_the_loss_that_was_trained_is_named_and_drawn_once(settings, name, labels):
    X, y = load_iris(return_X_y=True)
    model = McQuackClassifier(n_qubits=2, epochs=3, validation_fraction=0.2, random_state=0, **settings).fit(X, y)
    ax = plot_history(model).axes[0]
    assert ax.get_ylabel() == name
    drawn = {label: values for label, values in curves(ax).items() if not label.startswith("kept")}
    assert list(drawn) == [*labels, "validation"]
    assert_array_equal(drawn["validation"], [row["loss"] for row in model.history_])


def test_a_single_epoch_is_a_visible_dot():
    (line,) = plot_history(FakeModel(["a", "b"], n_epochs=1)).axes[2].lines
    assert line.get_marker() == "o"


def test_a_model_without_history_is_refused():
    with pytest.raises(InvalidInputError, match="after fit"):
        plot_history(FakeModel(["a", "b"], n_epochs=0))


def segments(ax: Axes) -> list[list[np.ndarray]]:
    return [list(map(np.asarray, each.get_segments())) for each in ax.collections if isinstance(each, LineCollection)]


def offsets(points: Collection) -> np.ndarray:
    return np.asarray(points.get_offsets())


def curves(ax: Axes) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_ydata()) for line in ax.lines}


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_rows_are_the_kernel_sorted_by_class(n_classes):
    model = FakeModel([f"class {index}" for index in range(n_classes)])
    X, y = model.samples(40)
    (image,) = kernel_axes(plot_kernel(model, X, y)).images
    expected = np.concatenate([model.transform(X[y == name]) for name in model.classes_])
    assert known(image.get_array()).shape == (40, n_classes)
    assert_allclose(known(image.get_array()), expected, rtol=1e-12)


def test_lines_part_the_classes():
    model = FakeModel(["a", "b", "c"])
    X, _ = model.samples(10)
    ax = kernel_axes(plot_kernel(model, X, list("aaabbbbbcc")))
    rows, columns = segments(ax)
    assert_array_equal([segment[0, 1] for segment in rows], [2.5, 7.5])
    assert_array_equal([segment[0, 0] for segment in columns], [0.5, 1.5])


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
    assert known(ax.images[0].get_array()).shape == (9, 6)
    rows, columns = segments(ax)
    assert_array_equal([segment[0, 0] for segment in columns], [1.5, 3.5])
    assert_array_equal([segment[:, 0] for segment in rows], [[-0.5, 5.5]] * 2)
    assert_array_equal(ax.get_xticks(), [0.5, 2.5, 4.5])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]


def test_a_class_without_samples_keeps_its_column_and_has_no_rows():
    model = FakeModel(["a", "b", "c"])
    X, _ = model.samples(4)
    ax = kernel_axes(plot_kernel(model, X, list("aacc")))
    assert known(ax.images[0].get_array()).shape == (4, 3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "c"]
    assert len(segments(ax)[0]) == 1


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


def test_a_kernel_draws_into_given_axes():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    model = FakeModel(["a", "b"])
    assert plot_kernel(model, *model.samples(6), ax=right) is figure
    assert len(right.images) == 1
    assert not left.images


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"], r"\b3\b.*\b2\b"),
        (["a", "b", "z"], r"\bz\b"),
        ([["a"], ["b"], ["a"]], r"\(3, 1\)"),
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


def fidelities(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.abs(left @ right.conj().T) ** 2


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_every_sample_is_a_point_and_every_centroid_a_star(n_classes, k):
    model = FakeModel(list(range(n_classes)), k=k)
    ax = plot_embedding(model, *model.samples(50)).axes[0]
    points, stars = ax.collections[::2], ax.collections[1::2]
    assert [len(offsets(of_class)) for of_class in points] == [50 // n_classes] * n_classes
    assert [len(offsets(star)) for star in stars] == [k] * n_classes
    for of_class, star in zip(points, stars, strict=True):
        assert to_hex(np.asarray(of_class.get_facecolor())[0]) == to_hex(np.asarray(star.get_facecolor())[0])


def test_classes_differ_in_colour_and_shape_and_are_named():
    model = FakeModel([f"class {index}" for index in range(10)])
    legend = known(plot_embedding(model, *model.samples(50)).axes[0].get_legend())
    handles = [handle for handle in legend.legend_handles if isinstance(handle, Line2D)]
    looks = {(handle.get_color(), handle.get_marker()) for handle in handles}
    assert len(looks) == 11
    assert [text.get_text() for text in legend.get_texts()] == [*model.classes_, "centroid"]


def test_global_phases_do_not_move_a_point():
    states, centroids = random_states(20, 3, seed=0), random_states(2, 3, seed=1)
    phases = np.exp(2j * np.pi * np.random.default_rng(2).random((20, 1)))
    plain = fidelity_plane(states, fidelities(states, centroids))
    turned = fidelity_plane(phases * states, fidelities(phases * states, centroids))
    for one, other in zip(turned, plain, strict=True):
        assert_allclose(np.asarray(one), np.asarray(other), atol=1e-10)


def test_the_plane_is_that_of_the_principal_components_of_the_density_matrices():
    states, centroids = random_states(20, 2, seed=0), random_states(3, 2, seed=1)
    samples, stars, shares = fidelity_plane(states, fidelities(states, centroids))
    densities, centroid_densities = (
        np.einsum("ia,ib->iab", rows, rows.conj()).reshape(len(rows), -1) for rows in (states, centroids)
    )
    flat = np.hstack([densities.real, densities.imag])
    _, singular, axes = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    projected = (flat - flat.mean(axis=0)) @ axes[:2].T
    assert_allclose(np.abs(samples), np.abs(projected), atol=1e-10)
    assert_allclose(shares, singular[:2] ** 2 / np.sum(singular**2))
    flat_centroids = np.hstack([centroid_densities.real, centroid_densities.imag]) - flat.mean(axis=0)
    assert_allclose(np.abs(stars), np.abs(flat_centroids @ axes[:2].T), atol=1e-10)


def test_distances_on_a_great_circle_of_one_qubit_are_kept():
    # These states span a plane of density matrices, so nothing is lost and distances are √(2 - 2F).
    angles = np.linspace(0, np.pi, 7, endpoint=False)
    states = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(complex)
    samples, stars, shares = fidelity_plane(states, fidelities(states, states))
    distances = np.linalg.norm(samples[:, None] - samples, axis=-1)
    assert_allclose(distances, np.sqrt(np.maximum(2 - 2 * fidelities(states, states), 0)), atol=1e-7)
    assert_allclose(stars, samples, atol=1e-7)
    assert_allclose(sum(shares), 1)


def test_equal_samples_fall_on_one_point():
    states = np.repeat(random_states(1, 2, seed=0), 5, axis=0)
    samples, stars, _ = fidelity_plane(states, fidelities(states, random_states(2, 2, seed=1)))
    assert_allclose(samples, 0, atol=1e-7)
    assert np.isfinite(stars).all()


def test_of_many_samples_the_same_are_drawn_every_time_in_proportion():
    model = FakeModel(["a", "b", "c"], n_qubits=2)
    X, _ = model.samples(MOST_SAMPLES * 4)
    y = np.array(["a", "b", "c", "c"])[np.arange(len(X)) % 4]
    first, second = (plot_embedding(model, X, y).axes[0].collections for _ in range(2))
    assert [len(offsets(points)) for points in first[::2]] == [MOST_SAMPLES // 4, MOST_SAMPLES // 4, MOST_SAMPLES // 2]
    assert_array_equal(offsets(first[0]), offsets(second[0]))


def test_data_frames_reach_the_model_as_data_frames():
    class NamesModel(FakeModel):
        def statevectors(self, X, /):
            assert list(X.columns) == list("abcd")
            return X.to_numpy().astype(complex) / np.linalg.norm(X, axis=1, keepdims=True)

        def transform(self, X, /):
            return super().transform(self.statevectors(X))

    model = NamesModel(["yes", "no", "perhaps"], n_qubits=2)
    frame = pd.DataFrame(np.random.default_rng(0).random((MOST_SAMPLES + 10, 4)), columns=list("abcd"))
    figure = plot_embedding(model, frame, np.array(["no", "perhaps", "yes"])[(3 * frame["a"]).astype(int)])
    assert sum(len(offsets(points)) for points in figure.axes[0].collections[::2]) == MOST_SAMPLES


def test_an_embedding_draws_into_given_axes():
    figure = Figure()
    left, right = np.asarray(figure.subfigures(1, 2))
    ax = right.subplots()
    model = FakeModel(["a", "b"])
    assert plot_embedding(model, *model.samples(6), ax=ax) is figure
    assert len(ax.collections) == 4
    assert not left.axes


def test_too_few_samples_and_other_lengths_are_refused():
    model = FakeModel(["a", "b"])
    X, y = model.samples(5)
    with pytest.raises(InvalidInputError, match="at least 3"):
        plot_embedding(model, X[:2], y[:2])
    with pytest.raises(InvalidInputError, match=r"\b5\b.*\b4\b"):
        plot_embedding(model, X, y[:4])


def two_clouds(n_each=20, noise=0.3, seed=0):
    """States of two classes that differ a little along one direction, and much, all alike, along others."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n_each)
    angles = 0.35 * (2 * labels - 1)
    one = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    wide = rng.uniform(0, np.pi, 2 * n_each)
    other = np.stack([np.cos(wide), np.sin(wide)], axis=1)
    return np.einsum("ia,ib->iab", one, other).reshape(2 * n_each, 4).astype(complex), labels


def test_axes_part_the_classes_where_principal_components_do_not():
    states, labels = two_clouds()
    kernel = fidelities(states, states[:1])

    def gap(points):
        """The distance of the means of the classes along the first axis, in standard deviations within a class."""
        first = points[:, 0]
        inside = np.mean([first[labels == label].std() for label in (0, 1)])
        return abs(first[labels == 0].mean() - first[labels == 1].mean()) / inside

    parted, plain = (fidelity_plane(states, kernel, *given)[0] for given in ((labels,), ()))
    assert gap(parted) > 5 * gap(plain)


def test_the_class_axes_are_the_principal_components_of_the_means_of_the_density_matrices():
    states, centroids, labels = random_states(30, 2, seed=0), random_states(3, 2, seed=1), np.arange(30) % 3
    points, stars, shares = fidelity_plane(states, fidelities(states, centroids), labels)

    def flat(rows):
        matrices = np.einsum("ia,ib->iab", rows, rows.conj()).reshape(len(rows), -1)
        return np.hstack([matrices.real, matrices.imag])

    apart = flat(states) - flat(states).mean(axis=0)
    means = np.stack([apart[labels == label].mean(axis=0) for label in range(3)])
    axes = np.linalg.svd(means, full_matrices=False)[2][:2]
    assert_allclose(np.abs(points), np.abs(apart @ axes.T), atol=1e-10)
    assert_allclose(np.abs(stars), np.abs((flat(centroids) - flat(states).mean(axis=0)) @ axes.T), atol=1e-10)
    assert_allclose(shares, (points**2).sum(axis=0) / (apart**2).sum())


def test_the_second_axis_of_two_classes_is_the_widest_besides():
    states, labels = two_clouds()
    points, stars, shares = fidelity_plane(states, fidelities(states, states), labels)
    assert shares[1] > shares[0] > 0
    assert_allclose(stars, points, atol=1e-10)
    on_plane = np.linalg.norm(points[:, None] - points, axis=-1)
    assert (on_plane <= np.sqrt(np.maximum(2 - 2 * fidelities(states, states), 0)) + 1e-9).all()
    model = FakeModel(["a", "b"])
    ax = EmbeddingDisplay.from_estimator(model, *model.samples(20)).ax_
    assert ax.get_xlabel().startswith("class axis 1")
    assert ax.get_ylabel().startswith("principal axis 2")


@pytest.mark.parametrize("display", [KernelDisplay, EmbeddingDisplay])
def test_displays_are_the_pictures_and_can_be_drawn_again(display):
    model = FakeModel(["a", "b", "c"])
    X, y = model.samples(30)
    shown = display.from_estimator(model, X, y)
    assert shown.figure_ is shown.ax_.figure
    again = Figure().add_subplot()
    assert shown.plot(ax=again) is shown
    assert shown.ax_ is again
    assert display.from_estimator(model, X, y, ax=again).ax_ is again


def test_a_training_is_displayed_in_three_axes():
    shown = TrainingDisplay.from_estimator(FakeModel(["a", "b"], validated=True))
    assert [ax.get_title(loc="left") for ax in shown.ax_] == ["Loss", "Alignment", "Accuracy"]
    axes = Figure().subplots(3)
    assert shown.plot(ax=axes).figure_ is axes[0].figure
    assert plot_history(FakeModel(["a", "b"]), axes=axes) is axes[0].figure
    with pytest.raises(InvalidInputError, match=r"\b3\b.*\b2\b"):
        shown.plot(ax=axes[:2])


def test_figures_are_saved_for_print(tmp_path):
    figure = plot_importances([0.2, 0.1])
    figure.savefig(tmp_path / "here.png")
    height, width, _ = imread(tmp_path / "here.png").shape
    assert_allclose([width, height], 200 * figure.get_size_inches(), atol=1)


def test_the_largest_importances_are_on_top():
    ax = plot_importances([0.1, 0.5, 0.3], list("xyz"), most=2).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["y", "z"]
    assert_allclose(lengths(ax), [0.5, 0.3])
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "importance (1 smaller left out)"
    with pytest.raises(InvalidInputError, match=r"\b2\b.*\b1\b"):
        plot_importances([1, 2], ["a"])
    with pytest.raises(InvalidInputError, match="finite number"):
        plot_importances([np.nan])
