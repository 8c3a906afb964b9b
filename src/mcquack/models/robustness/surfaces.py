"""Fitted models as attacks see them: scores of classes on scaled features, with exact derivatives by these.

A surface is one class for each kind of model. It also knows a radius within which its scores cannot change places,
because it knows how fast each of them can change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.errors import InvalidInputError
from mcquack.kernels.fidelity import centroid_slopes, class_scores
from mcquack.models.circuit_classifier import trained_kernel
from mcquack.models.classical.kernel_machines import SupportVectorClassifier, pair_scores, rbf_kernel
from mcquack.models.classical.neural_network import MatchedNeuralNetwork, MultilayerPerceptron
from mcquack.models.kernel_alignment import KernelAlignmentClassifier
from mcquack.models.mcquack import McQuackClassifier
from mcquack.models.robustness.turns import Turn, mean_radii, rivals, turn_of, way_at_speed, way_with_bend
from mcquack.models.starts import mean_measured
from mcquack.models.variational import VariationalClassifier
from mcquack.simulators.engine import Engine, Measured, MeasuringEngine
from mcquack.simulators.shots import TolerantEngine

Labels: TypeAlias = NDArray[np.int64]
Pull: TypeAlias = Callable[[FloatArray], FloatArray]
_ROWS_AT_ONCE = 1024


class Surface(ABC):
    """What attacks need of a fitted model.

    Parameters
    ----------
    model : A fitted model of the kind that the surface is for.
    """

    rows_at_once: int = _ROWS_AT_ONCE

    def __init__(self, model: Any) -> None:
        self.model = model

    @property
    def n_classes(self) -> int:
        return len(self.model.classes_)

    @property
    def n_features(self) -> int:
        """How many scaled features a row has."""
        return int(self.model.feature_map_.n_features)

    def rows(self, X: ArrayLike) -> FloatArray:
        """Samples, as they are passed to ``fit``, in scaled features and double precision."""
        return np.asarray(self.model.scaled(X), np.float64)

    @abstractmethod
    def scores(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        """Scores (N, M) of scaled rows, and what makes of derivatives by them (N, M) those by the features (N, d).

        The predicted class has the largest score; which one that is among equals the model decides.
        """

    @abstractmethod
    def radii(self, rows: FloatArray, labels: Labels) -> FloatArray:
        """For each row a radius within which its class has the largest score; 0 where another class has it."""

    def predicted(self, rows: FloatArray) -> Labels:
        """The number of the class that the model's ``predict`` gives each scaled row."""
        found: Labels = self.scores(rows)[0].argmax(axis=1)
        return found


def surface_of(model: Any) -> Surface:
    """The surface of a fitted model; InvalidInputError for kinds of models whose derivatives are not known.

    Parameters
    ----------
    model : McQuack and Quack, the variational ensembles, KernelAlignmentClassifier, SupportVectorClassifier,
        MatchedNeuralNetwork or MultilayerPerceptron, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mcquack.models import SupportVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> surface = surface_of(SupportVectorClassifier().fit(X, y))
    >>> scores, pull = surface.scores(surface.rows(X))
    >>> scores.shape, pull(scores).shape
    ((150, 3), (150, 4))
    """
    for kind, surface in _SURFACES.items():
        if isinstance(model, kind):
            check_is_fitted(model, "classes_")
            found: Surface = surface(model)
            return found
    names = ", ".join(kind.__name__ for kind in _SURFACES)
    raise InvalidInputError(
        f"derivatives by features are known of {names} and their subclasses, not of {type(model).__name__}; take one "
        "of these, or attack it with the samples that were made against another model."
    )


def _exact(engine: Engine[Any]) -> Engine[Any]:
    """The engine, refused if it counts shots or tolerates flips: there are no derivatives of what it then reads."""
    own_reading = isinstance(engine, MeasuringEngine | TolerantEngine)
    if own_reading or engine.gradient != "exact":
        raise InvalidInputError(
            f"{engine!r} reads kernels without exact derivatives by samples; give the model a simulator, as in "
            'model.set_params(engine="auto").'
        )
    return engine


def _pulled_fidelities(engine: Engine[Any], samples: Any, points: Any, slopes: FloatArray) -> FloatArray:
    """Derivatives by the features of samples (N, d) from those by their fidelities with some points (N, P)."""
    # Engines differentiate by the second side of a kernel, and fidelities are the same from either side.
    found = engine.pullback(points, samples, np.ascontiguousarray(slopes.T), wrt="centroids").centroids
    return np.asarray(found, np.float64)


class CentroidSurface(Surface):
    """McQuack: a class's score is the largest fidelity with its centroids, or their sum, as the loss has it.

    Of several starts the mean of the kernels decides, and derivatives are the mean of theirs.
    """

    def __init__(self, model: McQuackClassifier) -> None:
        super().__init__(model)
        starts = model._starts_in_use() if hasattr(model, "starts_") else [model]
        self.starts = [_Start(start, model) for start in starts]
        self.rows_at_once = min(self.starts[0].engine.rows_at_once or _ROWS_AT_ONCE, _ROWS_AT_ONCE)
        self.class_score = model._class_score

    def scores(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        samples = [start.encoded(rows) for start in self.starts]
        kernels = [start.fidelities(each) for start, each in zip(self.starts, samples, strict=True)]
        kernel = np.asarray(mean_measured([Measured(each) for each in kernels]).kernel, np.float64)

        def pull(slopes: FloatArray) -> FloatArray:
            return self._pulled(samples, centroid_slopes(kernel, slopes, class_score=self.class_score))

        return class_scores(kernel, self.n_classes, class_score=self.class_score), pull

    def _pulled(self, samples: Sequence[Any], by_kernel: FloatArray) -> FloatArray:
        """Derivatives by the features (N, d) of what has these derivatives by the mean of the kernels (N, M·k)."""
        each = [start.pulled(own, by_kernel) for start, own in zip(self.starts, samples, strict=True)]
        return np.asarray(np.mean(each, axis=0))

    def radii(self, rows: FloatArray, labels: Labels) -> FloatArray:
        """The distance of the nearest rival, of several starts on the mean of their kernels; see ``turns``."""
        samples = [start.encoded(rows) for start in self.starts]
        kernels = [np.asarray(each.fidelities(own), np.float64) for each, own in zip(self.starts, samples, strict=True)]
        mean = np.mean(kernels, axis=0)  # whose best centroid of a class stands for it, whatever is best for one start
        asked: Any = {"n_classes": self.n_classes, "class_score": self.class_score}
        of_starts = [
            rivals(mean, labels, among=np.asarray(start.fidelities(start.centroids), np.float64), **asked)
            for start in self.starts
        ]
        turns = [start.turn for start in self.starts]
        found = np.full(len(rows), np.inf)
        for each in zip(*of_starts, strict=True):  # the same rival for all, who is a class where there are several
            steepness = np.abs(self._pulled(samples, each[0].slopes)).sum(axis=1)
            found = np.minimum(found, mean_radii(each, kernels, steepness, turns))
        return found


class _Start:
    """One of the models whose kernels are averaged, on rows that are scaled as the whole model scales them."""

    def __init__(self, model: McQuackClassifier, whole: McQuackClassifier) -> None:
        self.model = model
        self.engine = _exact(model._fitted_engine)
        if not _are_alike(model.features_, whole.features_):
            raise InvalidInputError(
                "the starts of this model have learned different features, as validation_fraction keeps other samples "
                "back from each; fit it with validation_data, or take one of starts_."
            )
        # Each has a scaler of its own training samples; one step of the whole model's is so many of its.
        self.gain, self.shift = np.float64(1.0), np.float64(0.0)
        if model.scaler_ is not None and whole.scaler_ is not None:
            self.gain = model.scaler_.scale_ / whole.scaler_.scale_
            self.shift = model.scaler_.min_ - self.gain * whole.scaler_.min_

    def encoded(self, rows: FloatArray) -> Any:
        return self._encoded(rows * self.gain + self.shift)

    def _encoded(self, rows: FloatArray) -> Any:
        return self.engine.encode(rows, self.model.weights_, self.model.bias_)

    @cached_property
    def centroids(self) -> Any:
        return self._encoded(self.model.centroids_)

    def fidelities(self, samples: Any) -> FloatArray:
        return self.engine.fidelities(samples, self.centroids)

    def pulled(self, samples: Any, slopes: FloatArray) -> FloatArray:
        return _pulled_fidelities(self.engine, samples, self.centroids, slopes) * self.gain

    @property
    def turn(self) -> Turn:
        largest = float(np.max(np.abs(self.gain)))
        return Turn(*(largest * speed for speed in turn_of(self.model.feature_map_, self.model.weights_)))


def _are_alike(one: Any, other: Any) -> bool:
    """Whether two fitted things are the same, but for what rounding makes of their numbers."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and one.dtype.kind in "fc":
        return one.shape == other.shape and np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)
    if hasattr(one, "__dict__"):
        mine, theirs = vars(one), vars(other)
        return mine.keys() == theirs.keys() and all(_are_alike(mine[name], theirs[name]) for name in mine)
    return bool(np.array_equal(one, other))


class VariationalSurface(Surface):
    """Ensembles of variational classifiers: a class's score is ⟨Z₀⟩ behind its own circuit."""

    def __init__(self, model: VariationalClassifier) -> None:
        super().__init__(model)
        self.engine = model._statevectors(model._fitted_engine)
        self.rows_at_once = min(self.engine.rows_at_once or _ROWS_AT_ONCE, _ROWS_AT_ONCE)

    @property
    def _parameters(self) -> list[tuple[FloatArray, FloatArray]]:
        """Weights and biases of each classifier; ensembles may share the weights."""
        bias = self.model.bias_
        weights = np.broadcast_to(self.model.weights_, (len(bias), *self.model.weights_.shape[1:]))
        return list(zip(weights, bias, strict=True))

    def scores(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        encoded = [self.engine.encode(rows, weights, bias) for weights, bias in self._parameters]
        found = [self.engine.expectations(states, [0])[:, 0] for states in encoded]

        def pull(slopes: FloatArray) -> FloatArray:
            by_class = (
                self.engine.expectation_slopes(states, slopes[:, [number]], [0]).astype(np.float64)
                for number, states in enumerate(encoded)
            )
            return np.asarray(sum(by_class))

        return np.stack(found, axis=1).astype(np.float64), pull

    def radii(self, rows: FloatArray, labels: Labels) -> FloatArray:
        """The distance of the nearest rival: each ⟨Z₀⟩ has its own circuit, whose turns add up; see ``turns``."""
        turns = [turn_of(self.model.feature_map_, weights) for weights, _ in self._parameters]
        largest, summed = np.array(turns).T
        scores, pull = self.scores(rows)
        heights, each = np.arcsin(np.clip(scores, -1, 1)), np.arange(len(rows))
        own, found = np.eye(self.n_classes)[labels], np.full(len(rows), np.inf)
        for number, unit in enumerate(np.eye(self.n_classes)):
            by_arc = way_at_speed(heights[each, labels] - heights[:, number], largest[labels] + largest[number])
            steepness = np.abs(pull(own - unit)).sum(axis=1)
            gaps, bend = scores[each, labels] - scores[:, number], summed[labels] ** 2 + summed[number] ** 2
            radii = np.maximum(by_arc, way_with_bend(gaps, steepness, bend))
            found = np.where(labels == number, found, np.minimum(found, radii))
        return found


class ClassicalSurface(Surface):
    """Models that scale features and use them as they are."""

    @property
    def n_features(self) -> int:
        return int(self.model.n_features_in_)

    def rows(self, X: ArrayLike) -> FloatArray:
        return np.asarray(self.model._scaled(validate_data(self.model, X, dtype=np.float64, reset=False)))


class NetworkSurface(ClassicalSurface):
    """Dense layers: a class's score is its output; the one output for two classes is half of it for either side."""

    _steepest: ClassVar[dict[str, float]] = {"relu": 1.0, "tanh": 1.0, "sigmoid": 0.25}

    @cached_property
    def _output(self) -> tuple[FloatArray, FloatArray]:
        """Weights and biases of the last layer, with an output for each class."""
        weights, bias = self.model.weights_[-1], self.model.biases_[-1]
        if self.n_classes > 2:
            return weights, bias
        halves = np.array([[-0.5, 0.5]])
        return weights @ halves, bias @ halves

    def scores(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        layers, hidden, slopes_of = list(self.model.weights_[:-1]), rows, []
        for weights, bias in zip(layers, self.model.biases_[:-1], strict=True):
            hidden, slope = _activated(hidden @ weights + bias, self.model.activation)
            slopes_of.append(slope)
        last, offset = self._output

        def pull(slopes: FloatArray) -> FloatArray:
            back: FloatArray = slopes @ last.T
            for weights, slope in zip(reversed(layers), reversed(slopes_of), strict=True):
                back = (back * slope) @ weights.T
            return back

        return hidden @ last + offset, pull

    def radii(self, rows: FloatArray, labels: Labels) -> FloatArray:
        """A unit of every feature moves no hidden neuron by more than the products of all |w| and slopes add up to."""
        moved = np.ones(rows.shape[1])
        for weights in self.model.weights_[:-1]:
            moved = moved @ np.abs(weights) * self._steepest[self.model.activation]
        last = self._output[0]
        speeds = np.abs(last[:, :, None] - last[:, None, :])
        rates = np.einsum("h,hab->ab", moved, speeds)  # by which two outputs can approach each other
        own, others = _split(self.scores(rows)[0], labels)
        found: FloatArray = way_at_speed(own[:, None] - others, _split(rates[labels], labels)[1]).min(axis=1)
        return found


class PairSurface(Surface):
    """Machines for pairs of classes: a class's score is the smallest margin of its pairs.

    Most votes decide, and they cannot be differentiated. A class that wins all its pairs has the most votes and is the
    only one with a positive score; where none does, the votes may choose another than the largest score.
    """

    @abstractmethod
    def _kernel(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        """The kernel with the support vectors (N, S), and what pulls derivatives by it back to the features."""

    @abstractmethod
    def _reach(self, distances: FloatArray) -> FloatArray:
        """How far features must move for a sample to move so far in the space of the kernel."""

    @cached_property
    def _machines(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients of the support vectors (P, S) and intercepts (P,): margins are positive where the later wins."""
        model, pairs = self.model, list(combinations(range(self.n_classes), 2))
        owner = np.repeat(np.arange(self.n_classes), model.n_support_)
        found = np.zeros((len(pairs), len(owner)))
        for row, (i, j) in zip(found, pairs, strict=True):
            # The vectors of a class have one coefficient against each other class, itself left out of the numbering.
            row[owner == i] = model.dual_coef_[j - 1, owner == i]
            row[owner == j] = model.dual_coef_[i, owner == j]
        sign = 1 if self.n_classes == 2 else -1  # as scikit-learn has it
        return sign * found, sign * model.intercept_

    @cached_property
    def _of_class(self) -> tuple[Labels, FloatArray]:
        """For each class (M, M - 1) the numbers of its pairs, and 1 where it is the later one of them, else -1."""
        pairs = list(combinations(range(self.n_classes), 2))
        places = [[number for number, pair in enumerate(pairs) if m in pair] for m in range(self.n_classes)]
        signs = [[1.0 if pairs[number][1] == m else -1.0 for number in own] for m, own in enumerate(places)]
        return np.array(places), np.array(signs)

    def _pair_margins(self, kernel: FloatArray) -> FloatArray:
        """The margins of all pairs, positive where the later class wins, (N, P)."""
        coefficients, intercept = self._machines
        margins: FloatArray = kernel @ coefficients.T + intercept
        return margins

    def _margins(self, kernel: FloatArray) -> FloatArray:
        """For each class the margins of its pairs, positive where it wins, (N, M, M - 1)."""
        places, signs = self._of_class
        found: FloatArray = self._pair_margins(kernel)[:, places] * signs
        return found

    def scores(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        kernel, pull_kernel = self._kernel(rows)
        margins = self._margins(kernel)
        deciding = margins.argmin(axis=2)[:, :, None]
        places, signs = self._of_class

        def pull(slopes: FloatArray) -> FloatArray:
            by_pair = np.zeros((len(rows), len(self._machines[1])))
            at = np.arange(self.n_classes)[None, :], deciding[:, :, 0]
            np.add.at(by_pair, (np.arange(len(rows))[:, None], places[at]), slopes * signs[at])
            return pull_kernel(by_pair @ self._machines[0])

        return np.take_along_axis(margins, deciding, axis=2)[:, :, 0], pull

    def radii(self, rows: FloatArray, labels: Labels) -> FloatArray:
        """A margin is ⟨w, φ(x)⟩ plus a number, so it changes by at most ‖w‖ times the way of φ(x)."""
        kernel = self._margins(self._kernel(rows)[0])
        norms = np.sqrt(np.maximum(self._squared_norms(), 0))[self._of_class[0]]
        own = kernel[np.arange(len(rows)), labels]
        least: FloatArray = way_at_speed(own, norms[labels]).min(axis=1)
        return np.where(least > 0, self._reach(np.maximum(least, 0)), 0.0)

    def _squared_norms(self) -> FloatArray:
        """‖w‖² of every pair, from the kernel among support vectors."""
        coefficients, _ = self._machines
        among, _ = self._kernel(np.asarray(self.model.support_vectors_, np.float64))
        found: FloatArray = ((coefficients @ among) * coefficients).sum(axis=1)
        return found


class RBFSurface(ClassicalSurface, PairSurface):
    """The RBF machine: ∂k/∂x = -2γ (x - v) k."""

    def predicted(self, rows: FloatArray) -> Labels:
        margins = self._margins(self._kernel(rows)[0])
        later = self._of_class[1] > 0
        won = (margins > 0) | (later & (margins == 0))  # a margin of 0 is the later class's
        found: Labels = won.sum(axis=2).argmax(axis=1)
        return found

    def _kernel(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        vectors, gamma = self.model.support_vectors_, self.model.gamma_
        kernel = rbf_kernel(rows, vectors, gamma)

        def pull(slopes: FloatArray) -> FloatArray:
            weighted = slopes * kernel
            found: FloatArray = -2 * gamma * (weighted.sum(axis=1, keepdims=True) * rows - weighted @ vectors)
            return found

        return kernel, pull

    def _reach(self, distances: FloatArray) -> FloatArray:
        """‖φ(x) - φ(x')‖² = 2 - 2 exp(-γ ‖x - x'‖²), and ‖x - x'‖² is at most d times the square of the radius."""
        with np.errstate(divide="ignore"):
            squares = -np.log1p(-np.minimum(distances**2 / 2, 1)) / (self.model.gamma_ * self.n_features)
        found: FloatArray = np.sqrt(squares)
        return found


class TrainedKernelSurface(PairSurface):
    """The machine on the fidelity kernel of a trained circuit."""

    def __init__(self, model: KernelAlignmentClassifier) -> None:
        super().__init__(model)
        self.engine = _exact(trained_kernel(model, on_scaled=True)._engine())
        self.rows_at_once = min(self.engine.rows_at_once or _ROWS_AT_ONCE, _ROWS_AT_ONCE)

    @cached_property
    def _vectors(self) -> Any:
        return self._encoded(self.model.support_vectors_)

    def _encoded(self, rows: FloatArray) -> Any:
        return self.engine.encode(rows, self.model.weights_, self.model.bias_)

    def _kernel(self, rows: FloatArray) -> tuple[FloatArray, Pull]:
        samples = self._encoded(rows)

        def pull(slopes: FloatArray) -> FloatArray:
            return _pulled_fidelities(self.engine, samples, self._vectors, slopes)

        return np.asarray(self.engine.fidelities(samples, self._vectors), np.float64), pull

    def predicted(self, rows: FloatArray) -> Labels:
        scores = pair_scores(self._pair_margins(self._kernel(rows)[0]), self.n_classes)
        found: Labels = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.int64)
        return found

    def _reach(self, distances: FloatArray) -> FloatArray:
        """‖φ(x) - φ(x')‖² = 2 - 2 F = 2 sin²(angle), and the angle is at most Λ / 2 times the radius."""
        angles = np.where(distances**2 < 2, np.arcsin(np.minimum(distances / np.sqrt(2), 1)), np.inf)
        return way_at_speed(2 * angles, turn_of(self.model.feature_map_, self.model.weights_).largest)


_SURFACES: dict[type[Any], type[Any]] = {
    McQuackClassifier: CentroidSurface,
    VariationalClassifier: VariationalSurface,
    KernelAlignmentClassifier: TrainedKernelSurface,
    SupportVectorClassifier: RBFSurface,
    MatchedNeuralNetwork: NetworkSurface,
    MultilayerPerceptron: NetworkSurface,
}


def _activated(values: FloatArray, activation: str) -> tuple[FloatArray, FloatArray]:
    """What a layer makes of its sums, and the derivative of it."""
    if activation == "relu":
        return np.maximum(values, 0), (values > 0).astype(np.float64)
    if activation == "tanh":
        found = np.tanh(values)
        return found, 1 - found**2
    found = np.exp(-np.logaddexp(0, -values))
    return found, found * (1 - found)


def _split(values: FloatArray, labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Of values (N, M) that of each row's own class (N,), and those of the others (N, M - 1)."""
    own = np.arange(values.shape[1]) == labels[:, None]
    return values[own], values[~own].reshape(len(values), -1)
